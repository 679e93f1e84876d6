"""Token budget: the shares of a context's layers, and how much of each file is shown."""

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

MIN_EXCERPT_TOKENS = 120
"""A shorter excerpt is less informative than the digest."""
MIN_DIGEST_TOKENS = 150
"""Allotted to each digest before any file gets more than its minimum."""
SCARCE_DIGEST_TOKENS = 60
"""The same if not all files fit. A shorter digest would hold little more than the path."""
FULL_FILES = 4
"""The budget has room for excerpts of so many large files; the minimum excerpt is an equal part of it."""
BLOCK_TOKENS = 40
"""Estimated tokens of a file block without its text (tags, path, purpose), for decisions about a file's size."""
TAG_TOKENS = 19
"""The part of `BLOCK_TOKENS` that tags and mode take."""


@dataclass(frozen=True, slots=True)
class BudgetShares:
    """Shares of the whole budget.

    The reserve is for what can't be planned: the latest tool output, errors, recent messages. The other layers never
    use it; recent messages also use what the other layers leave.

    Source: the reserve of 35 % is from "Context Mode" (see `codecards.router`), §4.1; the other shares are ours.
    """

    task: float = 0.10
    files: float = 0.40
    memory: float = 0.05
    references: float = 0.10
    reserve: float = 0.35

    def __post_init__(self) -> None:
        parts = (self.task, self.files, self.memory, self.references, self.reserve)
        if min(parts) < 0 or sum(parts) > 1 + 1e-9:
            raise UsageError("Budget shares must not be negative, and their sum must not exceed 1.")

    def tokens(self, name: str, budget_tokens: int) -> int:
        """Return the tokens of a layer."""
        share: float = getattr(self, name)
        return int(share * budget_tokens)


def min_tokens(whole_tokens: int, files_tokens: int) -> int:
    """Return the minimum tokens of a full file: the whole text, or an excerpt if it is large.

    Args:
        whole_tokens: Tokens of the whole text.
        files_tokens: Budget of all files.
    """
    return min(whole_tokens, max(MIN_EXCERPT_TOKENS, files_tokens // FULL_FILES))


def block_tokens(file: MemoryFile | FileBlock, count: TokenCounter) -> int:
    """Return an upper estimate of a file block's tokens without its text."""
    return TAG_TOKENS + sum(count(part) + 4 for part in (file.path, file.purpose, file.why) if part)


def show_files(
    entries: Sequence[MemoryFile], texts: Mapping[str, FileText], budget_tokens: int, count: TokenCounter
) -> tuple[tuple[FileBlock, ...], tuple[str, ...]]:
    """Return the file blocks that fit the budget, most important first, and the paths of the files that do not fit.

    Full files come first (pinned ones, then by last use), then digests (by last use and relevance). Tokens are allotted
    in rounds, so that a large file leaves room for the others: an excerpt of the first file, a short digest of each
    file, an excerpt of each other full file. What is left then extends excerpts and digests, in the same order.

    If some file would get nothing, the allotment is repeated with smaller minimums: an excerpt then starts with only
    the lines that were used last. No mode changes here; modes belong to the router.
    """
    ordered = sorted(entries, key=_importance)
    contents = {path: text.text for path, text in texts.items()}
    allotted, free = _allot(ordered, contents, budget_tokens, count, is_scarce=False)
    if any(not allotted.get(entry.path) and (entry.digest or contents.get(entry.path)) for entry in ordered):
        allotted, free = _allot(ordered, contents, budget_tokens, count, is_scarce=True)
    blocks: list[FileBlock] = []
    for entry in ordered:
        if entry.path in allotted:
            allowed = allotted[entry.path] + free
            block = _file_block(entry, contents.get(entry.path, ""), allowed, count)
            free = allowed - count(block.text)
            blocks.append(block)
    return tuple(blocks), tuple(entry.path for entry in ordered if entry.path not in allotted)


def _allot(
    ordered: Sequence[MemoryFile],
    contents: Mapping[str, str],
    budget_tokens: int,
    count: TokenCounter,
    *,
    is_scarce: bool,
) -> tuple[dict[str, int], int]:
    """Return the minimum tokens of each file's text that fits, by path, and the tokens that are left."""
    allotted: dict[str, int] = {}
    free = budget_tokens
    for files in (ordered[:1], ordered, [entry for entry in ordered if entry.mode is Mode.FULL]):
        as_full = files is not ordered or is_scarce
        for entry in files:
            before = allotted.get(entry.path)
            room = free - block_tokens(entry, count) if before is None else free + before
            text = contents.get(entry.path, "")
            wanted = _minimum(entry, text, budget_tokens, room, count, as_full=as_full, is_scarce=is_scarce)
            if room >= 0 and (before is None or wanted > before):
                free = room - wanted
                allotted[entry.path] = wanted
    return allotted, free


def _importance(entry: MemoryFile) -> tuple[bool, bool, int, float, str]:
    return (entry.mode is not Mode.FULL, not entry.pinned, -entry.last_access_turn, -entry.relevance, entry.path)


def _minimum(
    entry: MemoryFile,
    text: str,
    files_tokens: int,
    free: int,
    count: TokenCounter,
    *,
    as_full: bool,
    is_scarce: bool,
) -> int:
    """Return the minimum tokens of a file's text: those of an excerpt, or of a short digest."""
    if as_full and entry.mode is Mode.FULL and text:
        minimum = min_tokens(count(text), files_tokens)
        if is_scarce and (used := _used_tokens(entry, text, count)):
            minimum = min(minimum, used)
        if minimum <= free or free >= MIN_EXCERPT_TOKENS:
            return min(minimum, free)
    limit = SCARCE_DIGEST_TOKENS if is_scarce else MIN_DIGEST_TOKENS
    return min(count(entry.digest), limit, free) if entry.digest else 0


def _used_tokens(entry: MemoryFile, text: str, count: TokenCounter) -> int:
    """Return the tokens of the lines that were used last, with the notices around them; 0 if none are known."""
    runs = _used_runs(entry)
    if not runs:
        return 0
    first, last = runs[0]
    return count("".join(text.splitlines(keepends=True)[first - 1 : last])) + 2 * NOTICE_TOKENS


def _used_runs(entry: MemoryFile) -> list[tuple[int, int]]:
    return [*dict.fromkeys([*([entry.focus] if entry.focus else []), *entry.used_lines])]


def _file_block(entry: MemoryFile, text: str, free: int, count: TokenCounter) -> FileBlock:
    """Return the most informative form of a file that fits: whole, excerpt, digest, or only its name."""
    if entry.mode is Mode.FULL and text:
        if count(text) <= free:
            return FileBlock(entry.path, "full", text, entry.purpose, entry.why, ((1, len(text.splitlines())),))
        # Without used lines an excerpt is head and tail, which are informative only if longer than the digest.
        has_runs = bool(_used_runs(entry))
        minimum = min(MIN_EXCERPT_TOKENS, _used_tokens(entry, text, count)) if has_runs else MIN_EXCERPT_TOKENS
        if free >= max(minimum, 0 if has_runs else min(count(entry.digest), DIGEST_TOKENS)):
            return _excerpt(entry, text, free, count)
    digest = fit_digest(entry.digest, min(free, DIGEST_TOKENS), count) if entry.digest else ""
    if digest and digest != "…" and free >= count(digest):
        return FileBlock(entry.path, "digest", digest, entry.purpose, entry.why)
    return FileBlock(entry.path, "name", "", entry.purpose, entry.why)


def _excerpt(entry: MemoryFile, text: str, free: int, count: TokenCounter) -> FileBlock:
    """Return the used lines with their surroundings, or head and tail if no used lines are known.

    The notices name no handle, since the block has the path of the file itself.
    """
    runs = _used_runs(entry)
    shown = focused(text, runs, free, count) if runs else head_and_tail(text, free, count)
    return FileBlock(entry.path, "excerpt", shown, entry.purpose, entry.why, visible_lines(text, shown))


def visible_lines(text: str, excerpt: str) -> tuple[tuple[int, int], ...]:
    """Return the runs of the text's lines that an excerpt of it contains, 1-based and inclusive."""
    lines = text.splitlines()
    runs: list[tuple[int, int]] = []
    position = 0
    for row in excerpt.splitlines():
        if skipped := _skipped.match(row):
            position = int(skipped["last"]) if skipped["last"] else position + int(skipped["number"])
        elif position < len(lines) and lines[position] == row:
            start = runs.pop()[0] if runs and runs[-1][1] == position else position + 1
            position += 1
            runs.append((start, position))
    return tuple(runs)


_skipped = re.compile(r"\[… (?:lines \d+-(?P<last>\d+)|(?P<number>\d+) lines?) left out")
