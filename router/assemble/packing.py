"""Packs context layers into the token budget: each layer's share, then leftovers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from codecards.router.assemble.budget import BudgetShares, block_tokens, show_files
from codecards.router.assemble.context import ContextPackage, ContextState
from codecards.router.assemble.rendering import texts_of
from codecards.router.compress.excerpts import handle_of, head_and_tail
from codecards.router.compress.token_count import TokenCounter
from codecards.router.memory.window import ActionBlock
from codecards.router.memory.working_memory import MemoryFile
from codecards.router.ports import MAX_REFERENCES, FileText

MAX_NOTES = 5
"""Most notes of a context, whatever their share of the budget allows."""
MIN_NOTE_TOKENS = 100
"""Notes may use so many free tokens, however small their share: one note of a few sentences."""
MIN_INPUT_TOKENS = 200
"""The current input is never cut to less than this."""
LABEL_TOKENS = 24
"""Estimated tokens of a block's tags and attributes; the exact number is known after rendering."""
MESSAGE_TOKENS = 4
"""Estimated tokens of a message's role."""

Item = TypeVar("Item")


def minimal_package(package: ContextPackage) -> ContextPackage:
    """Return the parts that every context must have: system prompt, goal, constraints, input."""
    state = ContextState(package.state.task_goal, package.state.status, package.state.constraints)
    return ContextPackage(state, system_prompt=package.system_prompt, current_input=package.current_input)


@dataclass(slots=True)
class _Budget:
    """The tokens that are still free while one package is packed."""

    free: int

    def at_most(self, share_tokens: int) -> int:
        return max(0, min(share_tokens, self.free))


@dataclass(frozen=True, slots=True)
class ContextPacker:
    """Packs packages into one budget."""

    budget_tokens: int
    shares: BudgetShares
    count: TokenCounter

    def with_input_that_fits(self, package: ContextPackage) -> ContextPackage:
        """Return the package with a very long input cut to the reserve; its handle restores the whole."""
        allowed = max(MIN_INPUT_TOKENS, self._share("reserve"))
        shown = head_and_tail(package.current_input, allowed, self.count, handle=handle_of(package.current_input))
        return replace(package, current_input=shown)

    def pack(
        self, package: ContextPackage, entries: Sequence[MemoryFile], texts: Mapping[str, FileText], free: int
    ) -> tuple[ContextPackage, tuple[str, ...]]:
        """Return the package with what fits into `free` tokens, and descriptions of what does not.

        The newest blocks of the window come first, from the reserve; then state, memory and references, each within
        its share. Files get what these layers leave, and signposts and older blocks what the files leave. Only blocks
        of the window use the reserve.
        """
        budget = _Budget(free)
        packed = replace(minimal_package(package), tool_schema=package.tool_schema)
        recent = self._newest(package.recent_chat, budget, budget.at_most(self._share("reserve")))
        packed = self._with_state(packed, package, budget)
        packed = self._with_memory(packed, package, budget)
        reserved = max(0, self._share("reserve") - sum(self._costs(recent)))
        files, missing = show_files(entries, texts, budget.at_most(budget.free - reserved), self.count)
        budget.free -= sum(self.count(file.text) + block_tokens(file, self.count) for file in files)
        signposts = self._take(package.signposts[::-1], lambda elided: elided.text, budget, budget.free)
        if len(recent) < len(package.recent_chat):
            budget.free += sum(self._costs(recent))
            recent = self._newest(package.recent_chat, budget, budget.at_most(budget.free))
        packed = replace(packed, files=files, signposts=signposts[::-1], recent_chat=recent)
        return packed, _left_out(package, packed, missing)

    def _share(self, name: str) -> int:
        return self.shares.tokens(name, self.budget_tokens)

    def _with_state(self, packed: ContextPackage, package: ContextPackage, budget: _Budget) -> ContextPackage:
        """Add guidance, warnings and the rest of the state within the share of the task.

        Of the lists in the state, the newest items enter first.
        """
        wanted = package.state
        share = _Budget(budget.at_most(self._share("task")))
        before = share.free

        def fitting(items: Sequence[Item]) -> tuple[Item, ...]:
            return self._take(items, str, share, share.free)

        guidance = fitting([package.guidance]) if package.guidance else ()
        warnings = fitting(package.warnings)
        next_plan = fitting([wanted.next_plan])
        open_questions = fitting(wanted.open_questions[::-1])[::-1]
        changes = fitting(wanted.changes[::-1])[::-1]
        todo = fitting(wanted.todo[::-1])[::-1]
        task_progress = fitting(wanted.task_progress[::-1])[::-1]
        pairs = fitting([*wanted.environment.items(), *wanted.user_profile.items()])
        last_tool_result = fitting([wanted.last_tool_result])
        state = replace(
            packed.state,
            next_plan="".join(next_plan),
            open_questions=open_questions,
            changes=changes,
            todo=todo,
            task_progress=task_progress,
            environment={key: value for key, value in wanted.environment.items() if (key, value) in pairs},
            user_profile={key: value for key, value in wanted.user_profile.items() if (key, value) in pairs},
            last_tool_result="".join(last_tool_result),
        )
        budget.free -= before - share.free
        return replace(packed, state=state, guidance="".join(guidance), warnings=warnings)

    def _with_memory(self, packed: ContextPackage, package: ContextPackage, budget: _Budget) -> ContextPackage:
        """Add notes, memos and references, each within its share; the newest memos enter first."""
        memory, references = self._share("memory"), self._share("references")
        segments = self._take(
            package.memory_segments[:MAX_NOTES],
            lambda segment: segment.text,
            budget,
            max(memory, MIN_NOTE_TOKENS),
        )
        memos = self._take(package.memos[::-1], lambda memo: memo.text, budget, memory)
        refs = self._take(
            package.knowledge_refs[:MAX_REFERENCES], lambda ref: ref.summary + ref.text, budget, references
        )
        return replace(packed, memory_segments=segments, memos=memos[::-1], knowledge_refs=refs)

    def _take(
        self, items: Sequence[Item], text_of: Callable[[Item], str], budget: _Budget, share_tokens: int
    ) -> tuple[Item, ...]:
        """Return the items that fit, in their order; an item that is too large is skipped, and smaller ones may fit."""
        chosen: list[Item] = []
        share = budget.at_most(share_tokens)
        for item in items:
            cost = self.count(text_of(item)) + LABEL_TOKENS
            if cost <= share:
                chosen.append(item)
                share -= cost
                budget.free -= cost
        return tuple(chosen)

    def _costs(self, blocks: Sequence[ActionBlock]) -> list[int]:
        texts = texts_of(blocks)
        return [
            self.count(text) + MESSAGE_TOKENS * len(block.messages) for text, block in zip(texts, blocks, strict=True)
        ]

    def _newest(self, blocks: Sequence[ActionBlock], budget: _Budget, share_tokens: int) -> tuple[ActionBlock, ...]:
        """Return the newest blocks that fit without a gap; the block with the latest error enters before all others.

        The error may use all free tokens, since half an error misleads. Beyond that, its messages are cut to head and
        tail, as are those of a newest block that is larger than the share.
        """
        costs = self._costs(blocks)
        shown = list(blocks)
        last_error = max((index for index, block in enumerate(blocks) if block.is_error), default=-1)
        chosen: set[int] = set()
        for index in dict.fromkeys([*([last_error] if last_error >= 0 else []), *range(len(blocks) - 1, -1, -1)]):
            limit = budget.free if index == last_error else min(share_tokens, budget.free)
            if costs[index] > limit and (index == last_error or not chosen - {last_error}):
                shown[index] = self._cut(blocks[index], limit)
                costs[index] = self._costs([shown[index]])[0]
            if costs[index] > limit:
                break
            chosen.add(index)
            budget.free -= costs[index]
            share_tokens -= costs[index]
        return tuple(shown[index] for index in sorted(chosen))

    def _cut(self, block: ActionBlock, limit: int) -> ActionBlock:
        """Return the block with each message cut to an equal part of the limit; call and response stay together."""
        each = max(1, limit // max(1, len(block.messages)) - 2 * MESSAGE_TOKENS)
        messages = tuple(
            replace(message, text=head_and_tail(message.text, each, self.count, handle=handle_of(message.text)))
            for message in block.messages
        )
        return ActionBlock(messages)


def _left_out(package: ContextPackage, packed: ContextPackage, missing: Sequence[str]) -> tuple[str, ...]:
    rows = [f"{path}: no room, open it again to see it" for path in missing]
    for what, n_all, n_kept in (
        ("older blocks of tool calls", len(package.recent_chat), len(packed.recent_chat)),
        ("notes", len(package.memory_segments), len(packed.memory_segments)),
        ("references", len(package.knowledge_refs), len(packed.knowledge_refs)),
        ("memos", len(package.memos), len(packed.memos)),
        ("signposts", len(package.signposts), len(packed.signposts)),
    ):
        rows += [f"{n_all - n_kept} {what}"] if n_all > n_kept else []
    return tuple(rows)
