"""Trace: what made a turn, kept so that it can be looked at and taken again, with the same settings or with others.

Opt-in and local: a folder beside the session's state with lines of JSON, and each text once; it can be deleted at any time.
Of a long session the last turns are kept.
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
"""Of a session; a turn takes some 50 KB, less what it shares with others."""
PRUNE_EVERY = 50
"""Turns between two looks for what is too old."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TurnTrace:
    """One turn that was taken."""

    turn: int
    taken: str
    """ISO 8601 in UTC."""
    took_ms: float
    ledger: TokenLedger
    """The blocks with their tokens, sources and positions; the version of the settings that made them."""
    actions: tuple[RoutingAction, ...]
    """All decisions of the router, the `keep`s too."""
    left_out: tuple[str, ...]
    """What the budget had no room for."""
    outcomes: tuple[ItemOutcome, ...]
    """What became of each thing that the turn had at hand."""
    state: str
    """Handle of the session's state before the turn."""
    given: str
    """Handle of what the project said."""
    blocks: str
    """Handle of the blocks with their texts."""


@dataclass(frozen=True, slots=True)
class _Given:
    """A turn's input, with texts by handle."""

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
    """A turn as it was taken, for tracing."""

    before: SessionState
    given: TurnInput
    result: TurnResult
    taken: str
    took_ms: float


def write_trace(store: SessionStore, turn: TurnRecord) -> None:
    """Keep a turn; call it under the session's lock. A trace that can't be written is logged, and the turn goes on."""
    try:
        _write(store, turn)
    except StateFileError as error:
        logger.warning("turn not traced", extra={"session": turn.before.name, "detail": str(error)})


def read_trace(store: SessionStore, name: str) -> list[TurnTrace]:
    """Return the turns that were traced, oldest first, none if tracing was off.

    A line that a crash left half-written is passed over. A turn that was taken again, from a restored state, is there
    twice.
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
    """Return the blocks of a traced turn with their texts, as the model was given them.

    Raises:
        TargetNotFoundError: They were deleted.
    """
    return msgspec.json.decode(store.restore(name, trace.blocks, shelf=TRACE), type=tuple[Block, ...])


def replay_turn(store: SessionStore, name: str, trace: TurnTrace, settings: TurnSettings | None = None) -> TurnResult:
    """Take a traced turn again, and return what it gives; nothing is written.

    With the settings of then the context is the same, byte for byte; with others it shows what they would have done.

    Raises:
        TargetNotFoundError: Something of the trace was deleted.
        StateFileError: The state was written by another version.
    """
    state = decode_state(store.restore(name, trace.state, shelf=TRACE).encode(), f"the state before turn {trace.turn}")
    try:
        given = msgspec.json.decode(store.restore(name, trace.given, shelf=TRACE), type=_Given)
    except msgspec.DecodeError as error:
        raise StateFileError(f"the input of turn {trace.turn} is damaged: {error}") from error
    return run_turn(state, _restored(store, name, given), settings or TurnSettings())


def log_turn(name: str, result: TurnResult, took_ms: float) -> None:
    """Log a turn and the router's switches in it, without any text of the project."""
    context = result.context
    about = {"session": name, "turn": context.turn}
    for action in result.actions:
        if action.kind is not ActionKind.KEEP:
            mode = action.mode.value if action.mode else "out"
            logger.info(
                "switch", extra=about | {"path": action.path, "to": mode, "kind": action.kind, "why": action.reason}
            )
    logger.info(
        "turn",
        extra=about
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
        _kept(store, name, _encoded(_recorded(store, name, turn.given))),
        _kept(store, name, _encoded(context.blocks)),
    )
    append_line(store.trace_path(name), msgspec.json.encode(trace))
    if context.turn % PRUNE_EVERY == 0:
        _prune(store, name)


def _prune(store: SessionStore, name: str) -> None:
    """Forget all but the last turns, and the texts that only older ones had."""
    traces = read_trace(store, name)
    if len(traces) <= KEPT_TURNS:
        return
    kept = traces[-KEPT_TURNS:]
    write_atomic(store.trace_path(name), b"".join(msgspec.json.encode(trace) + b"\n" for trace in kept))
    needed = {handle for trace in kept for handle in (trace.state, trace.given, trace.blocks)}
    for trace in kept:
        with suppress(TargetNotFoundError, msgspec.DecodeError):  # somebody deleted or damaged it
            given = msgspec.json.decode(store.restore(name, trace.given, shelf=TRACE), type=_Given)
            needed |= {text[0] for text in given.texts.values() if text is not None}
    store.forget(name, needed, shelf=TRACE)


def _recorded(store: SessionStore, name: str, given: TurnInput) -> _Given:
    texts = {
        path: None if text is None else (_kept(store, name, text.text), text.text_hash)
        for path, text in given.texts.items()
    }
    # All digests, for other settings may ask for those of other files.
    digests = {path: given.digest(path, text.text) for path, text in given.texts.items() if text is not None}
    return _Given(
        texts,
        digests,
        given.user_input,
        given.signals,
        given.references,
        given.segments,
        given.environment,
        given.tool_schema,
    )


def _restored(store: SessionStore, name: str, given: _Given) -> TurnInput:
    texts = {
        path: None if kept is None else FileText(store.restore(name, kept[0], shelf=TRACE), kept[1])
        for path, kept in given.texts.items()
    }
    return TurnInput(
        texts,
        _KnownDigests(given.digests).digest,
        given.user_input,
        given.signals,
        given.references,
        given.segments,
        given.environment,
        given.tool_schema,
    )


@dataclass(frozen=True, slots=True)
class _KnownDigests:
    """Gives the digests that were recorded."""

    digests: Mapping[str, str]
    otherwise: OutlineDigester = field(default_factory=OutlineDigester)

    def digest(self, path: str, text: str) -> str:
        return self.digests[path] if path in self.digests else self.otherwise.digest(path, text)


def _encoded(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _kept(store: SessionStore, name: str, text: str) -> str:
    return store.keep(name, text, shelf=TRACE)
