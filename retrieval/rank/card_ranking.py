"""Card ranking: which cards of the candidate files are shown, and in which order."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from codecards.retrieval.evidence.cards import CardEvidence, card_values
from codecards.retrieval.evidence.files import Evidence
from codecards.retrieval.evidence.transformer import TransformerScores, transformer_scores
from codecards.retrieval.rank.card_signals import CARD_SIGNALS
from codecards.retrieval.rank.filters import Filters
from codecards.retrieval.rank.signals import SCORE_DECIMALS
from codecards.retrieval.rank.weights import card_weights
from codecards.retrieval.store.columns import Floats, Int64s

_BOUND_SLACK = 1e-4
"""Subtracted from a bound on scores, since scores are rounded."""


@dataclass(frozen=True, slots=True)
class CardScores:
    """The scores of the candidates' cards; K cards of F files."""

    cards: Int64s
    """(K,): rows, ascending."""
    card_file: Int64s
    """(K,): position of each card's file among the candidate files, ascending."""
    terms: Mapping[str, Floats]
    """Signal → (K,): value times weight."""
    total: Floats
    """(K,): sum of the terms, by which the cards of one file are compared."""
    cross_file: Floats
    """(K,): the part of `total` that also compares cards of different files, added to the file score."""
    shares: Mapping[str, float]
    """Signal → share of its term (0 to 1) that is part of `cross_file`; 0 for signals not named."""
    best: Floats
    """(F,): highest total of each file; 0 for a file without cards."""
    best_cross_file: Floats
    """(F,): highest `cross_file` of each file."""
    diversity_penalty: float
    """Subtracted for every further card of one file."""

    def with_files(self, file_scores: Floats) -> Floats:
        """Return (K,): the score of each card with its file's; the best card of a file has the score of the file."""
        gap = self.total - self.best[self.card_file]
        return np.asarray(file_scores[self.card_file] + self.best_cross_file[self.card_file] + gap, np.float32)


class RankedCard(NamedTuple):
    """A card to show; a tuple, since thousands are made for one evaluation."""

    card: int
    """Position of the card in `CardScores.cards`."""
    file: int
    """Position of its file among the candidate files."""
    score: float


def score_cards(evidence: Evidence, filters: Filters) -> CardScores:
    """Return the scores of the cards that may be shown.

    Args:
        evidence: Of the candidate files.
        filters: Which of their cards may be shown.
    """
    found = evidence.found
    keep = filters.cards(found.index, found.cards.rows)
    cards, card_file = found.cards.rows[keep], found.cards.file[keep]
    transformer = _transformer_scores(evidence, cards)
    weights = card_weights(
        found.query,
        has_vectors=found.similarity is not None,
        transformer_share=transformer.share if transformer else 0.0,
    )
    values = signal_values(CardEvidence(evidence, cards, card_file, transformer), weights.in_file)
    terms = {name: weights.in_file[name] * of_cards for name, of_cards in values.items()}
    return sum_terms(cards, card_file, terms, weights.cross_file, evidence.n_files, weights.diversity_penalty)


def signal_values(found: CardEvidence, names: Iterable[str]) -> dict[str, Floats]:
    """Return name → (K,) values of those of some signals that there are, in the order of the table."""
    wanted = frozenset(names)
    return card_values(found, {row.name: row.compute for row in CARD_SIGNALS if row.name in wanted})


def sum_terms(
    cards: Int64s,
    card_file: Int64s,
    terms: Mapping[str, Floats],
    shares: Mapping[str, float],
    n_files: int,
    diversity_penalty: float,
) -> CardScores:
    """Return the scores of cards from their terms; the arguments are the fields of `CardScores`."""
    nothing = np.zeros(len(cards), np.float32)
    total = np.asarray(np.sum([nothing, *terms.values()], axis=0), np.float32)
    shared = [shares[name] * values for name, values in terms.items() if shares.get(name)]
    cross_file = np.asarray(np.sum([nothing, *shared], axis=0), np.float32)
    best, best_cross_file = np.zeros(n_files, np.float32), np.zeros(n_files, np.float32)
    if len(cards):
        files, first = np.unique(card_file, return_index=True)
        best[files] = np.maximum.reduceat(total, first)
        best_cross_file[files] = np.maximum.reduceat(cross_file, first)
    return CardScores(cards, card_file, terms, total, cross_file, shares, best, best_cross_file, diversity_penalty)


def rank_cards(scores: CardScores, file_scores: Floats, limit: int) -> list[RankedCard]:
    """Return the cards to show, best first.

    Every further card of a file loses `CardScores.diversity_penalty`, so that it is shown where it is better than the best
    cards of other files by that much.

    Args:
        scores: Of the cards.
        file_scores: (F,); minus infinity for files that are not shown.
        limit: Most cards.
    """
    values = scores.with_files(file_scores)
    enough = _top_score_bound(values, scores.card_file, limit)
    places = np.flatnonzero(np.isfinite(values) & (values >= enough))
    rounded = np.round(values[places], SCORE_DECIMALS)
    order = places[np.lexsort((scores.cards[places], -rounded, scores.card_file[places]))]
    files = scores.card_file[order]
    rank = np.arange(len(order)) - np.searchsorted(files, files)
    reduced = np.round(values[order] - scores.diversity_penalty * rank, SCORE_DECIMALS)
    first = np.lexsort((scores.cards[order], -reduced))[:limit]
    columns = zip(order[first].tolist(), files[first].tolist(), reduced[first].tolist(), strict=True)
    return list(map(RankedCard._make, columns))


def _top_score_bound(values: Floats, card_file: Int64s, limit: int) -> float:
    """Return a lower bound of the top `limit`: that many files have a card with a higher score."""
    if not len(values):
        return 0.0
    best = np.maximum.reduceat(values, np.unique(card_file, return_index=True)[1])
    return float(np.partition(best, -limit)[-limit]) - _BOUND_SLACK if 0 < limit < len(best) else -np.inf


def _transformer_scores(evidence: Evidence, cards: Int64s) -> TransformerScores | None:
    """Return the transformer similarity of the cards that may be shown; usually these are all, as for the files."""
    if evidence.vectors is None:
        return None
    if len(cards) == len(evidence.found.cards.rows):
        return evidence.vectors.transformer
    return transformer_scores(evidence.found.index, evidence.found.similarity, cards)
