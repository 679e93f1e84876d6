"""Syntax hashes ignore layout, comments and the symbol's own name; all other changes count."""

import pytest

from codecards.indexer.parse.fingerprint import syntax_hash

PYTHON = "def total(items, rate):\n    return sum(items) * rate\n"
GO = "func Total(a int, b int) int {\n\treturn a + b\n}\n"


@pytest.mark.parametrize(
    ("language", "text", "same"),
    [
        ("python", PYTHON, "    def total(items, rate):\n        # with tax\n        return sum(items) * rate\n"),
        ("python", PYTHON, "def total(\n    items,\n    rate,\n):\n    return sum(items) * rate\n"),
        ("go", GO, "func Total(a int, b int) int { return a + b }"),
        ("go", GO, "func Total(a int,\n\tb int) int {\n\t// adds\n\treturn a + b\n}\n"),
        ("", "some  plain\ntext", "some plain text"),
    ],
)
def test_layout_and_comments_do_not_count(language: str, text: str, same: str) -> None:
    assert syntax_hash(text, language) == syntax_hash(same, language)


@pytest.mark.parametrize(
    ("language", "text", "other"),
    [
        ("python", PYTHON, PYTHON.replace("*", "+")),
        ("python", PYTHON, PYTHON.replace("rate", "tax")),
        ("python", "if a:\n    b()\nc()\n", "if a:\n    b()\n    c()\n"),
        ("go", GO, GO.replace("a + b", "a - b")),
        ("python", 'x = "a b"\n', 'x = "a  b"\n'),
        ("", "some plain text", "some other text"),
    ],
)
def test_any_other_change_counts(language: str, text: str, other: str) -> None:
    assert syntax_hash(text, language) != syntax_hash(other, language)


def test_a_symbols_own_name_does_not_count() -> None:
    renamed = PYTHON.replace("total", "grand_total")
    assert syntax_hash(PYTHON, "python") != syntax_hash(renamed, "python")
    assert syntax_hash(PYTHON, "python", "total") == syntax_hash(renamed, "python", "grand_total")


def test_code_nested_too_deeply_to_parse_still_has_a_hash() -> None:
    deep = "(" * 5000 + ")" * 5000
    assert syntax_hash(deep, "python") != syntax_hash(deep + " + 1", "python")
