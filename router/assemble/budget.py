"""Budget: how the tokens of a turn are shared out, and what is shown of each file."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codecards.errors import UsageError
from codecards.router.assemble.context import FileBlock
from codecards.router.compress.digests import DIGEST_TOKENS, fit_digest
from codecards.router.compress.excerpts import NOTICE_TOKENS, focused, head_and_tail
from codecards.router.compress.token_count import TokenCounter
from codecards.router.memory.working_memory import MemoryFile, Mode
from codecards.router.ports import FileText

BUDGET_RANGE = (8_000, 16_000)
MIN_EXCERPT_TOKENS = 120
"""A shorter excerpt says less than the digest."""
LEAST_DIGEST_TOKENS = 150
"""What a digest gets before any file gets more than it needs."""
FULL_FILES = 4
"""So many large files have room for an excerpt each; an excerpt gets an equal part of the files' room, or more."""
SCARCE_DIGEST_TOKENS = 60
"""The same where the room is too small for all files: a shorter one is hardly more than the path."""
NAME_TOKENS = 40
"""What a file block costs beside its text, about, where only its size is asked for: tags, path, purpose."""
TAG_TOKENS = 19
"""The part of it that tags and mode take."""


@dataclass(frozen=True, slots=True)
class BudgetShares:
    """Shares of the whole budget. The article's own table is lost but for the reserve of 35 %; the others are ours.

    The reserve is for what can't be planned: the newest tool output, errors, recent exchanges. It is never used by the
    planned layers; what these leave free is used by the recent exchanges too.
    """

    task: float = 0.10
    files: float = 0.40
    memory: float = 0.05
    references: float = 0.10
    reserve: float = 0.35

    def __post_init__(self) -> None:
        parts = (self.task, self.files, self.memory, self.references, self.reserve)
        if min(parts) < 0 or sum(parts) > 1 + 1e-9:
            raise UsageError("Budget shares must not be negative, nor sum to more than 1.")

    def tokens(self, name: str, budget_tokens: int) -> int:
        """Return a layer's tokens."""
        share: float = getattr(self, name)
        return int(share * budget_tokens)


def least_tokens(whole_tokens: int, files_tokens: int) -> int:
    """Return what a full file takes at least of the room for files: all of it, or an excerpt if it is large."""
    return min(whole_tokens, max(MIN_EXCERPT_TOKENS, files_tokens // FULL_FILES))


def name_tokens(file: MemoryFile | FileBlock, count: TokenCounter) -> int:
    """Return what a file block costs beside its text, or a little more."""
    return TAG_TOKENS + sum(count(part) + 4 for part in (file.path, file.purpose, file.why) if part)


def show_files(
    entries: Sequence[MemoryFile],
    texts: Mapping[str, FileText],
    budget_tokens: int,
    count: TokenCounter,
    *,
    with_purpose: bool = True,
) -> tuple[tuple[FileBlock, ...], tuple[str, ...]]:
    """Return the files as they are shown within the budget, most important first, and the paths with no room at all.

    Full files come first, pinned and last used before others, then the digests, by last use and relevance. The first
    gets at least an excerpt, then each file a short digest, then the other full ones an excerpt, so that a giant file
    leaves room for the others; what is still free then makes excerpts whole and digests longer, in the same order.
    Where the room is too small for that, an excerpt begins with no more than the lines that were used last. A mode is
    not changed here: that is the router's.
    """
    ordered = sorted(entries, key=_importance)
    found = {path: text.text for path, text in texts.items()}
    granted, free = _granted(ordered, found, budget_tokens, count, is_scarce=False)
    if any(not granted.get(entry.path) and (entry.digest or found.get(entry.path)) for entry in ordered):
        granted, free = _granted(ordered, found, budget_tokens, count, is_scarce=True)
    blocks: list[FileBlock] = []
    for entry in ordered:
        if entry.path in granted:
            allowed = granted[entry.path] + free
            block = _shown(entry, found.get(entry.path, ""), allowed, count)
            free = allowed - count(block.text)
            blocks.append(block if with_purpose else FileBlock(block.path, block.shown, block.text))
    return tuple(blocks), tuple(entry.path for entry in ordered if entry.path not in granted)


def _granted(
    ordered: Sequence[MemoryFile], found: Mapping[str, str], budget_tokens: int, count: TokenCounter, *, is_scarce: bool
) -> tuple[dict[str, int], int]:
    """Return the tokens that are set aside for each file's text, and what is left; files without room are not in it."""
    granted: dict[str, int] = {}
    free = budget_tokens
    for step in (ordered[:1], ordered, [entry for entry in ordered if entry.mode is Mode.FULL]):
        as_full = step is not ordered or is_scarce
        for entry in step:
            before = granted.get(entry.path)
            room = free - name_tokens(entry, count) if before is None else free + before
            text = found.get(entry.path, "")
            wanted = _least(entry, text, budget_tokens, room, count, as_full=as_full, is_scarce=is_scarce)
            if room >= 0 and (before is None or wanted > before):
                free = room - wanted
                granted[entry.path] = wanted
    return granted, free


def _importance(entry: MemoryFile) -> tuple[bool, bool, int, float, str]:
    return (entry.mode is not Mode.FULL, not entry.pinned, -entry.last_access_turn, -entry.relevance, entry.path)


def _least(
    entry: MemoryFile,
    text: str,
    files_tokens: int,
    free: int,
    count: TokenCounter,
    *,
    as_full: bool,
    is_scarce: bool,
) -> int:
    """Return the tokens that are set aside for a file before any gets more: for an excerpt, or a short digest."""
    if as_full and entry.mode is Mode.FULL and text:
        least = least_tokens(count(text), files_tokens)
        if is_scarce and (used := _used_tokens(entry, text, count)):
            least = min(least, used)
        if least <= free or free >= MIN_EXCERPT_TOKENS:
            return min(least, free)
    most = SCARCE_DIGEST_TOKENS if is_scarce else LEAST_DIGEST_TOKENS
    return min(count(entry.digest), most, free) if entry.digest else 0


def _used_tokens(entry: MemoryFile, text: str, count: TokenCounter) -> int:
    """Return what the lines that were used last take with the notices around them, 0 where none are known."""
    runs = _runs(entry)
    if not runs:
        return 0
    first, last = runs[0]
    return count("".join(text.splitlines(keepends=True)[first - 1 : last])) + 2 * NOTICE_TOKENS


def _runs(entry: MemoryFile) -> list[tuple[int, int]]:
    return [*dict.fromkeys([*([entry.focus] if entry.focus else []), *entry.used_lines])]


def _shown(entry: MemoryFile, text: str, free: int, count: TokenCounter) -> FileBlock:
    if entry.mode is Mode.FULL and text:
        n_lines = len(text.splitlines())
        if count(text) <= free:
            return FileBlock(entry.path, "full", text, entry.purpose, entry.why, ((1, n_lines),))
        # Where no lines are known, head and tail tell less of a file than its digest, unless they are longer.
        knows_lines = bool(_runs(entry))
        least = min(MIN_EXCERPT_TOKENS, _used_tokens(entry, text, count)) if knows_lines else MIN_EXCERPT_TOKENS
        if free >= max(least, 0 if knows_lines else min(count(entry.digest), DIGEST_TOKENS)):
            return _excerpt(entry, text, free, count)
    digest = fit_digest(entry.digest, min(free, DIGEST_TOKENS), count) if entry.digest else ""
    if digest and digest != "…" and free >= count(digest):
        return FileBlock(entry.path, "digest", digest, entry.purpose, entry.why)
    return FileBlock(entry.path, "name", "", entry.purpose, entry.why)


def _excerpt(entry: MemoryFile, text: str, free: int, count: TokenCounter) -> FileBlock:
    """Return the lines that were used and what lies around them, or head and tail, and which lines these are.

    The notices name no handle: the whole is the file itself, and the block has its path.
    """
    runs = _runs(entry)
    shown = focused(text, runs, free, count) if runs else head_and_tail(text, free, count)
    return FileBlock(entry.path, "excerpt", shown, entry.purpose, entry.why, visible_lines(text, shown))


def visible_lines(text: str, shown: str) -> tuple[tuple[int, int], ...]:
    """Return the runs of the text's lines that an excerpt of it holds, 1-based and inclusive."""
    lines = text.splitlines()
    runs: list[tuple[int, int]] = []
    position = 0
    for part in shown.splitlines():
        if skipped := _skipped.match(part):
            position = int(skipped["last"]) if skipped["last"] else position + int(skipped["number"])
        elif position < len(lines) and lines[position] == part:
            start = runs.pop()[0] if runs and runs[-1][1] == position else position + 1
            position += 1
            runs.append((start, position))
    return tuple(runs)


_skipped = re.compile(r"\[… (?:lines \d+-(?P<last>\d+)|(?P<number>\d+) lines?) left out")
