"""Session state: all that must survive between two turns, two processes or two days, as one value."""

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
from codecards.router.memory.working_memory import WorkingMemory
from codecards.router.session_defaults import DEFAULT_PROFILE

FORMAT = 1


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """A question that was asked, and what it brought."""

    query: str
    turn: int
    found: tuple[str, ...] = ()
    """Anchors of the hits."""
    generation: str = ""
    """State of the index when it was asked: a later one may answer better."""


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
    """Counts the writes: two processes see by it that the other one wrote."""
    profile: str = DEFAULT_PROFILE
    operations: tuple[Operation, ...] = ()
    window: Window = field(default_factory=Window)
    ledgers: tuple[TokenLedger, ...] = ()
    supplied: tuple[ShownLines, ...] = ()
    uses: tuple[LineUse, ...] = ()
    asked: tuple[PastQuestion, ...] = ()
    outcome: str = ""
    """"" while it runs; "done", "failed" … once it has ended."""
    parent: str = ""
    """The session that this one was made for, for sub-agents."""
    format: int = FORMAT


def report_of(state: SessionState) -> tuple[LedgerSummary, float | None, tuple[str, ...]]:
    """Return a session's tokens by turn, the share of the shown lines that was used, and alarms."""
    ratio = effective_ratio(state.supplied, state.uses)
    # What was shown only now had no time to be used: it is no reason for an alarm.
    earlier = [piece for piece in state.supplied if piece.turn < state.memory.turn]
    alarms = state.ledgers[-1].alarms(effective_ratio(earlier, state.uses)) if state.ledgers else ()
    return summarise_ledgers(state.ledgers), ratio, alarms


def encode_state(state: SessionState) -> bytes:
    """Return the state as JSON."""
    return msgspec.json.format(msgspec.json.encode(state), indent=1)


def decode_state(data: bytes, name: str) -> SessionState:
    """Return the state of a file.

    Raises:
        StateFileError: It is damaged, or of another format.
    """
    try:
        head = msgspec.json.decode(data, type=dict[str, object])
        found = head.get("format", FORMAT)
        if found != FORMAT:
            raise StateFileError(f"{name} has format {found}; this version reads {FORMAT}. It was left as it is.")
        return msgspec.json.decode(data, type=SessionState)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StateFileError(f"{name} is damaged: {error}") from error
