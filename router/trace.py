"""Traces: turns stored with their inputs, so that they can be inspected and replayed, also with other settings.

Tracing is opt-in and local. A trace is a folder next to the session's state, with one JSON line per turn and each text
stored once; the folder can be deleted at any time. Only the last turns of a long session are kept.
"""

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from codecards.errors import StateFileError, TargetNotFoundError
from codecards.indexer.atomic_files import append_line, write_atomic
from codecards.router.assemble.context import Block, ItemOutcome, MemorySegment
from codecards.router.compress.digests import OutlineDigester
from codecards.router.memory.ledger import TokenLedger
from codecards.router.memory.state import SessionState, decode_state, encode_state
from codecards.router.memory.store import TRACE, SessionStore
from codecards.router.policy.routing import ActionKind, RoutingAction
from codecards.router.ports import FileText, FoldedHit, Signal
from codecards.router.turn import TurnInput, TurnResult, TurnSettings, run_turn

KEPT_TURNS = 300
"""Per session. A turn takes about 50 KB, less the texts that it shares with other turns."""
PRUNE_EVERY = 50
"""Turns between two deletions of old traces."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TurnTrace:
    """The trace of one turn."""

    turn: int
    taken: str
    """Time of the turn, ISO 8601 in UTC."""
    took_ms: float
    ledger: TokenLedger
    """The blocks with their tokens, sources and positions, and the version of the settings."""
    actions: tuple[RoutingAction, ...]
    """All decisions of the router, including each `keep`."""
    left_out: tuple[str, ...]
    """Items that did not fit the budget."""
    outcomes: tuple[ItemOutcome, ...]
    """One outcome for each item that the turn had available."""
    state: str
    """Handle of the session state before the turn."""
    given: str
    """Handle of the turn's input."""
    blocks: str
    """Handle of the blocks with their texts."""


@dataclass(frozen=True, slots=True)
class _StoredInput:
    """A turn's input, with its texts replaced by handles."""

    texts: Mapping[str, tuple[str, str] | None]
    """Path → (handle, hash)."""
    digests: Mapping[str, str]
    user_input: str
    signals: Sequence[Signal]
    references: Sequence[FoldedHit]
    segments: Sequence[MemorySegment]
    environment: Mapping[str, str]
    tool_schema: str


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A turn as it ran, to be traced."""

    before: SessionState
    turn_input: TurnInput
    result: TurnResult
    taken: str
    took_ms: float


def write_trace(store: SessionStore, turn: TurnRecord) -> None:
    """Store the trace of a turn; call it under the session's lock. If it can't be written, a warning is logged."""
    try:
        _write(store, turn)
    except StateFileError as error:
        logger.warning("turn not traced", extra={"session": turn.before.name, "detail": str(error)})


def read_trace(store: SessionStore, name: str) -> list[TurnTrace]:
    """Return the traced turns, oldest first; none if tracing was off.

    Lines that can't be read, such as one cut off by a crash, are skipped. A turn that ran again from a restored state
    appears twice.
    """
    path = store.trace_path(name)
    traces = []
    for line in path.read_bytes().splitlines() if path.exists() else []:
        try:
            traces.append(msgspec.json.decode(line, type=TurnTrace))
        except msgspec.DecodeError:
            continue
    return traces


def traced_blocks(store: SessionStore, name: str, trace: TurnTrace) -> tuple[Block, ...]:
    """Return the blocks of a traced turn with the texts that the model received.

    Raises:
        TargetNotFoundError: The blocks were deleted.
    """
    return msgspec.json.decode(store.restore(name, trace.blocks, shelf=TRACE), type=tuple[Block, ...])


def replay_turn(store: SessionStore, name: str, trace: TurnTrace, settings: TurnSettings | None = None) -> TurnResult:
    """Run a traced turn again, and return the result; nothing is written.

    With the original settings the context is the same byte for byte; other settings show what they would have done.

    Raises:
        TargetNotFoundError: A part of the trace was deleted.
        StateFileError: The state was written by another version.
    """
    state = decode_state(store.restore(name, trace.state, shelf=TRACE).encode(), f"the state before turn {trace.turn}")
    try:
        stored = msgspec.json.decode(store.restore(name, trace.given, shelf=TRACE), type=_StoredInput)
    except msgspec.DecodeError as error:
        raise StateFileError(f"the input of turn {trace.turn} is damaged: {error}") from error
    return run_turn(state, _restored(store, name, stored), settings or TurnSettings())


def log_turn(name: str, result: TurnResult, took_ms: float) -> None:
    """Log a turn and the router's switches in it, without any text of the project."""
    context = result.context
    common = {"session": name, "turn": context.turn}
    for action in result.actions:
        if action.kind is not ActionKind.KEEP:
            mode = action.mode.value if action.mode else "out"
            logger.info(
                "switch", extra=common | {"path": action.path, "to": mode, "kind": action.kind, "why": action.reason}
            )
    logger.info(
        "turn",
        extra=common
        | {
            "tokens": context.ledger.total_tokens,
            "budget": context.ledger.budget_tokens,
            "blocks": len(context.blocks),
            "left_out": len(context.left_out),
            "version": context.version,
            "took_ms": round(took_ms, 1),
        },
    )


def _write(store: SessionStore, turn: TurnRecord) -> None:
    name, context = turn.before.name, turn.result.context
    trace = TurnTrace(
        context.turn,
        turn.taken,
        round(turn.took_ms, 1),
        context.ledger,
        turn.result.actions,
        context.left_out,
        context.outcomes,
        _kept(store, name, encode_state(turn.before).decode()),
        _kept(store, name, _encoded(_stored(store, name, turn.turn_input))),
        _kept(store, name, _encoded(context.blocks)),
    )
    append_line(store.trace_path(name), msgspec.json.encode(trace))
    if context.turn % PRUNE_EVERY == 0:
        _prune(store, name)


def _prune(store: SessionStore, name: str) -> None:
    """Delete the traces of all but the last turns, and the texts that only older turns used."""
    traces = read_trace(store, name)
    if len(traces) <= KEPT_TURNS:
        return
    kept = traces[-KEPT_TURNS:]
    write_atomic(store.trace_path(name), b"".join(msgspec.json.encode(trace) + b"\n" for trace in kept))
    needed = {handle for trace in kept for handle in (trace.state, trace.given, trace.blocks)}
    for trace in kept:
        with suppress(TargetNotFoundError, msgspec.DecodeError):  # the input was deleted or damaged
            stored = msgspec.json.decode(store.restore(name, trace.given, shelf=TRACE), type=_StoredInput)
            needed |= {text[0] for text in stored.texts.values() if text is not None}
    store.forget(name, needed, shelf=TRACE)


def _stored(store: SessionStore, name: str, turn_input: TurnInput) -> _StoredInput:
    texts = {
        path: None if text is None else (_kept(store, name, text.text), text.text_hash)
        for path, text in turn_input.texts.items()
    }
    # The digests of all files are stored, since a replay with other settings may show other files.
    digests = {path: turn_input.digest(path, text.text) for path, text in turn_input.known_texts().items()}
    return _StoredInput(
        texts,
        digests,
        turn_input.user_input,
        turn_input.signals,
        turn_input.references,
        turn_input.segments,
        turn_input.environment,
        turn_input.tool_schema,
    )


def _restored(store: SessionStore, name: str, stored: _StoredInput) -> TurnInput:
    texts = {
        path: None if kept is None else FileText(store.restore(name, kept[0], shelf=TRACE), kept[1])
        for path, kept in stored.texts.items()
    }
    return TurnInput(
        texts,
        _KnownDigests(stored.digests).digest,
        stored.user_input,
        stored.signals,
        stored.references,
        stored.segments,
        stored.environment,
        stored.tool_schema,
    )


@dataclass(frozen=True, slots=True)
class _KnownDigests:
    """Returns the digests that were stored, and outlines of other files."""

    digests: Mapping[str, str]
    fallback: OutlineDigester = field(default_factory=OutlineDigester)

    def digest(self, path: str, text: str) -> str:
        return self.digests[path] if path in self.digests else self.fallback.digest(path, text)


def _encoded(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _kept(store: SessionStore, name: str, text: str) -> str:
    return store.keep(name, text, shelf=TRACE)
