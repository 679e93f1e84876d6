"""Context policies, which decide what an agent sees, for the replay of sessions.

All policies get the same events. Text that a recording does not contain (outputs of commands) counts four characters per token;
file texts are counted exactly.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from codecards.errors import BudgetTooSmallError
from codecards.router.acts import record_operation
from codecards.router.assemble.assembly import AssemblySettings
from codecards.router.compress.digests import OutlineDigester, fit_digest
from codecards.router.compress.token_count import estimate_tokens
from codecards.router.memory.state import SessionState
from codecards.router.memory.window import ActionBlock, Message, WindowSettings, push
from codecards.router.memory.working_memory import MemoryFile, Mode, TaskState, WorkingMemory, with_file
from codecards.router.policy.hysteresis import HysteresisSettings
from codecards.router.policy.routing import ActionKind, RoutingSettings
from codecards.router.ports import FileText, InMemoryTexts, Project
from codecards.router.turn import TurnInput, TurnSettings, run_turn

CHARACTERS_PER_TOKEN = 4
SYSTEM_TOKENS = 1_300
"""System prompt (500) and tool definitions (800), added to the budget of every policy."""
SUMMARY_TOKENS = 40
RECENT_TURNS = 8


@dataclass(frozen=True, slots=True)
class Event:
    """One tool call of a session."""

    turn: int
    kind: str
    path: str
    """"" if the recording has none."""
    first_line: int
    """1-based, 0 if unknown."""
    last_line: int
    in_characters: int
    out_characters: int
    error: bool

    @property
    def is_write(self) -> bool:
        """Whether the call changes its file."""
        return self.kind in ("edit", "create")


@dataclass(frozen=True, slots=True)
class Fragment:
    """Lines of one version of a file."""

    path: str
    version: int
    first_line: int
    last_line: int
    """0 for the end of the file."""


@dataclass(slots=True)
class View:
    """The context that a policy shows at the start of a turn."""

    tokens: int
    fragments: Sequence[Fragment] = ()
    digests: frozenset[str] = frozenset()
    has_goal: bool = True
    switches: Sequence[tuple[str, str]] = ()
    """Mode switches that the policy decided: (path, "promote" or "demote")."""
    is_refused: bool = False
    """Whether nothing is shown, because the task alone exceeds the budget."""


class Workspace:
    """The files of a session at each step: those of the base commit, with the agent's edits and new files."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Take path → text; each edit creates a new version."""
        self.texts = dict(texts)
        self.versions: dict[str, int] = {}
        self.edits: dict[str, list[tuple[int, int, int]]] = {}

    def version(self, path: str) -> int:
        """Return how often a file was written."""
        return self.versions.get(path, 0)

    def write(self, event: Event) -> None:
        """Apply the event to its file; text that the recording lacks is replaced by filler of the right size."""
        lines = self.texts.get(event.path, "").splitlines(keepends=True)
        if event.kind == "create" or not lines:
            lines = [f"value_{number} = step({number})\n" for number in range(max(1, event.in_characters // 26))]
        version = self.versions[event.path] = self.version(event.path) + 1
        first = min(max(1, event.first_line or 1), len(lines))
        last = min(max(first, event.last_line or first), len(lines))
        for index in range(first - 1, last):
            lines[index] = f"{lines[index].rstrip()}  # version {version}\n"
        self.texts[event.path] = "".join(lines)
        self.edits.setdefault(event.path, []).append((version, first, last))

    def is_stale(self, fragment: Fragment) -> bool:
        """Return whether lines of the fragment were written after its version."""
        end = fragment.last_line or 1 << 30
        return any(
            version > fragment.version and first <= end and fragment.first_line <= last
            for version, first, last in self.edits.get(fragment.path, ())
        )


class Policy(Protocol):
    """Decides what the agent sees."""

    def begin(self, task: str, workspace: Workspace) -> None:
        """Start a session."""
        ...

    def view(self) -> View:
        """Return the context at the start of the next turn."""
        ...

    def take(self, event: Event) -> None:
        """Record a tool call; the workspace is already in the state after it."""
        ...


@dataclass(frozen=True, slots=True)
class _Item:
    turn: int
    tokens: int
    fragment: Fragment | None


def _item(event: Event, workspace: Workspace) -> _Item:
    tokens = (event.in_characters + event.out_characters) // CHARACTERS_PER_TOKEN
    shows = event.path in workspace.texts and event.kind in ("read", "edit", "create")
    whole = event.kind == "create" or not event.first_line
    fragment = Fragment(
        event.path, workspace.version(event.path), 1 if whole else event.first_line, 0 if whole else event.last_line
    )
    return _Item(event.turn, tokens, fragment if shows else None)


class History:
    """Base class of the policies that keep messages: all of them, the newest by budget, or the newest by turns."""

    keeps_goal = True

    def __init__(self, budget_tokens: int = 0) -> None:
        self.budget = budget_tokens

    def begin(self, task: str, workspace: Workspace) -> None:
        """Start a session."""
        self.task_tokens, self.workspace = estimate_tokens(task), workspace
        self.items: deque[_Item] = deque()
        self.lost_goal = False

    def take(self, event: Event) -> None:
        """Append the message, then drop old ones."""
        self.items.append(_item(event, self.workspace))
        self.drop()

    def drop(self) -> None:
        """Keep everything."""

    def total(self) -> int:
        """Return the number of tokens of the task and the kept messages."""
        return self.task_tokens + sum(item.tokens for item in self.items)

    def view(self) -> View:
        """Return the fragments of the kept messages."""
        fragments = [item.fragment for item in self.items if item.fragment is not None]
        return View(self.total(), fragments, has_goal=not self.lost_goal)


class FullInjection(History):
    """Keeps everything."""


class Fifo(History):
    """Drops the oldest messages when the budget is full, the task first."""

    def drop(self) -> None:
        """Drop from the front; the task is the first message."""
        while self.items and self.total() > self.budget:
            if not self.lost_goal:
                self.lost_goal, self.task_tokens = True, 0
            else:
                self.items.popleft()


class SlidingWindow(History):
    """Keeps the last eight turns within the budget, and the task."""

    def drop(self) -> None:
        """Drop whole turns from the front."""
        newest = self.items[-1].turn
        while self.items and (self.items[0].turn <= newest - RECENT_TURNS or self.total() > self.budget):
            self.items.popleft()


class LayeredSummary(History):
    """Keeps the last turns, one line for each older tool call, and an outline of each file that was read."""

    def begin(self, task: str, workspace: Workspace) -> None:
        """Start a session."""
        super().begin(task, workspace)
        self.outlines: dict[str, int] = {}
        self.n_summarised = 0

    def drop(self) -> None:
        """Summarise the oldest turns; drop the oldest outlines when they take a quarter of the budget."""
        newest = self.items[-1].turn
        while self.items and (self.items[0].turn <= newest - RECENT_TURNS or self.total() > self.budget):
            item = self.items.popleft()
            self.n_summarised += 1
            if item.fragment is not None:
                path = item.fragment.path
                outline = fit_digest(OutlineDigester().digest(path, self.workspace.texts.get(path, "")), 150)
                self.outlines[path] = estimate_tokens(outline)
            while self.outlines and sum(self.outlines.values()) > self.budget // 4:
                del self.outlines[next(iter(self.outlines))]
            if not self.items:
                break

    def total(self) -> int:
        """Return the number of tokens of recent messages, outlines and summary lines."""
        lines = min(self.n_summarised * SUMMARY_TOKENS, self.budget // 4)
        return super().total() + lines + sum(self.outlines.values())

    def view(self) -> View:
        """Return recent fragments, with the outlines as digests."""
        seen = super().view()
        return View(seen.tokens, seen.fragments, frozenset(self.outlines), seen.has_goal)


_FILLER = "word12 word "


@dataclass(slots=True)
class RouterPolicy:
    """Our policy: the router of `codecards.router`, driven as by a session."""

    budget_tokens: int = 12_000
    routing: RoutingSettings = field(default_factory=RoutingSettings)
    state: SessionState = field(init=False)
    workspace: Workspace = field(init=False)
    window: WindowSettings = field(init=False)

    def begin(self, task: str, workspace: Workspace) -> None:
        """Start a session."""
        self.workspace = workspace
        reserve = max(400, int(self.budget_tokens * 0.35))
        self.window = WindowSettings(reserve + 100, 100)
        self.state = SessionState("replay", WorkingMemory(TaskState(task)), self.budget_tokens, "", "")

    def take(self, event: Event) -> None:
        """Open files that are read or written; outputs of other tool calls go into the window."""
        state, paths = self.state, (event.path,) if event.path else ()
        known = event.path in self.workspace.texts
        lines = (
            (event.first_line, event.last_line) if event.first_line and event.last_line >= event.first_line else None
        )
        kind = {"read": "open", "create": "edit"}.get(event.kind, event.kind)
        if known and event.kind in ("read", "edit", "create"):
            memory, text = state.memory, self.workspace.texts[event.path]
            old = memory.entry(event.path) or MemoryFile(event.path, digest=OutlineDigester().digest(event.path, text))
            switched = old.last_switch_turn if old.mode is Mode.FULL else memory.turn
            state = replace(state, memory=with_file(memory, replace(old, mode=Mode.FULL, last_switch_turn=switched)))
        state = record_operation(state, kind, paths, failed=event.error, lines=lines)
        operation = state.operations[-1]
        shown = "opened" if kind == "open" and known else _filler(event.out_characters)
        call = Message("assistant", _filler(event.in_characters), state.memory.turn, f"c{operation.number}", kind)
        result = Message("tool", shown, state.memory.turn, call.call_id, kind, event.error)
        window, _ = push(state.window, ActionBlock((call, result)), self.window)
        self.state = replace(state, window=window)

    def view(self) -> View:
        """Run a turn of the real router and assembler."""
        paths = {entry.path for entry in self.state.memory.files}
        paths |= {path for operation in self.state.operations[-4:] for path in operation.paths}
        signals = Project(InMemoryTexts(self.workspace.texts)).signals(self.state.memory)
        texts = {path: self._text(path) for path in paths | {signal.path for signal in signals}}
        settings = TurnSettings(AssemblySettings(self.budget_tokens), self.routing, guidance="")
        try:
            result = run_turn(self.state, TurnInput(texts, OutlineDigester().digest, signals=signals), settings)
        except BudgetTooSmallError:
            return View(0, has_goal=False, is_refused=True)
        self.state = result.state
        fragments, digests = [], set()
        for file in result.context.files:
            version = self.workspace.version(file.path)
            fragments += [Fragment(file.path, version, first, last) for first, last in file.visible_lines]
            if file.shown in ("digest", "excerpt"):
                digests.add(file.path)
        switches = [
            (action.path, action.kind.value)
            for action in result.actions
            if action.kind is not ActionKind.KEEP and action.mode is not None
        ]
        goal = self.state.memory.task.goal
        return View(
            result.context.ledger.total_tokens, fragments, frozenset(digests), goal in result.context.text, switches
        )

    def _text(self, path: str) -> FileText | None:
        text = self.workspace.texts.get(path)
        return None if text is None else FileText(text, f"{path}#{self.workspace.version(path)}")


def _filler(n_characters: int) -> str:
    return (_FILLER * (n_characters // len(_FILLER) + 1))[:n_characters]


def make_policy(name: str, budget_tokens: int) -> Policy:
    """Return a policy by its name; `ours:demote=3,promote=1,cooldown=0` sets thresholds.

    Raises:
        ValueError: The policy or threshold does not exist.
    """
    base, _, options = name.partition(":")
    simple = {"full": FullInjection, "sliding": SlidingWindow, "summary": LayeredSummary, "fifo": Fifo}
    if base in simple:
        return simple[base](budget_tokens)
    if base != "ours":
        raise ValueError(f"There is no policy {base!r}; use ours, {', '.join(simple)}.")
    given = dict(pair.split("=", 1) for pair in options.split(",") if pair)
    names = {"demote": "demote_after_turns", "promote": "promote_after_hits", "cooldown": "cooldown_turns"}
    if unknown := set(given) - set(names):
        raise ValueError(f"There is no threshold {', '.join(sorted(unknown))}; use {', '.join(names)}.")
    thresholds = HysteresisSettings(**{names[key]: int(value) for key, value in given.items()})
    return RouterPolicy(budget_tokens, RoutingSettings(thresholds))
