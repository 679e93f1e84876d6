"""Reads text, fields and ancestors of syntax nodes."""

from collections.abc import Mapping, Sequence

import tree_sitter

Captures = Mapping[str, Sequence[tree_sitter.Node]]
"""Nodes of one match of a query, by the name of the capture without `@`."""


def node_text(node: tree_sitter.Node | None, source: bytes) -> str:
    """Return the text of a node, "" for None."""
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace") if node is not None else ""


def field_text(node: tree_sitter.Node, field: str, source: bytes) -> str:
    """Return the text of a child by field name, "" if there is none."""
    return node_text(node.child_by_field_name(field), source)


def ancestor(node: tree_sitter.Node, kinds: frozenset[str], *, steps: int = 6) -> tree_sitter.Node | None:
    """Return the nearest ancestor of one of the node types, at most `steps` up; the binding walks the tree for each."""
    around = node.parent
    for _ in range(steps):
        if around is None or around.type in kinds:
            return around
        around = around.parent
    return None
