"""Reranks the first hits with the configured reranker."""

import threading
from collections.abc import Callable
from dataclasses import replace

from codecards.answers import RetrieverStatus
from codecards.indexer.cards.card import Card
from codecards.project.freshness import FreshFiles
from codecards.retrieval.hits import Ranking
from codecards.retrieval.rank.rerank import DEFAULT_TOP, CrossEncoderScorer, PairScorer, missing_requirement
from codecards.retrieval.rank.rerank import rerank as rerank_hits

RETRIEVER = "reranker"
NAMED = frozenset(("symbol", "path"))
"""Kinds of query that name their target; a model can't improve their order."""


class HitReranker:
    """Reorders the first hits with a model that is loaded on first use. Safe for several threads.

    Args:
        folder: The model's folder; None for no reranking.
        load: Loads the model of a folder.
    """

    def __init__(self, folder: str | None, load: Callable[[str], PairScorer] = CrossEncoderScorer) -> None:
        self._folder = folder
        self._load = load
        self._scorer: PairScorer | None = None
        self._lock = threading.Lock()

    def depth_for(self, limit: int) -> int:
        """Return how many hits to search for, so that the best `limit` are among those that are reranked."""
        return limit if self._folder is None else max(limit, DEFAULT_TOP)

    def rerank(self, query: str, ranking: Ranking, fresh: FreshFiles) -> Ranking:
        """Return the ranking with its first hits in the model's order; unchanged if the query names a symbol or path.

        Raises:
            EmbedderError: The model can't be loaded.
        """
        if self._folder is None or ranking.kind in NAMED or len(ranking.hits) < 2:
            return ranking

        def text_of(card: Card) -> str:
            checked = next(iter(fresh.check([card])), None)
            code = "\n".join(checked.card_lines) if checked else ""
            return f"{card.path} {card.qualified_name}\n{code}"

        hits = rerank_hits(query, ranking.hits, text_of, self._loaded(self._folder))
        return replace(ranking, hits=hits, retrievers=(*ranking.retrievers, RETRIEVER))

    def status(self, ranking: Ranking | None = None) -> RetrieverStatus:
        """Return whether the model was used in a ranking; None asks whether it would be."""
        if self._folder is None:
            return RetrieverStatus(RETRIEVER, False, "none is set (--reranker)")
        if ranking is not None:
            was_used = RETRIEVER in ranking.retrievers
            return RetrieverStatus(
                RETRIEVER, was_used, "" if was_used else "not used for a name, a path or a single hit"
            )
        missing = missing_requirement(self._folder)
        return RetrieverStatus(RETRIEVER, not missing, missing)

    def _loaded(self, folder: str) -> PairScorer:
        with self._lock:
            if self._scorer is None:
                self._scorer = self._load(folder)
            return self._scorer
