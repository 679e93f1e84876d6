"""Scores of query sets, overall and by group."""

from dataclasses import replace

import pytest

from benchmarks.quality.run import LEAST_POOL, figures_of, score, score_all, summarize
from benchmarks.sets.queries import LabelledQuery, QuerySource, Span
from benchmarks.systems.answers import RecordedAnswer


def ask(
    query_id: str, *paths: str, tree: str = "t", language: str = "python", category: str = "symbol"
) -> LabelledQuery:
    return LabelledQuery(query_id, tree, "q", language, category, tuple(Span(path) for path in paths))


def answer(query_id: str, *paths: str) -> RecordedAnswer:
    return RecordedAnswer(query_id, tuple(Span(path) for path in paths))


def test_a_query_without_an_answer_scores_nothing() -> None:
    scored = score_all([ask("1", "a.py"), ask("2", "a.py")], [answer("1", "a.py")])
    assert summarize(scored)["ndcg@10"] == 0.5


def test_the_mean_over_languages_weighs_languages_equally_and_repositories_equally_within_one() -> None:
    queries = [
        ask("1", "a.py", tree="p"),
        ask("2", "a.py", tree="p"),
        ask("3", "a.py", tree="q"),
        ask("4", "a.go", tree="g", language="go"),
    ]
    scored = score_all(queries, [answer("1", "a.py"), answer("2", "a.py")])
    summary = summarize(scored)
    assert summary["ndcg@10"] == 0.5
    assert summary["language_ndcg@10"] == pytest.approx((0.5 + 0.0) / 2)


def test_figures_are_split_by_category_and_language() -> None:
    queries = [ask("1", "a.py"), ask("2", "a.py", category="issue", language="go")]
    figures = figures_of(score_all(queries, [answer("1", "a.py")]))
    assert {name: scores["hit@1"] for name, scores in figures["category"].items()} == {"issue": 0.0, "symbol": 1.0}
    assert {name: scores["hit@1"] for name, scores in figures["language"].items()} == {"go": 0.0, "python": 1.0}


def test_figures_are_split_by_repository_if_one_has_several_trees() -> None:
    one, other, third = ask("1", "a.py", tree="p-1"), ask("2", "a.py", tree="p-2"), ask("3", "a.py", tree="q-1")
    queries = [replace(query, source=QuerySource(f"owner/{query.tree[0]}")) for query in (one, other, third)]
    figures = figures_of(score_all(queries, [answer("1", "a.py")]))
    assert {name: scores["hit@1"] for name, scores in figures["repository"].items()} == {"owner/p": 0.5, "owner/q": 0.0}
    assert "repository" not in figures_of(score_all([one], []))


def test_accuracy_counts_files_beyond_the_depth_of_chunks() -> None:
    chunks = [Span("a.py", 10 * i + 1, 10 * i + 9) for i in range(12)]
    scores = score(ask("1", "b.py"), RecordedAnswer("1", (*chunks, Span("b.py", 1, 9))))
    assert (scores["ndcg@10"], scores["acc@1"], scores["acc@5"]) == (0.0, 0.0, 1.0)


def test_ndcg_of_files_counts_each_target_among_the_first_ten_files() -> None:
    results = RecordedAnswer("1", tuple(Span(f"{number}.py") for number in range(1, 13)))
    assert score(ask("1", "11.py"), results)["file_ndcg@10"] == 0.0
    twice = LabelledQuery("1", "t", "q", "python", "symbol", (Span("1.py", 1, 9), Span("1.py", 20, 29)))
    one_gain_of_two = 1 / (1 + 1 / 1.584962500721156)
    assert score(twice, results)["file_ndcg@10"] == pytest.approx(one_gain_of_two)


def test_a_system_without_tokens_or_lines_has_no_such_scores() -> None:
    scores = score(ask("1", "a.py"), answer("1", "a.py"))
    assert scores["recall@2000tokens"] is None
    assert scores["function_hit@10"] is None
    assert scores["query_ms"] is None


def test_a_query_without_results_has_no_recall_within_any_number_of_tokens() -> None:
    with_tokens = RecordedAnswer("1", (Span("a.py"),), tokens=(50,))
    summary = summarize(score_all([ask("1", "a.py"), ask("2", "a.py")], [with_tokens, answer("2")]))
    assert summary["recall@500tokens"] == 0.5


def test_functions_asked_for_by_documentation_are_also_ranked_among_themselves() -> None:
    functions = [Span("a.py", 10 * n + 1, 10 * n + 5) for n in range(LEAST_POOL)]
    queries = [
        LabelledQuery(str(n), "t", "q", "python", "docstring", (one,), (one,)) for n, one in enumerate(functions)
    ]
    unasked = Span("b.py", 1, 9)
    answers = [RecordedAnswer(query.id, (unasked, functions[0], *query.functions)) for query in queries]
    scored = score_all(queries, answers)
    assert [item.scores["asked_mrr"] for item in scored[:3]] == [1.0, 0.5, 0.5]
    assert [item.scores["function_mrr"] for item in scored[:3]] == [0.5, pytest.approx(1 / 3), pytest.approx(1 / 3)]
    assert score_all(queries[1:], answers)[0].scores["asked_mrr"] is None
