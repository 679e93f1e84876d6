"""Recalling: from a generation and a question to hits that were checked against the disk."""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from codecards.answers import FoundCard, Lane, Recall
from codecards.features.rerank import SecondReading
from codecards.indexer.cards.card import Card
from codecards.project.embedder import EmbedderChoice
from codecards.project.freshness import FreshFiles
from codecards.project.reader import Reader
from codecards.project.transformer_vectors import NAME as DEEP
from codecards.project.transformer_vectors import DeepVectors
from codecards.project.tuned_weights import TunedFile
from codecards.retrieval.hits import Hit, Ranking
from codecards.retrieval.rank.candidates import CandidateLimits
from codecards.retrieval.rank.filters import Filters
from codecards.retrieval.search import search
from codecards.retrieval.similar import similar

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Recalling:
    """What one answer is made of: a generation, the files as they are, and how hits are ranked."""

    reader: Reader
    fresh: FreshFiles
    embedder: EmbedderChoice
    deep: DeepVectors
    tuned: TunedFile | None
    second_reading: SecondReading
    limits: CandidateLimits

    def recall(self, query: str, limit: int, filters: Filters) -> Recall:
        """Return the cards that answer a question, best first."""
        started = time.monotonic()
        ranking = self.ranked(query, limit, filters)
        recall = self._answer(query, ranking, started)
        off = "vectors" not in ranking.lanes and self.embedder.error
        notices = (f"meaning search is off: {self.embedder.error}",) if off else ()
        logger.info("recall", extra={
            "verdict": recall.verdict, "query_kind": ranking.kind, "hits": len(recall.hits),
            "candidates": ranking.n_candidates, "lanes": ranking.lanes, "generation": recall.generation,
            "took_ms": round(recall.took_ms, 1),
        })  # fmt: skip
        return replace(recall, left_out=dict(self.reader.left_out), notices=notices, lanes=self._lanes(ranking))

    def similar(self, card: Card, limit: int) -> Recall:
        """Return cards that do much the same as one."""
        started = time.monotonic()
        ranking = similar(self.reader.derived, self.reader.snapshot, card.card_id, limit=limit)
        return replace(self._answer(card.symbol_id, ranking, started), kind="similar")

    def ranked(self, query: str, limit: int, filters: Filters) -> Ranking:
        """Return the ranking of a question, before it is checked against the disk."""
        wanted = self.second_reading.n_wanted(limit)
        tuned, _ = self.tuned.read() if self.tuned is not None else (None, "")
        factors = tuned.factors if tuned is not None else None
        ranking = search(
            self.reader.derived, self.reader.snapshot, query, limit=wanted, filters=filters, factors=factors,
            limits=self.limits, deep=self.deep.lookup(self.reader),
        )  # fmt: skip
        ranking = self.second_reading.read(query, ranking, self.fresh)
        return replace(ranking, hits=ranking.hits[:limit])

    def _answer(self, query: str, ranking: Ranking, started: float) -> Recall:
        hits, columns = self._checked(ranking.hits), self.reader.derived.columns
        return Recall(
            query, ranking.kind, ranking.verdict if hits else "none", self.reader.snapshot.generation, hits,
            columns.n_files, columns.n_cards, {}, ranking.suggestions, (time.monotonic() - started) * 1000,
        )  # fmt: skip

    def _lanes(self, ranking: Ranking) -> tuple[Lane, ...]:
        """Return which ways of finding took part in an answer."""
        has_vectors = "vectors" in ranking.lanes
        off = "" if has_vectors else self.embedder.error or "no vectors, or none that speak of this query"
        always = (Lane(name, True, "") for name in ("words", "symbols", "graph"))
        deep = self.deep.lane(self.reader, took_part=DEEP in ranking.lanes)
        return (*always, Lane("vectors", has_vectors, off), deep, self.second_reading.lane(ranking))

    def _checked(self, hits: Sequence[Hit]) -> tuple[FoundCard, ...]:
        found: list[FoundCard] = []
        self.fresh.expect({hit.card.path for hit in hits})
        for hit in hits:
            for looked in self.fresh.look([hit.card]):
                card = looked.card
                found.append(FoundCard(len(found) + 1, card, hit.score, hit.terms, looked.fresh, looked.card_lines))
        return tuple(found)
