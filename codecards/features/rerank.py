"""Second reading: the first hits, read again by the reranker that the settings name."""

import threading
from collections.abc import Callable
from dataclasses import replace

from codecards.answers import RetrieverStatus
from codecards.indexer.cards.card import Card
from codecards.project.freshness import FreshFiles
from codecards.retrieval.hits import Ranking
from codecards.retrieval.rank.rerank import DEFAULT_TOP, CrossEncoderScorer, PairScorer, missing_requirement, rerank

RETRIEVER = "reranker"
NAMED = frozenset(("symbol", "path"))
"""Kinds of query that name what they want; a model has nothing to say about them."""


class HitReranker:
    """Reorders first hits; loads its model when it is first wanted. Safe for several threads.

    Args:
        place: The model's folder, None for no second reading.
        load: Makes the model of a folder.
    """

    def __init__(self, place: str | None, load: Callable[[str], PairScorer] = CrossEncoderScorer) -> None:
        self.place = place
        self._load = load
        self._scorer: PairScorer | None = None
        self._lock = threading.Lock()

    def depth_for(self, limit: int) -> int:
        """Return how many hits to search for so that the best `limit` are among those that are read."""
        return limit if self.place is None else max(limit, DEFAULT_TOP)

    def read(self, query: str, ranking: Ranking, fresh: FreshFiles) -> Ranking:
        """Return the ranking with its first hits in the model's order; as it was where the query names a thing.

        Raises:
            EmbedderError: The model can't be loaded.
        """
        if self.place is None or ranking.kind in NAMED or len(ranking.hits) < 2:
            return ranking

        def text_of(card: Card) -> str:
            looked = next(iter(fresh.look([card])), None)
            code = "\n".join(looked.lines[looked.card.lead_line - 1 : looked.card.last_line]) if looked else ""
            return f"{card.path} {card.qualified_name}\n{code}"

        hits = rerank(query, ranking.hits, text_of, self._ready(self.place))
        return replace(ranking, hits=hits, retrievers=(*ranking.retrievers, RETRIEVER))

    def status(self, ranking: Ranking | None = None) -> RetrieverStatus:
        """Return whether the model took part in a ranking, or (None) whether it would."""
        if self.place is None:
            return RetrieverStatus(RETRIEVER, False, "none is set (--reranker)")
        if ranking is not None:
            took_part = RETRIEVER in ranking.retrievers
            return RetrieverStatus(
                RETRIEVER, took_part, "" if took_part else "a name, a path or a lone hit needs no second reading"
            )
        missing = missing_requirement(self.place)
        return RetrieverStatus(RETRIEVER, not missing, missing)

    def _ready(self, place: str) -> PairScorer:
        with self._lock:
            if self._scorer is None:
                self._scorer = self._load(place)
            return self._scorer
