"""Excerpts: lines of a file as they are shown, cut where they are too long, and without secrets."""

from collections.abc import Sequence

from codecards.indexer.secret_masking import mask_secrets

MAX_LINES = 160
MAX_CHARACTERS = 12_000
MAX_LINE_CHARACTERS = 1_000
LEAST_LINES = 8
"""However long lines are, so many are shown."""


def excerpt(lines: Sequence[str], *, max_lines: int = MAX_LINES, max_characters: int = MAX_CHARACTERS) -> str:
    """Return lines as one text; what is too long loses its middle, never its end, and says how much is left out."""
    n_shown = min(len(lines), max_lines)
    shown = _without_middle(lines, n_shown)
    while n_shown > LEAST_LINES and len(shown) > max_characters:
        n_shown = max(LEAST_LINES, n_shown * 4 // 5)
        shown = _without_middle(lines, n_shown)
    return mask_secrets(shown)


def _without_middle(lines: Sequence[str], n_shown: int) -> str:
    """Return the first two thirds and the last third of the lines that are shown, and a notice between."""
    if n_shown >= len(lines):
        return "\n".join(map(_cut, lines))
    n_head = n_shown * 2 // 3
    notice = f"… ({len(lines) - n_shown} lines left out; show the path and lines to read them)"
    tail = lines[len(lines) - (n_shown - n_head) :]
    return "\n".join([*map(_cut, lines[:n_head]), notice, *map(_cut, tail)])


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARACTERS else f"{line[:MAX_LINE_CHARACTERS]} … ({len(line)} characters)"
