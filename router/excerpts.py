"""Excerpts: a long text cut to a budget: head and tail, a notice of what is missing, a handle to get it back."""

import hashlib

from codecards.router.tokens import TokenCounter

OUTPUT_CAP_TOKENS = 8_000
"""Most tokens of one tool result. Source: the Context Mode article, §6.4."""
CAP_SENTENCE = "结果过长已截断\uff0c可针对性查看文件 (too long, cut: look at the file or the part that you need)"
HEAD_SHARE = 0.6
"""Of the kept lines; the end of an output holds its verdict, the start its cause."""
FOCUS_CONTEXT_LINES = 3


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


def focused(text: str, focus: tuple[int, int], budget_tokens: int, count: TokenCounter, *, handle: str = "") -> str:
    """Return the lines of the focus, with as many around them as fit, and notices of what is left out.

    Args:
        text: The whole.
        focus: First and last line, 1-based and inclusive; lines beyond the end are ignored.
        budget_tokens: Most tokens of the result; a focus that does not fit is itself cut by head and tail.
        count: Counts tokens.
        handle: Named in the notices.
    """
    if count(text) <= budget_tokens:
        return text
    lines = text.splitlines(keepends=True)
    first = min(max(1, focus[0]), max(1, len(lines)))
    last = min(max(first, focus[1]), len(lines))
    best, margin = "", 0
    while True:
        start, end = max(1, first - margin), min(len(lines), last + margin)
        candidate = _window(lines, start, end, handle)
        if count(candidate) > budget_tokens:
            break
        best = candidate
        if start == 1 and end == len(lines):
            break
        margin = margin * 2 or FOCUS_CONTEXT_LINES
    if best:
        return best
    before = notice(f"lines 1-{first - 1}") if first > 1 else ""
    after = notice(f"lines {last + 1}-{len(lines)}") if last < len(lines) else ""
    rest = budget_tokens - count(before) - count("\n" + after)
    inside = head_and_tail("".join(lines[first - 1 : last]), rest, count, handle=handle) if rest > 0 else "…"
    whole = before + inside + ("" if not after or inside.endswith("\n") else "\n") + after
    if inside == "…" or count(whole) > budget_tokens:
        return head_and_tail(text, budget_tokens, count, handle=handle)
    return whole


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


def _window(lines: list[str], start: int, end: int, handle: str) -> str:
    before = notice(f"lines 1-{start - 1}", handle) if start > 1 else ""
    after = notice(f"lines {end + 1}-{len(lines)}", handle) if end < len(lines) else ""
    body = "".join(lines[start - 1 : end])
    if after and not body.endswith(("\n", "\r")):
        body += "\n"
    return before + body + after


def _lines(n_lines: int) -> str:
    return f"{n_lines} line{'' if n_lines == 1 else 's'}"
