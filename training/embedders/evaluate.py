"""Measures function search: a documentation sentence asks for the code that it documents.

Every query is ranked against all functions of its set ("all"), and against those of its own package ("own"), which is the
case of a user.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codecards.retrieval.embed.embedder import Embedder
from training.corpus.examples import document
from training.corpus.pairs import TextPair
from training.corpus.query_styles import as_chinese_words, as_keywords, as_question

Style = Callable[[TextPair], str]


@dataclass(frozen=True, slots=True)
class Quality:
    """Quality of one embedder on the functions of one set."""

    n_queries: int
    mrr: float
    """Mean of 1/rank, 0 beyond the tenth, against all functions of the set."""
    recall_1: float
    recall_10: float
    own_mrr: float
    """MRR against the functions of the query's package."""

    def __str__(self) -> str:
        return (
            f"n {self.n_queries} MRR {self.mrr:.3f} R@1 {self.recall_1:.3f} R@10 {self.recall_10:.3f} "
            f"own {self.own_mrr:.3f}"
        )


def query_styles(seed: int = 0) -> dict[str, Style]:
    """Return the measured query styles by name; a style returns "" for a pair that it can't ask for."""
    rng = random.Random(seed)
    return {
        "sentence": lambda pair: pair.sentence,
        "question": lambda pair: as_question(pair.sentence.rstrip("."), rng) if pair.sentence.isascii() else "",
        "keywords": lambda pair: as_keywords(pair.sentence, rng) if pair.sentence.isascii() else "",
        "second part": lambda pair: pair.rest if 6 <= len(pair.rest.split()) <= 60 else "",
        "chinese words": lambda pair: as_chinese_words(pair.sentence, rng) if pair.sentence.isascii() else "",
        "chinese": lambda pair: "" if pair.sentence.isascii() else pair.sentence,
    }


def evaluate(embedder: Embedder, pairs: Sequence[TextPair], rows: NDArray[np.float32], style: Style) -> Quality | None:
    """Return the quality for one query style, None if it can't ask for any pair.

    Args:
        embedder: Embeds the queries.
        pairs: The set.
        rows: (n_pairs, d): vectors of the pairs' documents, by the same embedder.
        style: Makes the query of a pair.
    """
    asked = [(index, query) for index, pair in enumerate(pairs) if (query := style(pair))]
    if not asked:
        return None
    packages = np.array([pair.package for pair in pairs])
    scores = embedder.embed_queries([query for _, query in asked]) @ rows.T
    ranks, own_ranks = [], []
    for (index, _), line in zip(asked, scores, strict=True):
        better = line > line[index]
        ranks.append(int(better.sum()) + 1)
        own_ranks.append(int(better[packages == packages[index]].sum()) + 1)
    return Quality(len(asked), _mrr(ranks), _recall(ranks, 1), _recall(ranks, 10), _mrr(own_ranks))


def embed_pairs(embedder: Embedder, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
    """Return (n_pairs, d): vectors of the pairs' code without documentation."""
    return embedder.embed_documents([document(pair) for pair in pairs])


def _mrr(ranks: Sequence[int]) -> float:
    return sum(1 / rank for rank in ranks if rank <= 10) / len(ranks)


def _recall(ranks: Sequence[int], depth: int) -> float:
    return sum(rank <= depth for rank in ranks) / len(ranks)
