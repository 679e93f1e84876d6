"""Runs the query of a language and sorts its matches by role; `extraction` documents the captures."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import tree_sitter

from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.chains import UNKNOWN
from codecards.indexer.parse.dialects.drafts import Draft
from codecards.indexer.parse.dialects.nodes import Captures, node_text
from codecards.indexer.parse.tree import SyntaxTree, definition_query, find_matches, query_text

CapturedUse = tuple[str, tree_sitter.Node, Captures]
Handler = Callable[["Collected", str, tree_sitter.Node, Captures], None]
_RANK = {"value": 2, "type": 1}
_not_capture = re.compile(r"\"(?:\\.|[^\"\\])*\"|;[^\n]*|\(#[^()]*\)")


@dataclass(slots=True)
class Collected:
    """Matches in one syntax tree, by role."""

    source: bytes
    dialect: Dialect
    drafts: list[Draft] = field(default_factory=list)
    references: dict[int, CapturedUse] = field(default_factory=dict)
    bindings: list[Captures] = field(default_factory=list)
    dialect_bindings: list[Captures] = field(default_factory=list)
    imports: list[tree_sitter.Node] = field(default_factory=list)
    exports: list[tuple[str, str]] = field(default_factory=list)
    comments: list[tree_sitter.Node] = field(default_factory=list)
    attributes: list[tree_sitter.Node] = field(default_factory=list)
    outers: list[tree_sitter.Node] = field(default_factory=list)
    locals: list[tree_sitter.Node] = field(default_factory=list)
    package: str = ""
    names: set[int] = field(default_factory=set)
    """First bytes of the names of definitions, which are not references."""


def collect(syntax: SyntaxTree, language: str, dialect: Dialect) -> Collected:
    """Return the matches of a language's query in a syntax tree."""
    found = Collected(syntax.data, dialect)
    query, table = definition_query(language), _handlers(language)
    if query is not None:
        for pattern, captures in find_matches(syntax, query):
            for handle, kind, key in table[pattern]:
                if key in captures:  # a branch of an alternation may lack it
                    handle(found, kind, captures[key][0], captures)
    return found


def _add_definition(found: Collected, kind: str, node: tree_sitter.Node, captures: Captures) -> None:
    source, dialect = found.source, found.dialect
    name_node = captures["name"][0] if "name" in captures else node
    found.names.add(name_node.start_byte)
    bases = captures.get("base") or (captures["bases"][0].named_children if "bases" in captures else ())
    names = [dialect.type_text(source[base.start_byte : base.end_byte]) for base in bases]
    owner = captures["owner"][0] if "owner" in captures else None
    returns = captures["returns"][0] if "returns" in captures else None
    result = dialect.type_text(source[returns.start_byte : returns.end_byte]) if returns is not None else ""
    draft = Draft(
        node,
        kind,
        node_text(name_node, source) if name_node is not node else "",
        dialect.type_text(source[owner.start_byte : owner.end_byte]) if owner is not None else "",
        node.start_byte,
        node.end_byte,
        name_node.start_point[0],
        name_node.start_byte,
        captures["body"][0] if "body" in captures else None,
        tuple(dict.fromkeys(name for name in names if name)),
        "" if result == "void" else result,
    )
    found.drafts.extend(one for one in dialect.draft(draft, captures, source) if one.name)


def _add_reference(found: Collected, kind: str, node: tree_sitter.Node, captures: Captures) -> None:
    start = node.start_byte
    known = found.references.get(start)
    if known is None or _RANK.get(known[0], 0) > _RANK.get(kind, 0):
        found.references[start] = (kind, node, captures)


def _add_binding(found: Collected, _kind: str, _node: tree_sitter.Node, captures: Captures) -> None:
    found.bindings.append(captures)


def _add_dialect_binding(found: Collected, _kind: str, _node: tree_sitter.Node, captures: Captures) -> None:
    found.dialect_bindings.append(captures)


def _add_import(found: Collected, _kind: str, node: tree_sitter.Node, _captures: Captures) -> None:
    found.imports.append(node)


def _add_comment(found: Collected, _kind: str, node: tree_sitter.Node, _captures: Captures) -> None:
    found.comments.append(node)


def _add_attribute(found: Collected, _kind: str, node: tree_sitter.Node, _captures: Captures) -> None:
    found.attributes.append(node)


def _add_outer(found: Collected, _kind: str, node: tree_sitter.Node, _captures: Captures) -> None:
    found.outers.append(node)


def _add_local(found: Collected, _kind: str, node: tree_sitter.Node, captures: Captures) -> None:
    found.locals += captures["local"]


def _add_package(found: Collected, _kind: str, node: tree_sitter.Node, _captures: Captures) -> None:
    found.package = found.package or found.dialect.package(node_text(node, found.source))


def _add_export(found: Collected, kind: str, node: tree_sitter.Node, captures: Captures) -> None:
    source = found.source
    local = found.dialect.chain(_bytes(source, captures["local"][0] if "local" in captures else node))
    name = "default" if kind == "default" else node_text(node, source).strip("\"'")
    if local != UNKNOWN:
        found.exports.append((name, local))


_ROLES: dict[str, Handler] = {
    "definition": _add_definition,
    "reference": _add_reference,
    "binding": _add_binding,
    "bindings": _add_dialect_binding,
    "import": _add_import,
    "comment": _add_comment,
    "attribute": _add_attribute,
    "outer": _add_outer,
    "package": _add_package,
    "export": _add_export,
    "local": _add_local,
}


@cache
def _handlers(language: str) -> tuple[tuple[tuple[Handler, str, str], ...], ...]:
    """Return the handlers of each pattern of a language's query, as (handler, kind, name of the capture)."""
    query = definition_query(language)
    if query is None:
        return ()
    text = query_text(language).encode()
    table: list[tuple[tuple[Handler, str, str], ...]] = []
    for number in range(query.pattern_count):
        # The binding does not list the captures of a pattern, so they are read from its text.
        pattern = text[query.start_byte_for_pattern(number) : query.end_byte_for_pattern(number)].decode()
        names = dict.fromkeys(re.findall(r"@([\w.]+)", _not_capture.sub("", pattern)))
        roles = [(name.partition(".")[0], name.partition(".")[2], name) for name in names]
        table.append(tuple((_ROLES[role], kind, name) for role, kind, name in roles if role in _ROLES))
    return tuple(table)


def _bytes(source: bytes, node: tree_sitter.Node) -> bytes:
    return source[node.start_byte : node.end_byte]
