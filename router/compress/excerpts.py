"""Excerpts: a long text cut to a budget: head and tail, a notice of what is missing, a handle to get it back."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence

from codecards.router.compress.signatures import enclosing
from codecards.router.compress.token_count import TokenCounter

OUTPUT_CAP_TOKENS = 8_000
"""Most tokens of one tool result. Source: the Context Mode article, §6.4."""
CAP_SENTENCE = "结果过长已截断\uff0c可针对性查看文件 (too long, cut: look at the file or the part that you need)"
HEAD_SHARE = 0.6
"""Of the kept lines; the end of an output holds its verdict, the start its cause."""
FOCUS_CONTEXT_LINES = 3
SHORT_LINE_CHARACTERS = 40
NOTICE_TOKENS = 16
"""What the notice of a gap costs, about."""
MAX_TRIES = 8


HANDLE = re.compile(r"\bt-[0-9a-f]{12}\b")


def handle_of(text: str) -> str:
    """Return the name under which the whole text can be asked for: equal texts have equal handles."""
    return "t-" + hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def head_and_tail(text: str, budget_tokens: int, count: TokenCounter, *, handle: str = "", sentence: str = "") -> str:
    """Return the text if it fits, else its first and last lines with a notice between them.

    The result takes at most `budget_tokens`, or is the notice alone, or "…" where not even that fits.
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
    """Return a tool's result within the cap; a longer one says so in the article's own sentence."""
    return head_and_tail(text, cap_tokens, count, handle=handle_of(text), sentence=CAP_SENTENCE)


def focused(
    text: str, runs: Sequence[tuple[int, int]], budget_tokens: int, count: TokenCounter, *, handle: str = ""
) -> str:
    """Return the lines of the runs, what lies around them, and notices of what is left out.

    First the runs themselves, then a few lines around each, then the definitions that hold them, each time in the order
    given; what is still free goes to the lines around the first run, twice as many below as above, for agents read on.

    Args:
        text: The whole.
        runs: First and last lines, 1-based and inclusive, the most important first; lines beyond the end are ignored.
        budget_tokens: Most tokens of the result; what does not fit of a run is left out at its end.
        count: Counts tokens.
        handle: Named in the notices.
    """
    if count(text) <= budget_tokens:
        return text
    lines = text.splitlines(keepends=True)
    runs = [_clipped(run, len(lines)) for run in runs]
    # A line's tokens are taken as its share of the characters: exact counts of each line would cost far more.
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
    """Return the line that says what is missing and how to get it."""
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
    """Cut inside lines, for text with one giant line."""
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
    """Yield line numbers, the most wanted first; one may come several times."""
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
        # A line that touches no other opens a gap, which needs a notice.
        cost += 0 if number - 1 in chosen or number + 1 in chosen else NOTICE_TOKENS
        if cost > room:
            break
        chosen.add(number)
        room -= cost
    return sorted(chosen)


def _joined(lines: Sequence[str], numbers: Sequence[int], handle: str) -> str:
    """Return the lines of these numbers with a notice for each gap; the handle is named once."""
    parts: list[str] = []
    position, named = 0, handle
    for number in [*numbers, len(lines) + 1] if numbers else []:
        if number == position + 2 and number <= len(lines) and len(lines[position]) <= SHORT_LINE_CHARACTERS:
            parts.append(lines[position])  # shorter than the notice that it is left out
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
