"""Splitting text into tokens, and counting them."""

from array import array
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codecards.indexer.cards.card import CardFields
from codecards.indexer.cards.words import FileTokens, messages, tokenize_cards, whole_token, word_tokens, words


def unpacked(tokens: FileTokens) -> list[dict[str, list[int]]]:
    """Return the counts by field of each token, for each card."""
    offsets, index = array("I", tokens.card_offsets), array("I", tokens.token_index)
    rows = [list(tokens.counts[start : start + 6]) for start in range(0, len(tokens.counts), 6)]
    return [
        {tokens.vocabulary[index[entry]]: rows[entry] for entry in range(first, last)}
        for first, last in pairwise(offsets)
    ]


@pytest.mark.seed("S2-47")
@pytest.mark.parametrize(
    ("word", "tokens"),
    [
        ("HTTPServer2", ("http", "server", "2", "=httpserver2")),
        ("parse_request", ("pars", "request", "=parserequest")),
        ("parseRequest", ("pars", "request", "=parserequest")),
        ("__init__", ("init",)),
        ("getURLForHTTP", ("get", "url", "for", "http", "=geturlforhttp")),
        ("sessions", ("session",)),
        ("SHOUTED_NAME", ("shout", "name", "=shoutedname")),
        ("utf8", ("utf", "8", "=utf8")),
        ("2024", ("2024",)),
        ("größeÄndern", ("grösse", "ändern", "=grösseändern")),
        ("dingdan_zhuangtai", ("dingdan", "zhuangtai", "=dingdanzhuangtai")),
        ("恢复库存", ("恢复", "复库", "库存")),
        ("库", ("库",)),
        ("再試行", ("再試", "試行")),
        ("결제", ("결제",)),
        ("_", ()),
        ("x" * 200, ()),
    ],
)
def test_a_word_gives_its_stemmed_parts_and_its_whole_token(word: str, tokens: tuple[str, ...]) -> None:
    assert word_tokens(word) == tokens


@pytest.mark.parametrize("word", ["parse_request", "parseRequest", "ParseRequest", "PARSE_REQUEST"])
def test_the_whole_token_is_independent_of_case_and_separators(word: str) -> None:
    assert whole_token(word) == "=parserequest"


def test_text_is_split_at_punctuation_and_changes_of_script() -> None:
    assert words("a.b(c_d, 12) # 恢复restore库存!") == ["a", "b", "c_d", "12", "恢复", "restore", "库存"]


def test_words_are_counted_by_card_and_field() -> None:
    tokens = tokenize_cards(
        [
            CardFields("getTotal", "Cart", "def getTotal(self)", "Sum of totals.", "total total"),
            CardFields("", "", "", "", "x = total"),
        ]
    )
    first, second = unpacked(tokens)
    assert first["total"] == [1, 0, 1, 1, 2, 0]
    assert first["=gettotal"] == [1, 0, 1, 0, 0, 0]
    assert first["cart"] == [0, 1, 0, 0, 0, 0]
    assert second == {"x": [0, 0, 0, 0, 1, 0], "total": [0, 0, 0, 0, 1, 0]}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('raise ValueError("index must be positive")', "index must be positive"),
        ("raise ValueError(f'the index is {index}')", "the index is {index}"),
        ("throw new Error(`no such file here`);", "no such file here"),
        ('log("at %5.2f of it\\n")', "at   of it "),
        ('a = "one" + b + "two words"', ""),
        ("# it doesn't say what it can't", ""),
        ('"""What this does in words."""', ""),
        ("x = 'It is \\'quoted\\' here'", "It is \\'quoted\\' here"),
        ('"an open one\nx = "a closed one here"', "a closed one here"),
        ("no string at all", ""),
    ],
)
def test_a_string_of_several_words_is_a_message(code: str, expected: str) -> None:
    assert messages(code) == expected


def test_tokens_of_messages_are_counted_separately() -> None:
    (first,) = unpacked(tokenize_cards([CardFields("", "", "", "", 'index("the index is negative")')]))
    assert first["index"] == [0, 0, 0, 0, 2, 1]


def test_counts_are_capped_at_255() -> None:
    assert unpacked(tokenize_cards([CardFields("", "", "", "", "word " * 300)])) == [{"word": [0, 0, 0, 0, 255, 0]}]


def test_no_cards_and_cards_without_words_have_no_entries() -> None:
    assert unpacked(tokenize_cards([])) == []
    assert unpacked(tokenize_cards([CardFields("", "", "", "", " + - ")])) == [{}]


@given(st.lists(st.text(max_size=60), max_size=4))
def test_any_text_can_be_counted_and_each_token_is_in_the_vocabulary_once(bodies: list[str]) -> None:
    tokens = tokenize_cards([CardFields("", "", "", "", body) for body in bodies])
    assert len(set(tokens.vocabulary)) == len(tokens.vocabulary)
    assert len(unpacked(tokens)) == len(bodies)
    assert not any(" " in word or "\n" in word for word in tokens.vocabulary)
