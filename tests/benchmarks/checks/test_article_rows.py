"""The table of seed rows."""

from pathlib import Path

import pytest

from benchmarks.checks.article_rows import REASONS, TABLE, ShownBy, article_rows, find_marks, write_table

TESTS = Path(__file__).parents[2]


def test_marks_are_found_with_the_modules_that_the_test_uses(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_x.py").write_text(
        "import pytest\nfrom codecards.router.policy.routing import route\nfrom codecards.engine import Engine\n\n"
        '@pytest.mark.seed("S2-38", "S0-1")\ndef test_it():\n    assert route\n',
        encoding="utf-8",
    )
    shown = [ShownBy("tests/test_x.py::test_it", ("router/policy/routing.py",))]
    assert find_marks(tmp_path / "tests") == {"S2-38": shown, "S0-1": shown}


def test_a_row_is_shown_has_a_reason_or_is_missing() -> None:
    text = write_table({"S0-1": [ShownBy("t.py::test", ("router/a.py",))]}, {"S0-2": "obsolete"})
    assert "| S0-1 | `router/a.py` | `t.py::test` |" in text
    assert "| S0-2 | | obsolete |" in text
    assert "192 rows: 1 shown by a test, 1 with a reason instead, 190 missing." in text


def test_a_row_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="S3-1"):
        write_table({}, {"S3-1": "x"})


def test_the_table_is_current() -> None:
    assert len(list(article_rows())) == 192
    assert TABLE.read_text(encoding="utf-8") == write_table(find_marks(TESTS), REASONS)
