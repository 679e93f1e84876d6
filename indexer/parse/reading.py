"""Reads the definitions of a text from its syntax tree; a text with syntax errors is repaired and read again."""

import re
from dataclasses import dataclass

from codecards.indexer.facts import VALUE_KINDS, Definition
from codecards.indexer.parse.captures import Collected, collect
from codecards.indexer.parse.definitions import Definitions, LeadLines, finish_definitions
from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.recovery import repair
from codecards.indexer.parse.tree import SyntaxTree, error_rows, parse
from codecards.indexer.problems import Reason

MAX_REPAIRED_SHARE = 0.2
"""A repair of a higher share of rows may be wrong itself: it must gain definitions."""
MAX_ERRORS_WITH_CONDITIONS = 3
"""Maximum number of errors of a text with preprocessor conditions that is repaired; more come from macros."""
GAINED_FOR_LOST = 4
"""Number of definitions that a repair must gain for each that it loses."""
MAX_LISTED = 5
"""Maximum number of damaged places that a report lists."""
_preprocessor = re.compile(rb"^[ \t]*#[ \t]*if(?:def|ndef)?\b", re.MULTILINE)
_marker = re.compile(rb"^(?:<{7}|\|{7}|={7}|>{7})(?=[ \r\n]|\Z)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Reading:
    """The matches and definitions of one text, and what of it is in doubt."""

    found: Collected
    definitions: Definitions
    damaged: tuple[tuple[int, int], ...]
    """First and last row of each place that could not be parsed."""
    conflicts: tuple[tuple[int, int], ...] = ()
    """First and last row of each pair of conflict markers."""
    first_side_only: bool = False
    """Whether the second side of the conflicts was left out."""

    def problems(self, dialect: Dialect) -> list[tuple[Reason, str]]:
        """Return reason and detail of what is in doubt."""
        problems = []
        if self.conflicts:
            kept = "only the first side of each is indexed" if self.first_side_only else "both sides are indexed"
            problems.append((Reason.CONFLICT_MARKERS, f"has conflict markers at {_listed(self.conflicts)}; {kept}"))
        if self.damaged:
            n_doubtful = len(_doubtful(self.definitions.values, self.damaged))
            noun = "definition" if n_doubtful == 1 else "definitions"
            doubt = f"; {n_doubtful} {noun} there in doubt" if n_doubtful else ""
            detail = f"could not be parsed at {_listed(self.damaged)}{doubt}; the code around is indexed"
            problems.append((Reason.PARSED_IN_PART, detail + dialect.error_hint))
        return problems


def read_source(source: bytes, language: str, dialect: Dialect) -> Reading | None:
    """Return the matches and definitions of a text, None if it is not parsed within the time limit."""
    conflicts = _conflicts(source) if b"<<<<<<<" in source and b">>>>>>>" in source else []
    data = _without_conflicts(source, conflicts, first_side_only=False) if conflicts else source
    syntax = parse(data, language, original=source)
    first_side_only = False
    if conflicts and syntax is not None and syntax.root.has_error:
        ours = _without_conflicts(source, conflicts, first_side_only=True)
        other = parse(ours, language, original=source)
        if other is not None and len(error_rows(other, language)) < len(error_rows(syntax, language)):
            data, syntax, first_side_only = ours, other, True
    if syntax is None:
        return None
    spans = tuple((rows[0], rows[-1]) for rows in conflicts)
    if not syntax.root.has_error:
        found, definitions = _read(syntax, language, dialect)
        return Reading(found, definitions, (), spans, first_side_only)
    found, definitions, damaged = _recovered(syntax, data, source, language, dialect)
    return Reading(found, definitions, damaged, spans, first_side_only)


def _read(syntax: SyntaxTree, language: str, dialect: Dialect) -> tuple[Collected, Definitions]:
    found = collect(syntax, language, dialect)
    lines = LeadLines(found.comments, found.attributes, syntax.data)
    return found, finish_definitions(found.drafts, found.outers, lines, syntax.data, dialect)


def _recovered(
    syntax: SyntaxTree, data: bytes, source: bytes, language: str, dialect: Dialect
) -> tuple[Collected, Definitions, tuple[tuple[int, int], ...]]:
    """Return the best reading of a text with syntax errors: of its tree, or of a repaired text."""
    known = dialect.repaired(data)
    if known != data and len(known) == len(data):
        other = parse(known, language, original=source)
        if other is not None and len(error_rows(other, language)) < len(error_rows(syntax, language)):
            data, syntax = known, other
    found, definitions = _read(syntax, language, dialect)
    damaged = error_rows(syntax, language)
    has_conditions = _preprocessor.search(source) is not None  # they cut across the layout by which texts are repaired
    is_hopeless = has_conditions and len(damaged) > MAX_ERRORS_WITH_CONDITIONS
    repaired = repair(data, language) if damaged and not is_hopeless else None
    other = parse(repaired.data, language, original=source) if repaired is not None else None
    if repaired is not None and other is not None:
        other_found, other_definitions = _read(other, language, dialect)
        excused = frozenset() if has_conditions else frozenset(repaired.rows)
        if _is_better(other_definitions, definitions, excused, len(repaired.rows) / (source.count(b"\n") + 1)):
            spans = [(row, row) for row in repaired.rows] + error_rows(other, language)
            return other_found, other_definitions, _joined(spans)
    return found, definitions, _joined(damaged)


def _is_better(after: Definitions, before: Definitions, excused: frozenset[int], share: float) -> bool:
    """Return whether a repaired text gives more types and functions, or the same in better order by a small repair.

    Args:
        after: Definitions of the repaired text.
        before: Definitions of the text as it is.
        excused: Rows whose definitions are in doubt anyway, and no loss.
        share: Changed rows per row of the text.
    """
    new, old = _names(after), _names(before)
    gained, lost = len(new - old), sum(line - 1 not in excused for _, line in old - new)
    if lost or share > MAX_REPAIRED_SHARE:
        return gained > GAINED_FOR_LOST * lost and gained > 0
    if gained:
        return True
    full_new, full_old = _full_names(after), _full_names(before)
    return full_new != full_old and len(full_new - full_old) >= len(full_old - full_new)


def _names(definitions: Definitions) -> set[tuple[str, int]]:
    """Return name and line of each definition other than a value."""
    return {(one.name, one.name_line) for one in definitions.values if one.kind not in VALUE_KINDS}


def _full_names(definitions: Definitions) -> set[tuple[str, int]]:
    return {(one.qualified_name, one.name_line) for one in definitions.values}


def _joined(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the spans of rows, adjacent ones as one."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return tuple(joined)


def _listed(spans: tuple[tuple[int, int], ...]) -> str:
    """Return the lines of the first spans and the number of the others: "lines 3, 7-9 and 4 more places"."""
    shown = [f"{first + 1}" if first == last else f"{first + 1}-{last + 1}" for first, last in spans[:MAX_LISTED]]
    word = "line" if len(spans) == 1 and spans[0][0] == spans[0][1] else "lines"
    n_more = len(spans) - len(shown)
    more = f" and {n_more} more {'place' if n_more == 1 else 'places'}" if n_more else ""
    return f"{word} {', '.join(shown)}{more}"


def _doubtful(definitions: tuple[Definition, ...], damaged: tuple[tuple[int, int], ...]) -> set[int]:
    """Return the positions of the innermost definitions around damaged rows."""
    found: set[int] = set()
    for first, last in damaged:
        touched = [
            number for number, one in enumerate(definitions) if one.first_line - 1 <= last and first < one.last_line
        ]
        parents = {definitions[number].parent for number in touched}
        found.update(number for number in touched if number not in parents)
    return found


def _conflicts(source: bytes) -> list[tuple[int, ...]]:
    """Return the rows of the markers of each conflict, in order."""
    conflicts: list[tuple[int, ...]] = []
    rows: list[int] = []
    kinds = b""
    row = position = 0
    for match in _marker.finditer(source):
        row += source.count(b"\n", position, match.start())
        position = match.start()
        kind = source[position : position + 1]
        if kind == b"<":
            rows, kinds = [row], kind
        elif rows and kind != b">":
            rows.append(row)
            kinds += kind
        elif kind == b">" and kinds in (b"<=", b"<|="):
            conflicts.append((*rows, row))
            rows, kinds = [], b""
    return conflicts


def _without_conflicts(source: bytes, conflicts: list[tuple[int, ...]], *, first_side_only: bool) -> bytes:
    """Return the text with the markers, the common ancestor and perhaps the second side of each conflict blanked."""
    lines = source.split(b"\n")
    for rows in conflicts:
        blank = {rows[0], rows[-1], *range(rows[1], rows[-2] + 1)}
        if first_side_only:
            blank.update(range(rows[-2], rows[-1]))
        for row in blank:
            lines[row] = b" " * len(lines[row])
    return b"\n".join(lines)
