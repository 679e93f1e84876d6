"""Calibrates similarities by off-topic questions: what everyday questions reach by chance is the noise floor."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codecards.retrieval.embed.embedder import Embedder

NULL_MIDDLE, NULL_HIGH = 0.50, 0.70
"""Median and 98th percentile of the off-topic questions' best similarities, on the calibrated scale."""
_ROWS_AT_ONCE = 16_384

_THINGS = """
bread dough
tomato plants
a mountain bike
the moon
violin strings
winter tyres
a sourdough starter
garden snails
wedding flowers
a kayak
wool socks
the roman empire
goat cheese
a chess opening
volcanoes
hay fever
a puppy
espresso
old photographs
a marathon
blueberry muffins
whales
a sailing boat
church bells
piano lessons
sunburn
pumpkin soup
a bird nest
medieval castles
olive trees
hiking boots
a campfire
""".strip().split("\n")
_QUESTIONS = (
    "how long should {} rest before noon",
    "why do people love {} in autumn",
    "what is the best price for {} at the market",
    "where did grandmother learn about {}",
)

OFF_TOPIC_QUESTIONS: tuple[str, ...] = tuple(question.format(thing) for thing in _THINGS for question in _QUESTIONS)
"""128 questions."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The best similarities of off-topic questions to the cards of one index."""

    middle: float
    """Median of the best cosine."""
    high: float
    """98th percentile of the best cosine."""

    def calibrated(self, cosine: float) -> float:
        """Return a similarity from 0 to 1; only one off-topic question in fifty reaches .70."""
        spread = max(self.high - self.middle, 1e-3)
        value = NULL_MIDDLE + (NULL_HIGH - NULL_MIDDLE) * (cosine - self.middle) / spread
        return float(min(1.0, max(0.0, value)))


def calibrate(embedder: Embedder, vectors: NDArray[np.float16]) -> Calibration:
    """Return the calibration of some vectors."""
    if not len(vectors):
        return Calibration(0.5, 0.7)
    questions = embedder.embed_queries(OFF_TOPIC_QUESTIONS)
    best = np.full(len(questions), -1.0, np.float32)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        block = vectors[start : start + _ROWS_AT_ONCE].astype(np.float32)
        np.maximum(best, (block @ questions.T).max(axis=0), out=best)
    middle, high = np.quantile(best, (0.5, 0.98))
    return Calibration(float(middle), float(high))
