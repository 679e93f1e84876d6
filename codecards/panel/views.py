"""The values that the panel shows of a session, read from disk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from codecards.errors import TargetNotFoundError
from codecards.router.assemble.context import Block, Context
from codecards.router.memory.ledger import CATEGORIES, SHARES, LedgerSummary, TokenLedger
from codecards.router.memory.state import SessionState, report_of
from codecards.router.memory.store import SessionStore
from codecards.router.memory.working_memory import MemoryFile, WorkingMemory
from codecards.router.policy.routing import ActionKind, RoutingAction
from codecards.router.trace import TurnTrace, read_trace, traced_blocks

MAX_FILE_ROWS = 60
"""Maximum number of files in the chart, latest used first."""
OUT = "out"
MIN_FOLDED = 4
"""From so many successive messages, the list of blocks folds them into one line."""


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole."""

    name: str
    tokens: int
    share: float
    """0 to 1."""


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A block of a context."""

    position: int
    """1-based, from the top of the context."""
    name: str
    category: str
    source: str
    tokens: int
    share: float
    """Share of the tokens of all blocks, 0 to 1."""
    start: float
    """Start on the bar: share of the tokens before the block, 0 to 1."""
    text: str | None
    """The text for the model; None if the turn was not traced."""


@dataclass(frozen=True, slots=True)
class TurnView:
    """The context of a turn; the fields are those of `turn.json`."""

    turn: int
    is_next: bool
    """Whether this is a preview of the next turn."""
    taken: str
    """Time of the turn, ISO 8601; "" if unknown."""
    version: str
    budget_tokens: int
    total_tokens: int
    blocks: tuple[BlockRow, ...]
    categories: tuple[Share, ...]
    actions: tuple[RoutingAction, ...]
    """The router's decisions that have a reason."""
    left_out: tuple[str, ...]
    """Items without room in the budget."""

    @property
    def runs(self) -> tuple[tuple[BlockRow, ...], ...]:
        """The blocks as listed: successive messages in one group, every other block alone."""
        found: list[tuple[BlockRow, ...]] = []
        for name, group in groupby(self.blocks, key=lambda block: block.name):
            rows = tuple(group)
            found += [rows] if name == "recent" and len(rows) >= MIN_FOLDED else [(row,) for row in rows]
        return tuple(found)

    @property
    def filled(self) -> float:
        """Used share of the budget, 0 to 1."""
        return min(1.0, self.total_tokens / self.budget_tokens) if self.budget_tokens else 1.0


@dataclass(frozen=True, slots=True)
class Cell:
    """The mode of a file after a turn."""

    turn: int
    mode: str
    """"full", "digest" or "out"."""
    why: str = ""
    """The reason if the mode changed in this turn."""


@dataclass(frozen=True, slots=True)
class ModeChange:
    """A change of a file's mode."""

    turn: int
    path: str
    before: str
    after: str
    why: str


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file's modes over the turns."""

    path: str
    entry: MemoryFile | None
    """The present entry; None if the file was evicted."""
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class FilesView:
    """All files over the turns."""

    turns: tuple[int, ...]
    rows: tuple[FileRow, ...]
    n_more: int
    """Number of files that are not in the chart."""
    switches: tuple[ModeChange, ...]
    """Newest first."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """The tokens of a turn."""

    turn: int
    total_tokens: int
    budget_tokens: int
    shares: tuple[Share, ...]
    """The four shares, relative to the budget or the peak, whichever is larger."""
    kept: bool
    """Whether the turn's blocks are stored."""


@dataclass(frozen=True, slots=True)
class SessionView:
    """The page of a session."""

    state: SessionState
    shown: TurnView | None
    """None before the first turn."""
    files: FilesView
    ledger: tuple[LedgerRow, ...]
    summary: LedgerSummary
    effective_ratio: float | None
    alarms: tuple[str, ...]
    traced: bool
    """Whether any turn was traced."""


def session_view(
    store: SessionStore, name: str, *, turn: int | None = None, upcoming: Context | None = None
) -> SessionView:
    """Return the view of a session.

    Args:
        store: The project's sessions.
        name: The session.
        turn: The turn to show; by default the latest.
        upcoming: A preview of the next turn to show instead.

    Raises:
        TargetNotFoundError: There is no such session, or its turn is not stored.
        StateFileError: The state is damaged, or has a newer format.
    """
    state = store.read(name)
    kept = store.kept_turns(name)
    states = [store.state_after(name, number) for number in kept]
    traces = {trace.turn: trace for trace in read_trace(store, name)}
    if upcoming is not None:
        shown: TurnView | None = _upcoming(upcoming)
    elif turn is None and not kept:
        shown = None
    else:
        wanted = kept[-1] if turn is None else turn
        if wanted not in kept:
            raise TargetNotFoundError(f"{name} turn {wanted}", what="stored turn")
        shown = _stored_turn(store, name, states[kept.index(wanted)].ledgers[-1], traces.get(wanted))
    summary, ratio, alarms = report_of(state)
    return SessionView(
        state,
        shown,
        files_view(states, state.memory, traces),
        _ledger_rows(state.ledgers, set(kept)),
        summary,
        ratio,
        alarms,
        bool(traces),
    )


def files_view(states: Sequence[SessionState], now: WorkingMemory, traces: Mapping[int, TurnTrace]) -> FilesView:
    """Return each file's mode after each stored turn and now, with the reason of every change.

    Args:
        states: The states after each stored turn, oldest first.
        now: The present working memory, after later tool calls.
        traces: Turn -> its trace, which has reasons that states no longer have.
    """
    memories = [state.memory for state in states]
    if not memories or memories[-1] != now:
        memories.append(now)
    before = [WorkingMemory(now.task) if memories[0].turn <= 1 else memories[0], *memories]
    switches = []
    for old, new in pairwise(before):
        actions = traces[new.turn].actions if new.turn in traces else ()
        switches += _switches(old, new, actions)
    why = {(one.turn, one.path): one.why for one in switches}
    paths = dict.fromkeys(entry.path for memory in memories[::-1] for entry in memory.files)
    last_use = {entry.path: entry.last_access_turn for memory in memories for entry in memory.files}
    ordered = sorted(paths, key=lambda path: (now.entry(path) is None, -last_use[path]))
    rows = tuple(
        FileRow(
            path,
            now.entry(path),
            tuple(Cell(memory.turn, _mode(memory, path), why.get((memory.turn, path), "")) for memory in memories),
        )
        for path in ordered[:MAX_FILE_ROWS]
    )
    turns = tuple(memory.turn for memory in memories)
    return FilesView(turns, rows, max(0, len(ordered) - MAX_FILE_ROWS), tuple(reversed(switches)))


def _switches(old: WorkingMemory, new: WorkingMemory, actions: Sequence[RoutingAction]) -> list[ModeChange]:
    decided = {action.path: action.reason for action in actions if action.kind is not ActionKind.KEEP}
    evicted = {eviction.path: eviction.why for eviction in new.evicted}
    found = []
    for path in dict.fromkeys(entry.path for entry in (*old.files, *new.files)):
        before, after = _mode(old, path), _mode(new, path)
        if before == after:
            continue
        entry = new.entry(path)
        why = decided.get(path) or (entry.why if entry else evicted.get(path, ""))
        found.append(ModeChange(new.turn, path, before, after, why))
    return found


def _mode(memory: WorkingMemory, path: str) -> str:
    entry = memory.entry(path)
    return OUT if entry is None else entry.mode.value


def _upcoming(context: Context) -> TurnView:
    return _turn_view(context.ledger, context.blocks, (), context.left_out, is_next=True)


def _stored_turn(store: SessionStore, name: str, ledger: TokenLedger, trace: TurnTrace | None) -> TurnView:
    if trace is None:
        return _turn_view(ledger, (), (), ())
    try:
        blocks = traced_blocks(store, name, trace)
    except TargetNotFoundError:
        blocks = ()  # somebody deleted the texts; the token counts still hold
    return _turn_view(ledger, blocks, trace.actions, trace.left_out, taken=trace.taken)


def _turn_view(
    ledger: TokenLedger,
    blocks: Sequence[Block],
    actions: Sequence[RoutingAction],
    left_out: tuple[str, ...],
    *,
    taken: str = "",
    is_next: bool = False,
) -> TurnView:
    total = sum(line.tokens for line in ledger.lines) or 1
    rows, spent = [], 0
    for line in ledger.lines:
        text = blocks[line.position].text if line.position < len(blocks) else None
        rows.append(
            BlockRow(
                line.position + 1,
                line.name,
                line.category,
                line.source,
                line.tokens,
                line.tokens / total,
                spent / total,
                text,
            )
        )
        spent += line.tokens
    sums = ledger.by_category()
    return TurnView(
        ledger.turn,
        is_next,
        taken,
        ledger.version,
        ledger.budget_tokens,
        ledger.total_tokens,
        tuple(rows),
        tuple(Share(name, sums[name], sums[name] / total) for name in CATEGORIES if sums[name]),
        tuple(action for action in actions if action.reason),
        left_out,
    )


def _ledger_rows(ledgers: Sequence[TokenLedger], kept: set[int]) -> tuple[LedgerRow, ...]:
    scale = max((max(ledger.total_tokens, ledger.budget_tokens) for ledger in ledgers), default=1) or 1
    return tuple(
        LedgerRow(
            ledger.turn,
            ledger.total_tokens,
            ledger.budget_tokens,
            tuple(Share(name, tokens, tokens / scale) for name, tokens in ledger.grouped(SHARES).items()),
            ledger.turn in kept,
        )
        for ledger in ledgers
    )
