"""Filling: how much of each layer of a package enters, by the layers' shares and what is left of the budget."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from codecards.router.assemble.budget import BudgetShares, name_tokens, show_files
from codecards.router.assemble.context import ContextPackage, ContextState, MemorySegment
from codecards.router.assemble.rendering import texts_of
from codecards.router.compress.excerpts import handle_of, head_and_tail
from codecards.router.compress.token_count import TokenCounter
from codecards.router.memory.window import ActionBlock, ElidedBlocks
from codecards.router.memory.working_memory import ClosedFileSummary, MemoryFile
from codecards.router.ports import FileText, FoldedHit

MAX_REFERENCES = 5
MAX_NOTES = 5
"""Caps on number; the shares cap the tokens."""
MIN_INPUT_TOKENS = 200
"""The current input is cut no shorter than this."""
LABEL_TOKENS = 24
"""What a block's tags and attributes cost, about; what they cost in truth is seen after rendering."""
STATE_FIELDS = ("open_questions", "changes", "todo", "task_progress")
"""Fields of the state that are lists, in the order in which they enter; their newest items come first."""

Item = TypeVar("Item")


def bare(package: ContextPackage) -> ContextPackage:
    """Return what must always be there: system prompt, goal, constraints, input."""
    state = ContextState(package.state.task_goal, package.state.status, package.state.constraints)
    return ContextPackage(state, system_prompt=package.system_prompt, current_input=package.current_input)


@dataclass(slots=True)
class _Budget:
    """The tokens that are still free, for one filling."""

    free: int

    def of(self, share_tokens: int) -> int:
        return max(0, min(share_tokens, self.free))


@dataclass(frozen=True, slots=True)
class ContextPacker:
    """Fills packages of one budget."""

    budget_tokens: int
    shares: BudgetShares
    count: TokenCounter

    def with_input_that_fits(self, package: ContextPackage) -> ContextPackage:
        """Return the package with a giant input cut to the reserve; its handle gives the whole."""
        allowed = max(MIN_INPUT_TOKENS, self._share("reserve"))
        shown = head_and_tail(package.current_input, allowed, self.count, handle=handle_of(package.current_input))
        return replace(package, current_input=shown)

    def fill(
        self, package: ContextPackage, entries: Sequence[MemoryFile], texts: Mapping[str, FileText], free: int
    ) -> tuple[ContextPackage, tuple[str, ...]]:
        """Return the package with what fits into `free` tokens, and what is left out.

        The newest acts come first, from the reserve; then state, memory and references, each within its share; what
        these leave of their shares goes to the files, and what the files leave to signposts and older acts. The reserve
        is left to acts alone.
        """
        room = _Budget(free)
        filled = replace(bare(package), tool_schema=package.tool_schema)
        recent = self._newest(package.recent_chat, room, room.of(self._share("reserve")))
        filled = self._with_state(filled, package, room)
        segments: tuple[MemorySegment, ...] = self._take(
            package.memory_segments[:MAX_NOTES], lambda segment: segment.text, room, self._share("memory")
        )
        memos: tuple[ClosedFileSummary, ...] = self._take(
            package.memos[::-1], lambda memo: memo.text, room, self._share("memory")
        )
        refs: tuple[FoldedHit, ...] = self._take(
            package.knowledge_refs[:MAX_REFERENCES], lambda ref: ref.summary + ref.text, room, self._share("references")
        )
        reserved = max(0, self._share("reserve") - sum(self._costs(recent)))
        files, missing = show_files(entries, texts, room.of(room.free - reserved), self.count)
        room.free -= sum(self.count(file.text) + name_tokens(file, self.count) for file in files)
        posts: tuple[ElidedBlocks, ...] = self._take(package.signposts[::-1], lambda post: post.text, room, room.free)
        if len(recent) < len(package.recent_chat):
            room.free += sum(self._costs(recent))
            recent = self._newest(package.recent_chat, room, room.of(room.free))
        filled = replace(
            filled,
            memory_segments=segments,
            memos=memos[::-1],
            knowledge_refs=refs,
            files=files,
            signposts=posts[::-1],
            recent_chat=recent,
        )
        return filled, _left_out(package, filled, missing)

    def _share(self, name: str) -> int:
        return self.shares.tokens(name, self.budget_tokens)

    def _with_state(self, filled: ContextPackage, package: ContextPackage, room: _Budget) -> ContextPackage:
        """Return the package with guidance, warnings and the rest of the state while there is room."""
        wanted, state = package.state, filled.state
        share = _Budget(room.of(self._share("task")))
        before = share.free
        guidance = self._take([package.guidance], str, share, share.free) if package.guidance else ()
        warnings: tuple[str, ...] = self._take(package.warnings, str, share, share.free)
        if self._take([wanted.next_plan], str, share, share.free):
            state = replace(state, next_plan=wanted.next_plan)
        kept = {name: self._take(getattr(wanted, name)[::-1], str, share, share.free)[::-1] for name in STATE_FIELDS}
        state = replace(
            state,
            open_questions=kept["open_questions"],
            changes=kept["changes"],
            todo=kept["todo"],
            task_progress=kept["task_progress"],
        )
        pairs = self._take([*wanted.environment.items(), *wanted.user_profile.items()], str, share, share.free)
        state = replace(
            state,
            environment={key: value for key, value in wanted.environment.items() if (key, value) in pairs},
            user_profile={key: value for key, value in wanted.user_profile.items() if (key, value) in pairs},
        )
        if self._take([wanted.last_tool_result], str, share, share.free):
            state = replace(state, last_tool_result=wanted.last_tool_result)
        room.free -= before - share.free
        return replace(filled, state=state, guidance="".join(guidance), warnings=warnings)

    def _take(
        self, items: Sequence[Item], text_of: Callable[[Item], str], room: _Budget, share_tokens: int
    ) -> tuple[Item, ...]:
        """Return the items that fit, in their order; one that does not fit is passed over, so that others can enter."""
        chosen: list[Item] = []
        share = room.of(share_tokens)
        for item in items:
            cost = self.count(text_of(item)) + LABEL_TOKENS
            if cost <= share:
                chosen.append(item)
                share -= cost
                room.free -= cost
        return tuple(chosen)

    def _costs(self, blocks: Sequence[ActionBlock]) -> list[int]:
        return [
            self.count(text) + 4 * len(block.messages) for text, block in zip(texts_of(blocks), blocks, strict=True)
        ]

    def _newest(self, blocks: Sequence[ActionBlock], room: _Budget, share_tokens: int) -> tuple[ActionBlock, ...]:
        """Return the newest blocks that fit one after the other; the one with the latest error enters before all.

        The error may take all that is free, for half an error misleads; beyond that its messages are cut by head and
        tail, like those of a newest block that is larger than the share.
        """
        costs = self._costs(blocks)
        shown = list(blocks)
        last_error = max((index for index, block in enumerate(blocks) if block.is_error), default=-1)
        chosen: set[int] = set()
        for index in dict.fromkeys([*([last_error] if last_error >= 0 else []), *range(len(blocks) - 1, -1, -1)]):
            limit = room.free if index == last_error else min(share_tokens, room.free)
            if costs[index] > limit and (index == last_error or not chosen - {last_error}):
                shown[index] = self._cut(blocks[index], limit)
                costs[index] = self._costs([shown[index]])[0]
            if costs[index] > limit:
                break
            chosen.add(index)
            room.free -= costs[index]
            share_tokens -= costs[index]
        return tuple(shown[index] for index in sorted(chosen))

    def _cut(self, block: ActionBlock, limit: int) -> ActionBlock:
        """Return the block with each message cut to an equal part of the limit; call and response stay together."""
        each = max(1, limit // max(1, len(block.messages)) - 8)
        messages = tuple(
            replace(message, text=head_and_tail(message.text, each, self.count, handle=handle_of(message.text)))
            for message in block.messages
        )
        return ActionBlock(messages)


def _left_out(package: ContextPackage, filled: ContextPackage, missing: Sequence[str]) -> tuple[str, ...]:
    rows = [f"{path}: no room, open it again to see it" for path in missing]
    for what, n_all, n_kept in (
        ("older blocks of acts", len(package.recent_chat), len(filled.recent_chat)),
        ("notes", len(package.memory_segments), len(filled.memory_segments)),
        ("references", len(package.knowledge_refs), len(filled.knowledge_refs)),
        ("memos", len(package.memos), len(filled.memos)),
        ("signposts", len(package.signposts), len(filled.signposts)),
    ):
        rows += [f"{n_all - n_kept} {what}"] if n_all > n_kept else []
    return tuple(rows)
