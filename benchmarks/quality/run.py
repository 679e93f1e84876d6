"""Scores the answers of systems to a query file, overall and by category, language and repository."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.quality.metrics import (
    DEPTH,
    accuracy_at,
    files_of,
    function_hit_at,
    function_reciprocal_rank,
    hit_at,
    mean,
    ndcg,
    recall,
    recall_at_tokens,
    reciprocal_rank,
    reciprocal_rank_among,
    target_ranks,
)
from benchmarks.sets.queries import LabelledQuery, Span
from benchmarks.systems.answers import RecordedAnswer

TOKEN_BUDGETS = (500, 1_000, 2_000, 4_000, 8_000)
FILE_DEPTH = 99
"""Number of files that are searched for right ones, for Acc@k."""
POOL_CATEGORY, LEAST_POOL = "docstring", 50
"""Category whose functions are also ranked among themselves, and the least number of them in a tree."""

Scores = dict[str, float | None]
"""Metric -> value, higher is better (query_ms: lower); None if no query has the metric."""

QualityFigures = dict[str, Any]
"""A system's figures in a result file: "all" -> scores; "category", "language" and, if a repository has several trees,
"repository" -> group -> scores."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One answered query with its metrics."""

    query: LabelledQuery
    scores: Scores


def score(query: LabelledQuery, answer: RecordedAnswer) -> Scores:
    """Return the metrics of one answer; None for metrics that the query or the system does not have."""
    results, targets = answer.results, query.targets
    ranks = target_ranks(results, targets)
    file_ranks = target_ranks(results, targets, "file")
    ranks_of_files = target_ranks(files_of(results), files_of(targets), "file", FILE_DEPTH)
    scores: Scores = {
        "ndcg@10": ndcg(ranks),
        "recall@10": recall(ranks),
        "mrr": reciprocal_rank(ranks),
        "hit@1": hit_at(ranks, 1),
        "file_ndcg@10": ndcg(file_ranks),
        "acc@1": accuracy_at(ranks_of_files, 1),
        "acc@5": accuracy_at(ranks_of_files, 5),
        "acc@10": accuracy_at(ranks_of_files, 10),
        "hit@10": hit_at(ranks_of_files, 10),
        "function_hit@1": function_hit_at(results, query.functions, 1),
        "function_hit@10": function_hit_at(results, query.functions, 10),
        "function_mrr": function_reciprocal_rank(results[:DEPTH], query.functions),
        "query_ms": answer.query_ms or None,
    }
    for budget in TOKEN_BUDGETS:
        known = len(answer.tokens) == len(results)
        scores[f"recall@{budget}tokens"] = (
            recall_at_tokens(results, answer.tokens, targets, budget) if known and results else None
        )
    return scores


def by_tree(queries: Iterable[LabelledQuery], trees: Path) -> dict[Path, list[LabelledQuery]]:
    """Return the queries by the folder of their tree."""
    grouped: dict[Path, list[LabelledQuery]] = {}
    for query in queries:
        grouped.setdefault(trees / query.tree, []).append(query)
    return grouped


def score_all(queries: Sequence[LabelledQuery], answers: Iterable[RecordedAnswer]) -> list[Scored]:
    """Return each query with the metrics of its answer; a missing answer scores like an empty one."""
    answer_of = {answer.query_id: answer for answer in answers}
    pools = _pools(queries)
    tells_tokens = any(answer.tokens for answer in answer_of.values())
    scored = []
    for query in queries:
        answer = answer_of.get(query.id, RecordedAnswer(query.id, ()))
        scores = score(query, answer)
        pool = pools.get(query.tree, ()) if query.category == POOL_CATEGORY else ()
        scores["asked_mrr"] = (
            reciprocal_rank_among(answer.results, query.functions[0], pool) if len(pool) >= LEAST_POOL else None
        )
        if tells_tokens and not answer.results:
            # A system that finds nothing must not gain by it: it has found no file within any number of tokens.
            scores |= {f"recall@{budget}tokens": 0.0 for budget in TOKEN_BUDGETS}
        scored.append(Scored(query, scores))
    return scored


def _pools(queries: Iterable[LabelledQuery]) -> dict[str, list[Span]]:
    """Return tree -> the functions that the set asks for by their documentation."""
    pools: dict[str, list[Span]] = {}
    for query in queries:
        if query.category == POOL_CATEGORY:
            pools.setdefault(query.tree, []).extend(query.functions)
    return pools


def summarize(scored: Sequence[Scored]) -> Scores:
    """Return the mean of each metric over the queries; of NDCG@10 also the mean over languages of repositories' means."""
    names = scored[0].scores if scored else {}
    summary: Scores = {name: mean(item.scores[name] for item in scored) for name in names}
    of_tree: dict[tuple[str, str], list[float]] = {}
    for item in scored:
        of_tree.setdefault((item.query.language, item.query.tree), []).append(item.scores["ndcg@10"] or 0.0)
    by_language: dict[str, list[float]] = {}
    for (language, _), values in of_tree.items():
        by_language.setdefault(language, []).append(fmean(values))
    summary["language_ndcg@10"] = mean(fmean(values) for values in by_language.values())
    return summary


def summarize_by(scored: Iterable[Scored], group: Callable[[LabelledQuery], str]) -> dict[str, Scores]:
    """Return the summary of each group of queries, ordered by name."""
    groups: dict[str, list[Scored]] = {}
    for item in scored:
        groups.setdefault(group(item.query), []).append(item)
    return {name: summarize(groups[name]) for name in sorted(groups)}


def figures_of(scored: Sequence[Scored]) -> QualityFigures:
    """Return a system's figures for a result file: over all queries and by group."""
    figures: QualityFigures = {
        "all": summarize(scored),
        "category": summarize_by(scored, lambda query: query.category),
        "language": summarize_by(scored, lambda query: query.language),
    }
    trees = {item.query.tree for item in scored}
    if len({item.query.project for item in scored}) < len(trees):
        figures["repository"] = summarize_by(scored, lambda query: query.project)
    return figures
