"""Recalling: from a generation and a question to hits that were checked against the disk."""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from codecards.answers import FoundCard, Recall, RetrieverStatus
from codecards.features.rerank import HitReranker
from codecards.indexer.cards.card import Card
from codecards.project.embedder import LazyEmbedder
from codecards.project.freshness import FreshFiles
from codecards.project.reader import IndexReader
from codecards.project.transformer_vectors import NAME as TRANSFORMER
from codecards.project.transformer_vectors import TransformerVectors
from codecards.project.tuned_weights import TunedWeightsFile
from codecards.retrieval.hits import Hit, Ranking
from codecards.retrieval.rank.candidates import CandidateLimits
from codecards.retrieval.rank.filters import Filters
from codecards.retrieval.search import search
from codecards.retrieval.similar import similar

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RecallQuery:
    """What one answer is made of: a generation, the files as they are, and how hits are ranked."""

    reader: IndexReader
    fresh: FreshFiles
    embedder: LazyEmbedder
    transformer: TransformerVectors
    tuned: TunedWeightsFile | None
    reranker: HitReranker
    limits: CandidateLimits

    def recall(self, query: str, limit: int, filters: Filters) -> Recall:
        """Return the cards that answer a question, best first."""
        started = time.monotonic()
        ranking = self.ranked(query, limit, filters)
        recall = self._answer(query, ranking, started)
        off = "static_vectors" not in ranking.retrievers and self.embedder.error
        notices = (f"meaning search is off: {self.embedder.error}",) if off else ()
        logger.info("recall", extra={
            "verdict": recall.verdict, "query_kind": ranking.kind, "hits": len(recall.hits),
            "candidates": ranking.n_candidates, "retrievers": ranking.retrievers, "generation": recall.generation,
            "took_ms": round(recall.took_ms, 1),
        })  # fmt: skip
        return replace(
            recall, left_out=dict(self.reader.left_out), notices=notices, retrievers=self._retrievers(ranking)
        )

    def similar(self, card: Card, limit: int) -> Recall:
        """Return cards that do much the same as one."""
        started = time.monotonic()
        ranking = similar(self.reader.derived, self.reader.snapshot, card.card_id, limit=limit)
        return replace(self._answer(card.symbol_id, ranking, started), kind="similar")

    def ranked(self, query: str, limit: int, filters: Filters) -> Ranking:
        """Return the ranking of a question, before it is checked against the disk."""
        wanted = self.reranker.depth_for(limit)
        tuned, _ = self.tuned.read() if self.tuned is not None else (None, "")
        factors = tuned.factors if tuned is not None else None
        ranking = search(
            self.reader.derived, self.reader.snapshot, query, limit=wanted, filters=filters, factors=factors,
            limits=self.limits, transformer=self.transformer.lookup(self.reader),
        )  # fmt: skip
        ranking = self.reranker.read(query, ranking, self.fresh)
        return replace(ranking, hits=ranking.hits[:limit])

    def _answer(self, query: str, ranking: Ranking, started: float) -> Recall:
        hits, columns = self._checked(ranking.hits), self.reader.derived.columns
        return Recall(
            query, ranking.kind, ranking.verdict if hits else "none", self.reader.snapshot.generation, hits,
            columns.n_files, columns.n_cards, {}, ranking.suggestions, (time.monotonic() - started) * 1000,
        )  # fmt: skip

    def _retrievers(self, ranking: Ranking) -> tuple[RetrieverStatus, ...]:
        """Return which ways of finding took part in an answer."""
        has_vectors = "static_vectors" in ranking.retrievers
        off = "" if has_vectors else self.embedder.error or "no vectors, or none that speak of this query"
        always = (RetrieverStatus(name, True, "") for name in ("words", "symbols", "graph"))
        transformer = self.transformer.status(self.reader, took_part=TRANSFORMER in ranking.retrievers)
        return (
            *always,
            RetrieverStatus("static_vectors", has_vectors, off),
            transformer,
            self.reranker.status(ranking),
        )

    def _checked(self, hits: Sequence[Hit]) -> tuple[FoundCard, ...]:
        found: list[FoundCard] = []
        self.fresh.expect({hit.card.path for hit in hits})
        for hit in hits:
            for looked in self.fresh.look([hit.card]):
                card = looked.card
                found.append(FoundCard(len(found) + 1, card, hit.score, hit.terms, looked.fresh, looked.card_lines))
        return tuple(found)
