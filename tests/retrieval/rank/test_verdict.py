"""Verdicts: when an answer is found, weak or none."""

import numpy as np
import pytest

from codecards.retrieval.query.query import read_query
from codecards.retrieval.rank.filters import Filters
from codecards.retrieval.rank.ranking import rank
from codecards.retrieval.rank.verdict import AnswerSignals, answer_signals, reaches_threshold
from tests.retrieval.test_search import SHOP
from tests.support.indexed_text import IndexedText, indexed

PROSE = """
#- notes.md
# Notes

The weather in spring is mild, the wine of the valley is red, and a carpet lies before the fireplace.

# More notes

In autumn people drink cider, eat apple pie and listen to the church choir.
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> IndexedText:
    return indexed(tmp_path_factory.mktemp("verdict"), SHOP + PROSE)


def signals_of(made: IndexedText, text: str) -> AnswerSignals:
    ranked = rank(made.index, read_query(text), None, Filters())
    assert ranked is not None
    best = np.argsort(-ranked.file_scores, kind="stable")[:3]
    return answer_signals(ranked.evidence, best, None)


def test_words_of_no_file_are_not_known(shop: IndexedText) -> None:
    assert signals_of(shop, "where are expired sessions removed").known == pytest.approx(1.0)
    assert signals_of(shop, "where are expired saxophones removed").known < 0.8


def test_words_in_names_and_paths_are_named_and_words_in_text_are_not(shop: IndexedText) -> None:
    assert signals_of(shop, "request parser").named == pytest.approx(1.0)
    assert signals_of(shop, "wine and cider").named == 0.0


def test_words_of_one_card_are_together_and_words_of_two_cards_are_not(shop: IndexedText) -> None:
    assert signals_of(shop, "mild weather, red wine").together == pytest.approx(1.0)
    assert signals_of(shop, "mild weather, church choir").together < 0.8


def test_a_single_word_is_not_together_with_another(shop: IndexedText) -> None:
    assert signals_of(shop, "how does the carpet work").together == 0.0


@pytest.mark.parametrize(
    "query",
    [
        "which wine goes with cider and a carpet at the fireplace",
        "pudding client waltz token",
        "how is my grandmother's apple pie sent to the client",
        ". ".join(["how do I get red wine out of a carpet", "which cider do people drink in autumn"] * 5),
    ],
)
def test_code_words_and_words_of_several_cards_do_not_make_an_answer(shop: IndexedText, query: str) -> None:
    assert shop.ask(query).verdict != "found"


def test_a_long_question_is_found_by_what_it_names(shop: IndexedText) -> None:
    query = (
        "When a client sends a request, which function splits the raw text into method, path and headers,"
        " and is the request line parsed by the same function?"
    )
    assert shop.ask(query).verdict == "found"


def test_a_report_is_judged_by_all_its_words_unknown_ones_included(shop: IndexedText) -> None:
    report = "Expired sessions are not removed.\n" + " ".join(
        f"saxophone{letter} pudding" for letter in "abcdefghij" * 4
    )
    assert read_query(report).is_issue
    assert signals_of(shop, report).known < 0.5
    assert shop.ask(report).verdict != "found"


@pytest.mark.parametrize(
    ("signals", "is_found"),
    [
        (AnswerSignals(known=0.5, named=0.0, together=0.0, similarity=1.0), False),
        (AnswerSignals(known=0.5, named=0.5, together=0.0, similarity=1.0), True),
        (AnswerSignals(known=1.0, named=0.0, together=0.0, similarity=0.7), False),
        (AnswerSignals(known=1.0, named=0.0, together=0.0, similarity=None), False),
        (AnswerSignals(known=1.0, named=0.0, together=1.0, similarity=None), True),
    ],
)
def test_no_signal_alone_reaches_the_threshold(signals: AnswerSignals, is_found: bool) -> None:
    assert reaches_threshold(signals) == is_found
