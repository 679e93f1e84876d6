"""One turn as a pure step from one session state to the next: refresh, route and assemble, before the model speaks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from codecards.router.assemble.assembly import AssemblySettings, assemble
from codecards.router.assemble.budget import BLOCK_TOKENS, min_tokens
from codecards.router.assemble.context import (
    Context,
    ContextPackage,
    ContextState,
    ItemOutcome,
    MemorySegment,
    OutcomeKind,
)
from codecards.router.assemble.outcomes import block_label
from codecards.router.assemble.rendering import GUIDANCE
from codecards.router.compress.digests import DIGEST_TOKENS
from codecards.router.compress.excerpts import handle_of
from codecards.router.compress.token_count import TokenCounter, estimate_tokens
from codecards.router.memory.ledger import ShownLines
from codecards.router.memory.operations import stale_reads, unloadable
from codecards.router.memory.state import SessionState
from codecards.router.memory.window import ActionBlock
from codecards.router.memory.working_memory import Mode, WorkingMemory, with_constraint, with_file, without_file
from codecards.router.policy.constraints import find_constraints
from codecards.router.policy.routing import (
    ActionKind,
    FileSize,
    RoutingAction,
    RoutingInput,
    RoutingSettings,
    apply,
    route,
)
from codecards.router.ports import FileText, FoldedHit, Signal

KEPT_LEDGERS = 200
KEPT_SUPPLIED = 400
UNLOAD_AFTER_OPERATIONS = 50
MANY_FULL_FILES = 8
"""With more full files, the context asks the agent to close some."""
MAX_WARNING_CHARACTERS = 200
STALE_NOTICE = "[shown then; the file was changed since, its text now is in open_file]"
"""Stands in for the result of a read whose file was written later."""


@dataclass(frozen=True, slots=True)
class TurnSettings:
    """Settings of a turn."""

    assembly: AssemblySettings = field(default_factory=AssemblySettings)
    routing: RoutingSettings = field(default_factory=RoutingSettings)
    unload_after_operations: int = UNLOAD_AFTER_OPERATIONS
    """A stale read leaves the context after so many later operations."""
    guidance: str = GUIDANCE
    system_prompt: str = ""
    hidden_blocks: tuple[str, ...] = ()
    """Blocks that are never shown; the agent can hide more with `Session.show_block`."""
    recent_blocks: int | None = None
    """Most blocks of the window that are shown; None for as many as fit."""
    count: TokenCounter = estimate_tokens


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What the caller says in a turn."""

    user_input: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    tool_schema: str = ""


@dataclass(frozen=True, slots=True)
class TurnInput:
    """Everything that a turn reads from the caller, the project and the archive."""

    texts: Mapping[str, FileText | None]
    """Text on disk of each file that is in the working memory or may enter it; None if the file is gone."""
    digest: Callable[[str, str], str]
    """Path, text → digest."""
    user_input: str = ""
    signals: Sequence[Signal] = ()
    references: Sequence[FoldedHit] = ()
    segments: Sequence[MemorySegment] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    tool_schema: str = ""

    def known_texts(self) -> dict[str, FileText]:
        """Return the texts of the files that exist."""
        return {path: text for path, text in self.texts.items() if text is not None}


@dataclass(frozen=True, slots=True)
class TurnResult:
    """The outcome of a turn."""

    state: SessionState
    context: Context
    actions: tuple[RoutingAction, ...]
    """All decisions of the router, including each `keep`."""


def run_turn(state: SessionState, turn_input: TurnInput, settings: TurnSettings) -> TurnResult:
    """Return the next state, and the context of the turn that begins.

    Raises:
        BudgetTooSmallError: Goal and constraints do not fit the budget; the given state stays valid.
    """
    memory = replace(state.memory, turn=state.memory.turn + 1)
    for constraint in find_constraints(turn_input.user_input):
        memory = with_constraint(memory, constraint)
    gone = [entry.path for entry in memory.files if turn_input.texts.get(entry.path, entry) is None]
    memory, changed = refresh(memory, turn_input)
    actions = _route(replace(state, memory=memory), turn_input, settings, changed)
    memory, _ = refresh(apply(memory, actions), turn_input)
    package = _package(replace(state, memory=memory), turn_input, settings, gone)
    texts = turn_input.known_texts()
    entries = () if "files" in _hidden(memory, settings) else memory.files
    assembly = replace(settings.assembly, budget_tokens=state.budget_tokens)
    context = assemble(package, entries, texts, assembly, count=settings.count, turn=memory.turn)
    earlier = _outcomes_before_assembly(replace(state, memory=memory), turn_input, package, gone)
    context = replace(context, outcomes=(*context.outcomes, *earlier))
    supplied = tuple(
        ShownLines(file.path, first, last, _line_tokens(texts[file.path], first, last, settings.count), memory.turn)
        for file in context.files
        for first, last in file.visible_lines
    )
    state = replace(
        state,
        memory=memory,
        ledgers=(*(ledger.folded() for ledger in state.ledgers), context.ledger)[-KEPT_LEDGERS:],
        supplied=(*state.supplied, *supplied)[-KEPT_SUPPLIED:],
    )
    return TurnResult(state, context, actions)


ABSENT = "absent in turn"
"""Start of the `text_hash` of a file that is not on disk, before the turn's number."""


def refresh(memory: WorkingMemory, turn_input: TurnInput) -> tuple[WorkingMemory, frozenset[str]]:
    """Return the memory with the current digests and hashes, and the paths of the files that have changed.

    A file that is not on disk leaves the memory if it was absent in an earlier turn too: a branch switch may take it away
    for a turn.
    """
    changed = set()
    for entry in memory.files:
        if entry.path not in turn_input.texts:
            continue
        text = turn_input.texts[entry.path]
        if text is None:
            absent = f"{ABSENT} {memory.turn}"
            if entry.text_hash.startswith(ABSENT) and entry.text_hash != absent:
                memory = without_file(memory, entry.path, "not on disk any more")
            else:
                memory = with_file(memory, replace(entry, digest="", text_hash=absent))
        elif text.text_hash != entry.text_hash:
            if entry.text_hash:
                changed.add(entry.path)
            digest = turn_input.digest(entry.path, text.text)
            memory = with_file(memory, replace(entry, digest=digest, text_hash=text.text_hash))
    return memory, frozenset(changed)


def current_blocks(state: SessionState, unload_after: int) -> tuple[ActionBlock, ...]:
    """Return the window's blocks as they may be shown now.

    If a file was written after it was read, the result of the read is replaced by a notice. The block leaves once
    `unload_after` operations have followed.
    """
    stale, gone = stale_reads(state.operations), unloadable(state.operations, unload_after)
    blocks = []
    for block in state.window.blocks:
        numbers = {message.operation for message in block.messages if message.operation}
        if numbers and numbers <= gone:
            continue
        messages = (
            replace(message, text=STALE_NOTICE) if message.operation in stale and message.role == "tool" else message
            for message in block.messages
        )
        blocks.append(ActionBlock(tuple(messages)))
    return tuple(blocks)


def _route(
    state: SessionState, turn_input: TurnInput, settings: TurnSettings, changed: frozenset[str]
) -> tuple[RoutingAction, ...]:
    """Return the router's decisions about files that exist."""
    texts = turn_input.known_texts()
    files_tokens = settings.assembly.shares.tokens("files", state.budget_tokens)
    sizes = {path: _size(text, files_tokens, settings.count) for path, text in texts.items()}
    signals = tuple(signal for signal in turn_input.signals if signal.path in texts)
    routing_input = RoutingInput(state.memory, state.operations, sizes, changed, signals, files_tokens)
    actions = route(routing_input, settings.routing)
    return tuple(action for action in actions if action.kind is not ActionKind.PROMOTE or action.path in texts)


def _outcomes_before_assembly(
    state: SessionState, turn_input: TurnInput, package: ContextPackage, gone: Sequence[str]
) -> Iterator[ItemOutcome]:
    """Yield the outcomes of items that were never assembled: missing files, files that stay outside, stale blocks."""
    for path in gone:
        yield ItemOutcome(f"file {path}", OutcomeKind.DROPPED, "not on disk any more")
    for path in turn_input.known_texts():
        if state.memory.entry(path) is None:
            reason = "seen, but neither opened, nor among the first hits, nor found twice in a row"
            yield ItemOutcome(f"file {path}", OutcomeKind.OMITTED, reason)
    kept = {block_label(block) for block in package.recent_chat}
    for block in state.window.blocks:
        if block_label(block) not in kept:
            reason = "a read of text that was changed since, or hidden by the profile"
            yield ItemOutcome(block_label(block), OutcomeKind.DROPPED, reason)


def _package(state: SessionState, turn_input: TurnInput, settings: TurnSettings, gone: Sequence[str]) -> ContextPackage:
    """Return everything that the turn may show."""
    memory, hidden = state.memory, _hidden(state.memory, settings)
    n_full = sum(entry.mode is Mode.FULL for entry in memory.files)
    warnings = [f"{n_full} files are open in full: close those you do not need"] if n_full > MANY_FULL_FILES else []
    warnings += [f"{path} is not on disk any more"[:MAX_WARNING_CHARACTERS] for path in gone]
    results = [message.text for block in state.window.blocks for message in block.messages if message.role == "tool"]
    context_state = ContextState(
        memory.task.goal,
        memory.task.status,
        memory.task.constraints,
        tuple(item.text for item in memory.todo if item.done),
        open_questions=() if "questions" in hidden else memory.open_questions,
        todo=() if "todo" in hidden else tuple(item for item in memory.todo if not item.done),
        changes=() if "changes" in hidden else memory.changes,
        environment=turn_input.environment,
        last_tool_result=f"see the last tool message ({handle_of(results[-1])})" if results else "",
    )
    return ContextPackage(
        context_state,
        settings.system_prompt,
        settings.guidance,
        () if "notes" in hidden else tuple(turn_input.segments),
        () if "references" in hidden else tuple(turn_input.references),
        memos=() if "memos" in hidden else memory.memos,
        warnings=tuple(warnings),
        signposts=() if "signposts" in hidden else state.window.signposts,
        recent_chat=_latest(current_blocks(state, settings.unload_after_operations), settings.recent_blocks),
        current_input=turn_input.user_input,
        tool_schema=turn_input.tool_schema,
    )


def _hidden(memory: WorkingMemory, settings: TurnSettings) -> frozenset[str]:
    return frozenset((*memory.hidden_blocks, *settings.hidden_blocks))


def _latest(blocks: tuple[ActionBlock, ...], n_blocks: int | None) -> tuple[ActionBlock, ...]:
    return blocks if n_blocks is None else blocks[len(blocks) - n_blocks :]


def _size(text: FileText, files_tokens: int, count: TokenCounter) -> FileSize:
    return FileSize(min_tokens(count(text.text), files_tokens) + BLOCK_TOKENS, DIGEST_TOKENS)


def _line_tokens(text: FileText, first: int, last: int, count: TokenCounter) -> int:
    return count("".join(text.text.splitlines(keepends=True)[first - 1 : last]))
