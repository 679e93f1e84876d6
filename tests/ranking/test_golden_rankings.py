"""The whole order of small rankings, so that a change of weights is seen as a diff.

Rewrite the file with `CODECARDS_REWRITE_GOLDEN=1 pytest tests/ranking/test_golden_rankings.py`.
"""

import os
from pathlib import Path

import pytest

from tests.retrieval.test_search import CHINESE, ERRORS, SHOP
from tests.support.indexed_text import IndexedText, indexed

GOLDEN = Path(__file__).parent / "golden_rankings.txt"
QUERIES = (
    "parse_request", "TokenStore.purge", "where are expired sessions removed", "how does the rate limit work",
    "token", "request headers", "tests of the request parser", "src/auth/login.py", "count retries", "订单库存",
    # A long question, what a function does, what an error says.
    "When a user logs in, which class keeps the token of the session, and how is it made sure that a session that has"
    " expired is removed from the store?",
    "Check the password of a user and open a session.",
    "the number of items must be at least one",
    # Chinese on code that knows only English.
    "过期的会话在哪里删除", "请求解析器",
    # A report with its code and its trace, a trace, a diff.
    "Sessions are never removed\n\nAfter `TokenStore.purge(now)` the expired sessions are still there.\n\n"
    "```python\nstore = make_store()\nlog_in('me', store)\n```\nI expected that log_in purges the store first, as the"
    " documentation says in the chapter on requests, but it seems that sweep gets a limit of zero and returns at once.",
    'Traceback (most recent call last):\n  File "/srv/app/src/auth/login.py", line 6, in log_in\n    store.purge(0.0)\n'
    '  File "/srv/app/src/auth/token_store.py", line 9, in purge\nValueError: no limit',
    "--- a/src/http/rate_limit.py\n+++ b/src/http/rate_limit.py\n@@ -4,2 +4,2 @@ class RateLimiter:\n"
    "     def allow(self, client: str) -> bool:\n-        return bool(client)\n+        return True\n",
    # Nothing of the kind is here.
    "how long should bread dough rest before it is baked",
)  # fmt: skip
"""Short questions, long ones, functions by what they do, Chinese, and what is pasted: each way through the ranking."""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> IndexedText:
    links = [
        ("src/auth/login.py", "src/auth/token_store.py", 2),
        ("tests/test_request_parser.py", "src/http/request_parser.py", 1),
    ]
    return indexed(tmp_path_factory.mktemp("golden"), SHOP + ERRORS + CHINESE, links)


def rendered(made: IndexedText) -> str:
    blocks = []
    for query in QUERIES:
        answer = made.ask(query)
        title = " / ".join(query.splitlines())
        lines = [f"  {hit.score:6.2f}  {hit.card.symbol_id}" for hit in answer.hits]
        blocks.append("\n".join([f"{title}  [{answer.kind}, {answer.verdict}]", *lines]))
    return "\n\n".join(blocks) + "\n"


def test_rankings_are_as_they_were(both: IndexedText) -> None:
    found = rendered(both)
    if os.environ.get("CODECARDS_REWRITE_GOLDEN"):
        GOLDEN.write_text(found, encoding="utf-8")
    assert found == GOLDEN.read_text(encoding="utf-8")
