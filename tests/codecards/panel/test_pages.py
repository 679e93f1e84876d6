"""Panel pages: nothing of a project is markup."""

from markupsafe import escape

from codecards.panel.pages import page


def test_texts_are_escaped_wherever_they_stand() -> None:
    hostile = '"></h1><script>alert(1)</script>'
    text = page(
        "search.html",
        {"here": "search", "base": "/t", "project": hostile, "query": hostile, "recall": None, "problem": hostile},
    )
    assert "<script>" not in text
    assert f'value="{escape(hostile)}"' in text
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 5  # title, brand, box, heading, problem


def test_what_hides_or_turns_the_direction_of_code_is_shown() -> None:
    text = page("problem.html", {"here": "", "base": "/t", "project": "p", "detail": "a\u202eb\x07c\udcff\nd 目录"})
    assert "a\\u202eb\\x07c\\udcff\nd 目录" in text
