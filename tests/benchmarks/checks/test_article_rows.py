"""The page of the articles' mechanisms."""

from pathlib import Path

import pytest

from benchmarks.checks.article_rows import PAGE, Article, ShownBy, find_marks, read_articles, write_page

TESTS = Path(__file__).parents[2]
ARTICLE = Article("S0", "Tools", {"S0-1": "Split them.", "S0-2": "Count them.", "S0-3": "Test them."})


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
    text = write_page(
        [ARTICLE], {"S0-1": [ShownBy("tests/t.py::test_it_is_split", ("router/a.py",))]}, {"S0-2": "obsolete"}
    )
    assert "| S0-1 | Split them. | [it is split](../tests/t.py) | `router/a.py` |" in text
    assert "| S0-2 | Count them. | obsolete | |" in text
    assert "| S0-3 | Test them. | **missing** | |" in text
    assert "Of 3 rows tests show 1, 1 have a reason why no test can, 1 are missing." in text


def test_a_mark_of_an_unknown_row_is_refused() -> None:
    with pytest.raises(ValueError, match="S3-1"):
        write_page([ARTICLE], {}, {"S3-1": "x"})


def test_the_articles_have_all_rows_and_each_its_sentence() -> None:
    articles, _ = read_articles()
    assert {article.id: len(article.rows) for article in articles} == {"S0": 48, "S1": 48, "S2": 60, "S4": 36}
    for article in articles:
        assert list(article.rows) == [f"{article.id}-{number}" for number in range(1, len(article.rows) + 1)]
        assert all(text.endswith((".", "?")) and "|" not in text for text in article.rows.values())


def test_the_page_is_current_and_complete() -> None:
    articles, reasons = read_articles()
    text = write_page(articles, find_marks(TESTS), reasons)
    assert PAGE.read_text(encoding="utf-8") == text
    assert "**missing**" not in text
