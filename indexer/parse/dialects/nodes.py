"""Reading nodes of a syntax tree: their text, fields and ancestors."""

from collections.abc import Mapping, Sequence

import tree_sitter

Captures = Mapping[str, Sequence[tree_sitter.Node]]
"""Nodes of one match of a query, by the name of the capture without `@`."""


def node_text(node: tree_sitter.Node | None, source: bytes) -> str:
    """Return a node's text, "" for no node."""
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace") if node is not None else ""


def field_text(node: tree_sitter.Node, field: str, source: bytes) -> str:
    """Return the text of a child by its field name, "" if there is none."""
    return node_text(node.child_by_field_name(field), source)


def ancestor(node: tree_sitter.Node, kinds: frozenset[str], *, steps: int = 6) -> tree_sitter.Node | None:
    """Return the nearest node of one of the kinds around a node, at most some steps up (each step costs a walk)."""
    around = node.parent
    for _ in range(steps):
        if around is None or around.type in kinds:
            return around
        around = around.parent
    return None
