"""Chunking: every line belongs to exactly one card."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codecards.indexer.cards.card import Card
from codecards.indexer.cards.chunking import (
    MODULE_NAME,
    PART_LINES,
    WINDOW_LINES,
    CardDraft,
    card_of_draft,
    chunk_file,
    text_lines,
)
from codecards.indexer.parse.extraction import extract

CLASS = """\
import os


class Store:
    '''Stores values.'''

    limit = 3

    def purge(self):
        return 1


print(Store)
"""


def chunked(text: str, language: str = "python") -> tuple[CardDraft, ...]:
    """Return the drafts of a text's cards."""
    return chunk_file(text_lines(text), extract(text, language))


def owned_lines(text: str, language: str) -> Counter[int]:
    """Return line → number of cards that own it."""
    return Counter(
        line for draft in chunked(text, language) for first, last in draft.own_lines for line in range(first, last + 1)
    )


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
def test_each_line_of_any_text_belongs_to_one_card(text: str) -> None:
    owned = owned_lines(text, "python")
    n_lines = len(text_lines(text)) if text.strip() else 0
    assert owned == Counter(range(1, n_lines + 1))


@pytest.mark.seed("S2-60", "S2-37")
def test_a_method_is_inside_its_class_and_module_code_has_its_own_card() -> None:
    drafts = {draft.qualified_name: draft for draft in chunked(CLASS)}
    assert drafts["Store.purge"].parent == "Store"
    assert (drafts["Store.purge"].first_line, drafts["Store.purge"].last_line) == (9, 10)
    assert drafts["Store"].own_lines == ((4, 6), (8, 8))
    assert drafts[MODULE_NAME].own_lines == ((1, 3), (11, 13))


def test_cards_of_one_name_have_numbered_symbol_ids() -> None:
    drafts = chunked("class Store:\n    def a(self):\n        return 1\n\n    def a(self):\n        return 2\n")
    cards = [
        card_of_draft(draft, card_id=number, path="src/x.py", language="python", module="x")
        for number, draft in enumerate(drafts)
    ]
    ids = ["src/x.py::Store", "src/x.py::Store.a", "src/x.py::Store.a~2"]
    assert [card.symbol_id for card in cards] == ids


def test_a_long_function_continues_in_parts() -> None:
    drafts = chunked("def long():\n" + "    x = 1\n" * 500)
    assert [draft.kind for draft in drafts] == ["function", "part", "part"]
    assert drafts[0].last_line == 501
    assert all(last - first < PART_LINES * 1.25 for draft in drafts for first, last in draft.own_lines)


def test_text_without_a_grammar_is_cut_at_blank_lines() -> None:
    drafts = chunked(("word\n" * 50 + "\n") * 3, "")
    assert [draft.kind for draft in drafts] == ["window"] * len(drafts)
    assert drafts[0].last_line == 51
    assert all(draft.last_line - draft.first_line < WINDOW_LINES for draft in drafts)


@pytest.mark.parametrize("text", ["", "\n\n", "   \n\t\n"])
def test_a_blank_file_has_no_cards(text: str) -> None:
    assert chunked(text) == ()


@pytest.mark.parametrize(
    ("kind", "qualified_name", "label"),
    [
        ("window", "<window 1>", "1"),
        ("cell", "<cell 12>", "12"),
        ("module", "<module>", ""),
        ("part", "Cart.add<part 2>", "2 of Cart.add"),
        ("part", "<module><part 2>", "2 of <module>"),
        ("method", "Cart.add", "Cart.add"),
        ("method", "operator<", "operator<"),
    ],
)
def test_a_label_does_not_repeat_the_kind(kind: str, qualified_name: str, label: str) -> None:
    card = Card(
        1,
        "",
        "",
        "",
        kind,
        "",
        qualified_name,
        "",
        "",
        1,
        1,
        1,
        1,
        ((1, 1),),
        signature="",
        doc="",
        bases=(),
        content_hash=b"",
    )
    assert card.label == label
