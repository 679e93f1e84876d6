"""Piecewise reads: tells an agent that reads a file in pieces when the whole file would cost less.

Source: "Separation of duties" (see `codecards.router`): reading in blocks takes more calls, and often ends with the
whole file anyway.
"""

from collections.abc import Iterable, Iterator

from codecards.router.compress.token_count import TokenCounter
from codecards.router.memory.ledger import LineUse
from codecards.router.memory.operations import READ_KINDS, ToolCall
from codecards.router.memory.state import SessionState
from codecards.router.memory.working_memory import Mode
from codecards.router.ports import FileTexts

LARGE_SHARE = 0.5
"""Share of a file's lines from which the hint is given."""


def piecewise_hints(call: ToolCall, state: SessionState, texts: FileTexts, count: TokenCounter) -> Iterator[str]:
    """Yield the hints that a read of some lines gives rise to; files that are open in full need none."""
    if call.lines is None or call.kind not in READ_KINDS:
        return
    for path in call.paths:
        entry, text = state.memory.entry(path), texts.read(path)
        is_open = entry is not None and entry.mode is Mode.FULL
        if text is not None and not is_open and (hint := piecewise_hint(state.uses, path, text.text, count)):
            yield hint


def piecewise_hint(uses: Iterable[LineUse], path: str, text: str, count: TokenCounter) -> str:
    """Return the hint for a file that was read in pieces, "" while the pieces are few.

    Args:
        uses: All uses of the session; the pieces are those of the file that have lines.
        path: The file.
        text: The file's text now.
        count: Counts tokens, to compare the pieces with the whole.
    """
    lines = text.splitlines(keepends=True)
    pieces = [use for use in uses if use.path == path and use.first_line <= use.last_line]
    seen = {line for use in pieces for line in range(use.first_line, min(use.last_line, len(lines)) + 1)}
    if len(pieces) < 2 or len(seen) < LARGE_SHARE * len(lines):
        return ""
    spent = sum(count("".join(lines[use.first_line - 1 : use.last_line])) for use in pieces)
    return (
        f"{len(seen) / len(lines):.0%} of {path} was read in {len(pieces)} pieces, {spent} tokens; "
        f"the whole file takes {count(text)}: open_file shows it and keeps it current"
    )
