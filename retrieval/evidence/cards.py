"""Card evidence: what speaks for each card of the candidate files, by the names of `weights.CardWeights`."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codecards.indexer.facts import CALLABLE_KINDS, TYPE_SIGNAL_KINDS, VALUE_KINDS, Kind
from codecards.retrieval.evidence.files import Evidence
from codecards.retrieval.evidence.symbols import NamedCards
from codecards.retrieval.evidence.text import (
    CARD_WEIGHTS,
    FIELD_MESSAGE,
    FIELD_NAME,
    FIELD_PARENT,
    FIELD_SIGNATURE,
    TextWeights,
    card_scores,
    share_of,
)
from codecards.retrieval.evidence.transformer import TransformerScores, z_scores
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.store.columns import Floats, Int64s
from codecards.retrieval.store.names import name_hash
from codecards.retrieval.vectors.card_vectors import Similarity

MESSAGE_FLOOR = 0.7
"""Share of the query that a card's messages must hold to be what was quoted; its words in other places don't count."""
MAX_NESTING = 4
_PARENT = TextWeights((0.0, 1.0, 0.0, 0.0, 0.0, 0.0))
_SCALE = 2.2
"""Highest value of a word in BM25 with its k1 of 1.2."""
_TEST_PARENTS = np.array([name_hash("test"), name_hash("tests")], np.uint64)
"""What tests stand in that are in one file with the code: Rust, Zig, D."""
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
"""Name → (kinds,): 1 for the kinds that it speaks of."""


def card_features(
    index: DerivedIndex,
    evidence: Evidence,
    cards: Int64s,
    card_file: Int64s,
    named: Sequence[NamedCards],
    frames: Mapping[int, float],
    similarity: Similarity | None,
    by_transformer: TransformerScores | None,
    wanted: Collection[str],
) -> dict[str, Floats]:
    """Return name → (K,) for those features that are wanted and can be had.

    Args:
        index: The index.
        evidence: Of the candidate files.
        cards: (K,): their cards' rows, ascending.
        card_file: (K,): place in the candidate files.
        named: Exact definitions of the query's names.
        frames: Card row → how surely a stack frame lies in it.
        similarity: How near cards are; None without vectors.
        by_transformer: What the deep lane says of these cards, if it says anything.
        wanted: Names of features.
    """
    columns = index.columns
    kind = columns.kind[cards]
    found = {name: is_it[kind] for name, is_it in _BY_KIND.items() if name in wanted}
    matched = RowAlignment(evidence.matches.cards, cards)
    found |= _word_features(index, evidence, matched, wanted)
    found |= _share_features(evidence, matched, card_file, wanted)
    if "nesting" in wanted:
        found["nesting"] = np.minimum(columns.nesting[cards], MAX_NESTING).astype(np.float32)
    for name, (rows, values) in evidence.of_cards.items():
        if name in wanted:
            found[name] = RowAlignment(rows, cards).spread(values)
    if "of_tests" in wanted:
        found["of_tests"] = np.isin(columns.parent_name[cards], _TEST_PARENTS).astype(np.float32)
    if "obligatory" in wanted:
        is_named = matched.spread(evidence.names.by_card) > 0
        found["obligatory"] = (index.is_obligatory[cards] & ~is_named).astype(np.float32)
    if "nameless" in wanted:
        found["nameless"] = (columns.folded_name[cards] == 0).astype(np.float32)
    if "length" in wanted:
        n_lines = columns.last_line[cards].astype(np.int64) - columns.first_line[cards] + 1
        found["length"] = np.log1p(n_lines).astype(np.float32)
    if "symbol" in wanted:
        found["symbol"] = np.zeros(len(cards), np.float32)
        for one in named:
            np.maximum(found["symbol"], RowAlignment(one.cards, cards).spread(one.values), out=found["symbol"])
    if "frame" in wanted and frames:
        rows = np.array(sorted(frames), np.int64)
        values = np.array([frames[row] for row in rows.tolist()], np.float32)
        found["frame"] = RowAlignment(rows, cards).spread(values)
    if similarity is not None and "meaning" in wanted and len(cards):
        found["meaning"] = z_scores(similarity.cards(cards))
    if by_transformer is not None and "transformer" in wanted:
        found["transformer"] = z_scores(by_transformer.cosines)
    if by_transformer is not None and "transformer_cosine" in wanted:
        found["transformer_cosine"] = by_transformer.cosines
    return found


def _word_features(
    index: DerivedIndex, evidence: Evidence, placing: "RowAlignment", wanted: Collection[str]
) -> dict[str, Floats]:
    """Return what the words of the query say of each card."""
    matches, groups = evidence.matches, evidence.groups
    parts = np.where(groups.is_part, groups.idf, 0.0).astype(np.float32)
    whole = max(float(parts.sum()), 1e-9)
    found = {"words": placing.spread(share_of(evidence.card_words)), "name": placing.spread(evidence.names.by_card)}
    if "card_words" in wanted:
        among_cards = replace(groups, idf=groups.card_idf)
        found["card_words"] = placing.spread(share_of(card_scores(index, matches, among_cards, CARD_WEIGHTS)))
    if "name_precision" in wanted:
        found["name_precision"] = placing.spread(evidence.names.precision)
    if "parent" in wanted:
        found["parent"] = placing.spread(
            np.minimum(1.0, card_scores(index, matches, groups, _PARENT) / (_SCALE * whole))
        )
    if "message" in wanted:
        said = matches.pair_strength * (matches.counts[:, FIELD_MESSAGE] > 0)[matches.pair_entry]
        held = np.minimum(1.0, np.bincount(matches.pair_cell, said, len(matches.cell_card)))
        share = np.bincount(matches.cell_card, held * parts[matches.cell_group], len(matches.cards)) / whole
        found["message"] = placing.spread(np.clip((share - MESSAGE_FLOOR) / (1 - MESSAGE_FLOOR), 0.0, 1.0))
    return {name: values for name, values in found.items() if name in wanted}


def _share_features(
    evidence: Evidence, placing: "RowAlignment", card_file: Int64s, wanted: Collection[str]
) -> dict[str, Floats]:
    """Return which share of the query, by its rarity among cards, each card holds: in which place, and beyond its path."""
    matches, groups = evidence.matches, evidence.groups
    parts = np.where(groups.is_part, groups.card_idf, 0.0).astype(np.float32)
    parts /= max(float(parts.sum()), 1e-9)
    in_path = np.minimum(1.0, evidence.paths.counts)
    by_path = np.asarray(in_path @ parts, np.float32)[card_file]
    said_by_path = in_path[matches.card_file[matches.cell_card], matches.cell_group]

    def held(fields: Sequence[int]) -> Floats:
        """Return (cells,): how surely some fields of a card hold a group."""
        is_there = np.any([matches.counts[:, field] > 0 for field in fields], axis=0)[matches.pair_entry]
        sums = np.bincount(matches.pair_cell, matches.pair_strength * is_there, len(matches.cell_card))
        return np.minimum(1.0, sums).astype(np.float32)

    def share(values: Floats) -> Floats:
        sums = np.bincount(matches.cell_card, values * parts[matches.cell_group], len(matches.cards))
        return placing.spread(sums.astype(np.float32))

    found = {}
    if "coverage" in wanted:
        found["coverage"] = share(matches.cell_held * (1 - said_by_path))
    if "header" in wanted:
        found["header"] = by_path + share(np.maximum(0.0, held((FIELD_NAME, FIELD_PARENT)) - said_by_path))
    if "signature" in wanted:
        found["signature"] = share(held((FIELD_SIGNATURE,)))
    return found


class RowAlignment:
    """Where some cards are among others."""

    def __init__(self, rows: Int64s, cards: Int64s) -> None:
        self._n_cards = len(cards)
        place = np.minimum(np.searchsorted(cards, rows), max(0, len(cards) - 1))
        self._inside = cards[place] == rows if len(cards) else np.zeros(len(rows), np.bool_)
        self._place = place[self._inside]

    def spread(self, values: NDArray[np.floating[Any]]) -> Floats:
        """Return (K,): the values of those cards, 0 for the others."""
        found = np.zeros(self._n_cards, np.float32)
        found[self._place] = values[self._inside]
        return found
