"""Partition: every line belongs to exactly one card."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codecards.indexer.cards.chunking import MODULE_NAME, PART_LINES, WINDOW_LINES, chunk_file, make_cards, text_lines
from codecards.indexer.parse.extraction import extract

CLASS = """\
import os


class Store:
    '''Keeps.'''

    limit = 3

    def purge(self):
        return 1


print(Store)
"""


def owned_lines(text: str, language: str) -> Counter[int]:
    """Return line -> number of cards that own it."""
    drafts = chunk_file(text_lines(text), extract(text, language))
    return Counter(line for draft in drafts for first, last in draft.own_lines for line in range(first, last + 1))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (CLASS, "python"),
        ("def a():\n    def b():\n        return 1\n    return b\n", "python"),
        ("class A:\n" + "".join(f"    def m{i}(self):\n        return {i}\n\n" for i in range(90)), "python"),
        ("one\n\ntwo\n" * 100, ""),
        ("# Title\n\ntext\n\n## Part\n\nmore\n", "markdown"),
    ],
)
def test_each_line_belongs_to_exactly_one_card(text: str, language: str) -> None:
    owned = owned_lines(text, language)
    assert set(owned) == set(range(1, len(text_lines(text)) + 1))
    assert set(owned.values()) == {1}


@given(st.text(alphabet=st.sampled_from("ab :\n\t(){}=def clas#'\""), max_size=200))
def test_lines_are_shared_out_whatever_the_text(text: str) -> None:
    owned = owned_lines(text, "python")
    n_lines = len(text_lines(text)) if text.strip() else 0
    assert owned == Counter(range(1, n_lines + 1))


@pytest.mark.seed("S2-60", "S2-37")
def test_a_method_is_inside_its_class_and_module_code_is_apart() -> None:
    cards = {card.qualified_name: card for card in make_cards("store.py", CLASS, extract(CLASS, "python"))}
    assert cards["Store.purge"].parent == "Store"
    assert (cards["Store.purge"].first_line, cards["Store.purge"].last_line) == (9, 10)
    assert cards["Store"].own_lines == ((4, 6), (8, 8))
    assert cards[MODULE_NAME].own_lines == ((1, 3), (11, 13))
    assert cards["Store.purge"].symbol_id == "store.py::Store.purge"


def test_cards_of_one_name_are_told_apart() -> None:
    text = "def a():\n    return 1\n\n\ndef a():\n    return 2\n"
    ids = [card.symbol_id for card in make_cards("x.py", text, extract(text, "python"))]
    assert ids == ["x.py::a", "x.py::a~2"]


def test_a_long_function_goes_on_in_parts() -> None:
    text = "def long():\n" + "    x = 1\n" * 500
    cards = make_cards("x.py", text, extract(text, "python"))
    assert [card.kind for card in cards] == ["function", "part", "part"]
    assert cards[0].last_line == 501
    assert all(last - first < PART_LINES * 1.25 for card in cards for first, last in card.own_lines)


def test_text_without_a_grammar_is_cut_at_blank_lines() -> None:
    text = ("word\n" * 50 + "\n") * 3
    cards = make_cards("notes.txt", text, extract(text, ""))
    assert [card.kind for card in cards] == ["window"] * len(cards)
    assert cards[0].last_line == 51
    assert all(card.last_line - card.first_line < WINDOW_LINES for card in cards)


@pytest.mark.parametrize("text", ["", "\n\n", "   \n\t\n"])
def test_a_blank_file_has_no_cards(text: str) -> None:
    assert make_cards("x.py", text, extract(text, "python")) == ()
