"""Transformer evidence: transformer similarity of the candidates' cards, estimated for cards without a vector.

A card without a transformer vector gets an estimate: the same z-score as its static similarity. The signal is scaled by
the share of candidates that have a vector, so a half-filled store never pushes a card down.
"""

from dataclasses import dataclass

import numpy as np

from codecards.indexer.facts import CODE_CALLABLE_KINDS, Kind
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.store.columns import Floats, Int64s
from codecards.retrieval.vectors.card_vectors import Similarity

RANGE = (-3.0, 6.0)
"""Bounds of a z-score. Z-scores are used since models differ in the spread of their similarities."""
MIN_SPREAD = 1e-3
"""Least standard deviation that values are divided by."""
_CALLABLE = np.array([kind in CODE_CALLABLE_KINDS for kind in Kind])


@dataclass(frozen=True, slots=True)
class TransformerScores:
    """Transformer similarity of some cards."""

    cosines: Floats
    """(N,); an estimate for those without a vector."""
    share: float
    """Share of the cards that have a vector, 0 to 1; of the callable ones only, if there are any."""


def transformer_scores(index: DerivedIndex, similarity: Similarity | None, cards: Int64s) -> TransformerScores | None:
    """Return the transformer similarity of some cards; None if none of them has a vector.

    Args:
        index: The index.
        similarity: Similarity of the query to cards, by static and transformer vectors.
        cards: (N,): rows of the cards.
    """
    if similarity is None or similarity.transformer is None:
        return None
    cosines = similarity.transformer.cards(cards)
    known = ~np.isnan(cosines)
    if not known.any():
        return None
    mean, spread = float(cosines[known].mean()), float(cosines[known].std())
    if not known.all():
        cosines = np.where(known, cosines, mean + spread * z_scores(similarity.cards(cards)))
    is_callable = _CALLABLE[index.columns.kind[cards]]
    share = float(known[is_callable].mean() if is_callable.any() else known.mean())
    return TransformerScores(cosines.astype(np.float32), share) if share else None


def z_scores(values: Floats) -> Floats:
    """Return how many standard deviations each value is from the mean, within `RANGE`."""
    scores = (values - values.mean()) / max(float(values.std()), MIN_SPREAD)
    return np.asarray(np.clip(scores, *RANGE), np.float32)
