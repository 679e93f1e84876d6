"""Card choice: which cards of the candidate files are shown, and in which order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codecards.retrieval.evidence.cards import card_features
from codecards.retrieval.evidence.files import Evidence
from codecards.retrieval.evidence.symbols import NamedCards
from codecards.retrieval.evidence.transformer import transformer_scores
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.intent import intent_of
from codecards.retrieval.query.query import Query
from codecards.retrieval.rank.filters import Filters
from codecards.retrieval.rank.weights import CardWeights, card_weights
from codecards.retrieval.store.columns import Floats, Int64s, runs
from codecards.retrieval.vectors.card_vectors import Similarity


@dataclass(frozen=True, slots=True)
class CardScores:
    """The candidates' cards, and what speaks for each; K cards of F files."""

    cards: Int64s
    """(K,): rows, ascending."""
    card_file: Int64s
    """(K,): place in the candidate files, ascending."""
    terms: Mapping[str, Floats]
    """Name → (K,): already weighted."""
    total: Floats
    """(K,): their sum, by which the cards of one file are compared."""
    across: Floats
    """(K,): what of it counts between files too, beside the file's own score."""
    shares: Mapping[str, float]
    """Term → how much of it counts between files, 0 to 1; 0 for those that are not here."""
    best: Floats
    """(F,): the highest total of each file; 0 for one without cards."""
    best_across: Floats
    """(F,): the same of `across`."""
    diversity_penalty: float
    """What every further card of one file loses to the one before it."""

    def with_files(self, file_scores: Floats) -> Floats:
        """Return (K,): the score of each card with its file's: its best card stands for a file."""
        gap = self.total - self.best[self.card_file]
        return np.asarray(file_scores[self.card_file] + self.best_across[self.card_file] + gap, np.float32)


def score_cards(
    index: DerivedIndex,
    query: Query,
    evidence: Evidence,
    named: Sequence[NamedCards],
    frames: Mapping[int, float],
    similarity: Similarity | None,
    filters: Filters,
) -> CardScores:
    """Return what speaks for each card that may be shown.

    Args:
        index: The index.
        query: As parsed.
        evidence: Of the candidate files.
        named: Exact definitions of the query's names.
        frames: Card row → how surely a stack frame lies in it.
        similarity: How near cards are; None without vectors.
        filters: Which cards may be shown.
    """
    columns = index.columns
    files = evidence.matches.files
    lengths = columns.card_offset[files + 1] - columns.card_offset[files]
    cards = runs(columns.card_offset[files], lengths)
    card_file = np.repeat(np.arange(len(files)), lengths)
    keep = filters.cards(index, cards)
    cards, card_file = cards[keep], card_file[keep]
    by_transformer = transformer_scores(index, similarity, cards)
    weights = _weights_of(
        query,
        has_meaning=similarity is not None,
        transformer_share=by_transformer.share if by_transformer else 0.0,
    )
    features = card_features(
        index, evidence, cards, card_file, named, frames, similarity, by_transformer, weights.within
    )
    terms = {name: weights.within[name] * values for name, values in features.items()}
    return scored(cards, card_file, terms, weights.across, len(files), weights.diversity_penalty)


def scored(
    cards: Int64s,
    card_file: Int64s,
    terms: Mapping[str, Floats],
    shares: Mapping[str, float],
    n_files: int,
    diversity_penalty: float,
) -> CardScores:
    """Return the scores with the best of each file."""
    nothing = np.zeros(len(cards), np.float32)
    total = np.asarray(np.sum([nothing, *terms.values()], axis=0), np.float32)
    counted = [shares[name] * values for name, values in terms.items() if shares.get(name)]
    across = np.asarray(np.sum([nothing, *counted], axis=0), np.float32)
    best, best_across = np.zeros(n_files, np.float32), np.zeros(n_files, np.float32)
    if len(cards):
        held, first = np.unique(card_file, return_index=True)
        best[held] = np.maximum.reduceat(total, first)
        best_across[held] = np.maximum.reduceat(across, first)
    return CardScores(cards, card_file, terms, total, across, shares, best, best_across, diversity_penalty)


def rank_cards(scores: CardScores, file_scores: Floats, limit: int) -> list[tuple[int, int, float]]:
    """Return (place in the scores, place of the file, score) of the cards to show, best first.

    Every further card of a file loses `CardScores.diversity_penalty`, so that it comes where it is that much better than the
    best cards of other files.

    Args:
        scores: Of the cards.
        file_scores: (F,); minus infinity for files that are not shown.
        limit: How many.
    """
    values = scores.with_files(file_scores)
    enough = _top_score_bound(values, scores.card_file, limit)
    places = np.flatnonzero(np.isfinite(values) & (values >= enough))
    order = places[np.lexsort((scores.cards[places], -np.round(values[places], 5), scores.card_file[places]))]
    files = scores.card_file[order]
    rank = np.arange(len(order)) - np.searchsorted(files, files)
    crowded = np.round(values[order] - scores.diversity_penalty * rank, 5)
    first = np.lexsort((scores.cards[order], -crowded))[:limit]
    return list(zip(order[first].tolist(), files[first].tolist(), crowded[first].tolist(), strict=True))


def _top_score_bound(values: Floats, card_file: Int64s, limit: int) -> float:
    """Return a score below which no card can be among the first: that many files have a better one."""
    if not len(values):
        return 0.0
    best = np.maximum.reduceat(values, np.unique(card_file, return_index=True)[1])
    # A little less, for scores are rounded before they are compared.
    return float(np.partition(best, -limit)[-limit]) - 1e-4 if 0 < limit < len(best) else -np.inf


def _weights_of(query: Query, *, has_meaning: bool, transformer_share: float) -> CardWeights:
    if query.is_issue:
        return card_weights("report", has_meaning=has_meaning)
    if query.kind == "symbol":
        return card_weights("symbol", has_meaning=has_meaning)
    if query.kind == "path":
        return card_weights("path", has_meaning=has_meaning)
    return card_weights(intent_of(query.text), has_meaning=has_meaning, transformer_share=transformer_share)
