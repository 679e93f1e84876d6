"""Second opinion: what the deep lane says of the candidates' cards, those without a vector included.

A card without one is given the place among the deep similarities that it has among the static ones, and all that the
lane says counts by the share of the candidates that have one: a lane that is filled in part sinks nobody.
"""

from dataclasses import dataclass

import numpy as np

from codecards.indexer.facts import CODE_CALLABLE_KINDS, Kind
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.store.columns import Floats, Int64s
from codecards.retrieval.vectors.card_vectors import Similarity

RANGE = (-3.0, 6.0)
"""Standard deviations from the mean within which a similarity counts: models differ in how far apart theirs lie, and not
in which of them stand out."""
_CALLABLE = np.array([kind in CODE_CALLABLE_KINDS for kind in Kind])


@dataclass(frozen=True, slots=True)
class TransformerScores:
    """What the deep lane says of some cards."""

    cosines: Floats
    """(N,); an estimate for those without a vector."""
    share: float
    """Share of them, among what can be called if any of it can, that have a vector; 0 to 1."""


def transformer_scores(index: DerivedIndex, similarity: Similarity | None, cards: Int64s) -> TransformerScores | None:
    """Return what the deep lane says of some cards, None where it has nothing to say of any.

    Args:
        index: The index.
        similarity: How near cards are, by both lanes.
        cards: (N,): their rows.
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
    """Return how many standard deviations each value lies from their mean, within `RANGE`."""
    apply_factors = (values - values.mean()) / max(float(values.std()), 1e-3)
    return np.asarray(np.clip(apply_factors, *RANGE), np.float32)
