"""The text of a card that embedding models read."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codecards.indexer.cards.embedded_text import embedded_text, pack_texts, split_identifiers, unpack_texts


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("parseHTTPHeader", "parse HTTP Header"),
        ("max_age", "max age"),
        ("XMLHttpRequest2Pool", "XML Http Request2 Pool"),
        ("a.b->c(d)", "a.b->c(d)"),
        ("缓存getUser清理", "缓存get User清理"),
    ],
)
def test_identifiers_are_split_into_words_once(text: str, words: str) -> None:
    assert split_identifiers(text) == words == split_identifiers(words)


@pytest.mark.parametrize(
    ("card", "expected"),
    [
        (
            ("a/b/c/d/store.py", "Store.purge", "def purge()", "", "def purge(): pass"),
            "b c d store Store purge\ndef purge(): pass",
        ),
        (
            ("store.py", "purge", "def purge(self)", "Drop it.", "x = 1"),
            "store purge\ndef purge(self)\nDrop it.\nx = 1",
        ),
        ((".github/Makefile", "", "", "", "all:"), ".github Makefile\nall:"),
        (("a.py", "<module>", "", "", "loadAll()"), "a module\nload All()"),
        (("caf\udce9.py", "f", "", "", ""), "caf? f\n"),
    ],
)
def test_the_text_starts_with_place_and_name(card: tuple[str, str, str, str, str], expected: str) -> None:
    assert embedded_text(*card) == expected


def test_the_text_has_a_limit() -> None:
    assert len(embedded_text("a.py", "f", "", "d" * 9_000, "b" * 9_000)) < 1_500


@given(st.lists(st.text(st.characters(codec="utf-8"))))
def test_packed_texts_come_back(texts: list[str]) -> None:
    assert unpack_texts(pack_texts(texts)) == texts


@pytest.mark.parametrize("packed", [b"", b"x", pack_texts(["a"])[:-1]])
def test_damaged_texts_are_reported_like_a_damaged_record(packed: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        unpack_texts(packed)
