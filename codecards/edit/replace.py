"""Replaces one piece of a text by another, exactly or not at all; a failure says enough to try again.

Models write LF line ends whatever the file has, and in JSON arguments often escape tabs once too often. Both are
accepted; nothing else is guessed.
"""

import difflib
import re
from collections import Counter
from dataclasses import dataclass

from codecards.errors import EditError, SeveralPlacesError, TextNotFoundError
from codecards.indexer.text.secrets import mask_secrets

NEAR_RATIO = 0.6
"""Least similarity to a line of the search for a line to be shown as the nearest; 1 is equal."""
MAX_NEAR_LINES = 12
MAX_PLACES = 10
ESCAPES_NOTICE = "\\t was read as a tab"


@dataclass(frozen=True, slots=True)
class TextEdit:
    """A text after an edit."""

    text: str
    first_line: int
    """First line of the replacement in the new text, 1-based."""
    last_line: int
    notice: str = ""
    """How the search was interpreted, if not literally; else ""."""


def replace_piece(text: str, search: str, replacement: str, *, where: str = "the text") -> TextEdit:
    """Return the text with the only occurrence of `search` replaced.

    Args:
        text: Its line ends are kept, and the replacement gets those of its place.
        search: Must match one place exactly, white space included; its lines may end in LF where the text has CRLF.
        replacement: May be empty.
        where: The name of the text in errors: a path.

    Raises:
        TextNotFoundError: The search does not occur; the error shows the nearest lines.
        SeveralPlacesError: It occurs several times; the error lists their lines.
        EditError: The search is empty, or the same as the replacement.
    """
    if not search:
        raise EditError(f"The text to replace in {where} is empty; copy the lines to replace from the file.")
    if search == replacement:
        raise EditError(f"The text to replace in {where} and its replacement are the same; nothing was changed.")
    for unescape, notice in ((_literally, ""), (_tabs_in_indentation, ESCAPES_NOTICE), (_all_tabs, ESCAPES_NOTICE)):
        wanted = unescape(search)
        if notice and wanted == search:
            continue
        places = _places(text, wanted)
        if len(places) > 1:
            lines = [_line_at(text, place.start()) for place in places[:MAX_PLACES]]
            raise SeveralPlacesError(where, lines, total=len(places))
        if places:
            return _replaced(text, places[0], unescape(replacement), notice)
    line, near = _nearest(text, search)
    raise TextNotFoundError(where, line=line, nearest=near)


def with_line_ends(text: str, line_end: str) -> str:
    """Return the text with all line ends replaced by one kind."""
    return _line_end.sub(lambda _: line_end, text)


def line_end_of(text: str) -> str:
    """Return the most common line end of a text."""
    counts = Counter(_line_end.findall(text))
    return max(("\n", "\r\n", "\r"), key=lambda line_end: counts[line_end])


_line_end = re.compile(r"\r\n|\n|\r")


def _places(text: str, search: str) -> list[re.Match[str]]:
    pieces = _line_end.split(search)
    return list(re.finditer(f"(?:{_line_end.pattern})".join(map(re.escape, pieces)), text))


def _line_at(text: str, position: int) -> int:
    return 1 + sum(1 for _ in _line_end.finditer(text, 0, position))


def _replaced(text: str, place: re.Match[str], replacement: str, notice: str) -> TextEdit:
    line_end = line_end_of(place[0] if _line_end.search(place[0]) else text)
    piece = with_line_ends(replacement, line_end)
    first_line = _line_at(text, place.start())
    n_ends = len(_line_end.findall(piece.removesuffix(line_end)))
    return TextEdit(text[: place.start()] + piece + text[place.end() :], first_line, first_line + n_ends, notice)


def _literally(text: str) -> str:
    return text


_indentation = re.compile(r"^(?:\\t|[ \t])+", re.MULTILINE)


def _tabs_in_indentation(text: str) -> str:
    r"""Return the text with `\t` at the start of lines read as tabs; one further on in the line stays."""
    return _indentation.sub(lambda found: found[0].replace("\\t", "\t"), text)


def _all_tabs(text: str) -> str:
    return text.replace("\\t", "\t")


def _nearest(text: str, search: str) -> tuple[int, str]:
    """Return (line, text) of the part most similar to the search; (0, "") if nothing is."""
    lines, wanted = _line_end.split(text), [line.strip() for line in _line_end.split(search) if line.strip()]
    stripped = [line.strip() for line in lines]
    for line in wanted:
        near = difflib.get_close_matches(line, dict.fromkeys(stripped), 1, NEAR_RATIO)
        if near:
            index = stripped.index(near[0])
            n_shown = min(MAX_NEAR_LINES, len(_line_end.split(search)))
            return index + 1, mask_secrets("\n".join(lines[index : index + n_shown]))
    return 0, ""
