"""Excerpts: a long text cut to a budget, with notices of what is missing and a handle that restores the whole."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence

from codecards.router.compress.signatures import enclosing
from codecards.router.compress.token_count import TokenCounter

OUTPUT_CAP_TOKENS = 8_000
"""Most tokens of one tool result. Source: "Context Mode" (see `codecards.router`), §6.4."""
CAP_SENTENCE = "the output was too long: read the file or the part that you need"
HEAD_SHARE = 0.6
"""Share of the kept lines that come from the start. An output starts with its cause and ends with its verdict."""
FOCUS_CONTEXT_LINES = 3
"""Lines that are shown before and after each run."""
SHORT_LINE_CHARACTERS = 40
"""A gap of one line up to this length is filled, since its notice would be longer."""
NOTICE_TOKENS = 16
"""Estimated tokens of the notice of a gap."""
MAX_TRIES = 8

HANDLE = re.compile(r"\bt-[0-9a-f]{12}\b")


def handle_of(text: str) -> str:
    """Return the handle that a text can be restored by; equal texts have equal handles."""
    return "t-" + hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def head_and_tail(text: str, budget_tokens: int, count: TokenCounter, *, handle: str = "", sentence: str = "") -> str:
    """Return the text if it fits, else its first and last lines with a notice between them.

    The result takes at most `budget_tokens`. If not even one line fits, the text is cut inside its lines; if that does
    not fit either, the result is the notice alone, or "…".
    """
    if count(text) <= budget_tokens:
        return text
    lines = text.splitlines(keepends=True)
    best, low, high = "", 1, len(lines) - 1
    while low <= high:
        n_kept = (low + high) // 2
        candidate = _cut_lines(lines, n_kept, handle, sentence)
        if count(candidate) <= budget_tokens:
            best, low = candidate, n_kept + 1
        else:
            high = n_kept - 1
    return best or _cut_characters(text, budget_tokens, count, handle, sentence)


def cap_output(text: str, count: TokenCounter, cap_tokens: int = OUTPUT_CAP_TOKENS) -> str:
    """Return a tool's result within the cap; a longer one is cut and says so."""
    return head_and_tail(text, cap_tokens, count, handle=handle_of(text), sentence=CAP_SENTENCE)


def focused(
    text: str, runs: Sequence[tuple[int, int]], budget_tokens: int, count: TokenCounter, *, handle: str = ""
) -> str:
    """Return the lines of the runs with their surroundings, and notices of the gaps.

    Lines enter in this order: the runs, a few lines around each run, the definition around each run. The rest of the
    budget goes to the lines around the first run, twice as many below as above, since agents read downwards.

    Args:
        text: The whole text.
        runs: First and last lines, 1-based and inclusive, the most important first; lines beyond the end are ignored.
        budget_tokens: Most tokens of the result; a run that does not fit is cut at its end.
        count: Counts tokens.
        handle: Handle of the whole text, for the first notice.
    """
    if count(text) <= budget_tokens:
        return text
    lines = text.splitlines(keepends=True)
    runs = [_clipped(run, len(lines)) for run in runs]
    # The tokens of a line are estimated from its characters; counting each line would take far longer.
    tokens_per_character = count(text) / len(text)
    room = float(budget_tokens)
    for _ in range(MAX_TRIES):
        shown = _joined(lines, _chosen(lines, _in_order(lines, runs), room, tokens_per_character), handle)
        excess = count(shown) - budget_tokens
        if excess <= 0 and shown:
            return shown
        room -= max(excess, 0) + NOTICE_TOKENS
        if room <= 0:
            break
    return head_and_tail(text, budget_tokens, count, handle=handle)


def notice(what: str, handle: str = "", sentence: str = "") -> str:
    """Return the line that says what is missing and how to restore it."""
    restore = f"; restore {handle}" if handle else ""
    return f"[… {what} left out{restore}{'; ' + sentence if sentence else ''} …]\n"


def _cut_lines(lines: list[str], n_kept: int, handle: str, sentence: str) -> str:
    n_head = max(1, round(n_kept * HEAD_SHARE))
    n_tail = n_kept - n_head
    head, tail = "".join(lines[:n_head]), "".join(lines[len(lines) - n_tail :])
    return (
        head
        + ("" if head.endswith(("\n", "\r")) else "\n")
        + notice(_lines(len(lines) - n_kept), handle, sentence)
        + tail
    )


def _cut_characters(text: str, budget_tokens: int, count: TokenCounter, handle: str, sentence: str) -> str:
    """Cut inside lines, for a text with very long lines."""
    best, low, high = "", 1, len(text) - 1
    while low <= high:
        n_kept = (low + high) // 2
        n_head = max(1, round(n_kept * HEAD_SHARE))
        mark = notice(f"{len(text) - n_kept} characters", handle, sentence)
        candidate = f"{text[:n_head]}\n{mark}{text[len(text) - (n_kept - n_head) :]}"
        if count(candidate) <= budget_tokens:
            best, low = candidate, n_kept + 1
        else:
            high = n_kept - 1
    if best:
        return best
    alone = notice(f"{len(text)} characters", handle)
    return alone if count(alone) <= budget_tokens else "…"


def _clipped(run: tuple[int, int], n_lines: int) -> tuple[int, int]:
    first = min(max(1, run[0]), max(1, n_lines))
    return first, min(max(first, run[1]), n_lines)


def _in_order(lines: Sequence[str], runs: Sequence[tuple[int, int]]) -> Iterator[int]:
    """Yield line numbers, the most important first; a number may be repeated."""
    for first, last in runs:
        yield from range(first, last + 1)
    for first, last in runs:
        yield from range(max(1, first - FOCUS_CONTEXT_LINES), min(len(lines), last + FOCUS_CONTEXT_LINES) + 1)
    for first, last in runs:
        start, end = enclosing(lines, first, last)
        yield from range(start, end + 1)
    above, below = runs[0]
    while above > 1 or below < len(lines):
        for line in (below + 1, below + 2, above - 1):
            if 1 <= line <= len(lines):
                yield line
        above, below = max(1, above - 1), min(len(lines), below + 2)


def _chosen(lines: Sequence[str], wanted: Iterable[int], room: float, tokens_per_character: float) -> list[int]:
    chosen = set[int]()
    for number in wanted:
        if number in chosen:
            continue
        cost = len(lines[number - 1]) * tokens_per_character
        # A line without a chosen neighbour opens a gap, which needs a notice.
        cost += 0 if number - 1 in chosen or number + 1 in chosen else NOTICE_TOKENS
        if cost > room:
            break
        chosen.add(number)
        room -= cost
    return sorted(chosen)


def _joined(lines: Sequence[str], numbers: Sequence[int], handle: str) -> str:
    """Return the lines of these numbers with a notice for each gap; only the first notice has the handle."""
    parts: list[str] = []
    position, named = 0, handle
    for number in [*numbers, len(lines) + 1] if numbers else []:
        if number == position + 2 and number <= len(lines) and len(lines[position]) <= SHORT_LINE_CHARACTERS:
            parts.append(lines[position])  # shorter than its notice would be
        elif number > position + 1:
            parts.append(notice(f"lines {position + 1}-{number - 1}", named))
            named = ""
        if number <= len(lines):
            line = lines[number - 1]
            parts.append(line if line.endswith(("\n", "\r")) or number == len(lines) else line + "\n")
        position = number
    return "".join(parts)


def _lines(n_lines: int) -> str:
    return f"{n_lines} line{'' if n_lines == 1 else 's'}"
