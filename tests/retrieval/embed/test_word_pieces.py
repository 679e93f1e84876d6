"""Word pieces equal those of the tokenizer for any text; other kinds of tokenizer are recognised."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from codecards.retrieval.embed.embedder import STATIC_MODEL
from codecards.retrieval.embed.word_pieces import WordPieces, special_texts

VOCABULARY = {
    word: index for index, word in enumerate(["[UNK]", "cache", "ca", "##che", "##s", "2", "a", "b", "ab", "é"])
}


def tokenizer_of(lowercase: bool = True, behavior: str = "removed") -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(VOCABULARY, unk_token="[UNK]", max_input_chars_per_word=60))
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=lowercase
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation(behavior)]
    )
    tokenizer.add_special_tokens(["[UNK]"])
    return tokenizer


TOKENIZER = tokenizer_of()
PIECES = WordPieces(lambda text: TOKENIZER.encode(text, add_special_tokens=False).ids, ["[UNK]"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "Caches(2) -> cache",
        "a\x0cb",
        "a\x00b a\x7f",
        "[UNK] cache",
        "[unk]",
        "é cache",
        "a\u200bb",
        "x" * 70,
        "\x1c",
        "a\tb\r\nab",
        "A_B.ab",
        "caches2",
    ],
)
def test_pieces_are_those_of_the_tokenizer(text: str) -> None:
    assert PIECES.ids(text) == TOKENIZER.encode(text, add_special_tokens=False).ids


@given(st.text(st.sampled_from("abAB2[]UNK_ .\n\t\x0c\x1c\x7fé世"), max_size=40))
def test_pieces_are_those_of_the_tokenizer_for_any_text(text: str) -> None:
    assert PIECES.ids(text) == TOKENIZER.encode(text, add_special_tokens=False).ids


def test_the_shipped_tokenizer_is_supported() -> None:
    assert special_texts(STATIC_MODEL / "tokenizer.json") == ["[UNK]"]


@pytest.mark.parametrize("other", [tokenizer_of(lowercase=False), tokenizer_of(behavior="isolated")])
def test_another_kind_of_tokenizer_is_recognised(tmp_path: Path, other: Tokenizer) -> None:
    other.save(str(tmp_path / "tokenizer.json"))
    assert special_texts(tmp_path / "tokenizer.json") is None
