"""Card evidence: what each card of the candidate files has in common with a query.

Each function below computes one signal of (K,) cards, or returns None where the query has none; `rank.card_signals` names
and weights them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codecards.indexer.facts import CALLABLE_KINDS, TYPE_SIGNAL_KINDS, VALUE_KINDS, Kind
from codecards.retrieval.evidence.files import Evidence
from codecards.retrieval.evidence.issues import IssueEvidence
from codecards.retrieval.evidence.priors import asked_properties
from codecards.retrieval.evidence.text import (
    CARD_WEIGHTS,
    FIELD_MESSAGE,
    FIELD_NAME,
    FIELD_PARENT,
    FIELD_SIGNATURE,
    MAX_WORD_SCORE,
    TextWeights,
    card_scores,
    normalised,
)
from codecards.retrieval.evidence.transformer import TransformerScores, z_scores
from codecards.retrieval.store.columns import Floats, Int64s
from codecards.retrieval.store.names import name_hash

MESSAGE_FLOOR = 0.7
"""Share of the query that a card's messages must hold to be what was quoted; its words in other places don't count."""
MAX_NESTING = 4
MAX_BODY_LINES = 54
"""Lines from which a longer body says no more about what acts."""
_PARENT_WEIGHTS = TextWeights((0.0, 1.0, 0.0, 0.0, 0.0, 0.0))
_TEST_PARENTS = np.array([name_hash("test"), name_hash("tests")], np.uint64)
"""Names around tests that are in one file with the code: Rust, Zig, D."""
_IS_OUTER = np.array([kind in (Kind.MODULE, Kind.NAMESPACE, Kind.CLASS) for kind in Kind])
"""(kinds,): kinds that hold the tests of a file."""
_KIND_TERMS: Mapping[str, Collection[str]] = {
    "callable": CALLABLE_KINDS,
    "type": TYPE_SIGNAL_KINDS,
    "value": VALUE_KINDS,
    "module_code": (Kind.MODULE,),
    "prose": (Kind.SECTION, Kind.WINDOW, Kind.CELL),
    "part": (Kind.PART,),
    "declaration": (Kind.DECLARATION,),
}
_BY_KIND = {name: np.array([kind in kinds for kind in Kind], np.float32) for name, kinds in _KIND_TERMS.items()}
"""Name → (kinds,): 1 for the kinds that it covers."""


@dataclass(frozen=True)
class CardEvidence:
    """What the signals of K cards are computed from; what several signals share is computed once."""

    evidence: Evidence
    """Of the candidate files."""
    cards: Int64s
    """(K,): rows of the cards, ascending."""
    card_file: Int64s
    """(K,): position of each card's file among the candidate files."""
    transformer: TransformerScores | None
    """Transformer similarity of these cards; None where it is not available."""

    @cached_property
    def matched(self) -> "RowAlignment":
        """Aligns values of the cards with a match to all cards."""
        return RowAlignment(self.evidence.matches.cards, self.cards)

    @cached_property
    def kind(self) -> NDArray[np.uint8]:
        """(K,): the number of each card's kind."""
        return self.evidence.found.index.columns.kind[self.cards]

    @cached_property
    def part_idf(self) -> Floats:
        """(G,): rarity of each part of the query over files, 0 for compounds."""
        groups = self.evidence.groups
        return np.where(groups.is_part, groups.idf, 0.0).astype(np.float32)

    @cached_property
    def full_idf(self) -> float:
        """Sum of `part_idf`."""
        return max(float(self.part_idf.sum()), 1e-9)

    @cached_property
    def part_shares(self) -> Floats:
        """(G,): share of each part in the query, by its rarity over cards; they sum to 1."""
        groups = self.evidence.groups
        parts = np.where(groups.is_part, groups.card_idf, 0.0).astype(np.float32)
        parts /= max(float(parts.sum()), 1e-9)
        return parts

    @cached_property
    def in_path(self) -> Floats:
        """(F, G): how surely a file's path holds each group, 0 to 1."""
        return np.minimum(1.0, self.evidence.paths.counts)

    @cached_property
    def path_holds(self) -> Floats:
        """(cells of cards,): how surely the path of the card's file holds the group."""
        matches = self.evidence.matches
        return self.in_path[matches.card_file[matches.cell_card], matches.cell_group]

    def held_in(self, fields: Sequence[int]) -> Floats:
        """Return (cells of cards,): how surely some fields of a card hold a group."""
        matches = self.evidence.matches
        is_there = np.any([matches.counts[:, field] > 0 for field in fields], axis=0)[matches.pair_entry]
        sums = np.bincount(matches.pair_cell, matches.pair_strength * is_there, len(matches.cell_card))
        return np.minimum(1.0, sums).astype(np.float32)

    def share_of_query(self, held: NDArray[np.floating[Any]]) -> Floats:
        """Return (K,): share of the query that (cells of cards,) certainties add up to."""
        matches = self.evidence.matches
        sums = np.bincount(matches.cell_card, held * self.part_shares[matches.cell_group], len(matches.cards))
        return self.matched.scatter(sums.astype(np.float32))


CardSignalFunction = Callable[[CardEvidence], Floats | None]
"""Returns (K,) values; None where the query has none, such as similarity without vectors."""


def card_values(found: CardEvidence, functions: Mapping[str, CardSignalFunction]) -> dict[str, Floats]:
    """Return name → (K,) values of those signals that there are, in the order of `functions`."""
    values = ((name, compute(found)) for name, compute in functions.items())
    return {name: one for name, one in values if one is not None}


def of_kind(name: str) -> CardSignalFunction:
    """Return a function that gives 1 for cards of some kinds; `name` is one of `_KIND_TERMS`."""
    return lambda found: _BY_KIND[name][found.kind]


def words(found: CardEvidence) -> Floats:
    """Return BM25F of each card, as a share of the best card's."""
    return found.matched.scatter(normalised(found.evidence.card_words))


def card_words(found: CardEvidence) -> Floats:
    """Return the same, words weighted by their rarity over cards."""
    groups = found.evidence.groups
    among_cards = replace(groups, idf=groups.card_idf)
    scores = card_scores(found.evidence.found.index, found.evidence.matches, among_cards, CARD_WEIGHTS)
    return found.matched.scatter(normalised(scores))


def name(found: CardEvidence) -> Floats:
    """Return how much each card's name is the query: F1 times the prior of its kind."""
    return found.matched.scatter(found.evidence.names.by_card)


def name_precision(found: CardEvidence) -> Floats:
    """Return the share of the name's words that the query has."""
    return found.matched.scatter(found.evidence.names.precision)


def parent(found: CardEvidence) -> Floats:
    """Return how far the name of the enclosing definition holds the query, by BM25."""
    scores = card_scores(found.evidence.found.index, found.evidence.matches, found.evidence.groups, _PARENT_WEIGHTS)
    return found.matched.scatter(np.minimum(1.0, scores / (MAX_WORD_SCORE * found.full_idf)))


def message(found: CardEvidence) -> Floats:
    """Return how far the strings of a card hold the query; 0 up to `MESSAGE_FLOOR` of it."""
    matches = found.evidence.matches
    in_message = matches.pair_strength * (matches.counts[:, FIELD_MESSAGE] > 0)[matches.pair_entry]
    held = np.minimum(1.0, np.bincount(matches.pair_cell, in_message, len(matches.cell_card)))
    sums = np.bincount(matches.cell_card, held * found.part_idf[matches.cell_group], len(matches.cards))
    share = sums / found.full_idf
    return found.matched.scatter(np.clip((share - MESSAGE_FLOOR) / (1 - MESSAGE_FLOOR), 0.0, 1.0))


def coverage(found: CardEvidence) -> Floats:
    """Return the share of the query that the card holds and its path does not."""
    return found.share_of_query(found.evidence.matches.cell_held * (1 - found.path_holds))


def header(found: CardEvidence) -> Floats:
    """Return the share of the query in the card's name, the enclosing name, and the path."""
    by_path = np.asarray(found.in_path @ found.part_shares, np.float32)[found.card_file]
    in_names = found.held_in((FIELD_NAME, FIELD_PARENT))
    return by_path + found.share_of_query(np.maximum(0.0, in_names - found.path_holds))


def signature(found: CardEvidence) -> Floats:
    """Return the share of the query in the card's first line."""
    return found.share_of_query(found.held_in((FIELD_SIGNATURE,)))


def nesting(found: CardEvidence) -> Floats:
    """Return the number of definitions around the card, at most `MAX_NESTING`."""
    depth = found.evidence.found.index.columns.nesting[found.cards]
    return np.minimum(depth, MAX_NESTING).astype(np.float32)


def title_words(found: CardEvidence) -> Floats | None:
    """Return BM25F of a report's title, as a share of the best card's."""
    if not isinstance(found.evidence, IssueEvidence):
        return None
    return _aligned(found, found.evidence.title.cards, normalised(found.evidence.title_card_words))


def code_words(found: CardEvidence) -> Floats | None:
    """Return BM25F of a report's code, as a share of the best card's."""
    if not isinstance(found.evidence, IssueEvidence):
        return None
    return _aligned(found, found.evidence.code.cards, normalised(found.evidence.code_card_words))


def code_name(found: CardEvidence) -> Floats | None:
    """Return how much each card's name is the code of a report: F1 times the prior of its kind."""
    if not isinstance(found.evidence, IssueEvidence):
        return None
    return _aligned(found, found.evidence.code.cards, found.evidence.code_names.by_card)


def of_tests(found: CardEvidence) -> Floats:
    """Return 1 for tests that are in one file with the code, however deep, unless the query asks for tests."""
    index, columns = found.evidence.found.index, found.evidence.found.index.columns
    if "test" in asked_properties(found.evidence.found.query):
        return np.zeros(len(found.cards), np.float32)
    is_test = np.isin(columns.parent_name[found.cards], _TEST_PARENTS)
    is_outer = np.isin(columns.folded_name[found.cards], _TEST_PARENTS) & _IS_OUTER[found.kind]
    for outer in found.cards[is_outer].tolist():
        first, last = np.searchsorted(found.cards, columns.card_offset[index.file_of_card[outer] + np.arange(2)])
        mine = found.cards[first:last]
        is_test[first:last] |= (columns.first_line[mine] >= columns.first_line[outer]) & (
            columns.last_line[mine] <= columns.last_line[outer]
        )
    return is_test.astype(np.float32)


def boilerplate(found: CardEvidence) -> Floats:
    """Return 1 for methods such as `__eq__` that types have whatever they are for, unless the query names them."""
    is_named = found.matched.scatter(found.evidence.names.by_card) > 0
    is_boilerplate = found.evidence.found.index.is_boilerplate[found.cards]
    return np.asarray(is_boilerplate & ~is_named, np.float32)


def nameless(found: CardEvidence) -> Floats:
    """Return 1 for cards without a name."""
    return np.asarray(found.evidence.found.index.columns.folded_name[found.cards] == 0, np.float32)


def length(found: CardEvidence) -> Floats:
    """Return ln(1 + number of lines)."""
    columns = found.evidence.found.index.columns
    n_lines = columns.last_line[found.cards].astype(np.int64) - columns.first_line[found.cards] + 1
    return np.asarray(np.log1p(n_lines), np.float32)


def body(found: CardEvidence) -> Floats:
    """Return ln(1 + number of lines), at most that of `MAX_BODY_LINES`."""
    columns = found.evidence.found.index.columns
    n_lines = columns.last_line[found.cards].astype(np.int64) - columns.first_line[found.cards] + 1
    return np.asarray(np.log1p(np.minimum(n_lines, MAX_BODY_LINES)), np.float32)


def symbol(found: CardEvidence) -> Floats:
    """Return how surely each card is the definition of a name in the query, 0 to 2."""
    values = np.zeros(len(found.cards), np.float32)
    for one in found.evidence.plan.named:
        np.maximum(values, _aligned(found, one.cards, one.values), out=values)
    return values


def frame(found: CardEvidence) -> Floats | None:
    """Return how surely a stack frame or a diff means each card."""
    cards = found.evidence.plan.places.cards
    if not cards:
        return None
    rows = np.array(sorted(cards), np.int64)
    return _aligned(found, rows, np.array([cards[row] for row in rows.tolist()], np.float32))


def meaning(found: CardEvidence) -> Floats | None:
    """Return the z-score of each card's similarity among the candidates."""
    similarity = found.evidence.found.similarity
    return z_scores(similarity.cards(found.cards)) if similarity is not None and len(found.cards) else None


def transformer(found: CardEvidence) -> Floats | None:
    """Return the z-score of each card's transformer similarity among the candidates."""
    return z_scores(found.transformer.cosines) if found.transformer is not None else None


def transformer_cosine(found: CardEvidence) -> Floats | None:
    """Return each card's transformer similarity."""
    return found.transformer.cosines if found.transformer is not None else None


def _aligned(found: CardEvidence, rows: Int64s, values: Floats) -> Floats:
    return RowAlignment(rows, found.cards).scatter(values)


class RowAlignment:
    """Where some cards, given by their rows, are among others."""

    def __init__(self, rows: Int64s, cards: Int64s) -> None:
        self._n_cards = len(cards)
        place = np.minimum(np.searchsorted(cards, rows), max(0, len(cards) - 1))
        self._inside = cards[place] == rows if len(cards) else np.zeros(len(rows), np.bool_)
        self._place = place[self._inside]

    def scatter(self, values: NDArray[np.floating[Any]]) -> Floats:
        """Return (K,): the values of those cards, 0 for all others."""
        found = np.zeros(self._n_cards, np.float32)
        found[self._place] = values[self._inside]
        return found
