"""Token counts."""

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from codecards.router.compress.token_count import estimate_tokens


@pytest.mark.parametrize(
    ("text", "counted"),
    [  # by the byte-pair vocabulary cl100k
        ("def purge(self, now: float) -> int:\n    return self.store.purge(now - MAX_AGE_S)\n", 24),
        ("The staging service listens on port 9443 since the move.\n", 13),
        ("把结论沉淀下来，内容至少包括改动了哪些文件", 24),
    ],
)
def test_the_estimate_is_within_a_fifth_of_a_real_count(text: str, counted: int) -> None:
    """Short texts vary more than whole files; `estimate_tokens` documents the range for files."""
    assert abs(estimate_tokens(text) / counted - 1) < 0.2


@for_all(st.text())
def test_only_the_empty_text_is_free(text: str) -> None:
    assert (estimate_tokens(text) == 0) == (text == "")


def test_indentation_is_part_of_the_line_break_and_lines_add_up() -> None:
    assert estimate_tokens("a\n" + " " * 40 + "b") == estimate_tokens("a\nb")
    line = "    value = compute(first, second)  # why\n"
    assert estimate_tokens(line * 200) == pytest.approx(200 * estimate_tokens(line * 20) / 20, rel=0.02)
