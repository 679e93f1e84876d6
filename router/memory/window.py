"""The window: the latest messages in blocks, newest last; older blocks are replaced by signposts.

A block is a call, its response and what belongs to them. It is never split, so that each call keeps its response. A
signpost is a line that names the topic of a block and the handle of its text.

Source: "Sliding window" (see `codecards.router`), §2. Its pseudo-code does not end if a summary is not smaller than
what it replaces. Here each step removes one block, and a signpost is kept only if it is smaller than its block.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from codecards.errors import UsageError
from codecards.router.compress.entities import find_entities
from codecards.router.compress.excerpts import handle_of, head_and_tail
from codecards.router.compress.token_count import TokenCounter, estimate_tokens

ROLES = ("system", "user", "assistant", "tool")
SIGNPOST_TOKENS = 160
"""Most tokens of the signpost of one block."""
OVERLAP_CHARACTERS = 120
"""Most characters that a signpost quotes of one message."""
MAX_SIGNPOST_ENTITIES = 12
MAX_SIGNPOST_HANDLES = 8
"""Most handles that a merged signpost names."""
MIN_MESSAGE_TOKENS = 32
"""A message is not cut to less than this."""
CUT_MARGIN_TOKENS = 16
TOKENS_RANGE = (10_240, 16_384)
"""Sizes of the window that work well. Source: "Sliding window" (see `codecards.router`), §2.2."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message in the native format of chat models."""

    role: str
    """One of `ROLES`."""
    text: str
    turn: int = 0
    call_id: str = ""
    """Connects a call of the assistant with the tool's response."""
    name: str = ""
    """The tool's name."""
    is_error: bool = False
    operation: int = 0
    """Number of the operation that the message reports, 0 if none."""


@dataclass(frozen=True, slots=True)
class ActionBlock:
    """Messages that stay or leave together: a call and its response, or one exchange of words."""

    messages: tuple[Message, ...]

    @property
    def is_error(self) -> bool:
        """Whether a message of the block is an error."""
        return any(message.is_error for message in self.messages)

    def text(self) -> str:
        """Return the whole block as text, for counting, summaries and restoring."""
        return "\n".join(
            f"{message.role}{' ' + message.name if message.name else ''}: {message.text}" for message in self.messages
        )


@dataclass(frozen=True, slots=True)
class ElidedBlocks:
    """The signpost of one or more blocks that left the window."""

    text: str
    handles: tuple[str, ...]
    """Each restores one block byte for byte."""


@dataclass(frozen=True, slots=True)
class Window:
    """The signposts of the blocks that left, and the blocks that stay."""

    signposts: tuple[ElidedBlocks, ...] = ()
    """Oldest first."""
    blocks: tuple[ActionBlock, ...] = ()


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """Size of the window.

    Source: the defaults of `token_budget` and `reserve_system` are from "Sliding window" (see `codecards.router`).
    """

    token_budget: int = 8_192
    reserve_system: int = 1_024
    """Tokens that are kept free for the system prompt."""
    trigger: float = 0.70
    """Share of the budget above which the oldest block leaves; early and small steps lose less."""
    max_blocks: int = 8
    overlap_messages: int = 2
    """Last messages of a block that its signpost quotes."""
    signposts_tokens: int = 600
    """Most tokens of all signposts; above it, the oldest are merged."""

    def __post_init__(self) -> None:
        if self.token_budget <= self.reserve_system or not 0 < self.trigger <= 1 or self.max_blocks < 1:
            raise UsageError(
                "A window needs more tokens than its reserve, a trigger in (0, 1], and at least one block."
            )

    def warnings(self) -> tuple[str, ...]:
        """Return a warning for each setting outside the recommended range."""
        low, high = TOKENS_RANGE
        if low <= self.token_budget <= high:
            return ()
        return (f"token_budget {self.token_budget} is outside {low}-{high}",)


CHAT = WindowSettings(token_budget=60_000, max_blocks=10)
"""Settings for conversations: ten turns, 60,000 tokens. Source: "Context engineering" (see `codecards.router`)."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The original of a block that left the window, or of a message that was cut."""

    handle: str
    text: str


def push(
    window: Window, block: ActionBlock, settings: WindowSettings, count: TokenCounter = estimate_tokens
) -> tuple[Window, tuple[Shrunk, ...]]:
    """Return the window with one more block, and the originals of what left or was cut for it.

    The newest block and the one with the latest error stay. If these alone are too large, the longest messages are cut
    to head and tail; the latest error is cut last.
    """
    shrunk: list[Shrunk] = []
    window = replace(window, blocks=(*window.blocks, block))
    limit = settings.trigger * (settings.token_budget - settings.reserve_system)
    while len(window.blocks) > 1 and (len(window.blocks) > settings.max_blocks or window_tokens(window, count) > limit):
        index = _oldest_removable(window.blocks)
        if index is None:
            break
        leaving = window.blocks[index]
        elided = signpost(leaving, settings, count)
        shrunk.append(Shrunk(handle_of(leaving.text()), leaving.text()))
        blocks = window.blocks[:index] + window.blocks[index + 1 :]
        signposts = (*window.signposts, elided) if elided else window.signposts
        window = Window(merge_signposts(signposts, settings.signposts_tokens, count), blocks)
    window, cut = _cut_to(window, settings.token_budget - settings.reserve_system, count)
    return window, (*shrunk, *cut)


def window_tokens(window: Window, count: TokenCounter = estimate_tokens) -> int:
    """Return the tokens of signposts and blocks; the system prompt has its reserve."""
    blocks = sum(count(block.text()) for block in window.blocks)
    return blocks + sum(count(elided.text) for elided in window.signposts)


def signpost(block: ActionBlock, settings: WindowSettings, count: TokenCounter) -> ElidedBlocks | None:
    """Return the signpost of a block, None if it would not be smaller than the block."""
    whole = block.text()
    handle = handle_of(whole)
    names = ", ".join(entity.text for entity in find_entities(whole)[:MAX_SIGNPOST_ENTITIES])
    quoted = " / ".join(
        " ".join(message.text.split())[:OVERLAP_CHARACTERS] for message in block.messages[-settings.overlap_messages :]
    )
    turn = block.messages[0].turn if block.messages else 0
    for text in (
        f"turn {turn}: {quoted} [{names}] → {handle}",
        f"turn {turn}: [{names[:200]}] → {handle}",
        f"→ {handle}",
    ):
        if count(text) <= SIGNPOST_TOKENS and count(text) < count(whole):
            return ElidedBlocks(text, (handle,))
    return None


def merge_signposts(
    signposts: Sequence[ElidedBlocks], budget_tokens: int, count: TokenCounter
) -> tuple[ElidedBlocks, ...]:
    """Return the signposts within a budget: the oldest are merged; a merged one names its latest handles only."""
    merged = list(signposts)
    while len(merged) > 1 and sum(count(elided.text) for elided in merged) > budget_tokens:
        handles = merged[0].handles + merged[1].handles
        named = handles[-MAX_SIGNPOST_HANDLES:]
        more = f" and {len(handles) - len(named)} more" if len(handles) > len(named) else ""
        merged[:2] = [ElidedBlocks(f"earlier: {len(handles)} blocks → {', '.join(named)}{more}", handles)]
    return tuple(merged)


def latest_error(window: Window) -> Message | None:
    """Return the newest message that is an error."""
    errors = [message for block in window.blocks for message in block.messages if message.is_error]
    return errors[-1] if errors else None


def _oldest_removable(blocks: Sequence[ActionBlock]) -> int | None:
    """Return the index of the oldest block that is neither the newest nor the one with the latest error."""
    last_error = max((index for index, block in enumerate(blocks) if block.is_error), default=-1)
    return next((index for index in range(len(blocks) - 1) if index != last_error), None)


def _cut_to(window: Window, budget: int, count: TokenCounter) -> tuple[Window, tuple[Shrunk, ...]]:
    """Cut the longest messages until the window fits; the latest error is cut only if nothing else is left to cut."""
    cut: list[Shrunk] = []
    protected = latest_error(window)
    for may_cut_error in (False, True):
        while (excess := window_tokens(window, count) - budget) > 0:
            longest = max(
                (m for block in window.blocks for m in block.messages if may_cut_error or m is not protected),
                key=lambda message: count(message.text),
                default=None,
            )
            if longest is None or count(longest.text) <= MIN_MESSAGE_TOKENS:
                break
            handle = handle_of(longest.text)
            allowed = max(MIN_MESSAGE_TOKENS, count(longest.text) - excess - CUT_MARGIN_TOKENS)
            shorter = head_and_tail(longest.text, allowed, count, handle=handle)
            if count(shorter) >= count(longest.text):
                break
            cut.append(Shrunk(handle, longest.text))
            window = _with_message(window, longest, replace(longest, text=shorter))
    return window, tuple(cut)


def _with_message(window: Window, old: Message, new: Message) -> Window:
    blocks = tuple(
        replace(block, messages=tuple(new if message is old else message for message in block.messages))
        for block in window.blocks
    )
    return replace(window, blocks=blocks)
