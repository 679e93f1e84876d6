"""Ranking: a query becomes candidate files, their evidence a score, and so each of their cards'."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from codecards.retrieval.candidates import DEFAULT_LIMITS, CandidateLimits, find_candidates
from codecards.retrieval.card_choice import CardScores, frame_cards, score_cards
from codecards.retrieval.columns import Floats
from codecards.retrieval.deep_lane import DeepLookup
from codecards.retrieval.derived_index import DerivedIndex
from codecards.retrieval.file_evidence import Evidence, gather_evidence, has_evidence
from codecards.retrieval.filters import Filters
from codecards.retrieval.hunk_cards import hunk_cards
from codecards.retrieval.issue_evidence import gather_issue_evidence, understand_issue
from codecards.retrieval.issue_text import split_issue
from codecards.retrieval.parallel_copies import lost_to_copies
from codecards.retrieval.query import Query
from codecards.retrieval.query_intent import intent_of
from codecards.retrieval.symbol_evidence import NamedCards, named_cards
from codecards.retrieval.term_groups import TermGroups, group_terms
from codecards.retrieval.tuned_weights import scaled
from codecards.retrieval.vector_lane import Similarity
from codecards.retrieval.weights import ASKED_FOLDERS, DEMOTED_CARDS, DEMOTIONS, ISSUE, TRACE, weights_for

MAX_EMBEDDED_CHARACTERS = 2_000
USERS_MODEL = "sentence-transformers:"
"""Beginning of the name of an embedder that a user brings; it may know Chinese."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """All that was weighed for a query; F candidate files and their cards."""

    evidence: Evidence
    terms: Mapping[str, Floats]
    """Name → (F,): the files' terms, already weighted."""
    file_scores: Floats
    """(F,): their sum; minus infinity for a file that nothing of the query speaks for."""
    cards: CardScores
    named: Sequence[NamedCards]
    """Exact definitions of the query's names."""
    placed: frozenset[int]
    """Rows of the files that the query names by path, module or frame."""


def rank(
    index: DerivedIndex,
    query: Query,
    similarity: Similarity | None,
    filters: Filters,
    *,
    factors: Mapping[str, float] = MappingProxyType({}),
    limits: CandidateLimits = DEFAULT_LIMITS,
) -> Ranked | None:
    """Return what was weighed for a query; None where nothing of the index has to do with it.

    Args:
        index: Of one generation.
        query: As parsed.
        similarity: How near cards are; None without vectors.
        filters: What may answer.
        factors: Of `tuned_weights.GROUPS`.
        limits: How many files words and vectors give.
    """
    issue = understand_issue(index, query) if query.is_issue else None
    places, frames = named_places(index, query)
    placed = {row for values in places.values() for row in values}
    allowed = filters.files(index)
    if issue is not None:
        named: Sequence[NamedCards] = (*issue.named_in_code, *issue.named_in_prose)
        placed.update(issue.modules)
        groups: tuple[TermGroups, ...] = (issue.everything, issue.title)
    else:
        named = named_cards(index, query.names)
        groups = (group_terms(index, query.terms),)
    asked = issue.told if issue is not None else query
    files = find_candidates(index, asked, groups, named, placed, similarity, allowed, limits)
    if not len(files) or (groups[0].is_empty and not placed and similarity is None):
        return None
    if issue is not None:
        evidence = gather_issue_evidence(index, query, issue, files, places, similarity)
    else:
        evidence = gather_evidence(index, query, groups[0], files, named, places, similarity)
    weights = scaled(_weights_of(query), factors)
    terms = {name: weights[name] * values for name, values in evidence.features.items() if weights.get(name)}
    file_scores = np.asarray(np.sum(list(terms.values()), axis=0), np.float32)
    file_scores[~has_evidence(evidence, similarity, index)] = -np.inf
    cards = score_cards(index, query, evidence, named, frames, similarity, filters)
    if query.kind == "question" and weights.get("copy"):
        # A name is wanted wherever it is defined, and a report may be about any of the copies.
        terms["copy"] = weights["copy"] * lost_to_copies(index, files, file_scores + cards.best_across)
        file_scores += terms["copy"]
    return Ranked(evidence, terms, file_scores, cards, named, frozenset(placed))


def _weights_of(query: Query) -> Mapping[str, float]:
    if query.is_issue:
        # A diff names its places as exactly as a stack trace does.
        return TRACE if query.kind == "trace" or query.hunks else ISSUE
    weights = weights_for(len(query.content_words))
    if query.kind == "symbol":
        return {**weights, "folders": ASKED_FOLDERS}
    if query.kind != "question":
        return weights
    intent = intent_of(query.text)
    share = 1.0 if intent.is_message else intent.function  # how much of what single cards say counts between files
    more = 1 + (DEMOTED_CARDS - 1) * share**2  # a weak sign of a function must not bury documents and examples
    # Copies of a function are told apart by what they say, not by their files.
    return {**weights, **{name: more * weights[name] for name in DEMOTIONS}, "copy": (1 - share) * weights["copy"]}


def query_similarity(index: DerivedIndex, query: Query, deep: DeepLookup | None = None) -> Similarity | None:
    """Return how near a query is to cards; None without vectors, and where the embedder knows none of its words.

    Args:
        index: Whose vectors.
        query: As parsed.
        deep: Asks the deep lane; None where it takes no part.
    """
    if index.vectors is None or index.embedder is None or query.kind == "path":
        return None
    text = query.text
    if query.english is not None and not index.embedder.name.startswith(USERS_MODEL):
        text = (
            query.english
        )  # our own models read English alone; of Chinese they would make nothing that means anything
    elif query.is_issue and query.kind != "trace" and not query.hunks:
        issue = split_issue(text)
        text = f"{issue.title}\n{issue.prose}"
    if not text:
        return None
    vector: Floats = index.embedder.embed_queries([text[:MAX_EMBEDDED_CHARACTERS]])[0]
    if not np.any(vector):
        return None
    # Measured on questions in English alone; the model knows no Chinese, and little of its translation word by word.
    asks_deep = query.kind == "question" and not query.is_issue and query.english is None
    opinion = deep(text[:MAX_EMBEDDED_CHARACTERS]) if deep is not None and asks_deep else None
    return index.vectors.similarity(vector, opinion)


def named_places(index: DerivedIndex, query: Query) -> tuple[dict[str, dict[int, float]], dict[int, float]]:
    """Return "place" and "frame" → file row → how surely it is named, and card row → the same."""
    files, cards = frame_cards(index, query.frames)
    changed_files, changed_cards = hunk_cards(index, query.hunks)
    files, cards = files | changed_files, cards | changed_cards
    places: dict[int, float] = {}
    for named in query.paths:
        rows = index.files_ending(named.path)
        n_parts = named.path.count("/") + 1
        for row in rows[:50]:
            # A bare name in a question is a weaker sign than a path, or than a query that is nothing else.
            places[row] = max(places.get(row, 0.0), 1.0 if n_parts > 1 or query.kind == "path" else 0.4)
    found = {name: values for name, values in (("place", places), ("frame", files)) if values}
    return found, cards
