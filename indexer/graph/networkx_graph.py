"""Call graph: the whole repository's edges as a networkx graph, for whoever wants to walk it.

Questions about one symbol's callers are answered from the snapshot without building this.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from codecards.indexer.cards.card import Card
from codecards.indexer.graph.edges import CallEdge

if TYPE_CHECKING:
    import networkx


def to_networkx(cards: Iterable[Card], edges: Iterable[CallEdge]) -> "networkx.MultiDiGraph[str]":
    """Return a graph with one node a card and one edge a use of a name.

    Nodes are symbol ids ("src/auth.py::TokenStore.purge") with `kind`, `name`, `path`, `first_line`, `last_line` and
    `language`; a file that is used or uses as a whole is a node by its path, of kind "file". Edges lead from the user
    to the used, with `name` (as written), `line` (1-based, in the user's file), `kind`, `confidence`, `rule`, and
    `n_candidates` (0 where it is not ambiguous). A `possible` edge leads to each of its candidates. What is outside
    the repository is left out.

    Args:
        cards: All cards of one generation.
        edges: All edges of the same generation.
    """
    import networkx

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
    """Return the node of a card, else that of the file, which is made when it is first needed."""
    if card_id is not None and card_id in symbol_ids:
        return symbol_ids[card_id]
    if path not in graph:
        graph.add_node(path, kind="file", name=path, path=path)
    return path
