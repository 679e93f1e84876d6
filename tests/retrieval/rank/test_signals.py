"""The tables of signals: every row is whole, is computed, and is what ranking, tuning, ablations and training read."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.quality.ablations import FAMILIES
from codecards.retrieval.evidence.cards import CardEvidence
from codecards.retrieval.evidence.files import QuestionEvidence
from codecards.retrieval.evidence.issues import IssueEvidence
from codecards.retrieval.hits import Hit
from codecards.retrieval.query.query import read_query
from codecards.retrieval.rank.card_ranking import signal_values
from codecards.retrieval.rank.card_signals import CARD_SIGNALS
from codecards.retrieval.rank.explanations import HitTerms
from codecards.retrieval.rank.file_signals import FILE_SIGNALS
from codecards.retrieval.rank.filters import Filters
from codecards.retrieval.rank.ranking import ScoredCandidates, file_values, rank
from codecards.retrieval.rank.signals import CardSignal, FileSignal
from codecards.retrieval.rank.tuned_weights import GROUPS
from codecards.retrieval.rank.weights import function_weights
from codecards.retrieval.search import search
from codecards.retrieval.store.columns import Floats, Int64s
from tests.ranking.test_golden_rankings import QUERIES
from tests.retrieval.test_search import CHINESE, ERRORS, SHOP
from tests.support.indexed_text import IndexedText, WordEmbedder, indexed
from training.ranking.learn import SIGNS

MAX_FILE_TERM, MAX_CARD_TERM = 16.0, 72.0
"""No term of a file or card may be larger: it would be the whole score."""
SLACK = 1e-5
FILE_IDS = [row.name for row in FILE_SIGNALS]
CARD_IDS = [row.name for row in CARD_SIGNALS]


class HalfFilledTransformer:
    """A fake: every second card has a transformer vector, with a cosine near .2."""

    n_ready = 1

    def nearest(self, limit: int) -> Int64s:
        """Return no card."""
        return np.zeros(0, np.int64)

    def cards(self, rows: Int64s) -> Floats:
        """Return cosines from .1 to .3, NaN for every second card."""
        return np.where(rows % 2, np.nan, 0.2 + 0.1 * np.cos(rows)).astype(np.float32)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> IndexedText:
    links = [("src/auth/login.py", "src/auth/token_store.py", 2)]
    return indexed(tmp_path_factory.mktemp("signals"), SHOP + ERRORS + CHINESE, links, embedder=WordEmbedder())


@pytest.fixture(scope="module")
def all_ranked(shop: IndexedText) -> list[ScoredCandidates]:
    index = shop.index
    assert index.vectors is not None
    found = []
    for text in QUERIES:
        vector = WordEmbedder().embed_queries([text])[0]
        similarity = index.vectors.similarity(vector, HalfFilledTransformer())  # type: ignore[arg-type]  # a fake
        ranked = rank(index, read_query(text), similarity, Filters())
        if ranked is not None:
            found.append(ranked)
    return found


def weights_of(row: FileSignal | CardSignal) -> Iterator[float]:
    """Yield the weights of a row for every kind of query, those that were learned included."""
    if isinstance(row, FileSignal):
        mine = row.weights
        yield from (mine.short, mine.long, mine.issue, mine.symbol or 0.0, mine.trace or 0.0)
    else:
        of_cards = row.weights
        yield from (of_cards.path, of_cards.symbol or 0.0, of_cards.report or 0.0, of_cards.function)
        yield from (function_weights(vectors).get(row.name, 0.0) for vectors in ("none", "static", "transformer"))


@pytest.mark.parametrize("row", [*FILE_SIGNALS, *CARD_SIGNALS], ids=[*FILE_IDS, *(f"card_{name}" for name in CARD_IDS)])
def test_every_row_is_whole_and_its_weights_are_within_reason(row: FileSignal | CardSignal) -> None:
    low, high = row.bounds
    assert row.name.isidentifier()
    assert row.says.strip()
    assert low < high
    assert low <= 0 <= high
    largest = MAX_FILE_TERM if isinstance(row, FileSignal) else MAX_CARD_TERM
    for weight in weights_of(row):
        assert math.isfinite(weight)
        assert abs(weight) * max(abs(low), abs(high)) <= largest
    assert any(weights_of(row)), "a signal without a weight is dead"


def test_names_are_unique() -> None:
    assert len(set(FILE_IDS)) == len(FILE_IDS)
    assert len(set(CARD_IDS)) == len(CARD_IDS)
    assert not set(FILE_IDS) & {row.term for row in CARD_SIGNALS}


@pytest.mark.parametrize("row", FILE_SIGNALS, ids=FILE_IDS)
def test_a_file_signal_has_a_weight_just_where_it_is_computed(row: FileSignal) -> None:
    of_questions, of_issues = bool(row.weights.short or row.weights.long), bool(row.weights.issue)
    assert of_questions == (row.question is not None or row.is_after_sum)
    assert of_issues == (row.issue is not None)


def test_every_file_signal_is_computed_for_some_golden_query_and_keeps_its_bounds(
    all_ranked: list[ScoredCandidates],
) -> None:
    computed = {row.name for row in FILE_SIGNALS if row.is_after_sum}
    for ranked in all_ranked:
        assert isinstance(ranked.evidence, QuestionEvidence | IssueEvidence)
        assert set(ranked.terms) <= set(FILE_IDS)
        for row in FILE_SIGNALS:
            values = file_values(row, ranked.evidence)
            if values is not None:
                computed.add(row.name)
                assert_within(values, row.bounds)
                assert len(values) == len(ranked.file_scores)
    assert computed == set(FILE_IDS)


def test_every_card_signal_is_computed_for_some_golden_query_and_keeps_its_bounds(
    all_ranked: list[ScoredCandidates],
) -> None:
    bounds = {row.name: row.bounds for row in CARD_SIGNALS}
    computed = set()
    for ranked in all_ranked:
        cards, vectors = ranked.cards, ranked.evidence.vectors
        assert vectors is not None
        assert set(cards.terms) <= set(CARD_IDS)
        found = CardEvidence(ranked.evidence, cards.cards, cards.card_file, vectors.transformer)
        for name, values in signal_values(found, CARD_IDS).items():
            computed.add(name)
            assert_within(values, bounds[name])
            assert len(values) == len(cards.cards)
    assert computed == set(CARD_IDS)


def assert_within(values: Floats, bounds: tuple[float, float]) -> None:
    low, high = bounds
    assert np.isfinite(values).all()
    assert low - SLACK <= values.min(initial=low)
    assert values.max(initial=high) <= high + SLACK


def test_terms_are_summed_in_the_order_of_the_table(all_ranked: list[ScoredCandidates]) -> None:
    for ranked in all_ranked:
        assert list(ranked.terms) == [name for name in FILE_IDS if name in ranked.terms]
        assert list(ranked.cards.terms) == [name for name in CARD_IDS if name in ranked.cards.terms]


@pytest.mark.parametrize("text", QUERIES)
def test_every_term_of_a_hit_has_a_sentence(shop: IndexedText, text: str) -> None:
    for hit in search(shop.index, shop, text, limit=20).hits:
        assert all(term.detail != term.name for term in hit.terms)
        assert all(term.detail for term in hit.terms if term.value)


def test_every_signal_has_a_sentence_also_where_no_golden_query_shows_it() -> None:
    names = [*FILE_IDS, *(row.term for row in CARD_SIGNALS), "message", "best_of_file", "card", "diversity"]
    terms = HitTerms(tuple((name, 1.0) for name in names), 1.0, (), (), tuple((name, 1.0) for name in CARD_IDS))
    assert all(term.detail for term in terms)


def test_every_signal_is_in_one_family_of_the_ablations() -> None:
    listed = [name for names in FAMILIES.values() for name in names]
    assert sorted(listed) == sorted([*FILE_IDS, *(row.term for row in CARD_SIGNALS)])


def test_only_weights_of_questions_are_tuned_and_none_by_two_factors() -> None:
    tuned = [name for names in GROUPS.values() for name in names]
    assert len(set(tuned)) == len(tuned)
    of_questions = {row.name for row in FILE_SIGNALS if row.weights.short or row.weights.long}
    assert set(tuned) <= of_questions
    assert not set(tuned) & {row.name for row in FILE_SIGNALS if row.is_penalty_of_role}


def test_learned_weights_are_of_signals_that_are_learned_and_have_their_sign() -> None:
    by_hand = {row.name for row in CARD_SIGNALS if row.weights.function}
    for vectors in ("none", "static", "transformer"):
        weights = function_weights(vectors)
        assert set(weights) - by_hand <= set(SIGNS)
        assert all(weights[name] * SIGNS[name] > 0 for name in weights if name in SIGNS)
    assert not by_hand & set(SIGNS)


def test_a_hit_carries_lazy_terms(shop: IndexedText) -> None:
    hit = shop.ask("parse_request").hits[0]
    assert isinstance(hit, Hit)
    assert isinstance(hit.terms, HitTerms)


def test_a_row_that_is_not_there_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        _ = HitTerms((("no_such_signal", 1.0),), 1.0, (), (), ())[0]
