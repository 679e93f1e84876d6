"""Routing: a pure function of the working memory and the latest operations to `keep`, `promote` and `demote`.

Rules are strong and hold always; predictions are weak and only ever bring a digest in. Two levels are switched:
a file outside the working memory may be promoted to a digest, a digest to full, and back.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from codecards.router.memory.operations import NAMING_KINDS, RETRIEVAL_KINDS, Operation, hits_in_a_row
from codecards.router.memory.working_memory import MemoryFile, Mode, WorkingMemory, with_file, without_file
from codecards.router.policy.hysteresis import (
    HysteresisSettings,
    idle_turns,
    is_settled,
    may_demote,
    may_forget,
    may_promote,
)
from codecards.router.ports import NAMED_WEIGHT, Signal

MAX_NAMED = 3
"""Files of one act; of a long list of hits only the first tell anything."""


class ActionKind(StrEnum):
    """What the router decides for a file."""

    KEEP = "keep"
    PROMOTE = "promote"
    DEMOTE = "demote"


@dataclass(frozen=True, slots=True)
class RoutingAction:
    """One decision, with the reason that the agent and the panel are shown."""

    kind: ActionKind
    path: str
    reason: str = ""
    mode: Mode | None = None
    """What the file is afterwards, None when it leaves the working memory."""


@dataclass(frozen=True, slots=True)
class FileSize:
    """What a file costs in each mode, in tokens."""

    full: int
    """At least: of a file too large to be shown whole, an excerpt."""
    digest: int


@dataclass(frozen=True, slots=True)
class RoutingInput:
    """All that a decision depends on; equal inputs give equal actions."""

    memory: WorkingMemory
    operations: Sequence[Operation] = ()
    """Oldest first."""
    sizes: Mapping[str, FileSize] | None = None
    """By path; a file without a size is taken as free."""
    changed: frozenset[str] = frozenset()
    """Files whose text on disk is another than the entry's."""
    signals: Sequence[Signal] = ()
    files_budget_tokens: int = 6_000
    is_test: Callable[[str], bool] = lambda path: "test" in path.lower()
    """Tells test files; must be pure."""


@dataclass(frozen=True, slots=True)
class RoutingSettings:
    """Thresholds of the router."""

    hysteresis: HysteresisSettings = field(default_factory=HysteresisSettings)
    stage_idle_turns: int = 2
    """While testing, a source file without access for more than so many turns need not be full."""
    least_signal: float = 0.5
    """Predictions of one file are joined as 1 - Π(1 - weight); below this they are ignored."""
    max_predicted_files: int = 6
    min_full_relevance: float = 0.2
    """A file less relevant than this is not promoted to full, however often it is found."""


def route(given: RoutingInput, settings: RoutingSettings | None = None) -> tuple[RoutingAction, ...]:
    """Return one action a file, at most; files in the order of the working memory, then new ones."""
    settings = settings or RoutingSettings()
    actions: dict[str, RoutingAction] = {}
    for entry in given.memory.files:
        actions[entry.path] = _rule(entry, given, settings)
    _withdraw_what_does_not_fit(actions, given)
    _make_room(actions, given, settings.hysteresis)
    free_tokens = given.files_budget_tokens - _full_tokens(actions, given)
    for action in (*_found(given, settings, free_tokens), *_predicted(given, settings)):
        actions.setdefault(action.path, action)
    return tuple(actions.values())


def apply(memory: WorkingMemory, actions: Sequence[RoutingAction]) -> WorkingMemory:
    """Return the memory after all actions, or raise and change nothing.

    Raises:
        ValueError: An action names a file twice, or demotes one that is not there.
    """
    if len({action.path for action in actions}) != len(actions):
        raise ValueError("A file can be switched only once at a time.")
    for action in actions:
        entry = memory.entry(action.path)
        if entry is None and action.kind is not ActionKind.PROMOTE:
            raise ValueError(f"{action.path} is not in the working memory and can't be {action.kind}d.")
        if action.kind is ActionKind.KEEP:
            continue
        if action.mode is None:
            memory = without_file(memory, action.path, action.reason)
            continue
        if entry is None:
            entry = MemoryFile(
                action.path, last_access_turn=memory.turn, predicted=not action.reason.startswith("found")
            )
        # A guess starts no dead time: what is then found twice in a row must come in full at once.
        switched = None if entry.predicted and action.mode is Mode.DIGEST else memory.turn
        memory = with_file(memory, replace(entry, mode=action.mode, last_switch_turn=switched, why=action.reason))
    return memory


def _rule(entry: MemoryFile, given: RoutingInput, settings: RoutingSettings) -> RoutingAction:
    """Return what the rules say of a file of the working memory; the first that applies wins."""
    turn, thresholds = given.memory.turn, settings.hysteresis
    n_hits = hits_in_a_row(entry.path, given.operations, entry.last_switch_turn)
    if may_promote(entry, n_hits, turn, thresholds) and entry.relevance >= settings.min_full_relevance:
        return _promote(entry, f"found by {n_hits} retrievals in a row")
    if _wanted_by_stage(entry, given, thresholds):
        return _promote(entry, f"changed in this task, and the stage is now {given.memory.task.status}")
    if may_demote(entry, turn, thresholds):
        return _demote(entry, f"no access for {idle_turns(entry, turn)} turns")
    if _unwanted_by_stage(entry, given, settings):
        return _demote(entry, "source file, not used while testing")
    if may_forget(entry, turn, thresholds):
        return RoutingAction(
            ActionKind.DEMOTE, entry.path, f"digest without access for {idle_turns(entry, turn)} turns", None
        )
    reason = "changed on disk, refreshed" if entry.path in given.changed else ""
    return RoutingAction(ActionKind.KEEP, entry.path, reason, entry.mode)


def _promote(entry: MemoryFile, reason: str) -> RoutingAction:
    return RoutingAction(ActionKind.PROMOTE, entry.path, reason, Mode.FULL)


def _demote(entry: MemoryFile, reason: str) -> RoutingAction:
    return RoutingAction(ActionKind.DEMOTE, entry.path, reason, Mode.DIGEST)


def _wanted_by_stage(entry: MemoryFile, given: RoutingInput, thresholds: HysteresisSettings) -> bool:
    """Return whether the stage that has just begun wants the file in full.

    Only the turn in which the stage begins counts: a standing rule would fight the demotion of idle files for ever.
    """
    task, turn = given.memory.task, given.memory.turn
    return (
        entry.mode is Mode.DIGEST
        and task.status == "implementing"
        and 0 <= turn - task.status_since_turn <= 1
        and any(change.path == entry.path for change in given.memory.changes)
        and is_settled(entry, turn, thresholds)
    )


def _unwanted_by_stage(entry: MemoryFile, given: RoutingInput, settings: RoutingSettings) -> bool:
    turn = given.memory.turn
    return (
        given.memory.task.status == "testing"
        and entry.mode is Mode.FULL
        and not entry.pinned
        and not given.is_test(entry.path)
        and idle_turns(entry, turn) > settings.stage_idle_turns
        and is_settled(entry, turn, settings.hysteresis)
    )


def _full_tokens(actions: Mapping[str, RoutingAction], given: RoutingInput) -> int:
    return sum(_size(path, given).full for path, action in actions.items() if action.mode is Mode.FULL)


def _size(path: str, given: RoutingInput) -> FileSize:
    return (given.sizes or {}).get(path, FileSize(0, 0))


def _withdraw_what_does_not_fit(actions: dict[str, RoutingAction], given: RoutingInput) -> None:
    """Turn promotions into keeps where their text does not fit: what must leave again at once never comes in."""
    entries = {entry.path: entry for entry in given.memory.files}
    promoted = sorted(
        (path for path, action in actions.items() if action.kind is ActionKind.PROMOTE),
        key=lambda path: (entries[path].relevance, entries[path].last_access_turn, path),
    )
    for path in promoted:
        if _full_tokens(actions, given) <= given.files_budget_tokens:
            return
        actions[path] = RoutingAction(
            ActionKind.KEEP,
            path,
            f"would be promoted, but its {_size(path, given).full} tokens do not fit",
            Mode.DIGEST,
        )


def _make_room(actions: dict[str, RoutingAction], given: RoutingInput, thresholds: HysteresisSettings) -> None:
    """Demote settled files while the full ones are over the budget, least recently used first.

    Files inside their dead time stay full; assembly then shows an excerpt of them, which is not a switch.
    """
    turn = given.memory.turn
    settled = [
        entry
        for entry in given.memory.files
        if actions[entry.path].mode is Mode.FULL
        and actions[entry.path].kind is ActionKind.KEEP
        and not entry.pinned
        and idle_turns(entry, turn) > 0
        and is_settled(entry, turn, thresholds)
    ]
    for entry in sorted(settled, key=lambda entry: (entry.last_access_turn, entry.relevance, entry.path)):
        if _full_tokens(actions, given) <= given.files_budget_tokens:
            return
        actions[entry.path] = _demote(entry, "no room in full, used longest ago")


def _found(given: RoutingInput, settings: RoutingSettings, free: int) -> list[RoutingAction]:
    """Return promotions for files outside the working memory that the last retrieval of this turn or the last found."""
    recent = [operation for operation in given.operations if operation.kind in RETRIEVAL_KINDS]
    if not recent or given.memory.turn - recent[-1].turn > 1:
        return []
    turn, cooldown = given.memory.turn, settings.hysteresis.cooldown_turns
    present = {entry.path for entry in given.memory.files}
    present |= {departure.path for departure in given.memory.evicted if turn - departure.turn < cooldown}
    actions: list[RoutingAction] = []
    for path in dict.fromkeys(recent[-1].paths):
        n_hits = hits_in_a_row(path, recent)
        if path in present or n_hits < settings.hysteresis.promote_after_hits:
            continue
        fits = _size(path, given).full <= free
        free -= _size(path, given).full if fits else 0
        actions.append(
            RoutingAction(
                ActionKind.PROMOTE,
                path,
                f"found by {n_hits} retrievals in a row",
                Mode.FULL if fits else Mode.DIGEST,
            )
        )
    return actions


def _predicted(given: RoutingInput, settings: RoutingSettings) -> list[RoutingAction]:
    """Return promotions to digest for the files outside that the signals point to most strongly."""
    memory = given.memory
    barred = {entry.path for entry in memory.files} | {departure.path for departure in memory.evicted}
    doubts: dict[str, float] = {}
    reasons: dict[str, Signal] = {}
    for signal in (*given.signals, *_named(given)):
        if signal.path in barred:
            continue
        doubts[signal.path] = doubts.get(signal.path, 1.0) * (1 - min(1.0, max(0.0, signal.weight)))
        if signal.path not in reasons or signal.weight > reasons[signal.path].weight:
            reasons[signal.path] = signal
    free = settings.max_predicted_files - sum(entry.predicted for entry in memory.files)
    strong = sorted((doubt, path) for path, doubt in doubts.items() if 1 - doubt >= settings.least_signal)
    return [
        RoutingAction(ActionKind.PROMOTE, path, f"predicted: {reasons[path].why}", Mode.DIGEST)
        for _, path in strong[: max(0, free)]
    ]


def _named(given: RoutingInput) -> Iterator[Signal]:
    """Yield a sign for each file that a search, run or listing of this turn or the last named among its first."""
    for operation in given.operations:
        if operation.kind in NAMING_KINDS and given.memory.turn - operation.turn <= 1:
            for path in operation.paths[:MAX_NAMED]:
                yield Signal(path, NAMED_WEIGHT, f"named by a {operation.kind}")
