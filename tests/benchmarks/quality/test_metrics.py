"""Metrics, compared with values computed by hand."""

import math

import pytest

from benchmarks.quality.metrics import (
    accuracy_at,
    function_hit_at,
    function_reciprocal_rank,
    hit_at,
    ndcg,
    recall,
    recall_at_tokens,
    reciprocal_rank,
    reciprocal_rank_among,
    target_ranks,
)
from benchmarks.sets.queries import Span

A, B, C = Span("src/a.py"), Span("src/b.py"), Span("src/c.py")


def test_a_target_has_the_rank_of_the_first_result_that_hits_it() -> None:
    assert target_ranks([C, A, A, B], [A, B, Span("d.py")]) == [2, 4, None]


def test_results_of_one_file_use_up_ranks_of_chunks_but_not_of_files() -> None:
    results = [Span("src/a.py", 1, 9), Span("src/a.py", 10, 19), B]
    assert target_ranks(results, [B], "chunk") == [3]
    assert target_ranks(results, [B], "file") == [2]


@pytest.mark.parametrize(
    ("result", "target", "rank"),
    [
        (Span("src/a.py", 1, 9), Span("src/a.py", 9, 12), 1),
        (Span("src/a.py", 1, 9), Span("src/a.py", 10, 12), None),
        (Span("src/a.py", 1, 9), Span("src/a.py"), 1),
        (Span("src/a.py"), Span("src/a.py", 10, 12), 1),
        (Span("lib/src/a.py"), Span("src/a.py"), 1),
        (Span("a.py"), Span("src/a.py"), 1),
        (Span("extra.py"), Span("a.py"), None),
    ],
)
def test_a_hit_needs_the_same_file_and_overlapping_lines(result: Span, target: Span, rank: int | None) -> None:
    assert target_ranks([result], [target]) == [rank]


def test_a_hit_beyond_the_depth_does_not_count() -> None:
    assert target_ranks([C, B, A], [A], depth=2) == [None]


def test_ndcg_by_hand() -> None:
    # Ranks 1 and 3 of two targets: (1 + 1/2) over the ideal (1 + 1/log2(3)).
    assert ndcg([1, 3]) == pytest.approx(1.5 / (1 + 1 / math.log2(3)))
    assert ndcg([2]) == pytest.approx(1 / math.log2(3))
    assert ndcg([None, None]) == 0.0
    assert ndcg([]) == 0.0


def test_two_targets_of_one_result_gain_once() -> None:
    assert ndcg([1, 1]) == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_the_simple_metrics_by_hand() -> None:
    ranks = [4, None, 2]
    assert recall(ranks) == pytest.approx(2 / 3)
    assert reciprocal_rank(ranks) == 0.5
    assert (hit_at(ranks, 1), hit_at(ranks, 2)) == (0.0, 1.0)
    assert (accuracy_at(ranks, 10), accuracy_at([4, 2], 4), accuracy_at([4, 2], 3)) == (0.0, 1.0, 0.0)
    assert (recall([]), reciprocal_rank([None]), accuracy_at([], 1)) == (0.0, 0.0, 0.0)


def test_a_function_is_hit_by_a_chunk_that_overlaps_it() -> None:
    results = [Span("src/a.py", 1, 9), Span("src/a.py", 30, 40)]
    functions = [Span("src/a.py", 35, 50)]
    assert (function_hit_at(results, functions, 1), function_hit_at(results, functions, 2)) == (0.0, 1.0)


def test_results_without_lines_have_no_function_hits() -> None:
    assert function_hit_at([A], [Span("src/a.py", 1, 2)], 10) is None
    assert function_reciprocal_rank([Span("src/a.py", 1, 2)], []) is None


def test_a_class_around_a_function_does_not_count_as_the_function() -> None:
    around, exact = Span("src/a.py", 1, 400), Span("src/a.py", 35, 50)
    assert function_reciprocal_rank([around, exact], [exact]) == 0.5
    assert function_reciprocal_rank([around], [exact]) == 0.0


def test_among_the_functions_of_a_pool_other_results_use_up_no_rank() -> None:
    asked, other, unasked = Span("src/a.py", 35, 50), Span("src/b.py", 1, 9), Span("src/c.py", 1, 9)
    around = Span("src/a.py", 1, 400)
    assert reciprocal_rank_among([unasked, around, other, asked], asked, [asked, other]) == 0.5
    assert reciprocal_rank_among([unasked, other], asked, [asked, other]) == 0.0
    assert reciprocal_rank_among([*[other] * 10, asked], asked, [asked, other]) == 0.0
    assert reciprocal_rank_among([*[unasked] * 10, asked], asked, [asked, other]) == 1.0


def test_recall_by_tokens_counts_results_until_one_does_not_fit() -> None:
    results, tokens = [C, A, B], [300, 300, 10]
    assert recall_at_tokens(results, tokens, [A, B], 599) == 0.0
    assert recall_at_tokens(results, tokens, [A, B], 600) == 0.5
    assert recall_at_tokens(results, tokens, [A, B], 610) == 1.0
