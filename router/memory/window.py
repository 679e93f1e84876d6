"""Window: the agent's own acts and their results, newest last; old ones are squeezed into signposts.

The unit is the action block: a call, its response and what belongs to them. A block is never split, so that no call
loses its response. Source: the sliding-window article, §2; its pseudo-code loops for ever where a summary is not
smaller than what it replaces. Here each squeeze takes one block away, and a signpost is only kept if it is smaller.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from codecards.errors import UsageError
from codecards.router.compress.entities import find_entities
from codecards.router.compress.excerpts import handle_of, head_and_tail
from codecards.router.compress.token_count import TokenCounter, estimate_tokens

ROLES = ("system", "user", "assistant", "tool")
SIGNPOST_TOKENS = 80
"""Most tokens of the signpost of one block."""
OVERLAP_CHARACTERS = 120
MESSAGES_RANGE = (30, 60)
TOKENS_RANGE = (10_240, 16_384)


@dataclass(frozen=True, slots=True)
class Message:
    """One message in the native format of chat models."""

    role: str
    """One of `ROLES`."""
    text: str
    turn: int = 0
    call_id: str = ""
    """Joins a call of the assistant with the tool's response."""
    name: str = ""
    """The tool's name."""
    is_error: bool = False
    operation: int = 0
    """Number of the operation that it reports, 0 if none."""


@dataclass(frozen=True, slots=True)
class ActionBlock:
    """What is decided on together: search, edit, test and error; or one exchange of words."""

    messages: tuple[Message, ...]

    @property
    def is_error(self) -> bool:
        """Whether one of its results is an error."""
        return any(message.is_error for message in self.messages)

    def text(self) -> str:
        """Return all of it as text, for counting, summaries and restoring."""
        return "\n".join(
            f"{message.role}{' ' + message.name if message.name else ''}: {message.text}" for message in self.messages
        )


@dataclass(frozen=True, slots=True)
class ElidedBlocks:
    """Tells that something was there, and how to get it back."""

    text: str
    handles: tuple[str, ...]
    """Each gives back one block byte for byte."""


@dataclass(frozen=True, slots=True)
class Window:
    """Three zones: what is always there, signposts of what is gone, and the rolling blocks."""

    fixed: tuple[Message, ...] = ()
    signposts: tuple[ElidedBlocks, ...] = ()
    """Oldest first."""
    blocks: tuple[ActionBlock, ...] = ()


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """Size of the window. Defaults of `token_budget` and `reserve_system` are the article's."""

    token_budget: int = 8_192
    reserve_system: int = 1_024
    """Kept free for the fixed zone."""
    trigger: float = 0.70
    """Share of the budget above which the oldest block is squeezed; early and small squeezes lose less."""
    max_blocks: int = 8
    overlap_messages: int = 2
    """Last messages of a squeezed block that its signpost quotes."""
    signposts_tokens: int = 600
    """Most tokens of all signposts; the oldest are then merged."""

    def __post_init__(self) -> None:
        if self.token_budget <= self.reserve_system or not 0 < self.trigger <= 1 or self.max_blocks < 1:
            raise UsageError(
                "A window needs more tokens than its reserve, a trigger in (0, 1], and at least one block."
            )

    def warnings(self) -> tuple[str, ...]:
        """Return what is outside the ranges that the article found good."""
        low, high = TOKENS_RANGE
        if low <= self.token_budget <= high:
            return ()
        return (f"token_budget {self.token_budget} is outside {low}-{high}",)


CHAT = WindowSettings(token_budget=60_000, max_blocks=10)
"""Whole chats: ten turns, 60,000 tokens. Source: the context-engineering article's MemoryManager."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A block that left the window, for the store that can give it back."""

    handle: str
    text: str


def push(
    window: Window, block: ActionBlock, settings: WindowSettings, count: TokenCounter = estimate_tokens
) -> tuple[Window, tuple[Shrunk, ...]]:
    """Return the window with one block more, and what had to leave for it.

    The newest block and the one with the latest error stay. If the newest alone is too large, its longest results are
    cut by head and tail; the latest error is cut last.
    """
    squeezed: list[Shrunk] = []
    window = replace(window, blocks=(*window.blocks, block))
    limit = settings.trigger * (settings.token_budget - settings.reserve_system)
    while len(window.blocks) > 1 and (len(window.blocks) > settings.max_blocks or window_tokens(window, count) > limit):
        index = _oldest_free(window.blocks)
        if index is None:
            break
        leaving = window.blocks[index]
        post = signpost(leaving, settings, count)
        squeezed.append(Shrunk(handle_of(leaving.text()), leaving.text()))
        rest = window.blocks[:index] + window.blocks[index + 1 :]
        posts = (*window.signposts, post) if post else window.signposts
        window = replace(window, blocks=rest, signposts=merge_signposts(posts, settings.signposts_tokens, count))
    shrunk, cut = _shrink(window, settings.token_budget - settings.reserve_system, count)
    return shrunk, (*squeezed, *cut)


def window_tokens(window: Window, count: TokenCounter = estimate_tokens) -> int:
    """Return the tokens of signposts and blocks; the fixed zone has its reserve."""
    return sum(count(block.text()) for block in window.blocks) + sum(count(post.text) for post in window.signposts)


def signpost(block: ActionBlock, settings: WindowSettings, count: TokenCounter) -> ElidedBlocks | None:
    """Return the signpost of a block, None where it would not be smaller than the block."""
    whole = block.text()
    handle = handle_of(whole)
    names = ", ".join(entity.text for entity in find_entities(whole)[:12])
    quoted = " / ".join(
        " ".join(message.text.split())[:OVERLAP_CHARACTERS] for message in block.messages[-settings.overlap_messages :]
    )
    turn = block.messages[0].turn if block.messages else 0
    for text in (
        f"turn {turn}: {quoted} [{names}] → {handle}",
        f"turn {turn}: [{names[:200]}] → {handle}",
        f"→ {handle}",
    ):
        if count(text) <= SIGNPOST_TOKENS * 2 and count(text) < count(whole):
            return ElidedBlocks(text, (handle,))
    return None


def merge_signposts(posts: Sequence[ElidedBlocks], budget_tokens: int, count: TokenCounter) -> tuple[ElidedBlocks, ...]:
    """Return the signposts within a budget: the oldest are joined and keep their handles as far as these fit."""
    kept = list(posts)
    while len(kept) > 1 and sum(count(post.text) for post in kept) > budget_tokens:
        handles = kept[0].handles + kept[1].handles
        shown = handles[-8:]
        more = f" and {len(handles) - len(shown)} more" if len(handles) > len(shown) else ""
        kept[:2] = [ElidedBlocks(f"earlier: {len(handles)} blocks → {', '.join(shown)}{more}", handles)]
    return tuple(kept)


def latest_error(window: Window) -> Message | None:
    """Return the newest message that reports an error."""
    errors = [message for block in window.blocks for message in block.messages if message.is_error]
    return errors[-1] if errors else None


def orphans(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return the ids of calls without response and of responses without a call before them."""
    open_calls, lost = dict[str, None](), list[str]()
    for message in messages:
        if not message.call_id:
            continue
        if message.role == "assistant":
            open_calls[message.call_id] = None
        elif message.call_id in open_calls:
            del open_calls[message.call_id]
        else:
            lost.append(message.call_id)
    return (*lost, *open_calls)


def _oldest_free(blocks: Sequence[ActionBlock]) -> int | None:
    """Return the oldest block that may leave: neither the newest nor the one with the latest error."""
    last_error = max((index for index, block in enumerate(blocks) if block.is_error), default=-1)
    return next((index for index in range(len(blocks) - 1) if index != last_error), None)


def _shrink(window: Window, budget: int, count: TokenCounter) -> tuple[Window, tuple[Shrunk, ...]]:
    """Cut the longest messages of the window until it fits; the latest error is cut only when nothing else is left."""
    cut: list[Shrunk] = []
    protected = latest_error(window)
    for may_cut_error in (False, True):
        while (excess := window_tokens(window, count) - budget) > 0:
            longest = max(
                (m for block in window.blocks for m in block.messages if may_cut_error or m is not protected),
                key=lambda message: count(message.text),
                default=None,
            )
            if longest is None or count(longest.text) <= 32:
                break
            handle = handle_of(longest.text)
            shorter = head_and_tail(longest.text, max(32, count(longest.text) - excess - 16), count, handle=handle)
            if count(shorter) >= count(longest.text):
                break
            cut.append(Shrunk(handle, longest.text))
            window = _replaced(window, longest, replace(longest, text=shorter))
    return window, tuple(cut)


def _replaced(window: Window, old: Message, new: Message) -> Window:
    blocks = tuple(
        replace(block, messages=tuple(new if message is old else message for message in block.messages))
        for block in window.blocks
    )
    return replace(window, blocks=blocks)
