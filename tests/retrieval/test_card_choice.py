"""The order in which cards of several files are shown."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from codecards.retrieval.card_choice import CardScores, order_cards

FILES = st.lists(
    st.tuples(st.floats(-5, 20, width=32), st.lists(st.floats(-5, 20, width=32), max_size=5)), min_size=1, max_size=8
)


def scores_of(files: list[tuple[float, list[float]]]) -> tuple[CardScores, np.ndarray]:
    card_file = [row for row, (_, cards) in enumerate(files) for _ in cards]
    total = np.array([value for _, cards in files for value in cards], np.float32)
    cards = np.arange(len(total)) + 10
    scores = CardScores(cards, np.array(card_file, np.int64), {"words": total}, total)
    return scores, np.array([score for score, _ in files], np.float32)


@given(FILES, st.integers(1, 40))
def test_every_file_shows_its_best_card_before_any_shows_a_second(
    files: list[tuple[float, list[float]]], limit: int
) -> None:
    scores, file_scores = scores_of(files)
    shown = order_cards(scores, file_scores, limit)
    assert len(shown) == min(limit, len(scores.cards))
    assert len({place for place, _ in shown}) == len(shown)
    with_cards = [row for row, (_, cards) in enumerate(files) if cards]
    first = [file for _, file in shown[: len(with_cards)]]
    assert len(set(first)) == len(first)
    for place, file in shown[: len(with_cards)]:
        assert scores.card_file[place] == file
        assert scores.total[place] == max(np.array(files[file][1], np.float32))


@given(FILES)
def test_files_come_in_order_of_their_scores(files: list[tuple[float, list[float]]]) -> None:
    scores, file_scores = scores_of(files)
    n_files = sum(bool(cards) for _, cards in files)
    order = [np.round(file_scores[file], 5) for _, file in order_cards(scores, file_scores, n_files)]
    assert order == sorted(order, reverse=True)


@given(FILES, st.integers(1, 10))
def test_a_longer_list_begins_with_the_shorter_one(files: list[tuple[float, list[float]]], limit: int) -> None:
    scores, file_scores = scores_of(files)
    assert order_cards(scores, file_scores, limit + 3)[:limit] == order_cards(scores, file_scores, limit)
