"""Session state: everything that must survive between turns, processes and days, as one value."""

from dataclasses import dataclass, field

import msgspec

from codecards.errors import StateFileError
from codecards.router.memory.ledger import (
    LedgerSummary,
    LineUse,
    ShownLines,
    TokenLedger,
    effective_ratio,
    summarise_ledgers,
)
from codecards.router.memory.operations import Operation
from codecards.router.memory.window import Window
from codecards.router.memory.working_memory import TaskState, WorkingMemory
from codecards.router.session_defaults import DEFAULT_BUDGET_TOKENS, DEFAULT_PROFILE

FORMAT = 1


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """What a new session is started with."""

    goal: str
    constraints: tuple[str, ...] = ()
    """What must hold: "do not touch the migrations"."""
    budget_tokens: int = DEFAULT_BUDGET_TOKENS
    """Upper limit of each context."""
    profile: str = DEFAULT_PROFILE
    """A name of `codecards.router.profiles.PROFILES`."""
    parent: str = ""
    """For a sub-agent: the session that started this one."""


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """A question that was asked, and its answer."""

    query: str
    turn: int
    found: tuple[str, ...] = ()
    """Anchors of the hits."""
    generation: str = ""
    """Generation of the index that answered; a later one may answer better."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """The state of one session."""

    name: str
    memory: WorkingMemory
    budget_tokens: int
    created: str
    """ISO 8601 in UTC."""
    updated: str
    revision: int = 0
    """Counts the writes, so that a process notices another one's write."""
    profile: str = DEFAULT_PROFILE
    operations: tuple[Operation, ...] = ()
    window: Window = field(default_factory=Window)
    ledgers: tuple[TokenLedger, ...] = ()
    supplied: tuple[ShownLines, ...] = ()
    uses: tuple[LineUse, ...] = ()
    asked: tuple[PastQuestion, ...] = ()
    """Oldest first."""
    outcome: str = ""
    """"" while the session runs; "done", "failed" … once it has ended."""
    parent: str = ""
    """For a sub-agent: the session that started this one."""
    format: int = FORMAT


def new_state(name: str, task: TaskSpec, now: str) -> SessionState:
    """Return the state of a session that starts now (ISO 8601 in UTC)."""
    memory = WorkingMemory(TaskState(task.goal, constraints=task.constraints))
    return SessionState(name, memory, task.budget_tokens, now, now, profile=task.profile, parent=task.parent)


def report_of(state: SessionState) -> tuple[LedgerSummary, float | None, tuple[str, ...]]:
    """Return the tokens of the turns, the share of the shown lines that was used, and alarms."""
    ratio = effective_ratio(state.supplied, state.uses)
    # Lines of the current turn can't have been used yet, so they must not raise an alarm.
    earlier = [piece for piece in state.supplied if piece.turn < state.memory.turn]
    alarms = state.ledgers[-1].alarms(effective_ratio(earlier, state.uses)) if state.ledgers else ()
    return summarise_ledgers(state.ledgers), ratio, alarms


def encode_state(state: SessionState) -> bytes:
    """Return the state as JSON."""
    return msgspec.json.format(msgspec.json.encode(state), indent=1)


def decode_state(data: bytes, name: str) -> SessionState:
    """Return the state of a file.

    Args:
        data: The file's content.
        name: Names the file in errors.

    Raises:
        StateFileError: The file is damaged, or has another format.
    """
    try:
        head = msgspec.json.decode(data, type=dict[str, object])
        found = head.get("format", FORMAT)
        if found != FORMAT:
            raise StateFileError(
                f"{name} has format {found}; this version reads {FORMAT}. The file was left unchanged."
            )
        memory = head.get("memory")
        if isinstance(memory, dict) and "forgotten" in memory:  # the earlier name of evictions
            memory["evicted"] = memory.pop("forgotten")
        return msgspec.convert(head, type=SessionState)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StateFileError(f"{name} is damaged: {error}") from error
