"""One hit a function: overloads, stubs and copies of what is already shown become further places of that hit.

A stub is answered by its implementation where there is one: overload signatures by the body below them, a prototype or a
declaration file by the source.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from codecards.indexer.cards.card import Card
from codecards.indexer.facts import CALLABLE_KINDS, Kind
from codecards.retrieval.hits import Hit
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.store.names import name_hash

MAX_NAMESAKES = 200
"""Cards of one name among which an implementation is looked for."""
LEAST_COPIED_LINES = 3
"""Lines from which the same text in two places is a copy: shorter ones are alike by chance."""
_FUNCTIONS = CALLABLE_KINDS | {Kind.DECLARATION}
_TYPED = frozenset(("typescript", "tsx"))
_DECLARES = re.compile(r"\.d\.[cm]?ts$|\.pyi$")


class CardLookup(Protocol):
    """The part of the snapshot that finding an implementation needs."""

    def cards(self, card_ids: Iterable[int]) -> dict[int, Card]:
        """Return card id → card for the ids that exist."""
        ...


def one_hit_a_function(index: DerivedIndex, lookup: CardLookup, hits: Sequence[Hit], limit: int) -> tuple[Hit, ...]:
    """Return the first hits, each function and each text once; `Hit.also` names the other places.

    Args:
        index: Of one generation.
        lookup: The snapshot of the same generation.
        hits: Best first, more than the limit so that what is folded is made up for.
        limit: Most hits.
    """
    kept: list[Hit] = []
    place_of: dict[object, int] = {}
    for hit in hits:
        body = implementation_of(index, lookup, hit.card)
        card = body or hit.card
        keys = _keys(card)
        place = next((place_of[key] for key in keys if key in place_of), None)
        if place is None:
            if len(kept) == limit:
                continue
            place = len(kept)
            also = (hit.card,) if body is not None else ()
            kept.append(replace(hit, rank=place + 1, card=card, also=also))
        else:
            kept[place] = replace(kept[place], also=_with(kept[place], hit.card))
        for key in keys:
            place_of.setdefault(key, place)
    return tuple(kept)


def implementation_of(index: DerivedIndex, lookup: CardLookup, card: Card) -> Card | None:
    """Return the card with the body of a stub; None if the card is no stub, or nothing implements it."""
    if card.kind not in _FUNCTIONS:
        return None
    declares = card.kind == Kind.DECLARATION or bool(_DECLARES.search(card.path))
    if not declares and card.language not in _TYPED and not (card.language == "python" and _is_decorated(card)):
        return None
    rows = index.cards_named(name_hash(card.name.casefold()))[:MAX_NAMESAKES]
    namesakes = lookup.cards(index.columns.card_id[rows].tolist()).values()
    others = [one for one in namesakes if one.name == card.name and one.kind in _FUNCTIONS and one != card]
    if not declares:
        return _last_overload(card, others)
    bodies = [one for one in others if one.kind != Kind.DECLARATION and not _DECLARES.search(one.path)]
    bodies = [one for one in bodies if _last_part(one.parent) == _last_part(card.parent) or not card.parent]
    near = [one for one in bodies if _stem(one.path) == _stem(card.path)]
    return near[0] if near else bodies[0] if len(bodies) == 1 else None


def _last_overload(card: Card, others: Sequence[Card]) -> Card | None:
    """Return the last definition of the same name in the same place, if the card is an overload signature of it.

    In TypeScript the body comes last. In Python so it does, and the signatures before it are decorated and shorter; other
    definitions of one name, as on the two sides of an `if`, are no overloads.
    """
    same = [one for one in others if (one.path, one.qualified_name) == (card.path, card.qualified_name)]
    later = [one for one in same if one.first_line > card.last_line]
    if not later:
        return None
    last = max(later, key=lambda one: one.first_line)
    return last if card.language in _TYPED or _n_lines(last) > _n_lines(card) else None


def _keys(card: Card) -> tuple[object, ...]:
    """Return what two hits have in common that are one function: the card, its name in its file, a text of some length."""
    keys: list[object] = [card.symbol_id]
    if card.kind in _FUNCTIONS:
        keys.append((card.path, card.qualified_name))
    if _n_lines(card) >= LEAST_COPIED_LINES and card.name:
        keys.append(card.content_hash)
    return tuple(keys)


def _with(hit: Hit, card: Card) -> tuple[Card, ...]:
    known = {hit.card.symbol_id, *(one.symbol_id for one in hit.also)}
    return hit.also if card.symbol_id in known else (*hit.also, card)


def _is_decorated(card: Card) -> bool:
    return card.first_line < card.name_line


def _n_lines(card: Card) -> int:
    return card.last_line - card.name_line + 1


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]
