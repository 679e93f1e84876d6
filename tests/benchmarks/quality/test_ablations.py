"""What is left of a ranking without one of its terms."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.quality.ablations import WHOLE, lines_of, rows_of_query, spread, variants, without
from benchmarks.sets.queries import LabelledQuery, Span
from codecards.retrieval.query.query import read_query
from codecards.retrieval.rank.filters import Filters
from codecards.retrieval.rank.ranking import ScoredCandidates, rank
from tests.retrieval.test_search import SHOP
from tests.support.indexed_text import IndexedText, WordEmbedder, indexed


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> IndexedText:
    return indexed(tmp_path_factory.mktemp("shop"), SHOP, embedder=WordEmbedder())


def ranked_of(shop: IndexedText, text: str) -> ScoredCandidates:
    found = rank(shop.index, read_query(text), None, Filters())
    assert found is not None
    return found


@pytest.mark.parametrize("text", ["where are expired sessions removed", "request parser", "line must not be empty"])
def test_a_score_without_a_term_is_less_by_the_term(shop: IndexedText, text: str) -> None:
    ranked = ranked_of(shop, text)
    for name, values in ranked.terms.items():
        left = without(ranked, (name,))
        shown = np.isfinite(ranked.file_scores)
        assert left.file_scores[shown] == pytest.approx(ranked.file_scores[shown] - values[shown], abs=1e-4)
    for name, values in ranked.cards.terms.items():
        left = without(ranked, (f"card_{name}",))
        assert left.cards.total == pytest.approx(ranked.cards.total - values, abs=1e-4)
        assert name not in left.cards.terms


def test_nothing_left_out_changes_nothing(shop: IndexedText) -> None:
    ranked = ranked_of(shop, "split the raw text")
    left = without(ranked, ())
    assert left.cards.with_files(left.file_scores).tolist() == ranked.cards.with_files(ranked.file_scores).tolist()


def test_each_term_and_lane_is_a_variant(shop: IndexedText) -> None:
    ranked = ranked_of(shop, "split the raw text")
    names = [name for name, _ in variants(ranked)]
    assert names[0] == WHOLE
    assert {f"without {name}" for name in ranked.terms} < set(names)
    assert "without family path" in names


def test_a_query_gives_the_metrics_of_every_variant_and_of_each_way_alone(shop: IndexedText, tmp_path: Path) -> None:
    target = Span("src/http/request_parser.py", 1, 3)
    query = LabelledQuery("1", "shop", "split the raw text", "python", "docstring", (target,), (target,))
    rows = {(row.variant, row.metric): row.value for row in rows_of_query(shop.index, query)}
    assert rows[WHOLE, "ndcg@10"] == 1.0
    assert rows[WHOLE, "function_mrr"] == 1.0
    assert {"words alone", "vectors alone, by file"} <= {variant for variant, _ in rows}
    assert rows["words alone", "recall@10"] == 1.0


def test_a_sample_is_spread_over_all_queries() -> None:
    queries = [LabelledQuery(str(number), "t", "q", "python", "c", ()) for number in range(10)]
    assert [query.id for query in spread(queries, 3)] == ["0", "3", "6"]
    assert spread(queries, 0) == spread(queries, 99) == queries


def test_the_table_begins_with_the_whole_and_goes_on_with_what_loses_most() -> None:
    table = {WHOLE: {"ndcg@10": 0.8}, "without a": {"ndcg@10": 0.79}, "without b": {"ndcg@10": 0.5}}
    lines = lines_of(table)
    assert [line.split()[-2] for line in lines] == ["ndcg@10"] * 3
    assert lines[1].split()[:2] == ["without", "b"]
    assert "-0.3000" in lines[1]
