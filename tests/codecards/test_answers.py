"""Excerpts never omit lines silently, and never lose the end."""

import re

from hypothesis import given
from hypothesis import strategies as st

from codecards.answers import MAX_LINE_CHARACTERS, MIN_LINES, excerpt


def test_short_code_is_shown_in_full() -> None:
    assert excerpt(["def a():", "    return 1"]) == "def a():\n    return 1"


@given(st.lists(st.text(alphabet="ab ", max_size=300), max_size=400), st.integers(8, 60), st.integers(50, 4_000))
def test_shown_and_omitted_lines_add_up(lines: list[str], max_lines: int, max_characters: int) -> None:
    shown = excerpt(lines, max_lines=max_lines, max_characters=max_characters).split("\n") if lines else []
    notice = [found for line in shown if (found := re.fullmatch(r"… \((\d+) lines left out; .*\)", line))]
    assert len(shown) - len(notice) + sum(int(found[1]) for found in notice) == len(lines)
    assert len(shown) <= max(max_lines, MIN_LINES) + 1
    assert not lines or (shown[0], shown[-1]) == (lines[0], lines[-1])


def test_a_long_line_says_how_long_it_is() -> None:
    assert excerpt(["x" * 5_000]) == "x" * MAX_LINE_CHARACTERS + " … (5000 characters)"


def test_secrets_are_masked() -> None:
    assert "hunter2secret9" not in excerpt(['password = "hunter2secret9"'])
