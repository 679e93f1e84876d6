"""Calls: who uses a symbol, what it uses, and which tests reach it, from the edges of the snapshot."""

import re
from collections.abc import Sequence

from codecards.answers import Caller
from codecards.indexer.cards import Card
from codecards.indexer.snapshot import CallEdge, Snapshot

CALL_KINDS = frozenset({"call", "construct", "macro", "decorator", "value"})
"""Kinds of reference that count as a use; a type's name in an annotation does not."""
CONFIDENCES = ("exact", "likely", "possible", "external")
MAX_STEPS_TO_TESTS = 3
MAX_FRONTIER = 2_000
_hunk = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def callers_of(snapshot: Snapshot, cards: Sequence[Card]) -> list[Caller]:
    """Return the uses of the cards of one symbol, the surest first, then by path and line."""
    edges = snapshot.edges_to([card.card_id for card in cards])
    known = {edge.edge_id for edge in edges}
    for card in cards:
        edges += [edge for edge in snapshot.ambiguous_edges_to(card) if edge.edge_id not in known]
    edges = [edge for edge in edges if edge.kind in CALL_KINDS]
    holders = snapshot.cards(edge.caller_id for edge in edges if edge.caller_id is not None)
    found = [
        Caller(_holder_name(edge, holders), edge.caller_path, edge.line, edge.confidence, edge.rule, edge.kind)
        for edge in edges
    ]
    return sorted(dict.fromkeys(found), key=lambda one: (CONFIDENCES.index(one.confidence), one.path, one.line))


def callees_of(snapshot: Snapshot, cards: Sequence[Card]) -> list[Caller]:
    """Return what the cards of one symbol use, by line."""
    edges = [edge for edge in snapshot.edges_from([card.card_id for card in cards]) if edge.kind in CALL_KINDS]
    targets = snapshot.cards(edge.target_id for edge in edges if edge.target_id is not None)
    found = []
    for edge in edges:
        target = targets.get(edge.target_id) if edge.target_id is not None else None
        name = target.qualified_name if target is not None else edge.name
        found.append(Caller(name, edge.target_path or "", edge.line, edge.confidence, edge.rule, edge.kind))
    return found


def tests_reaching(snapshot: Snapshot, cards: Sequence[Card]) -> tuple[str, ...]:
    """Return the test files from which calls lead to one of the cards, those with the fewest calls between first."""
    tests = {file.path for file in snapshot.files() if file.role == "test"}
    found = dict.fromkeys(card.path for card in cards if card.path in tests)
    frontier, seen = [card.card_id for card in cards], {card.card_id for card in cards}
    for _ in range(MAX_STEPS_TO_TESTS):
        edges = [edge for edge in snapshot.edges_to(frontier[:MAX_FRONTIER]) if edge.confidence != "possible"]
        found.update(dict.fromkeys(edge.caller_path for edge in edges if edge.caller_path in tests))
        frontier = [edge.caller_id for edge in edges if edge.caller_id is not None and edge.caller_id not in seen]
        seen.update(frontier)
    return tuple(found)


def changed_lines(diff: str) -> list[tuple[str, int]]:
    """Return (path, line) of the lines that a diff without context adds, and of those where it takes some away."""
    found: list[tuple[str, int]] = []
    path = ""
    for line in diff.split("\n"):
        if line.startswith("+++ "):
            path = line[4:].removeprefix("b/").rstrip("\t")
        elif (head := _hunk.match(line)) and path != "/dev/null":
            first, n_lines = max(1, int(head[1])), max(1, int(head[2] or 1))
            found += [(path, number) for number in range(first, first + n_lines)]
    return found


def _holder_name(edge: CallEdge, holders: dict[int, Card]) -> str:
    holder = holders.get(edge.caller_id) if edge.caller_id is not None else None
    return holder.qualified_name if holder is not None else "<module>"
