"""Candidates: finds the files to score, by words, vectors, exact names, file names and the graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from codecards.indexer.cards.words import stem
from codecards.retrieval.evidence.plan import QueryPlan
from codecards.retrieval.evidence.terms import TermGroups
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.query import Query
from codecards.retrieval.store.columns import Int64s, runs
from codecards.retrieval.store.names import name_hash, normalised_name
from codecards.retrieval.vectors.card_vectors import Similarity

N_BY_NAME = 30
N_BY_FILE_NAME = 30
N_BY_GRAPH = 10
N_GRAPH_SOURCES = 20
"""Files, best by words, whose links are followed."""
OVERSAMPLING = 4
"""Factor on the number of cards or files that are looked up, since several cards are of one file."""
MAX_WORDS = 30
"""Content words that file names are compared with."""
MAX_PLACED = 40
"""Files that the query names by path or stack frame; a long trace may name hundreds."""


@dataclass(frozen=True, slots=True)
class CandidateLimits:
    """How many files each of the wide sources contributes."""

    by_words: int
    by_vectors: int


DEFAULT_LIMITS = CandidateLimits(100, 20)
"""The best of those that were measured."""
LIMITS_BY_PROFILE = {"article": CandidateLimits(10, 20)}
"""Fewer candidates: twenty by vectors, ten by the inverted index."""


def limits_of(profile: str) -> CandidateLimits:
    """Return the limits of a profile; a profile without limits has the default."""
    return LIMITS_BY_PROFILE.get(profile, DEFAULT_LIMITS)


def find_candidates(
    index: DerivedIndex,
    plan: QueryPlan,
    similarity: Similarity | None,
    allowed: NDArray[np.bool_],
    limits: CandidateLimits = DEFAULT_LIMITS,
) -> Int64s:
    """Return the rows of the candidate files, ascending.

    Args:
        index: The index.
        plan: Of the query.
        similarity: Similarity of the query to cards; None without vectors.
        allowed: (n_files,): which files may be shown.
        limits: How many files words and vectors contribute.
    """
    n_allowed = int(np.count_nonzero(allowed))
    if n_allowed <= limits.by_words:
        return np.flatnonzero(allowed)
    # A filter that leaves few files is applied to a longer list.
    wanted = limits.by_words
    limit = wanted if n_allowed == len(allowed) else min(len(allowed), wanted * len(allowed) // n_allowed)
    by_words = _by_words(index, plan.word_groups, limit)
    found = set(by_words[: OVERSAMPLING * wanted].tolist())
    for one in plan.named:
        best = np.lexsort((one.cards, -one.values))[:N_BY_NAME]
        found.update(one.files[best].tolist())
    found.update(list(plan.placed_files)[:MAX_PLACED])
    found.update(_by_file_name(index, plan.prose_query)[:N_BY_FILE_NAME].tolist())
    if similarity is not None:
        cards, _ = similarity.nearest(OVERSAMPLING * limits.by_vectors)
        found.update(_first_files(index, cards, limits.by_vectors))
        if similarity.transformer is not None:
            found.update(
                _first_files(index, similarity.transformer.nearest(OVERSAMPLING * limits.by_vectors), limits.by_vectors)
            )
    found.update(_by_graph(index, by_words[:N_GRAPH_SOURCES], found))
    rows = np.array(sorted(found), np.int64)
    return rows[allowed[rows]]


def _first_files(index: DerivedIndex, cards: Int64s, limit: int) -> list[int]:
    """Return the files of some cards, each once, at most `limit`."""
    return list(dict.fromkeys(index.file_of_card[cards].tolist()))[:limit]


def _by_words(index: DerivedIndex, word_groups: Sequence[TermGroups], limit: int) -> Int64s:
    weights: dict[int, float] = {}
    for groups in word_groups:
        values = (groups.strength * groups.idf).max(axis=1, initial=0.0)
        for word_id, value in zip(groups.word_ids.tolist(), values.tolist(), strict=True):
            weights[word_id] = max(weights.get(word_id, 0.0), value)
    tokens = ((index.vocabulary[word_id], weight) for word_id, weight in weights.items())
    ids = [file_id for file_id, _ in index.keywords.candidates(tokens, limit)]
    return index.rows_of_files(np.array(ids, np.int64))


def _by_file_name(index: DerivedIndex, query: Query) -> Int64s:
    """Return the files that are named like a word of the query, or like two neighbouring words joined."""
    content = query.content_words[:MAX_WORDS]
    pairs = [word + next_word for word, next_word in pairwise(content)]
    forms = {
        form for word in (*content, *pairs) for form in (normalised_name(word), stem(normalised_name(word))) if form
    }
    hashes = np.fromiter((name_hash(form) for form in forms), np.uint64, len(forms))
    return np.flatnonzero(np.isin(index.columns.stem_hash, hashes).any(axis=1))


def _by_graph(index: DerivedIndex, sources: Int64s, known: set[int]) -> list[int]:
    """Return the files that the best candidates use most."""
    columns = index.columns
    lengths = columns.link_offset[sources + 1] - columns.link_offset[sources]
    links = runs(columns.link_offset[sources], lengths)
    if not len(links):
        return []
    used = np.bincount(columns.link_target[links], columns.link_weight[links], columns.n_files)
    gain = used / (columns.in_weight + 2)
    best = np.argsort(-gain, kind="stable")[: N_BY_GRAPH * 3]
    return [row for row in best.tolist() if gain[row] > 0 and row not in known][:N_BY_GRAPH]
