"""Decides how each file is shown: a pure function from working memory and operations to keep, promote and demote.

A file is outside the working memory, a digest, or full; promote and demote move it between these. Rules always apply.
Predictions are weak evidence, and can only add a file as a digest.
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
    may_evict,
    may_promote,
)
from codecards.router.ports import NAMED_WEIGHT, Signal

MAX_NAMED = 3
"""Files of one operation that count as named; only the first of many hits are informative."""


class ActionKind(StrEnum):
    """The router's decision about a file."""

    KEEP = "keep"
    PROMOTE = "promote"
    DEMOTE = "demote"


@dataclass(frozen=True, slots=True)
class RoutingAction:
    """A decision, with its reason for the agent and the panel."""

    kind: ActionKind
    path: str
    reason: str = ""
    mode: Mode | None = None
    """Mode after the decision; None if the file leaves the working memory."""


@dataclass(frozen=True, slots=True)
class FileSize:
    """Tokens of a file in each mode."""

    full: int
    """Tokens of the whole file, or of an excerpt if the file is large."""
    digest: int


@dataclass(frozen=True, slots=True)
class RoutingInput:
    """Everything that decisions depend on; equal inputs give equal actions."""

    memory: WorkingMemory
    operations: Sequence[Operation] = ()
    """Oldest first."""
    sizes: Mapping[str, FileSize] | None = None
    """Path → size; a file without a size costs nothing."""
    changed: frozenset[str] = frozenset()
    """Files whose text on disk has changed since the last turn."""
    signals: Sequence[Signal] = ()
    files_budget_tokens: int = 6_000
    """Tokens for full files."""
    is_test: Callable[[str], bool] = lambda path: "test" in path.lower()
    """Returns whether a path is a test file; must be pure."""


@dataclass(frozen=True, slots=True)
class RoutingSettings:
    """Thresholds of the router."""

    hysteresis: HysteresisSettings = field(default_factory=HysteresisSettings)
    stage_idle_turns: int = 2
    """While testing, a full source file is demoted after more than so many turns without access."""
    min_signal: float = 0.5
    """The signals of one file combine to 1 - Π(1 - weight); a file below this value is not predicted."""
    max_predicted_files: int = 6
    """Most predicted files in the working memory."""
    min_full_relevance: float = 0.2
    """A less relevant file is not promoted to full, however often it is found."""


def route(inputs: RoutingInput, settings: RoutingSettings | None = None) -> tuple[RoutingAction, ...]:
    """Return at most one action per file: first the files of the working memory in their order, then new files."""
    settings = settings or RoutingSettings()
    actions: dict[str, RoutingAction] = {}
    for entry in inputs.memory.files:
        actions[entry.path] = _rule(entry, inputs, settings)
    _cancel_oversized_promotions(actions, inputs)
    _make_room(actions, inputs, settings.hysteresis)
    free_tokens = inputs.files_budget_tokens - _full_tokens(actions, inputs)
    for action in (*_found(inputs, settings, free_tokens), *_predicted(inputs, settings)):
        actions.setdefault(action.path, action)
    return tuple(actions.values())


def apply(memory: WorkingMemory, actions: Sequence[RoutingAction]) -> WorkingMemory:
    """Return the memory after all actions.

    Raises:
        ValueError: Two actions are about one file, or an action demotes or keeps a file that is not in the memory.
    """
    if len({action.path for action in actions}) != len(actions):
        raise ValueError("There can be only one action per file.")
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
        # A predicted file starts no cooldown, so that two hits in a row can promote it at once.
        switched = None if entry.predicted and action.mode is Mode.DIGEST else memory.turn
        memory = with_file(memory, replace(entry, mode=action.mode, last_switch_turn=switched, why=action.reason))
    return memory


def _rule(entry: MemoryFile, inputs: RoutingInput, settings: RoutingSettings) -> RoutingAction:
    """Return the action of the first rule that applies to a file of the working memory."""
    turn, thresholds = inputs.memory.turn, settings.hysteresis
    n_hits = hits_in_a_row(entry.path, inputs.operations, entry.last_switch_turn)
    if may_promote(entry, n_hits, turn, thresholds) and entry.relevance >= settings.min_full_relevance:
        return _promote(entry, f"found by {n_hits} retrievals in a row")
    if _wanted_by_stage(entry, inputs, thresholds):
        return _promote(entry, f"changed in this task, and the stage is now {inputs.memory.task.status}")
    if may_demote(entry, turn, thresholds):
        return _demote(entry, f"no access for {idle_turns(entry, turn)} turns")
    if _unwanted_by_stage(entry, inputs, settings):
        return _demote(entry, "source file, not used while testing")
    if may_evict(entry, turn, thresholds):
        reason = f"digest without access for {idle_turns(entry, turn)} turns"
        return RoutingAction(ActionKind.DEMOTE, entry.path, reason, None)
    reason = "changed on disk, refreshed" if entry.path in inputs.changed else ""
    return RoutingAction(ActionKind.KEEP, entry.path, reason, entry.mode)


def _promote(entry: MemoryFile, reason: str) -> RoutingAction:
    return RoutingAction(ActionKind.PROMOTE, entry.path, reason, Mode.FULL)


def _demote(entry: MemoryFile, reason: str) -> RoutingAction:
    return RoutingAction(ActionKind.DEMOTE, entry.path, reason, Mode.DIGEST)


def _wanted_by_stage(entry: MemoryFile, inputs: RoutingInput, thresholds: HysteresisSettings) -> bool:
    """Return whether the stage that has just begun needs the file in full.

    Only the turn in which the stage begins counts. A permanent rule would undo each demotion of an idle file.
    """
    task, turn = inputs.memory.task, inputs.memory.turn
    return (
        entry.mode is Mode.DIGEST
        and task.status == "implementing"
        and 0 <= turn - task.status_since_turn <= 1
        and any(change.path == entry.path for change in inputs.memory.changes)
        and is_settled(entry, turn, thresholds)
    )


def _unwanted_by_stage(entry: MemoryFile, inputs: RoutingInput, settings: RoutingSettings) -> bool:
    turn = inputs.memory.turn
    return (
        inputs.memory.task.status == "testing"
        and entry.mode is Mode.FULL
        and not entry.pinned
        and not inputs.is_test(entry.path)
        and idle_turns(entry, turn) > settings.stage_idle_turns
        and is_settled(entry, turn, settings.hysteresis)
    )


def _full_tokens(actions: Mapping[str, RoutingAction], inputs: RoutingInput) -> int:
    return sum(_size(path, inputs).full for path, action in actions.items() if action.mode is Mode.FULL)


def _size(path: str, inputs: RoutingInput) -> FileSize:
    return (inputs.sizes or {}).get(path, FileSize(0, 0))


def _cancel_oversized_promotions(actions: dict[str, RoutingAction], inputs: RoutingInput) -> None:
    """Replace promotions that do not fit by keeps; otherwise the files would have to leave again at once."""
    entries = {entry.path: entry for entry in inputs.memory.files}
    promoted = sorted(
        (path for path, action in actions.items() if action.kind is ActionKind.PROMOTE),
        key=lambda path: (entries[path].relevance, entries[path].last_access_turn, path),
    )
    for path in promoted:
        if _full_tokens(actions, inputs) <= inputs.files_budget_tokens:
            return
        actions[path] = RoutingAction(
            ActionKind.KEEP,
            path,
            f"would be promoted, but its {_size(path, inputs).full} tokens do not fit",
            Mode.DIGEST,
        )


def _make_room(actions: dict[str, RoutingAction], inputs: RoutingInput, thresholds: HysteresisSettings) -> None:
    """Demote the least recently used files while the full files exceed the budget.

    Files in their cooldown stay full. Assembly then shows an excerpt of them, which is not a switch.
    """
    turn = inputs.memory.turn
    settled = [
        entry
        for entry in inputs.memory.files
        if actions[entry.path].mode is Mode.FULL
        and actions[entry.path].kind is ActionKind.KEEP
        and not entry.pinned
        and idle_turns(entry, turn) > 0
        and is_settled(entry, turn, thresholds)
    ]
    for entry in sorted(settled, key=lambda entry: (entry.last_access_turn, entry.relevance, entry.path)):
        if _full_tokens(actions, inputs) <= inputs.files_budget_tokens:
            return
        actions[entry.path] = _demote(entry, "no room in full, least recent use")


def _found(inputs: RoutingInput, settings: RoutingSettings, free: int) -> list[RoutingAction]:
    """Return promotions for files outside the memory that the latest retrieval, of this turn or the last, found."""
    recent = [operation for operation in inputs.operations if operation.kind in RETRIEVAL_KINDS]
    if not recent or inputs.memory.turn - recent[-1].turn > 1:
        return []
    turn, cooldown = inputs.memory.turn, settings.hysteresis.cooldown_turns
    present = {entry.path for entry in inputs.memory.files}
    present |= {eviction.path for eviction in inputs.memory.evicted if turn - eviction.turn < cooldown}
    actions: list[RoutingAction] = []
    for path in dict.fromkeys(recent[-1].paths):
        n_hits = hits_in_a_row(path, recent)
        if path in present or n_hits < settings.hysteresis.promote_after_hits:
            continue
        fits = _size(path, inputs).full <= free
        free -= _size(path, inputs).full if fits else 0
        actions.append(
            RoutingAction(
                ActionKind.PROMOTE,
                path,
                f"found by {n_hits} retrievals in a row",
                Mode.FULL if fits else Mode.DIGEST,
            )
        )
    return actions


def _predicted(inputs: RoutingInput, settings: RoutingSettings) -> list[RoutingAction]:
    """Return promotions to digest for the files outside the memory that have the strongest signals."""
    memory = inputs.memory
    barred = {entry.path for entry in memory.files} | {eviction.path for eviction in memory.evicted}
    doubts: dict[str, float] = {}
    reasons: dict[str, Signal] = {}
    for signal in (*inputs.signals, *_named(inputs)):
        if signal.path in barred:
            continue
        doubts[signal.path] = doubts.get(signal.path, 1.0) * (1 - min(1.0, max(0.0, signal.weight)))
        if signal.path not in reasons or signal.weight > reasons[signal.path].weight:
            reasons[signal.path] = signal
    free = settings.max_predicted_files - sum(entry.predicted for entry in memory.files)
    strong = sorted((doubt, path) for path, doubt in doubts.items() if 1 - doubt >= settings.min_signal)
    return [
        RoutingAction(ActionKind.PROMOTE, path, f"predicted: {reasons[path].why}", Mode.DIGEST)
        for _, path in strong[: max(0, free)]
    ]


def _named(inputs: RoutingInput) -> Iterator[Signal]:
    """Yield a signal for each of the first files that a search, run or listing of this turn or the last named."""
    for operation in inputs.operations:
        if operation.kind in NAMING_KINDS and inputs.memory.turn - operation.turn <= 1:
            for path in operation.paths[:MAX_NAMED]:
                yield Signal(path, NAMED_WEIGHT, f"named by a {operation.kind}")
