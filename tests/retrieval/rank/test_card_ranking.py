"""The order in which cards of several files are shown."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codecards.retrieval.rank.card_ranking import CardScores, rank_cards, sum_terms

VALUES = st.floats(-5, 20, width=32)
FILES = st.lists(st.tuples(VALUES, st.lists(VALUES, max_size=5)), min_size=1, max_size=8)
CROWDING = st.sampled_from((0.0, 0.5, 5.0))


def scores_of(
    files: list[tuple[float, list[float]]], diversity_penalty: float, *, across: bool = False
) -> tuple[CardScores, np.ndarray]:
    card_file = np.array([row for row, (_, cards) in enumerate(files) for _ in cards], np.int64)
    total = np.array([value for _, cards in files for value in cards], np.float32)
    shares = {"words": 1.0} if across else {}
    scores = sum_terms(
        np.arange(len(total)) + 10, card_file, {"words": total}, shares, len(files), diversity_penalty=diversity_penalty
    )
    return scores, np.array([score for score, _ in files], np.float32)


@given(FILES, CROWDING, st.booleans(), st.integers(1, 40))
def test_the_best_cards_come_first_and_each_further_one_of_a_file_loses_the_penalty(
    files: list[tuple[float, list[float]]], diversity_penalty: float, across: bool, limit: int
) -> None:
    scores, file_scores = scores_of(files, diversity_penalty, across=across)
    expected: list[float] = []
    for score, cards in files:
        best = max(cards, default=0.0)
        values = [float(np.float32(score)) + (value if across else value - best) for value in sorted(cards)[::-1]]
        expected += [value - diversity_penalty * rank for rank, value in enumerate(values)]
    shown = rank_cards(scores, file_scores, limit)
    assert [value for _, _, value in shown] == pytest.approx(sorted(expected, reverse=True)[:limit], abs=1e-3)


@given(FILES, CROWDING, st.booleans())
def test_better_cards_of_a_file_come_first(
    files: list[tuple[float, list[float]]], diversity_penalty: float, across: bool
) -> None:
    scores, file_scores = scores_of(files, diversity_penalty, across=across)
    seen: dict[int, float] = {}
    for place, file, _ in rank_cards(scores, file_scores, 40):
        assert scores.card_file[place] == file
        # Scores that differ by less than a rounding are equal.
        assert scores.total[place] <= seen.get(file, np.inf) + 1e-4
        seen[file] = scores.total[place]


@given(FILES, CROWDING, st.integers(1, 10))
def test_a_longer_list_begins_with_the_shorter_one(
    files: list[tuple[float, list[float]]], diversity_penalty: float, limit: int
) -> None:
    scores, file_scores = scores_of(files, diversity_penalty)
    assert rank_cards(scores, file_scores, limit + 3)[:limit] == rank_cards(scores, file_scores, limit)


def test_a_file_that_is_not_shown_shows_no_card() -> None:
    scores, file_scores = scores_of([(3.0, [1.0, 2.0]), (9.0, [5.0])], 0.5)
    file_scores[1] = -np.inf
    assert [file for _, file, _ in rank_cards(scores, file_scores, 10)] == [0, 0]
