"""Builds a networkx graph of the repository's call edges.

Queries for the callers of one symbol read the snapshot and do not need this graph.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from codecards.indexer.cards.card import Card
from codecards.indexer.graph.edges import CallEdge

if TYPE_CHECKING:
    import networkx


def to_networkx(cards: Iterable[Card], edges: Iterable[CallEdge]) -> "networkx.MultiDiGraph[str]":
    """Return a graph with one node per card and one edge per use of a name.

    Nodes are symbol ids ("src/auth.py::TokenStore.purge") with `kind`, `name`, `path`, `first_line`, `last_line` and
    `language`; a whole file that is a caller or target is a node with its path as id and kind "file". Edges lead from
    caller to target, with `name` (as written), `line` (1-based, in the caller's file), `kind`, `confidence`, `rule` and
    `n_candidates` (0 if unambiguous). A `possible` edge becomes one edge to each candidate. External targets are left
    out.

    Args:
        cards: All cards of one generation.
        edges: All edges of the same generation.
    """
    import networkx  # takes 0.2 s, and few callers need the graph

    graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    symbol_ids: dict[int, str] = {}
    for card in cards:
        symbol_ids[card.card_id] = card.symbol_id
        graph.add_node(
            card.symbol_id,
            kind=card.kind,
            name=card.qualified_name,
            path=card.path,
            first_line=card.first_line,
            last_line=card.last_line,
            language=card.language,
        )
    for edge in edges:
        source = _node(graph, symbol_ids, edge.caller_id, edge.caller_path)
        for target in _targets(graph, symbol_ids, edge):
            graph.add_edge(
                source,
                target,
                name=edge.name,
                line=edge.line,
                kind=edge.kind,
                confidence=edge.confidence,
                rule=edge.rule,
                n_candidates=edge.n_candidates,
            )
    return graph


def _targets(graph: "networkx.MultiDiGraph[str]", symbol_ids: dict[int, str], edge: CallEdge) -> list[str]:
    if edge.target_path is not None:
        return [_node(graph, symbol_ids, edge.target_id, edge.target_path)]
    return [symbol_ids[one] for one in edge.candidate_ids if one in symbol_ids]


def _node(graph: "networkx.MultiDiGraph[str]", symbol_ids: dict[int, str], card_id: int | None, path: str) -> str:
    """Return the node of a card, else that of its file, which is added when first needed."""
    if card_id is not None and card_id in symbol_ids:
        return symbol_ids[card_id]
    if path not in graph:
        graph.add_node(path, kind="file", name=path, path=path)
    return path
