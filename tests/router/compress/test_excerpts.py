"""Texts cut to a budget."""

import pytest
from hypothesis import given as for_all
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from codecards.router.compress.excerpts import CAP_SENTENCE, cap_output, focused, handle_of, head_and_tail
from codecards.router.compress.token_count import estimate_tokens

LONG = "".join(f"line {number}\n" for number in range(1, 400))


@pytest.mark.seed("S2-25", "S2-29")
def test_a_cut_text_keeps_head_and_tail_and_says_so() -> None:
    cut = head_and_tail(LONG, 200, estimate_tokens, handle=handle_of(LONG))
    assert cut.startswith("line 1\n")
    assert cut.endswith("line 399\n")
    assert f"left out; restore {handle_of(LONG)}" in cut


@pytest.mark.seed("S2-50")
def test_a_capped_output_says_that_it_was_too_long() -> None:
    text = LONG * 40
    capped = cap_output(text, estimate_tokens)
    assert CAP_SENTENCE in capped
    assert 7_000 < estimate_tokens(capped) <= 8_000
    assert cap_output(LONG, estimate_tokens) == LONG


@for_all(st.text(max_size=3_000), st.integers(1, 300))
@hypothesis_settings(max_examples=100, deadline=None)
def test_a_cut_text_fits_and_is_never_empty(text: str, budget: int) -> None:
    cut = head_and_tail(text, budget, estimate_tokens)
    assert estimate_tokens(cut) <= budget
    assert cut or not text


@pytest.mark.seed("S0-29")
@pytest.mark.parametrize("focus", [(200, 210), (1, 1), (399, 900)])
def test_a_focus_shows_its_lines(focus: tuple[int, int]) -> None:
    shown = focused(LONG, [focus], 150, estimate_tokens)
    assert f"line {focus[0]}\n" in shown
    assert estimate_tokens(shown) <= 150
