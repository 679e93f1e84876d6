"""Turn: refresh, route, assemble, in this order and before the model speaks; a pure step from one state to the next."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from codecards.router.assemble.assembly import AssemblySettings, assemble
from codecards.router.assemble.budget import NAME_TOKENS, least_tokens
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
"""With more files in full the context itself asks to close some."""
STALE_NOTICE = "[shown then; the file was changed since, its text now is in open_file]"


@dataclass(frozen=True, slots=True)
class TurnSettings:
    """What a turn depends on beside state and project."""

    assembly: AssemblySettings = field(default_factory=AssemblySettings)
    routing: RoutingSettings = field(default_factory=RoutingSettings)
    unload_after_operations: int = UNLOAD_AFTER_OPERATIONS
    guidance: str = GUIDANCE
    system_prompt: str = ""
    hidden_blocks: tuple[str, ...] = ()
    """Blocks that are not shown, beside those that the agent has hidden: see `SessionActs.show_block`."""
    recent_acts: int | None = None
    """Most acts of the window that are shown; None for as many as fit."""
    count: TokenCounter = estimate_tokens


@dataclass(frozen=True, slots=True)
class TurnInput:
    """What the project says in a turn."""

    texts: Mapping[str, FileText | None]
    """Text on disk now of each file of the working memory and of each that may come in; None where it is gone."""
    digest: Callable[[str, str], str]
    """Path, text → code card."""
    user_input: str = ""
    signals: Sequence[Signal] = ()
    references: Sequence[FoldedHit] = ()
    segments: Sequence[MemorySegment] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    tool_schema: str = ""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What a turn gives."""

    state: SessionState
    context: Context
    actions: tuple[RoutingAction, ...]
    """All decisions of the router, the `keep`s too."""


def run_turn(state: SessionState, given: TurnInput, settings: TurnSettings) -> TurnResult:
    """Return the next state and the context of the turn that begins.

    Raises:
        BudgetTooSmallError: Goal and constraints do not fit the budget; the given state still holds.
    """
    memory = replace(state.memory, turn=state.memory.turn + 1)
    for constraint in find_constraints(given.user_input):
        memory = with_constraint(memory, constraint)
    gone = [entry.path for entry in memory.files if given.texts.get(entry.path, entry) is None]
    memory, changed = refresh(memory, given)
    budget = state.budget_tokens
    files_tokens = settings.assembly.shares.tokens("files", budget)
    sizes = {path: _size(text, files_tokens, settings.count) for path, text in given.texts.items() if text is not None}
    assembly = replace(settings.assembly, budget_tokens=budget)
    actions = route(
        RoutingInput(
            memory,
            state.operations,
            sizes,
            changed,
            tuple(signal for signal in given.signals if given.texts.get(signal.path) is not None),
            files_tokens,
        ),
        settings.routing,
    )
    actions = tuple(
        one for one in actions if one.kind is not ActionKind.PROMOTE or given.texts.get(one.path) is not None
    )
    memory, _ = refresh(apply(memory, actions), given)
    package = _package(replace(state, memory=memory), given, settings, gone)
    texts = {path: text for path, text in given.texts.items() if text is not None}
    entries = () if "files" in {*memory.hidden_blocks, *settings.hidden_blocks} else memory.files
    context = assemble(package, entries, texts, assembly, count=settings.count, turn=memory.turn)
    context = replace(
        context, outcomes=(*context.outcomes, *_fates_before_assembly(state, memory, given, package, gone))
    )
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


def refresh(memory: WorkingMemory, given: TurnInput) -> tuple[WorkingMemory, frozenset[str]]:
    """Return the memory with digests and hashes of the texts as they are now, and the files that had changed.

    A file that is gone from the disk leaves the memory.
    """
    changed = set()
    for entry in memory.files:
        if entry.path not in given.texts:
            continue
        text = given.texts[entry.path]
        if text is None:
            memory = without_file(memory, entry.path, "not on disk any more")
        elif text.text_hash != entry.text_hash:
            if entry.text_hash:
                changed.add(entry.path)
            digest = given.digest(entry.path, text.text)
            memory = with_file(memory, replace(entry, digest=digest, text_hash=text.text_hash))
    return memory, frozenset(changed)


def current_blocks(state: SessionState, unload_after: int) -> tuple[ActionBlock, ...]:
    """Return the window's acts as they may be shown now.

    The result of a read whose file was written since is a notice; once enough operations have followed, the act goes.
    """
    stale, gone = stale_reads(state.operations), unloadable(state.operations, unload_after)
    blocks = []
    for block in state.window.blocks:
        numbers = {message.operation for message in block.messages if message.operation}
        if numbers and numbers <= gone:
            continue
        blocks.append(
            ActionBlock(
                tuple(
                    replace(message, text=STALE_NOTICE)
                    if message.operation in stale and message.role == "tool"
                    else message
                    for message in block.messages
                )
            )
        )
    return tuple(blocks)


def _fates_before_assembly(
    state: SessionState, memory: WorkingMemory, given: TurnInput, package: ContextPackage, gone: Sequence[str]
) -> Iterator[ItemOutcome]:
    """Yield the fates of what never came to be assembled: vanished files, candidates not taken in, stale acts."""
    for path in gone:
        yield ItemOutcome(f"file {path}", OutcomeKind.DROPPED, "not on disk any more")
    for path, text in given.texts.items():
        if text is not None and memory.entry(path) is None:
            yield ItemOutcome(
                f"file {path}",
                OutcomeKind.OUTSIDE,
                "seen, but neither opened, nor among the first hits, nor found twice in a row",
            )
    kept = {block_label(act) for act in package.recent_chat}
    for act in state.window.blocks:
        if block_label(act) not in kept:
            yield ItemOutcome(
                block_label(act), OutcomeKind.DROPPED, "a read of text that was changed since, or hidden by the profile"
            )


def _latest(blocks: tuple[ActionBlock, ...], n_acts: int | None) -> tuple[ActionBlock, ...]:
    return blocks if n_acts is None else blocks[len(blocks) - n_acts :]


def _size(text: FileText, files_tokens: int, count: TokenCounter) -> FileSize:
    return FileSize(least_tokens(count(text.text), files_tokens) + NAME_TOKENS, DIGEST_TOKENS)


def _line_tokens(text: FileText, first: int, last: int, count: TokenCounter) -> int:
    return count("".join(text.text.splitlines(keepends=True)[first - 1 : last]))


def _package(state: SessionState, given: TurnInput, settings: TurnSettings, gone: Sequence[str]) -> ContextPackage:
    memory = state.memory
    hidden = {*memory.hidden_blocks, *settings.hidden_blocks}
    n_full = sum(entry.mode is Mode.FULL for entry in memory.files)
    warnings = [f"{n_full} files are open in full: close those you do not need"] if n_full > MANY_FULL_FILES else []
    warnings += [f"{path} is not on disk any more"[:200] for path in gone]
    latest = [message.text for block in state.window.blocks for message in block.messages if message.role == "tool"]
    context_state = ContextState(
        memory.task.goal,
        memory.task.status,
        memory.task.constraints,
        tuple(item.text for item in memory.todo if item.done),
        open_questions=() if "questions" in hidden else memory.open_questions,
        todo=() if "todo" in hidden else tuple(item for item in memory.todo if not item.done),
        changes=() if "changes" in hidden else memory.changes,
        environment=given.environment,
        last_tool_result=f"see the last tool message ({handle_of(latest[-1])})" if latest else "",
    )
    return ContextPackage(
        context_state,
        settings.system_prompt,
        settings.guidance,
        () if "notes" in hidden else tuple(given.segments),
        () if "references" in hidden else tuple(given.references),
        memos=() if "memos" in hidden else memory.memos,
        warnings=tuple(warnings),
        signposts=() if "signposts" in hidden else state.window.signposts,
        recent_chat=_latest(current_blocks(state, settings.unload_after_operations), settings.recent_acts),
        current_input=given.user_input,
        tool_schema=given.tool_schema,
    )
