"""Card links: what one card brings in and what it calls, for showing it whole."""

from codecards.answers import Caller
from codecards.calls import callees_of
from codecards.indexer.cards import Card
from codecards.indexer.facts import Import
from codecards.indexer.snapshot import Snapshot

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
