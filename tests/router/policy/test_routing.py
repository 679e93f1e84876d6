"""The router: rules, predictions, hysteresis, and properties of every history."""

from dataclasses import replace

import pytest
from hypothesis import given as for_all
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from codecards.router.memory.operations import Operation
from codecards.router.memory.state import SessionState
from codecards.router.memory.working_memory import MemoryFile, Mode, TaskState, WorkingMemory, with_access, with_status
from codecards.router.policy.hysteresis import HysteresisSettings
from codecards.router.policy.routing import (
    ActionKind,
    FileSize,
    RoutingAction,
    RoutingInput,
    RoutingSettings,
    apply,
    route,
)
from codecards.router.ports import FileText, Signal
from codecards.router.turn import TurnInput, TurnSettings, run_turn

FULL, DIGEST = Mode.FULL, Mode.DIGEST


def memory_of(*files: MemoryFile, turn: int = 10, status: str = "implementing") -> WorkingMemory:
    return WorkingMemory(TaskState("goal", status, status_since_turn=0), files=files, turn=turn)


def decision(given: RoutingInput, path: str) -> tuple[str, Mode | None]:
    action = next(action for action in route(given) if action.path == path)
    return action.kind.value, action.mode


@pytest.mark.seed("S2-40", "S2-45")
def test_a_predicted_file_is_promoted_as_soon_as_it_is_found_twice() -> None:
    memory = memory_of(turn=1)
    memory = apply(memory, route(RoutingInput(memory, signals=[Signal("a.py", 0.9, "called by b.py")])))
    assert memory.entry("a.py") == MemoryFile(
        "a.py", mode=DIGEST, last_access_turn=1, predicted=True, why="predicted: called by b.py"
    )
    found = [Operation(number, 1, "recall", ("a.py",)) for number in (1, 2)]
    given = RoutingInput(replace(with_access(memory, "a.py"), turn=2), found)
    assert decision(given, "a.py") == ("promote", FULL)


@pytest.mark.seed("S2-39", "S2-49")
@pytest.mark.parametrize(("idle", "expected"), [(5, ("keep", FULL)), (6, ("keep", FULL)), (7, ("demote", DIGEST))])
def test_a_full_file_is_demoted_after_more_than_six_turns(idle: int, expected: tuple[str, Mode]) -> None:
    entry = MemoryFile("a.py", mode=FULL, last_access_turn=10 - idle)
    assert decision(RoutingInput(memory_of(entry)), "a.py") == expected


def recalls(*found: str, turn: int = 10) -> list[Operation]:
    """Return one retrieval for each word; it found one file for each letter."""
    return [
        Operation(number, turn, "recall", tuple(f"{letter}.py" for letter in letters))
        for number, letters in enumerate(found, 1)
    ]


@pytest.mark.seed("S2-40", "S2-41")
@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (["a"], "keep"),
        (["a", "ab"], "promote"),
        (["a", "b"], "keep"),
        (["a", "b", "a"], "keep"),
        (["b", "a", "a"], "promote"),
    ],
)
def test_two_retrievals_in_a_row_promote(found: list[str], expected: str) -> None:
    given = RoutingInput(memory_of(MemoryFile("a.py", last_access_turn=10)), recalls(*found))
    assert decision(given, "a.py")[0] == expected


def test_a_file_outside_the_memory_is_promoted_by_two_retrievals_in_a_row() -> None:
    assert decision(RoutingInput(memory_of(), recalls("ab", "ac")), "a.py") == ("promote", FULL)
    too_large = RoutingInput(memory_of(), recalls("a", "a"), sizes={"a.py": FileSize(9_000, 50)})
    assert decision(too_large, "a.py") == ("promote", DIGEST)


@pytest.mark.seed("S2-21")
def test_a_changed_file_is_refreshed() -> None:
    given = RoutingInput(memory_of(MemoryFile("a.py", last_access_turn=10)), changed=frozenset({"a.py"}))
    assert route(given)[0].reason == "changed on disk, refreshed"


@pytest.mark.seed("S2-36")
def test_testing_demotes_source_files_and_leaves_tests_full() -> None:
    files = [MemoryFile(path, mode=FULL, last_access_turn=7) for path in ("service.py", "tests/test_service.py")]
    given = RoutingInput(memory_of(*files, status="testing"))
    assert [action.mode for action in route(given)] == [DIGEST, FULL]


@pytest.mark.seed("S2-21")
def test_predictions_add_digests_only_and_weak_ones_add_nothing() -> None:
    signals = [Signal("b.py", 0.4, "called"), Signal("c.py", 0.3, "called"), Signal("b.py", 0.4, "changed together")]
    actions = route(RoutingInput(memory_of(), signals=signals))
    assert [(action.path, action.mode) for action in actions] == [("b.py", DIGEST)]


@pytest.mark.parametrize(
    ("kind", "turn", "comes_in"), [("search", 9, 3), ("run", 10, 3), ("list", 8, 0), ("close", 9, 0)]
)
def test_the_first_files_that_an_operation_named_enter_as_digests(kind: str, turn: int, comes_in: int) -> None:
    named = Operation(1, turn, kind, ("d.py", "c.py", "b.py", "a.py"))
    actions = route(RoutingInput(memory_of(), [named]))
    assert {(action.path, action.mode) for action in actions} == {
        (path, DIGEST) for path in ("d.py", "c.py", "b.py")[:comes_in]
    }


def test_an_evicted_file_does_not_come_back_by_prediction() -> None:
    memory = memory_of(MemoryFile("b.py", predicted=True, last_access_turn=0))
    memory = apply(memory, route(RoutingInput(memory)))
    assert memory.files == ()
    assert route(RoutingInput(memory, signals=[Signal("b.py", 0.9, "called")])) == ()


@pytest.mark.seed("S0-32")
def test_the_least_recently_used_makes_room() -> None:
    files = [
        MemoryFile(name, mode=FULL, last_access_turn=turn) for name, turn in (("a.py", 8), ("b.py", 6), ("c.py", 9))
    ]
    sizes = {name: FileSize(3_000, 100) for name in ("a.py", "b.py", "c.py")}
    actions = route(RoutingInput(memory_of(*files), sizes=sizes, files_budget_tokens=6_000))
    assert [action.kind for action in actions] == ["keep", "demote", "keep"]
    assert actions[1].reason == "no room in full, least recent use"


def test_a_file_too_large_for_the_budget_counts_as_its_excerpt() -> None:
    files = ("giant.py", "service.py", "model.py")
    texts = {path: FileText("line of code\n" * (4_000 if path == "giant.py" else 100), path) for path in files}
    entries = tuple(MemoryFile(path, mode=FULL, last_access_turn=9, text_hash=path) for path in files)
    state = SessionState("s", memory_of(*entries), 12_000, "", "")
    result = run_turn(state, TurnInput(texts, lambda path, text: "digest"), TurnSettings())
    assert {action.path: action.mode for action in result.actions} == dict.fromkeys(files, FULL)
    assert [(file.path, file.shown) for file in result.context.files] == [
        ("giant.py", "excerpt"),
        ("model.py", "full"),
        ("service.py", "full"),
    ]


@pytest.mark.seed("S2-22")
def test_a_switch_is_whole_or_not_at_all() -> None:
    memory = memory_of(MemoryFile("a.py"))
    good = RoutingAction(ActionKind.PROMOTE, "a.py", "", FULL)
    bad = RoutingAction(ActionKind.DEMOTE, "nowhere.py", "", DIGEST)
    with pytest.raises(ValueError, match=r"nowhere\.py"):
        apply(memory, [good, bad])
    assert memory.files[0].mode is DIGEST


NAMES = ("a.py", "b.py", "test_c.py", "d.py")
steps = st.lists(
    st.tuples(
        st.sampled_from(["recall", "read", "edit", "pause"]),
        st.sets(st.sampled_from(NAMES), max_size=3),
        st.sampled_from(["exploring", "implementing", "testing"]),
    ),
    max_size=60,
)


def replay(history: list[tuple[str, set[str], str]], settings: RoutingSettings) -> list[tuple[int, RoutingAction]]:
    """Return the switches of a replayed history, each with its turn."""
    memory, operations, switches = memory_of(turn=0), list[Operation](), list[tuple[int, RoutingAction]]()
    sizes = {name: FileSize(1_000 * number, 50) for number, name in enumerate(NAMES, 1)}
    for turn, (kind, paths, status) in enumerate(history, 1):
        memory = with_status(replace(memory, turn=turn), status)
        if kind != "pause":
            operations.append(Operation(turn, turn, kind, tuple(sorted(paths))))
            for path in paths:
                memory = with_access(memory, path)
        signals = [Signal(path, 0.6, "near") for path in NAMES if operations and path not in operations[-1].paths]
        given = RoutingInput(memory, operations, sizes, signals=signals, files_budget_tokens=5_000)
        actions = route(given, settings)
        assert actions == route(given, settings)
        memory = apply(memory, actions)
        switches += [(turn, action) for action in actions if action.kind is not ActionKind.KEEP]
        promoted = {action.path for action in actions if action.kind is ActionKind.PROMOTE}
        full = sum(sizes[entry.path].full for entry in memory.files if entry.mode is FULL)
        assert full <= 5_000 or promoted.isdisjoint(entry.path for entry in memory.files if entry.mode is FULL)
    return switches


@pytest.mark.seed("S2-38", "S2-49")
@for_all(steps, st.integers(1, 8))
@hypothesis_settings(max_examples=150, deadline=None)
def test_a_file_is_switched_at_most_once_per_window(history: list[tuple[str, set[str], str]], cooldown: int) -> None:
    """The replay also checks at each step that equal inputs give equal actions."""
    last: dict[str, int] = {}
    settings = RoutingSettings(HysteresisSettings(cooldown_turns=cooldown))
    for turn, action in replay(history, settings):
        assert turn - last.get(action.path, -100) >= cooldown
        if "predicted" not in action.reason:  # a prediction does not start a cooldown
            last[action.path] = turn


@pytest.mark.seed("S2-38", "S2-49")
@for_all(steps, st.integers(1, 12), st.integers(0, 8))
@hypothesis_settings(max_examples=150, deadline=None)
def test_no_file_is_switched_back_within_a_window_predictions_included(
    history: list[tuple[str, set[str], str]], cooldown: int, evict_predicted: int
) -> None:
    """A predicted digest may be promoted to full at once: twice in one direction, but never back."""
    last: dict[str, tuple[int, RoutingAction]] = {}
    thresholds = HysteresisSettings(cooldown_turns=cooldown, evict_predicted_after_turns=evict_predicted)
    for turn, action in replay(history, RoutingSettings(thresholds)):
        before = last.get(action.path)
        if before is not None and turn - before[0] < cooldown:
            assert before[1].reason.startswith("predicted")
            assert (before[1].mode, action.mode) == (DIGEST, FULL)
        last[action.path] = turn, action


@pytest.mark.seed("S2-42")
@for_all(steps)
@hypothesis_settings(max_examples=60, deadline=None)
def test_without_operations_the_router_stops_switching(history: list[tuple[str, set[str], str]]) -> None:
    settings = RoutingSettings()
    pause = [("pause", set[str](), "implementing")] * 120
    assert all(turn <= len(history) + 60 for turn, _ in replay([*history, *pause], settings))


@pytest.mark.seed("S2-42")
def test_the_memory_converges_to_the_files_in_use() -> None:
    history = [("recall", {"a.py", "b.py"}, "implementing")] * 3 + [("recall", {"a.py"}, "implementing")] * 20
    switches = [
        (action.path, action.mode)
        for _, action in replay(history, RoutingSettings())
        if "found" in action.reason or "no access" in action.reason
    ]
    assert switches == [("a.py", FULL), ("b.py", FULL), ("b.py", DIGEST)]
