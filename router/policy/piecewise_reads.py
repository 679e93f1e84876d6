"""Piecewise reading: an agent that reads a file piece by piece is told when the whole would have been better.

Source: the article on split duties: reading by blocks costs more calls, and in the end often the whole file.
"""

from collections.abc import Iterable

from codecards.router.compress.token_count import TokenCounter
from codecards.router.memory.ledger import LineUse

LARGE_SHARE = 0.5


def piecewise_hint(uses: Iterable[LineUse], path: str, text: str, count: TokenCounter) -> str:
    """Return what to say of a file that was read in pieces, "" while they are few.

    Args:
        uses: All uses of the session; those of the file with lines are its pieces.
        path: The file.
        text: Its text now.
        count: Counts tokens, to set the pieces against the whole.
    """
    lines = text.splitlines(keepends=True)
    pieces = [use for use in uses if use.path == path and use.first_line <= use.last_line]
    seen = {line for use in pieces for line in range(use.first_line, min(use.last_line, len(lines)) + 1)}
    if len(pieces) < 2 or len(seen) < LARGE_SHARE * len(lines):
        return ""
    spent = sum(count("".join(lines[use.first_line - 1 : use.last_line])) for use in pieces)
    return (
        f"{len(seen) / len(lines):.0%} of {path} was now read in {len(pieces)} pieces, {spent} tokens; "
        f"the whole takes {count(text)}: open_file shows it, and keeps it current"
    )
