"""Reranking: a cross-encoder, which reads query and card together, reorders the first few hits.

Importing sentence-transformers takes six seconds of CPU, so it is imported when a model is loaded.
"""

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from codecards.errors import EmbedderError
from codecards.indexer.cards.card import Card
from codecards.retrieval.embed.sentence_transformers import import_offline
from codecards.retrieval.hits import Hit, ScoreTerm

DEFAULT_TOP = 10
DEFAULT_WEIGHT = 3.0
"""Points that the hit with the highest model value gains on the one with the lowest; scores are about 10."""
MAX_CHARACTERS = 2_000


class PairScorer(Protocol):
    """Scores how well texts answer a query."""

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return a number for each text, the higher the better, on any scale."""
        ...


class CrossEncoderScorer:
    """A cross-encoder of sentence-transformers.

    Args:
        path: A folder in the format of sentence-transformers.

    Raises:
        EmbedderError: The model, or the extra `codecards[transformers]`, is missing.
    """

    def __init__(self, path: str | Path) -> None:
        if missing := missing_requirement(path):
            raise EmbedderError(missing)
        try:
            library = import_offline()
            self._model: Any = library.CrossEncoder(str(path), device="cpu", local_files_only=True)
        except (OSError, ValueError, RuntimeError, KeyError, ImportError) as error:
            raise EmbedderError(f"the reranker in {path} can't be loaded: {error}") from error
        if self._model.num_labels != 1:
            raise EmbedderError(f"the model in {path} has {self._model.num_labels} outputs; a reranker must have one")

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the model's value for each pair."""
        return [
            float(value) for value in self._model.predict([(query, text) for text in texts], show_progress_bar=False)
        ]


def missing_requirement(path: str | Path) -> str:
    """Return why a folder can't be used as a reranker, without loading it; "" if no reason is found."""
    if not Path(path).is_dir():
        return f"{path} is not a folder; give a folder with a cross-encoder in the format of sentence-transformers"
    if importlib.util.find_spec("sentence_transformers") is None:
        return "a reranker needs sentence-transformers: install codecards[transformers]"
    return ""


def rerank(
    query: str,
    hits: Sequence[Hit],
    text_of: Callable[[Card], str],
    scorer: PairScorer,
    *,
    top: int = DEFAULT_TOP,
    weight: float = DEFAULT_WEIGHT,
) -> tuple[Hit, ...]:
    """Return the hits with the first few in a new order; the term "reranker" is added to their scores.

    Args:
        query: As it was typed.
        hits: Best first.
        text_of: Returns the text of a card.
        scorer: The model.
        top: Number of hits that the model reads; the others keep their places.
        weight: Points between the highest and the lowest value.
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
