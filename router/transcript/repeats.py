"""Finds runs of lines that a transcript has shown before, and puts a pointer in their place.

An agent reads a file, edits it and reads it again: most lines come a second time. A repeated run says nothing new as
long as its first showing is in view, so that a pointer costs nothing but itself. Line numbers that tools print before
each line are ignored when lines are compared, and told in the pointer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

MIN_RUN = 8
"""Lines from which on a run is worth a pointer."""
_SEED = 4
"""Consecutive lines by which a run is found."""
MAX_PLACES = 4
"""Places that are remembered of one group of lines; licence headers are everywhere."""
_NUMBERED = re.compile(r"^\s{0,8}(\d{1,7})(?:→|\t|:\s?|\||│|\s{2})")


@dataclass(slots=True)
class SeenLines:
    """The lines that a transcript shows so far."""

    texts: list[tuple[str, int, list[str]]] = field(default_factory=list)
    """Name of a shown text, its place in the transcript, and its lines without line numbers."""
    _places: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """Hash of `_SEED` lines → (text, line) where they begin."""

    def add(self, name: str, place: int, text: str) -> None:
        """Take note of a text that is in view, by its name and its place in the transcript."""
        lines = [content(line) for line in text.split("\n")]
        number = len(self.texts)
        self.texts.append((name, place, lines))
        for start in range(len(lines) - _SEED + 1):
            places = self._places.setdefault(_seed(lines, start), [])
            if len(places) < MAX_PLACES:
                places.append((number, start))

    def longest(self, lines: Sequence[str], start: int) -> tuple[int, int]:
        """Return the length of the longest run from a line on that was shown before, and the number of its text."""
        best, best_number = 0, -1
        for number, place in self._places.get(_seed(lines, start), ()):
            shown = self.texts[number][2]
            length = 0
            while (
                start + length < len(lines)
                and place + length < len(shown)
                and lines[start + length] == shown[place + length]
            ):
                length += 1
            if length > best:
                best, best_number = length, number
        return best, best_number


@dataclass(frozen=True, slots=True)
class Shortened:
    """A text with pointers in the place of repeated runs."""

    text: str
    n_repeated: int
    """Lines that a pointer stands for; 0 where the text is as it was."""
    places: frozenset[int] = frozenset()
    """Places in the transcript that the pointers lead to."""


def point_to_repeats(text: str, seen: SeenLines) -> Shortened:
    """Return a text with its repeated runs replaced, each by one line that says how many lines are where."""
    raw = text.split("\n")
    lines = [content(line) for line in raw]
    kept: list[str] = []
    places: set[int] = set()
    n_repeated = index = 0
    while index < len(lines):
        length, number = seen.longest(lines, index) if index + MIN_RUN <= len(lines) else (0, -1)
        # A run of blank or near-blank lines is no text that anyone could look up.
        if length >= MIN_RUN and sum(len(line.strip()) for line in lines[index : index + length]) > 20 * MIN_RUN // 2:
            name, place, _ = seen.texts[number]
            kept.append(_pointer(raw[index : index + length], name))
            places.add(place)
            n_repeated += length
            index += length
        else:
            kept.append(raw[index])
            index += 1
    return Shortened("\n".join(kept) if n_repeated else text, n_repeated, frozenset(places))


def _pointer(lines: Sequence[str], name: str) -> str:
    first, last = _NUMBERED.match(lines[0]), _NUMBERED.match(lines[-1])
    numbers = f" {first[1]}-{last[1]}" if first and last else ""
    return f"[… {len(lines)} lines{numbers} unchanged: shown above by {name}]"


def content(line: str) -> str:
    """Return a line without the line number that a tool printed before it, and without blanks at its end."""
    match = _NUMBERED.match(line)
    return (line[match.end() :] if match else line).rstrip()


def first_number(text: str) -> int:
    """Return the line number that a tool printed before the first line, 1 where it printed none."""
    match = _NUMBERED.match(text)
    return int(match[1]) if match else 1


def _seed(lines: Sequence[str], start: int) -> int:
    return hash(tuple(lines[start : start + _SEED]))
