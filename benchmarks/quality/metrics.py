"""Metrics of the ranking for one query, between 0 and 1, higher is better; `mean` aggregates them."""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Literal

from benchmarks.sets.queries import Span

Protocol = Literal["chunk", "file"]
"""How ranks are counted. "chunk": each result has its own rank, even if several are of one file, and must overlap the target's
lines if it has any. "file": the results are first reduced to their files, and lines do not count."""

DEPTH = 10
"""Default number of results that count."""
NARROW_LINES = 50
"""Length of the code windows that rivals return; a result up to this length counts as a function."""


def same_path(path: str, other: str) -> bool:
    """Return whether two paths name the same file; either may lack leading folders."""
    return path == other or path.endswith("/" + other) or other.endswith("/" + path)


def hits(result: Span, target: Span) -> bool:
    """Return whether a result shows the target or a part of it."""
    if not same_path(result.path, target.path):
        return False
    if target.first_line is None or target.last_line is None or result.first_line is None or result.last_line is None:
        return True
    return result.first_line <= target.last_line and target.first_line <= result.last_line


def files_of(results: Iterable[Span]) -> list[Span]:
    """Return one whole-file result for each file, in order of first appearance."""
    return [Span(path) for path in dict.fromkeys(result.path for result in results)]


def target_ranks(
    results: Sequence[Span], targets: Sequence[Span], protocol: Protocol = "chunk", depth: int = DEPTH
) -> list[int | None]:
    """Return for each target the 1-based rank of the first result that hits it, None if none of the first `depth` does."""
    ranked = (files_of(results) if protocol == "file" else list(results))[:depth]
    return [next((rank for rank, result in enumerate(ranked, 1) if hits(result, target)), None) for target in targets]


def ndcg(ranks: Sequence[int | None], depth: int = DEPTH) -> float:
    """Return the normalised discounted cumulative gain with binary gains.

    Two targets hit by one result count once, as in the published figures of the semble set.

    Source: Järvelin and Kekäläinen 2002, discount 1/log2(rank + 1).
    """
    gains = sum(1 / math.log2(rank + 1) for rank in {rank for rank in ranks if rank is not None})
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(depth, len(ranks)) + 1))
    return gains / ideal if ideal else 0.0


def recall(ranks: Sequence[int | None]) -> float:
    """Return the share of targets with a rank."""
    return sum(rank is not None for rank in ranks) / len(ranks) if ranks else 0.0


def reciprocal_rank(ranks: Sequence[int | None]) -> float:
    """Return 1 / rank of the first hit, 0 without a hit."""
    found = [rank for rank in ranks if rank is not None]
    return 1 / min(found) if found else 0.0


def hit_at(ranks: Sequence[int | None], depth: int) -> float:
    """Return 1 if any target is among the first `depth` results, else 0."""
    return float(any(rank is not None and rank <= depth for rank in ranks))


def accuracy_at(ranks: Sequence[int | None], depth: int) -> float:
    """Return 1 if every target is among the first `depth` results, else 0.

    Source: Acc@k of LocAgent (Chen et al. 2025), with files as targets.
    """
    return float(bool(ranks) and all(rank is not None and rank <= depth for rank in ranks))


def function_hit_at(results: Sequence[Span], functions: Sequence[Span], depth: int) -> float | None:
    """Return 1 if one of the first `depth` results overlaps a right function, else 0.

    Returns None for a query without known functions, and for results without lines.
    """
    if not functions or not results or results[0].first_line is None:
        return None
    return float(any(hits(result, function) for result in results[:depth] for function in functions))


def function_reciprocal_rank(results: Sequence[Span], functions: Sequence[Span]) -> float | None:
    """Return 1 / rank of the first result that shows a right function and little else, 0 without such a result.

    A result that is longer than `NARROW_LINES` and than twice the function does not count, like a class around it. Returns None
    in the same cases as `function_hit_at`.
    """
    if not functions or not results or results[0].first_line is None:
        return None
    for rank, result in enumerate(results, 1):
        if any(_shows(result, function) for function in functions):
            return 1 / rank
    return 0.0


def reciprocal_rank_among(results: Sequence[Span], function: Span, pool: Sequence[Span]) -> float | None:
    """Return 1 / rank of the first result that shows a function, counting only results that show a function of a pool.

    0 beyond rank `DEPTH`. Results that show no function of the pool are skipped, so more results may be needed. Benchmarks whose
    index holds nothing but the functions of the set count like this (CodeSearchNet, Husain et al. 2019). A result shows a
    function as in `function_reciprocal_rank`. Returns None for results without lines.
    """
    if results and results[0].first_line is None:
        return None
    rank = 0
    for result in results:
        rank += any(_shows(result, one) for one in pool)
        if _shows(result, function):
            return 1 / rank if rank <= DEPTH else 0.0
    return 0.0


def recall_at_tokens(
    results: Sequence[Span], tokens: Sequence[int], targets: Sequence[Span], budget_tokens: int
) -> float:
    """Return the share of target files among the results that fit the budget.

    Args:
        results: Best first.
        tokens: Number of tokens of each result.
        targets: The right answers; lines do not count.
        budget_tokens: Results count in order until one no longer fits.
    """
    shown: list[Span] = []
    for result, n_tokens in zip(results, tokens, strict=True):
        budget_tokens -= n_tokens
        if budget_tokens < 0:
            break
        shown.append(result)
    return recall(target_ranks(shown, targets, "file", depth=len(shown)))


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None, None if all are."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _shows(result: Span, function: Span) -> bool:
    return hits(result, function) and _n_lines(result) <= max(NARROW_LINES, 2 * _n_lines(function))


def _n_lines(span: Span) -> int:
    return 0 if span.first_line is None or span.last_line is None else span.last_line - span.first_line + 1
