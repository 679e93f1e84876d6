"""Reranking: a model that reads query and card together reorders the first few hits."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from codecards.errors import EmbedderError
from codecards.indexer.cards import Card
from codecards.retrieval.hits import Hit, ScoreTerm

DEFAULT_TOP = 10
DEFAULT_WEIGHT = 3.0
"""What the best-liked of the first hits gains on the least liked, in points of a score of about 10."""
MAX_CHARACTERS = 2_000


class PairScorer(Protocol):
    """Says how well texts answer a query."""

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return a number for each text, the higher the better, on any scale."""
        ...


class CrossEncoderScorer:
    """A cross-encoder of sentence-transformers.

    Args:
        path: A folder in its format.

    Raises:
        EmbedderError: The model, or the extra `codecards[transformers]`, is missing.
    """

    def __init__(self, path: str | Path) -> None:
        if not Path(path).is_dir():
            raise EmbedderError(f"{path} is no folder with a cross-encoder; name one in sentence-transformers' format")
        try:
            # Imported here: it costs six seconds of CPU, which only its users pay.
            library: Any = import_module("sentence_transformers")
        except ImportError as error:
            raise EmbedderError("a reranker needs sentence-transformers: install codecards[transformers]") from error
        try:
            self._model = library.CrossEncoder(str(path), local_files_only=True)
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            raise EmbedderError(f"the reranker in {path} can't be loaded: {error}") from error

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the model's value of each pair."""
        return [
            float(value) for value in self._model.predict([(query, text) for text in texts], show_progress_bar=False)
        ]


def rerank(
    query: str,
    hits: Sequence[Hit],
    text_of: Callable[[Card], str],
    scorer: PairScorer,
    *,
    top: int = DEFAULT_TOP,
    weight: float = DEFAULT_WEIGHT,
) -> tuple[Hit, ...]:
    """Return the hits with the first few in a new order; each of these has one more term, and still sums to its score.

    Args:
        query: As it was typed.
        hits: Best first.
        text_of: Gives a card's text.
        scorer: The model.
        top: How many are read; those after them keep their places.
        weight: What the highest value adds against the lowest.
    """
    head = list(hits[:top])
    if len(head) < 2:
        return tuple(hits)
    values = np.array(scorer.score(query, [text_of(hit.card)[:MAX_CHARACTERS] for hit in head]), np.float64)
    spread = float(values.max() - values.min())
    gains = weight * (values - values.min()) / spread if spread > 0 else np.zeros(len(values))
    scored = [
        replace(
            hit, score=hit.score + gain, terms=(*hit.terms, ScoreTerm("reranker", gain, "read together with the query"))
        )
        for hit, gain in zip(head, gains.tolist(), strict=True)
    ]
    scored.sort(key=lambda hit: (-hit.score, hit.rank))
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate([*scored, *hits[top:]], 1))
