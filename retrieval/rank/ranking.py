"""Ranking: a query becomes candidate files, their evidence a score, and so each of their cards'."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from codecards.retrieval.evidence.files import Evidence, file_signals, has_evidence
from codecards.retrieval.evidence.issues import gather_issue_evidence, read_issue
from codecards.retrieval.evidence.named_places import named_places
from codecards.retrieval.evidence.symbols import NamedCards, named_cards
from codecards.retrieval.evidence.terms import TermGroups, group_terms
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.intent import intent_of
from codecards.retrieval.query.query import Query
from codecards.retrieval.rank.candidates import DEFAULT_LIMITS, CandidateLimits, find_candidates
from codecards.retrieval.rank.card_ranking import CardScores, score_cards
from codecards.retrieval.rank.filters import Filters
from codecards.retrieval.rank.near_duplicates import near_duplicate_penalty
from codecards.retrieval.rank.tuned_weights import apply_factors
from codecards.retrieval.rank.weights import ASKED_FOLDERS, DEMOTED_CARDS, DEMOTIONS, ISSUE, TRACE, weights_for
from codecards.retrieval.store.columns import Floats
from codecards.retrieval.vectors.card_vectors import Similarity


@dataclass(frozen=True, slots=True)
class ScoredCandidates:
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
) -> ScoredCandidates | None:
    """Return what was weighed for a query; None where nothing of the index has to do with it.

    Args:
        index: Of one generation.
        query: As parsed.
        similarity: How near cards are; None without vectors.
        filters: What may answer.
        factors: Of `tuned_weights.GROUPS`.
        limits: How many files words and vectors give.
    """
    issue = read_issue(index, query) if query.is_issue else None
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
        evidence = file_signals(index, query, groups[0], files, named, places, similarity)
    weights = apply_factors(_weights_of(query), factors)
    terms = {name: weights[name] * values for name, values in evidence.features.items() if weights.get(name)}
    file_scores = np.asarray(np.sum(list(terms.values()), axis=0), np.float32)
    file_scores[~has_evidence(evidence, similarity, index)] = -np.inf
    cards = score_cards(index, query, evidence, named, frames, similarity, filters)
    if query.kind == "question" and weights.get("copy"):
        # A name is wanted wherever it is defined, and a report may be about any of the copies.
        terms["copy"] = weights["copy"] * near_duplicate_penalty(index, files, file_scores + cards.best_across)
        file_scores += terms["copy"]
    return ScoredCandidates(evidence, terms, file_scores, cards, named, frozenset(placed))


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
