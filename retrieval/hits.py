"""Hits: what a search gives, and why."""

from collections.abc import Sequence
from dataclasses import dataclass

from codecards.indexer.cards.card import Card


@dataclass(frozen=True, slots=True)
class ScoreTerm:
    """One named part of a score."""

    name: str
    value: float
    """Added to the score as it is."""
    detail: str
    """What was found, in words."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One card that was found."""

    rank: int
    """1 for the best."""
    card: Card
    score: float
    """The higher the better; comparable within one answer only."""
    terms: Sequence[ScoreTerm]
    """Sum to the score."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answer to one query."""

    kind: str
    """How the query was read: "symbol", "path", "question", "trace"."""
    verdict: str
    """"found", "weak" (something is near, nothing fits well) or "none"."""
    hits: tuple[Hit, ...]
    suggestions: tuple[str, ...]
    """Near names, where the query named something that is not there."""
    n_candidates: int
    """Files that were looked at closely."""
    retrievers: tuple[str, ...]
    """What took part: "words", "symbols", "graph", "static_vectors"."""
