"""Definitions: captured nodes become definitions with owners, spans, signatures and documentation."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import tree_sitter

from codecards.indexer.dialects.dialect import Dialect, plain
from codecards.indexer.documentation import clean_comment
from codecards.indexer.facts import Definition

MAX_SIGNATURE_CHARACTERS = 300
MAX_DOC_CHARACTERS = 2_000
MAX_LEAD_LINES = 60
"""A longer comment above a definition is the file's, not the definition's."""
TYPE_KINDS = frozenset({"class", "struct", "interface", "trait", "enum", "record", "object", "impl"})
FUNCTION_KINDS = frozenset({"function", "method", "constructor", "property"})
VALUE_KINDS = frozenset({"variable", "constant", "field"})
_white = re.compile(r"\s+")

Captures = Mapping[str, Sequence[tree_sitter.Node]]


@dataclass(slots=True)
class DefinitionNode:
    """A captured definition on its way to a value."""

    node: tree_sitter.Node
    kind: str
    name_node: tree_sitter.Node
    owner_node: tree_sitter.Node | None
    body_node: tree_sitter.Node | None
    start: int
    """First byte, the outer form included."""
    end: int
    outer: tree_sitter.Node

    @classmethod
    def of(cls, node: tree_sitter.Node, kind: str, captures: Captures) -> "DefinitionNode":
        """Return the definition of one match."""
        first = {name: nodes[0] for name, nodes in captures.items()}
        name = first.get("name", node)
        return cls(node, kind, name, first.get("owner"), first.get("body"), node.start_byte, node.end_byte, node)


@dataclass(frozen=True, slots=True)
class Definitions:
    """A file's definitions, as values and as the nodes they came from, in the same order."""

    values: tuple[Definition, ...]
    nodes: tuple[DefinitionNode, ...]
    module_doc: str


def finish_definitions(
    found: Sequence[DefinitionNode],
    additions: Sequence[Captures],
    comments: Sequence[tree_sitter.Node],
    attributes: Sequence[tree_sitter.Node],
    source: bytes,
    dialect: Dialect,
) -> Definitions:
    """Return the definitions in order of their place, parents before children, locals left out."""
    by_span: dict[tuple[int, int], DefinitionNode] = {}
    for definition in found:
        by_span.setdefault((definition.node.start_byte, definition.node.end_byte, definition.name_node.start_byte), definition)  # type: ignore[call-overload]
    nodes = list(by_span.values())
    extra = _additions(nodes, additions)
    nodes.sort(key=lambda one: (one.start, -one.end, one.name_node.start_byte))
    lines = _LeadLines(comments, attributes, source)
    values: list[Definition] = []
    kept: list[DefinitionNode] = []
    open_: list[int] = []
    for one in nodes:
        while open_ and kept[open_[-1]].end < one.end:
            open_.pop()
        parent = open_[-1] if open_ else -1
        if one.kind in VALUE_KINDS and parent >= 0 and _is_local(values, parent):
            continue
        open_.append(len(kept))
        kept.append(one)
        values.append(_definition(one, parent, values, extra.get(id(one), _NO_ADDITIONS), lines, source, dialect))
    return Definitions(tuple(values), tuple(kept), dialect.module_doc(source))


@dataclass(slots=True)
class _Additions:
    bases: tuple[str, ...] = ()
    returns: str = ""


_NO_ADDITIONS = _Additions()


def _additions(nodes: Sequence[DefinitionNode], additions: Sequence[Captures]) -> dict[int, _Additions]:
    """Attach outer forms, bases and result types; return id of the definition node -> what was added."""
    by_place: dict[tuple[int, int], list[DefinitionNode]] = {}
    for one in nodes:
        by_place.setdefault((one.node.start_byte, one.node.end_byte), []).append(one)
    extra: dict[int, _Additions] = {}
    for captures in additions:
        of = captures["of"][0]
        for one in by_place.get((of.start_byte, of.end_byte), ()):
            if "outer" in captures:
                outer = captures["outer"][0]
                if outer.start_byte <= one.start and outer.end_byte >= one.end:
                    one.start, one.end, one.outer = outer.start_byte, outer.end_byte, outer
            added = extra.setdefault(id(one), _Additions())
            for base in captures.get("base", ()):
                name = plain((base.text or b"").decode("utf-8", "replace"))
                if name and name not in added.bases:
                    added.bases += (name,)
            if "returns" in captures:
                added.returns = plain((captures["returns"][0].text or b"").decode("utf-8", "replace"))
    return extra


def _is_local(values: Sequence[Definition], parent: int) -> bool:
    """Return whether something directly inside the definition is local to a function."""
    return values[parent].kind in FUNCTION_KINDS or values[parent].kind in VALUE_KINDS


def _definition(
    one: DefinitionNode,
    parent: int,
    values: Sequence[Definition],
    added: _Additions,
    lines: "_LeadLines",
    source: bytes,
    dialect: Dialect,
) -> Definition:
    written = source[one.name_node.start_byte : one.name_node.end_byte].decode("utf-8", "replace")
    name, owner = dialect.split_name(written)
    if one.owner_node is not None:
        owner = plain(source[one.owner_node.start_byte : one.owner_node.end_byte].decode("utf-8", "replace"))
    above = values[parent].qualified_name if parent >= 0 else ""
    qualified = ".".join(part for part in (above, _without_overlap(above, owner), name) if part)
    owned_by_type = bool(owner) or (parent >= 0 and values[parent].kind in TYPE_KINDS)
    kind = dialect.refine_kind(one.kind, name, owner or (values[parent].name if parent >= 0 else ""), owned=owned_by_type)
    first_line, last_line = one.outer.start_point.row + 1, _last_row(one.outer) + 1
    lead_line, attributed_line = lines.above(first_line)
    doc = "\n".join(filter(None, (lines.comment_text(lead_line, first_line - 1), dialect.docstring(one.node, source))))
    return Definition(
        name=name,
        qualified_name=qualified,
        kind=kind,
        parent=parent,
        lead_line=lead_line,
        first_line=attributed_line,
        name_line=one.name_node.start_point.row + 1,
        last_line=max(last_line, first_line),
        signature=_signature(one, source, dialect),
        doc=doc[:MAX_DOC_CHARACTERS],
        bases=added.bases,
        returns=added.returns,
        exported=dialect.is_exported(one.outer, name, source),
    )


def _without_overlap(above: str, owner: str) -> str:
    """Return the owner without the parts that the enclosing definitions say already."""
    if not owner or above == owner or above.endswith("." + owner):
        return ""
    return owner.removeprefix(above + ".") if above else owner


def _last_row(node: tree_sitter.Node) -> int:
    """Return the row of a node's last byte; some grammars count the line end after it in."""
    end = node.end_point
    return end.row - 1 if end.column == 0 and end.row > node.start_point.row else end.row


def _signature(one: DefinitionNode, source: bytes, dialect: Dialect) -> str:
    """Return the head on one line: up to the body, else the first line."""
    start = one.node.start_byte
    end = one.body_node.start_byte if one.body_node is not None else one.node.end_byte
    text = source[start : min(end, start + 4 * MAX_SIGNATURE_CHARACTERS)].decode("utf-8", "replace")
    if one.body_node is None:
        text = text.strip().partition("\n")[0]
    return _white.sub(" ", text).strip().rstrip(dialect.signature_end).rstrip()[:MAX_SIGNATURE_CHARACTERS]


class _LeadLines:
    """Knows which lines hold nothing but comments or attributes."""

    def __init__(
        self, comments: Sequence[tree_sitter.Node], attributes: Sequence[tree_sitter.Node], source: bytes
    ) -> None:
        self._source = source
        self._comment_at: dict[int, tree_sitter.Node] = {}  # last line -> node that ends there
        self._attribute_at: dict[int, tree_sitter.Node] = {}
        for table, nodes in ((self._comment_at, comments), (self._attribute_at, attributes)):
            for node in nodes:
                if self._stands_alone(node):
                    table[_last_row(node) + 1] = node

    def _stands_alone(self, node: tree_sitter.Node) -> bool:
        """Return whether only white space is before the node on its first line."""
        line_start = self._source.rfind(b"\n", 0, node.start_byte) + 1
        return not self._source[line_start : node.start_byte].strip()

    def above(self, first_line: int) -> tuple[int, int]:
        """Return (first line of comments and attributes directly above, first line of attributes among them)."""
        lead = attributed = first_line
        while first_line - lead < MAX_LEAD_LINES:
            node = self._attribute_at.get(lead - 1)
            if node is not None:
                lead = attributed = node.start_point.row + 1
                continue
            node = self._comment_at.get(lead - 1)
            if node is None or lead - (node.start_point.row + 1) > MAX_LEAD_LINES:
                break
            lead = node.start_point.row + 1
        return lead, attributed

    def comment_text(self, first_line: int, last_line: int) -> str:
        """Return the words of the comments that lie in the lines."""
        parts = []
        line = last_line
        while line >= first_line:
            node = self._comment_at.get(line)
            if node is not None:
                parts.append(clean_comment(self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")))
                line = node.start_point.row
            else:
                line -= 1
        return "\n".join(reversed(parts))
