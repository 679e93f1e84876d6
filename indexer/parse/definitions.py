"""Turns drafts into definitions with parents, line ranges, signatures and documentation."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

import tree_sitter

from codecards.indexer.facts import CODE_CALLABLE_KINDS, VALUE_KINDS, Definition, Kind
from codecards.indexer.parse.comments import clean_comment
from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.drafts import Draft

MAX_SIGNATURE_CHARACTERS = 300
MAX_DOC_CHARACTERS = 2_000
MAX_NAME_CHARACTERS = 200
MAX_LEAD_LINES = 60
"""A longer comment above a definition belongs to the file."""
MAX_DEPTH = 60
"""Maximum nesting of definitions; handwritten code stays below ten."""
_VAGUE_KINDS = VALUE_KINDS | {Kind.TYPE.value}
"""Kinds that another pattern may refine: a variable that holds a function, a type that is a struct."""
_white = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Definitions:
    """The definitions of a file and their drafts, in the same order."""

    values: tuple[Definition, ...]
    drafts: tuple[Draft, ...]
    n_too_deep: int

    @property
    def self_names(self) -> tuple[str, ...]:
        """For each definition the name of the receiver, its own or inherited from a parent; () if no definition names one."""
        if not any(one.self_name for one in self.drafts):
            return ()
        names: list[str] = []
        for draft, value in zip(self.drafts, self.values, strict=True):
            names.append(draft.self_name or (names[value.parent] if value.parent >= 0 else ""))
        return tuple(names)


def finish_definitions(
    drafts: Sequence[Draft],
    outers: Sequence[tree_sitter.Node],
    lines: "LeadLines",
    source: bytes,
    dialect: Dialect,
) -> Definitions:
    """Return the definitions by position, parents before children, without local values.

    Args:
        drafts: At least one for each definition; several for one name at one position are merged.
        outers: Nodes around definitions (`@outer`); the definition inside starts where the node starts.
        lines: Comments and attributes of the file.
        source: The text in UTF-8.
        dialect: Dialect of the file's language.
    """
    drafts = _without_duplicates(drafts)
    _extend(drafts, outers)
    drafts.sort(key=lambda one: (one.start, -one.end))
    values: list[Definition] = []
    kept: list[Draft] = []
    around: list[int] = []
    n_too_deep = 0
    for one in drafts:
        while around and kept[around[-1]].end <= one.start:
            around.pop()
        # Overlap without containment comes from broken syntax; the later definition counts as a sibling.
        enclosing = (
            around if not around or kept[around[-1]].end >= one.end else [i for i in around if kept[i].end >= one.end]
        )
        parent = enclosing[-1] if enclosing else -1
        if parent >= 0 and _VAGUE_KINDS & {one.kind, kept[parent].kind} and _same_place(one, kept[parent]):
            # `a, b = 1, 2`, `typedef int a, *b;`, `int a, f();`: neither contains the other
            parent = values[parent].parent
        if (
            parent >= 0
            and one.kind in VALUE_KINDS
            and (kept[parent].kind in CODE_CALLABLE_KINDS or kept[parent].kind in VALUE_KINDS)
        ):
            continue
        if len(around) >= MAX_DEPTH:
            n_too_deep += 1
            continue
        around.append(len(kept))
        value = _definition(one, parent, values, lines, source, dialect)
        one.kind = value.kind
        kept.append(one)
        values.append(value)
    return Definitions(tuple(values), tuple(kept), n_too_deep)


class Owners:
    """Finds the innermost definition around a byte."""

    def __init__(self, drafts: Sequence[Draft]) -> None:
        """Index drafts that are ordered by start, parents before children."""
        self._marks: list[int] = []
        self._owners: list[int] = []
        around: list[int] = []
        for position, one in enumerate(drafts):
            self._close(around, drafts, one.start)
            self._mark(one.start, position)
            around.append(position)
        self._close(around, drafts, None)

    def at(self, byte: int) -> int:
        """Return the position of the innermost definition around a byte, -1 outside all."""
        index = bisect_right(self._marks, byte) - 1
        return self._owners[index] if index >= 0 else -1

    def _close(self, around: list[int], drafts: Sequence[Draft], start: int | None) -> None:
        while around and (start is None or drafts[around[-1]].end <= start):
            end = drafts[around.pop()].end
            self._mark(end, around[-1] if around else -1)

    def _mark(self, byte: int, owner: int) -> None:
        if self._marks and self._marks[-1] >= byte:
            self._owners[-1] = owner
        else:
            self._marks.append(byte)
            self._owners.append(owner)


class LeadLines:
    """Finds the comments and attributes above definitions."""

    def __init__(
        self, comments: Sequence[tree_sitter.Node], attributes: Sequence[tree_sitter.Node], source: bytes
    ) -> None:
        """Index the nodes of the comments and attributes of a file."""
        self._source = source
        self._comment_at = {last_row(node): node for node in comments}
        self._comments = sorted((node.start_byte, node.end_byte) for node in comments)
        self._attributes = _runs(attributes, source)
        self._attribute_at = {run.last_row: run for run in self._attributes.values() if _ends_line(run.end, source)}

    def above(self, row: int, start: int) -> "Lead":
        """Return the comments and attributes directly above a definition, or before it on its line.

        Args:
            row: Row where the definition starts.
            start: Byte where it starts.
        """
        beside = self._run_before(start)
        if beside is not None:
            row, start = beside.first_row, beside.start
        lead = attributed = row
        parts: list[str] = []
        while row - lead < MAX_LEAD_LINES and self._is_first(start):
            run = self._attribute_at.get(lead - 1)
            if run is not None and self._is_first(run.start):
                lead = attributed = run.first_row
                start = run.start
                continue
            node = self._comment_at.get(lead - 1)
            if node is None or row - node.start_point[0] > MAX_LEAD_LINES or not self._is_first(node.start_byte):
                break
            lead = node.start_point[0]
            parts.append(clean_comment(self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")))
        return Lead(lead, attributed, start, "\n".join(reversed(parts)).strip("\n"))

    def without_comments(self, start: int, end: int) -> bytes:
        """Return the bytes from start to end without comments."""
        kept: list[bytes] = []
        for first, after in self._comments[bisect_left(self._comments, (start, 0)) :]:
            if first >= end:
                break
            kept.append(self._source[start:first])
            start = after
        return b" ".join((*kept, self._source[start:end]))

    def _run_before(self, byte: int) -> "_Run | None":
        """Return the attributes directly before a byte, with at most white space between."""
        while self._attributes and byte and self._source[byte - 1] in b" \t\r\n":
            byte -= 1
        return self._attributes.get(byte)

    def _is_first(self, byte: int) -> bool:
        """Return whether only white space precedes a byte on its line."""
        return not self._source[self._source.rfind(b"\n", 0, byte) + 1 : byte].strip()


@dataclass(frozen=True, slots=True)
class Lead:
    """Comments and attributes above a definition."""

    first_row: int
    """First row of comments and attributes."""
    attributed_row: int
    """First row of attributes, else of the definition."""
    start: int
    """First byte of the attributes, else of the definition."""
    text: str
    """Text of the comments without comment markers."""


@dataclass(frozen=True, slots=True)
class _Run:
    """Adjacent attributes with only white space between them."""

    start: int
    end: int
    first_row: int
    last_row: int


def _runs(attributes: Sequence[tree_sitter.Node], source: bytes) -> dict[int, _Run]:
    """Return runs of attributes by the byte after the last; attributes on one line form one run."""
    runs: dict[int, _Run] = {}
    before: _Run | None = None
    for node in sorted(attributes, key=lambda node: node.start_byte):
        end = (
            len(source[: node.end_byte].rstrip())
            if source[node.end_byte - 1 : node.end_byte].isspace()
            else node.end_byte
        )
        run = _Run(node.start_byte, end, node.start_point[0], last_row(node))
        if before is not None and before.last_row == run.first_row and not source[before.end : run.start].strip():
            del runs[before.end]
            run = replace(run, start=before.start, first_row=before.first_row)
        runs[run.end] = before = run
    return runs


def _ends_line(byte: int, source: bytes) -> bool:
    """Return whether the rest of the line is empty or a comment."""
    end = source.find(b"\n", byte)
    rest = source[byte : end if end >= 0 else len(source)].strip()
    return not rest or rest.startswith((b"//", b"/*", b"#"))


def last_row(node: tree_sitter.Node) -> int:
    """Return the row of the last byte of a node; some grammars include the line end after it."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def _without_duplicates(drafts: Sequence[Draft]) -> list[Draft]:
    """Return one draft for each name: the first, with fields that it lacks from the others."""
    first: dict[tuple[int, str], Draft] = {}
    for one in drafts:
        known = first.setdefault((one.name_start, one.name), one)
        if known is not one:
            if known.kind in _VAGUE_KINDS:
                known.kind = one.kind
            known.body = known.body or one.body
            known.owner = known.owner or one.owner
            known.returns = known.returns or one.returns
            known.bases += tuple(base for base in one.bases if base not in known.bases)
    return list(first.values())


def _extend(drafts: list[Draft], outers: Sequence[tree_sitter.Node]) -> None:
    """Extend the first definition inside each outer node to its start, if both end on one row."""
    if not outers:
        return
    drafts.sort(key=lambda one: (one.start, -one.end))
    starts = [one.start for one in drafts]
    for outer in sorted(outers, key=lambda node: node.end_byte - node.start_byte):
        end_row = last_row(outer)
        extended: Draft | None = None
        for one in drafts[bisect_left(starts, outer.start_byte) :]:
            if one.start >= outer.end_byte or (extended is not None and one.node != extended.node):
                break
            if one.end > outer.end_byte or end_row != (one.last_row if one.last_row >= 0 else last_row(one.node)):
                continue  # a definition inside a decorator
            one.start = outer.start_byte
            one.first_row = outer.start_point[0]
            extended = one  # other names of the same statement follow


def _same_place(one: Draft, other: Draft) -> bool:
    return one.node == other.node or (one.start, one.end) == (other.start, other.end)


def _definition(
    one: Draft, parent: int, values: Sequence[Definition], lines: LeadLines, source: bytes, dialect: Dialect
) -> Definition:
    enclosing = values[parent] if parent >= 0 else None
    parent_kind = enclosing.kind if enclosing else ""
    kind = dialect.refine_kind(one, parent_kind, enclosing.name if enclosing else "", source)
    first_row = one.first_row if one.first_row >= 0 else one.node.start_point[0]
    end_row = one.last_row if one.last_row >= 0 else last_row(one.node)
    lead = lines.above(first_row, one.start)
    one.start = lead.start
    docstring = dialect.docstring(one, source)
    doc = f"{lead.text}\n{docstring}" if lead.text and docstring else lead.text or docstring
    if len(one.name) > MAX_NAME_CHARACTERS or "\n" in one.name:
        one.name = _white.sub(" ", one.name).strip()[:MAX_NAME_CHARACTERS]
    return Definition(
        name=one.name,
        qualified_name=_qualified(enclosing.qualified_name if enclosing else "", one.owner, one.name),
        kind=kind,
        parent=parent,
        lead_line=lead.first_row + 1,
        first_line=lead.attributed_row + 1,
        name_line=max(one.name_row, lead.attributed_row) + 1,
        last_line=max(end_row, first_row) + 1,
        signature=_signature(one, lines, dialect),
        doc=doc[:MAX_DOC_CHARACTERS],
        bases=one.bases,
        returns=one.returns,
        exported=dialect.is_exported(one, parent_kind, source),
    )


def _qualified(above: str, owner: str, name: str) -> str:
    """Return the qualified name; an owner that repeats the enclosing definitions is not repeated."""
    if owner and above:
        if above == owner or above.endswith("." + owner):
            owner = ""
        else:
            owner = owner.removeprefix(above + ".")
    return ".".join(part for part in (above, owner, name) if part)


def _signature(one: Draft, lines: LeadLines, dialect: Dialect) -> str:
    """Return the head on one line: all before the body; without a body, the whole function or the first line of a value."""
    start = one.node.start_byte
    end = one.body.start_byte if one.body is not None else one.node.end_byte
    head = lines.without_comments(start, min(end, start + 6 * MAX_SIGNATURE_CHARACTERS))
    text = dialect.signature(head.decode("utf-8", "replace"))
    if one.body is None and one.kind not in CODE_CALLABLE_KINDS and one.kind != "declaration":
        text = text.strip().partition("\n")[0]
    text = _white.sub(" ", text).strip().rstrip(dialect.signature_end).removesuffix("=>").strip()
    return text if len(text) <= MAX_SIGNATURE_CHARACTERS else text[: MAX_SIGNATURE_CHARACTERS - 1].rstrip() + "…"
