"""Hits: the answer to a query, with the terms of each score."""

from collections.abc import Sequence
from dataclasses import dataclass

from codecards.indexer.cards.card import Card


@dataclass(frozen=True, slots=True)
class ScoreTerm:
    """One named part of a score."""

    name: str
    value: float
    """Added to the score."""
    detail: str
    """Explanation of the term, in words."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One card of an answer."""

    rank: int
    """1 for the best."""
    card: Card
    score: float
    """The higher, the better; comparable within one answer only."""
    terms: Sequence[ScoreTerm]
    """Sum to the score."""
    also: tuple[Card, ...] = ()
    """Other places that say the same: overloads, a stub, copies of the text."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answer to one query."""

    kind: str
    """The kind of the query: "symbol", "path", "question", "trace"."""
    verdict: str
    """"found", "weak" (something is near, nothing matches well) or "none"."""
    hits: tuple[Hit, ...]
    suggestions: tuple[str, ...]
    """Similar names, if the query names something that the repository does not define."""
    n_candidates: int
    """Files that were scored."""
    retrievers: tuple[str, ...]
    """Retrievers that were used: "words", "symbols", "graph", "static_vectors", "transformer_vectors"."""
