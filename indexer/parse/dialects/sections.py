"""Documents: each heading opens a section, which ends before the next heading of its level or above."""

from collections.abc import Sequence
from dataclasses import dataclass

from codecards.indexer.facts import Definition, FileFacts

MAX_NAME_CHARACTERS = 120
MAX_DOC_CHARACTERS = 400


@dataclass(frozen=True, slots=True, order=True)
class Heading:
    """One heading of a document."""

    row: int
    """Row where the section starts, 0-based."""
    level: int
    """1 is the highest."""
    name: str
    text_row: int
    """First row of the text below the heading."""


def section_facts(language: str, n_lines: int, lines: Sequence[str], headings: Sequence[Heading]) -> FileFacts:
    """Return the facts of a document: its sections.

    Args:
        language: Language of the document.
        n_lines: Its number of lines.
        lines: Its lines without line ends.
        headings: In the order of their rows; those without a name are left out.
    """
    found = [one for one in headings if one.name and one.row < len(lines)]
    definitions: list[Definition] = []
    open_: list[int] = []
    ends = _ends(found, n_lines)
    for number, heading in enumerate(found):
        while open_ and found[open_[-1]].level >= heading.level:
            open_.pop()
        parent = open_[-1] if open_ else -1
        end = ends[number]
        while end > heading.row + 1 and end <= len(lines) and not lines[end - 1].strip():
            end -= 1
        above = definitions[parent].qualified_name + "." if parent >= 0 else ""
        next_row = found[number + 1].row if number + 1 < len(found) else n_lines
        body = " ".join(line.strip() for line in lines[heading.text_row : next_row] if line.strip(" =-"))
        open_.append(number)
        definitions.append(
            Definition(
                name=heading.name,
                qualified_name=above + heading.name,
                kind="section",
                parent=parent,
                lead_line=heading.row + 1,
                first_line=heading.row + 1,
                name_line=heading.row + 1,
                last_line=max(end, heading.row + 1),
                signature=lines[heading.row].strip()[:300],
                doc=body[:MAX_DOC_CHARACTERS],
            )
        )
    return FileFacts(language, n_lines, tuple(definitions))


def _ends(headings: Sequence[Heading], n_lines: int) -> list[int]:
    """Return for each heading the row of the next one of its level or above."""
    ends = [n_lines] * len(headings)
    open_: list[int] = []
    for number, heading in enumerate(headings):
        while open_ and headings[open_[-1]].level >= heading.level:
            ends[open_.pop()] = heading.row
        open_.append(number)
    return ends
