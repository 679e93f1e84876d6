"""Token counts."""

import json
from pathlib import Path

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from codecards.errors import UsageError
from codecards.router.compress.token_count import estimate_tokens, tokenizer_file_counter

WORD_LEVEL: dict[str, object] = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": {"type": "Whitespace"},
    "post_processor": None,
    "decoder": None,
    "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "def": 1}, "unk_token": "[UNK]"},
}


@pytest.mark.seed("S4-15")
def test_a_tokenizer_file_counts_exactly(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(WORD_LEVEL), encoding="utf-8")
    assert [tokenizer_file_counter(path)(text) for text in ("", "def f ( x )", "def def")] == [0, 5, 2]


def test_what_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no tokenizer file"):
        tokenizer_file_counter(tmp_path / "nothing.json")
    (tmp_path / "bad.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match="not a tokenizer file"):
        tokenizer_file_counter(tmp_path / "bad.json")


@pytest.mark.parametrize(
    ("text", "counted"),
    [  # by the byte-pair vocabulary cl100k
        ("def purge(self, now: float) -> int:\n    return self.store.purge(now - MAX_AGE_S)\n", 24),
        ("The staging service listens on port 9443 since the move.\n", 13),
        ("把结论沉淀下来，内容至少包括改动了哪些文件", 24),
    ],
)
def test_the_estimate_is_within_a_fifth_of_a_real_count(text: str, counted: int) -> None:
    """Short texts vary more than files, for which the module's docstring has the measured range."""
    assert abs(estimate_tokens(text) / counted - 1) < 0.2


@for_all(st.text())
def test_only_the_empty_text_is_free(text: str) -> None:
    assert (estimate_tokens(text) == 0) == (text == "")


def test_indentation_is_part_of_a_lines_beginning_and_lines_add_up() -> None:
    assert estimate_tokens("a\n" + " " * 40 + "b") == estimate_tokens("a\nb")
    line = "    value = compute(first, second)  # why\n"
    assert estimate_tokens(line * 200) == pytest.approx(200 * estimate_tokens(line * 20) / 20, rel=0.02)
