"""Panel pages: text of a project is never markup."""

from markupsafe import escape

from codecards.panel.pages import page


def test_texts_are_escaped_at_every_place() -> None:
    hostile = '"></h1><script>alert(1)</script>'
    text = page(
        "search.html",
        {"here": "search", "base": "/t", "project": hostile, "query": hostile, "recall": None, "problem": hostile},
    )
    assert "<script>" not in text
    assert f'value="{escape(hostile)}"' in text
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 5  # title, brand, box, heading, problem


def test_characters_that_hide_or_reverse_text_are_shown_as_escapes() -> None:
    text = page("problem.html", {"here": "", "base": "/t", "project": "p", "detail": "a\u202eb\x07c\udcff\nd 目录"})
    assert "a\\u202eb\\x07c\\udcff\nd 目录" in text
