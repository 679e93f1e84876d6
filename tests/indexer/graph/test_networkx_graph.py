"""The networkx graph has one node per card and one edge per use."""

from codecards.indexer.cards.card import Card
from codecards.indexer.graph.edges import CallEdge
from codecards.indexer.graph.networkx_graph import to_networkx


def card(card_id: int, name: str) -> Card:
    symbol_id, lines = f"a.py::{name}", (1, 1, 1, 2)
    return Card(card_id, symbol_id, "a.py", "python", "function", name, name, "", "a", *lines, (), "", "", (), b"")


def edge(
    caller: int | None, target: int | None, path: str | None, confidence: str, candidates: tuple[int, ...] = ()
) -> CallEdge:
    return CallEdge(1, caller, "a.py", target, path, "x.f", 5, "call", confidence, "rule", candidates, len(candidates))


def test_edges_lead_to_symbols_files_and_all_candidates_but_not_to_external_targets() -> None:
    edges = [
        edge(1, 2, "a.py", "exact"),
        edge(None, None, "b.py", "exact"),
        edge(1, None, None, "possible", (2, 3)),
        edge(1, None, None, "external"),
    ]
    graph = to_networkx([card(1, "f"), card(2, "g"), card(3, "h")], edges)
    found = {(source, target, data["confidence"]) for source, target, data in graph.edges(data=True)}
    assert found == {
        ("a.py::f", "a.py::g", "exact"),
        ("a.py", "b.py", "exact"),
        ("a.py::f", "a.py::g", "possible"),
        ("a.py::f", "a.py::h", "possible"),
    }
    assert graph.nodes["b.py"]["kind"] == "file"
    assert graph.nodes["a.py::f"]["last_line"] == 2
