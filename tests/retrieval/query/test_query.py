"""Parsing of queries, stack frames and reports."""

import pytest

from codecards.retrieval.query.issue import split_issue
from codecards.retrieval.query.query import is_identifier, read_query
from codecards.retrieval.query.stack_frames import find_frames


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("parseRequest", "symbol"),
        ("TokenStore.purge()", "symbol"),
        ("std::vector", "symbol"),
        ("`a_b`", "symbol"),
        ("Cart#total", "symbol"),
        ("src/a.py", "path"),
        ("src/a.py:12", "path"),
        ("a.test.ts", "path"),
        ("where is a.py read", "question"),
        ("库存", "question"),
        ("std::vector<int>", "question"),
        ("", "question"),
        ("thread 'main' panicked\n  at src/main.rs:12:5\n  at src/lib.rs:3:1", "trace"),
    ],
)
def test_the_form_of_a_query_gives_its_kind(text: str, kind: str) -> None:
    assert read_query(text).kind == kind


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("where is the HTTPServer2", ["http", "server", "2", "=httpserver2"]),
        ("rate limit", ["rate", "limit", "=ratelimit"]),
        ("恢复库存", ["恢复", "复库", "库存"]),
        ("会员怎么", ["会员", "员怎"]),
        ("the", ["the"]),
        ("how is it implemented", ["implement"]),
    ],
)
def test_a_query_is_searched_by_its_content_words(text: str, tokens: list[str]) -> None:
    assert [term.token for term in read_query(text).terms] == tokens


def test_earlier_words_and_whole_identifiers_weigh_more() -> None:
    weight = {term.token: term.weight for term in read_query("TokenStore expiry cleanup").terms}
    assert weight["token"] > weight["expiri"] > weight["cleanup"]
    assert weight["=tokenstore"] > weight["token"] > weight["=expirycleanup"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("does TokenStore.purge work", [("TokenStore", "purge", True, False)]),
        ("why the Router", [("", "Router", False, True)]),
        ("call max_age now", [("", "call", False, False), ("", "max_age", True, False), ("", "now", False, False)]),
    ],
)
def test_identifiers_are_distinguished_from_words(text: str, names: list[tuple[str, str, bool, bool]]) -> None:
    found = [(name.qualifier, name.text, name.strong, name.capital) for name in read_query(text).names]
    assert [one for one in found if one[1] != "work"] == names


@pytest.mark.parametrize(
    ("word", "is_one"),
    [
        ("max_age", True),
        ("maxAge", True),
        ("HTTPServer", True),
        ("utf8", True),
        ("__init__", True),
        ("$el", True),
        ("Router", False),
        ("HTTP", False),
        ("router", False),
        ("2024", False),
        ("_", False),
        ("", False),
    ],
)
def test_an_identifier_is_written_as_only_code_is(word: str, is_one: bool) -> None:
    assert is_identifier(word) is is_one


@pytest.mark.parametrize(
    ("line", "frame"),
    [
        ('  File "/srv/a/b.py", line 12, in total', ("/srv/a/b.py", 12, "total")),
        ("    at shop.cart.Cart.total(Cart.java:12)", ("Cart.java", 12, "total")),
        ("    at total (src/cart.js:12:5)", ("src/cart.js", 12, "total")),
        ("   at Shop.Cart.Total() in /src/Cart.cs:line 12", ("/src/Cart.cs", 12, "Total")),
        ("#0 /src/Cart.php(12): Cart->total()", ("/src/Cart.php", 12, "total")),
        ("#1  0x0042 in total (x=1) at cart.c:12", ("cart.c", 12, "total")),
        ("cart.rb:12:in `total'", ("cart.rb", 12, "total")),
        ("\t/src/cart.go:12 +0x1d", ("/src/cart.go", 12, "")),
        ("             at src/cart.rs:12:5", ("src/cart.rs", 12, "")),
        ("File ~/shop/cart.py:12, in Cart.total(self)", ("~/shop/cart.py", 12, "total")),
        ("~/shop/cart.py in total(self)\n     11     x = 1\n---> 12     y()", ("~/shop/cart.py", 12, "total")),
        ("thread 'main' panicked at 'no cart', src/cart.rs:12:5", ("src/cart.rs", 12, "")),
        ("thread 'main' panicked at src/cart.rs:12:5:", ("src/cart.rs", 12, "")),
        ("   --> src/cart.rs:12:5", ("src/cart.rs", 12, "")),
        ("    #1 0x55d7f in cart_total /build/src/cart.c:12:7", ("/build/src/cart.c", 12, "cart_total")),
        ("PHP Fatal error:  Uncaught TypeError: no cart in /app/src/Cart.php:12", ("/app/src/Cart.php", 12, "")),
        ("Warning: Undefined index in /app/src/Cart.php on line 12", ("/app/src/Cart.php", 12, "")),
    ],
)
def test_frames_of_every_language_are_read(line: str, frame: tuple[str, int, str]) -> None:
    found = [(one.path, one.line, one.name) for one in find_frames("Error: boom\n" + line)]
    assert found == [frame]


def test_an_issue_is_split_into_title_prose_spans_and_code() -> None:
    issue = split_issue(
        "`purge` fails\n<!-- hidden words -->\nIt breaks with `TokenStore` in shop.cart.totals.\n"
        "See https://example.org/o/r/blob/main/src/cart.py for it.\n\n"
        "```python\nstore.purge()\n```\n\n    indented()\n>>> typed()\n"
    )
    assert issue.title == "`purge` fails"
    assert "hidden" not in issue.prose + issue.code
    assert "src/cart.py" in issue.prose
    assert issue.spans.split() == ["purge", "TokenStore"]
    assert [line.strip() for line in issue.code.split("\n") if line.strip()] == [
        "store.purge()",
        "indented()",
        ">>> typed()",
    ]
    assert "shop.cart.totals" in issue.modules


def test_the_form_of_a_report_is_left_out() -> None:
    issue = split_issue(
        "Totals are wrong\n## Bug report\n### What is in `cart_total`\nIt adds twice. <details>\n"
        "- [x] I have searched\n- Python: 3.8.2\nnumpy 1.20.3 (conda)\n"
        "**Environment**\nWSL on a laptop\n**Additional context**\nSeen at noon.\n"
        '```\n  File "/usr/lib/python3/site-packages/shop/cart.py", line 3, in total\npandas==1.2.3\n```\n'
    )
    assert [line for line in issue.prose.split("\n") if line.strip()] == [
        "### What is in `cart_total`",
        "It adds twice.  ",
        "Seen at noon.",
    ]
    assert issue.code.strip() == 'File shop/cart.py", line 3, in total'


@pytest.mark.parametrize("piece", ["<p", "**", "# ", "x/", ". ", "a 1."])
def test_a_very_long_line_is_read_quickly(piece: str) -> None:
    issue = split_issue(f"Title\n{piece * 50_000}\n```\n{piece * 50_000}\n```\n")
    assert issue.title == "Title"
