"""Suggestions: names of the repository like the one that a query asks for and does not find; they are not hits."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Protocol

import numpy as np

from codecards.indexer.cards.card import Card
from codecards.indexer.cards.words import word_tokens
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.query import Query
from codecards.retrieval.store.columns import Int64s

MAX_SUGGESTIONS = 5
MAX_NAMES = 4
"""Names of the query that suggestions are made for."""
COMMON_BEGINNING, BEGINNING_BONUS = 4, 0.1
"""Characters that two names must begin with alike, and what that adds to their likeness."""
MIN_WORD_LIKENESS, MAX_LIKE_WORDS = 0.7, 6
"""Likeness of two words of names from which cards with the other word are compared, and most such words."""
MIN_LIKENESS = 0.6
_MAX_CARDS = 400
_MAX_COMPARED = 1_000
"""Words that are compared letter by letter, which takes some microseconds each."""


class NameLookup(Protocol):
    """The part of the snapshot that suggestions need."""

    def cards(self, card_ids: Iterable[int]) -> Mapping[int, Card]:
        """Return card id → card for the ids that exist."""
        ...


def suggest(index: DerivedIndex, lookup: NameLookup, query: Query) -> tuple[str, ...]:
    """Return identifiers of the repository that look like those of the query, best first."""
    wanted = [name.text for name in query.names if query.kind == "symbol" or name.strong][:MAX_NAMES]
    if not wanted:
        return ()
    found: dict[str, float] = {}
    for name in wanted:
        rows = _rows_with_near_words(index, name)
        ids = index.columns.card_id[rows].tolist()
        for card in lookup.cards(ids).values():
            likeness = difflib.SequenceMatcher(None, name.casefold(), card.name.casefold()).ratio()
            bonus = card.name.casefold().startswith(name.casefold()[:COMMON_BEGINNING]) * BEGINNING_BONUS
            if card.name and likeness + bonus >= MIN_LIKENESS and card.name not in wanted:
                found[card.name] = max(found.get(card.name, 0.0), likeness + bonus)
    return tuple(sorted(found, key=lambda name: (-found[name], name)))[:MAX_SUGGESTIONS]


def _rows_with_near_words(index: DerivedIndex, name: str) -> Int64s:
    """Return rows of cards whose name has a word like one of the given name's."""
    columns, vocabulary = index.columns, index.vocabulary
    near: set[int] = set()
    for token in word_tokens(name):
        near.update(word_id for word_id, _ in index.expander.expand(token))
        # For a typing error further back, words that begin alike are compared letter by letter.
        alike = [vocabulary[word_id] for word_id in vocabulary.starting_with(token[: 3 + token.startswith("=")])]
        close = difflib.get_close_matches(token, alike[:_MAX_COMPARED], MAX_LIKE_WORDS, MIN_WORD_LIKENESS)
        near.update(vocabulary.find(word) for word in close)
    wanted = np.array(sorted(near - {-1}), np.uint32)
    in_name = np.flatnonzero(np.isin(columns.entry_word, wanted) & (columns.entry_counts[:, 0] > 0))
    rows = np.unique(np.searchsorted(columns.entry_offset, in_name, "right") - 1)
    rows = rows[columns.folded_name[rows] != 0]
    return np.asarray(rows[:_MAX_CARDS], np.int64)
