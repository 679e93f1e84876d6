"""Calls: who uses a symbol, and what it uses, from the edges of the snapshot."""

from collections.abc import Sequence

from codecards.answers import Caller
from codecards.indexer.cards.card import Card
from codecards.indexer.facts import Import
from codecards.indexer.graph.edges import CallEdge
from codecards.indexer.store.snapshot import Snapshot

CALL_KINDS = frozenset({"call", "construct", "macro", "decorator", "value"})
"""Kinds of reference that count as a use; a type's name in an annotation does not."""
CONFIDENCES = ("exact", "likely", "possible", "external")


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


def _holder_name(edge: CallEdge, holders: dict[int, Card]) -> str:
    holder = holders.get(edge.caller_id) if edge.caller_id is not None else None
    return holder.qualified_name if holder is not None else "<module>"


MAX_CALLS = 200


def calls_in(snapshot: Snapshot, card: Card) -> tuple[Caller, ...]:
    """Return what a card calls, by line; each target once, where it is called first."""
    found: dict[tuple[str, str], Caller] = {}
    for one in callees_of(snapshot, [card]):
        found.setdefault((one.name, one.path), one)
    return tuple(found.values())[:MAX_CALLS]


def imports_used(snapshot: Snapshot, card: Card) -> tuple[Import, ...]:
    """Return the imports of a card's file whose names the card uses, and those inside it, by line."""
    entry = snapshot.file_at(card.path)
    facts = snapshot.facts(entry.content_key) if entry is not None else None
    if facts is None:
        return ()
    inside = range(card.first_line, card.last_line + 1)
    used = {
        (one.receiver or one.name).partition(".")[0].partition("(")[0]
        for one in facts.references
        if one.line in inside
    }  # fmt: skip
    used.update(base.partition(".")[0] for base in card.bases)
    found = (one for one in facts.imports if one.line in inside or (one.alias and one.alias.partition(".")[0] in used))
    return tuple(sorted(dict.fromkeys(found), key=lambda one: one.line))
