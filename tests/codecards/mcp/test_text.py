"""The text of answers: rows within a budget, and values that are valid Unicode."""

from codecards.mcp.text import first_within, utf8_safe_json


def test_rows_are_returned_up_to_the_budget_but_always_one() -> None:
    rows: list[dict[str, object]] = [{"text": "word " * 50}, {"text": "word " * 50}, {"text": "word"}]
    assert first_within(rows, 1) == rows[:1]
    assert first_within(rows, 10_000) == rows


def test_values_are_valid_unicode_at_every_level() -> None:
    assert utf8_safe_json({"a\udcff": ["\udcff", {"b": ("\ud800", 1)}]}) == {
        "a\\udcff": ["\\udcff", {"b": ["\\ud800", 1]}]
    }
