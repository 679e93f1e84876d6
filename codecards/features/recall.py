"""Answers a question from one generation with hits that are checked against the files on disk."""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from codecards.answers import FoundCard, Recall, RetrieverStatus
from codecards.features.rerank import HitReranker
from codecards.features.text_matches import TextFilter, TextSearch, with_exact_texts
from codecards.indexer.cards.card import Card
from codecards.project.freshness import FreshFiles
from codecards.project.lifecycle import ProjectIndex
from codecards.project.reader import IndexReader
from codecards.project.transformer_vectors import NAME as TRANSFORMER
from codecards.retrieval.hits import Hit, Ranking
from codecards.retrieval.rank.candidates import CandidateLimits
from codecards.retrieval.rank.filters import Filters
from codecards.retrieval.search import search
from codecards.retrieval.similar import similar
from codecards.retrieval.text_search.exact_texts import exact_texts
from codecards.retrieval.text_search.store import SignatureStore

MAX_QUOTING_CHARACTERS = 500
"""A longer text is a report, which quotes more than it looks for."""
MAX_MADE_BESIDE_A_QUESTION = 3_000
"""Files whose signatures a question makes; where more are missing, `recall --literal` makes them."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RecallQuery:
    """Everything that one answer is made from."""

    index: ProjectIndex
    reader: IndexReader
    """The generation that answers."""
    reranker: HitReranker
    limits: CandidateLimits

    @cached_property
    def fresh(self) -> FreshFiles:
        """Checks cards and files against the disk, each file once."""
        return self.index.fresh_files(self.reader)

    @property
    def text_search(self) -> TextSearch:
        """Searches the indexed files for exact texts."""
        store = SignatureStore(self.index.folder.path)
        return TextSearch(self.reader.snapshot, self.fresh, store, self.index.root)

    def recall(self, query: str, limit: int, filters: Filters) -> Recall:
        """Return the cards that answer a question, best first."""
        started = time.monotonic()
        ranking = self.ranked(query, limit, filters)
        recall = self._with_exact_texts(self._answer(query, ranking, started), limit, filters)
        embedder_error = self.index.embedder.error
        is_off = "static_vectors" not in ranking.retrievers and embedder_error
        notices = (*recall.notices, *((f"search by meaning is off: {embedder_error}",) if is_off else ()))
        facts = {
            "verdict": recall.verdict,
            "query_kind": ranking.kind,
            "hits": len(recall.hits),
            "candidates": ranking.n_candidates,
            "retrievers": ranking.retrievers,
            "generation": recall.generation,
            "took_ms": round(recall.took_ms, 1),
        }
        logger.info("recall", extra=facts)
        return replace(
            recall, left_out=dict(self.reader.left_out), notices=notices, retrievers=self._retrievers(ranking)
        )

    def similar(self, card: Card, limit: int) -> Recall:
        """Return cards that do much the same as a given one."""
        started = time.monotonic()
        ranking = similar(self.reader.derived, self.reader.snapshot, card.card_id, limit=limit)
        return replace(self._answer(card.symbol_id, ranking, started), kind="similar")

    def ranked(self, query: str, limit: int, filters: Filters) -> Ranking:
        """Return the ranking of a question, before its hits are checked against the files on disk."""
        weights_file = self.index.tuned_weights
        tuned, _ = weights_file.read() if weights_file is not None else (None, "")
        ranking = search(
            self.reader.derived,
            self.reader.snapshot,
            query,
            limit=self.reranker.depth_for(limit),
            filters=filters,
            factors=tuned.factors if tuned is not None else None,
            limits=self.limits,
            transformer=self.index.transformer.lookup(self.reader),
        )
        ranking = self.reranker.rerank(query, ranking, self.fresh)
        return replace(ranking, hits=ranking.hits[:limit])

    def _answer(self, query: str, ranking: Ranking, started: float) -> Recall:
        hits, columns = self._checked(ranking.hits), self.reader.derived.columns
        return Recall(
            query=query,
            kind=ranking.kind,
            verdict=ranking.verdict if hits else "none",
            generation=self.reader.snapshot.generation,
            hits=hits,
            n_files=columns.n_files,
            n_cards=columns.n_cards,
            left_out={},
            suggestions=ranking.suggestions,
            took_ms=(time.monotonic() - started) * 1000,
        )

    def _with_exact_texts(self, recall: Recall, limit: int, filters: Filters) -> Recall:
        """Return an answer with the cards that hold, word for word, what the question quotes or writes as only code does.

        They come first: a quoted text stands where it stands. Where nothing holds it, a notice says so.
        """
        texts = exact_texts(recall.query) if recall.kind == "question" and not filters.kinds else ()
        if not texts or len(recall.query) > MAX_QUOTING_CHARACTERS:
            return recall
        search = self.text_search
        if search.n_missing() > MAX_MADE_BESIDE_A_QUESTION:
            return recall
        return with_exact_texts(recall, search, texts, TextFilter(filters.paths, filters.languages), limit)

    def _retrievers(self, ranking: Ranking) -> tuple[RetrieverStatus, ...]:
        """Return which retrievers were used in an answer."""
        has_vectors = "static_vectors" in ranking.retrievers
        off = "" if has_vectors else self.index.embedder.error or "no vectors, or none that match this query"
        always = (RetrieverStatus(name, True, "") for name in ("words", "symbols", "graph"))
        transformer = self.index.transformer.status(self.reader, was_used=TRANSFORMER in ranking.retrievers)
        return (
            *always,
            RetrieverStatus("static_vectors", has_vectors, off),
            transformer,
            self.reranker.status(ranking),
        )

    def _checked(self, hits: Sequence[Hit]) -> tuple[FoundCard, ...]:
        found: list[FoundCard] = []
        self.fresh.prefetch({card.path for hit in hits for card in (hit.card, *hit.also)})
        for hit in hits:
            for checked in self.fresh.check([hit.card]):
                rank, lines = len(found) + 1, checked.card_lines
                also = tuple(one.card for one in self.fresh.check(hit.also))
                found.append(FoundCard(rank, checked.card, hit.score, hit.terms, checked.fresh, lines, also))
        return tuple(found)
