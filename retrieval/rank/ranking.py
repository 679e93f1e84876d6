"""Ranking: a query becomes candidate files; their evidence becomes scores of files and of cards."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from codecards.retrieval.evidence.files import Evidence, QuestionEvidence, has_evidence, question_evidence
from codecards.retrieval.evidence.issues import IssueEvidence, issue_evidence
from codecards.retrieval.evidence.plan import QueryPlan, plan_query
from codecards.retrieval.evidence.ranking_input import RankingInput
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.query import Query
from codecards.retrieval.rank.candidates import DEFAULT_LIMITS, CandidateLimits, find_candidates
from codecards.retrieval.rank.card_ranking import CardScores, score_cards
from codecards.retrieval.rank.file_signals import QUESTION_SIGNALS
from codecards.retrieval.rank.filters import Filters
from codecards.retrieval.rank.near_duplicates import near_duplicate_penalty
from codecards.retrieval.rank.signals import FileSignal
from codecards.retrieval.rank.tuned_weights import apply_factors
from codecards.retrieval.rank.weights import ISSUE_SIGNALS, file_weights
from codecards.retrieval.store.columns import Floats
from codecards.retrieval.vectors.card_vectors import Similarity


@dataclass(frozen=True, slots=True)
class ScoredCandidates:
    """The candidate files of a query and their cards, with their scores; F files."""

    plan: QueryPlan
    evidence: Evidence
    terms: Mapping[str, Floats]
    """Signal → (F,): value times weight."""
    file_scores: Floats
    """(F,): sum of the terms; minus infinity for a file without any evidence."""
    cards: CardScores


def rank(
    index: DerivedIndex,
    query: Query,
    similarity: Similarity | None,
    filters: Filters,
    *,
    factors: Mapping[str, float] = MappingProxyType({}),
    limits: CandidateLimits = DEFAULT_LIMITS,
) -> ScoredCandidates | None:
    """Return the scored candidates of a query; None where the index has nothing to do with it.

    Args:
        index: Of one generation.
        query: As parsed.
        similarity: Similarity of the query to cards; None without vectors.
        filters: What may be shown.
        factors: By the names of `tuned_weights.GROUPS`.
        limits: How many files words and vectors contribute.
    """
    plan = plan_query(index, query)
    files = find_candidates(index, plan, similarity, filters.files(index), limits)
    if not len(files) or (plan.word_groups[0].is_empty and not plan.placed_files and similarity is None):
        return None
    found = RankingInput(index, query, files, similarity)
    weights = apply_factors(file_weights(query), factors)
    evidence: QuestionEvidence | IssueEvidence
    if plan.issue is not None:
        evidence = issue_evidence(found, plan, plan.issue)
    else:
        evidence = question_evidence(found, plan)
    terms = file_terms(evidence, weights)
    file_scores = np.asarray(np.sum(list(terms.values()), axis=0), np.float32)
    file_scores[~has_evidence(evidence)] = -np.inf
    cards = score_cards(evidence, filters)
    if query.kind == "question" and weights.get("duplicate"):
        penalty = near_duplicate_penalty(index, files, file_scores + cards.best_cross_file)
        terms["duplicate"] = weights["duplicate"] * penalty
        file_scores += terms["duplicate"]
    return ScoredCandidates(plan, evidence, terms, file_scores, cards)


def file_terms(evidence: QuestionEvidence | IssueEvidence, weights: Mapping[str, float]) -> dict[str, Floats]:
    """Return signal → (F,) value times weight of those signals that have both, in the order of the table."""
    rows = ISSUE_SIGNALS if isinstance(evidence, IssueEvidence) else QUESTION_SIGNALS
    terms: dict[str, Floats] = {}
    for row in rows:
        if weights.get(row.name) and (values := file_values(row, evidence)) is not None:
            terms[row.name] = weights[row.name] * values
    return terms


def file_values(row: FileSignal, evidence: QuestionEvidence | IssueEvidence) -> Floats | None:
    """Return (F,) values of a signal; None where the query has none."""
    if isinstance(evidence, IssueEvidence):
        return row.issue(evidence) if row.issue is not None else None
    return row.question(evidence) if row.question is not None else None
