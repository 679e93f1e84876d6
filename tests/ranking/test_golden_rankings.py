"""Golden rankings of a small repository, and their statistics, so that a change of weights shows as a diff.

Rewrite both files with `CODECARDS_REWRITE_GOLDEN=1 pytest tests/ranking`.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import pytest

from codecards.retrieval.hits import Ranking
from codecards.retrieval.search import DEFAULT_LIMIT
from tests.retrieval.test_search import CHINESE, ERRORS, SHOP
from tests.support.indexed_text import IndexedText, indexed

GOLDEN = Path(__file__).parent / "golden_rankings.txt"
STATS = Path(__file__).parent / "rank_stats.txt"
DEPTHS = (1, 3, 10)
QUERIES: Mapping[str, tuple[str, ...]] = {
    "parse_request": ("parse_request",),
    "TokenStore.purge": ("TokenStore.purge",),
    "where are expired sessions removed": ("TokenStore.purge",),
    "how does the rate limit work": ("RateLimiter", "RateLimiter.allow"),
    "token": ("TokenStore",),
    "request headers": ("parse_request",),
    "tests of the request parser": ("test_parse_request_splits_the_text",),
    "src/auth/login.py": ("log_in",),
    "count retries": ("count_retries",),
    "订单库存": ("restore_stock",),
    # A long question, what a function does, what an error says.
    "When a user logs in, which class keeps the token of the session, and how is it made sure that a session that has"
    " expired is removed from the store?": ("TokenStore", "TokenStore.purge"),
    "Check the password of a user and open a session.": ("log_in",),
    "the number of items must be at least one": ("take",),
    # Chinese on code that knows only English.
    "过期的会话在哪里删除": ("TokenStore.purge",),
    "请求解析器": ("parse_request",),
    # A report with its code and its trace, a trace, a diff.
    "Sessions are never removed\n\nAfter `TokenStore.purge(now)` the expired sessions are still there.\n\n"
    "```python\nstore = make_store()\nlog_in('me', store)\n```\nI expected that log_in purges the store first, as the"
    " documentation says in the chapter on requests, but it seems that sweep gets a limit of zero and returns at once.": (
        "TokenStore.purge",
        "TokenStore.sweep",
    ),
    'Traceback (most recent call last):\n  File "/srv/app/src/auth/login.py", line 6, in log_in\n    store.purge(0.0)\n'
    '  File "/srv/app/src/auth/token_store.py", line 9, in purge\nValueError: no limit': ("TokenStore.purge",),
    "--- a/src/http/rate_limit.py\n+++ b/src/http/rate_limit.py\n@@ -4,2 +4,2 @@ class RateLimiter:\n"
    "     def allow(self, client: str) -> bool:\n-        return bool(client)\n+        return True\n": (
        "RateLimiter.allow",
    ),
    # Nothing in this repository answers it.
    "how long should bread dough rest before it is baked": (),
}
"""Query → qualified names of the cards that answer it: short and long questions, functions by what they do, Chinese, and
pasted texts, so that every path through the ranking is taken."""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> IndexedText:
    links = [
        ("src/auth/login.py", "src/auth/token_store.py", 2),
        ("tests/test_request_parser.py", "src/http/request_parser.py", 1),
    ]
    return indexed(tmp_path_factory.mktemp("golden"), SHOP + ERRORS + CHINESE, links)


@pytest.fixture(scope="module")
def answers(both: IndexedText) -> dict[str, Ranking]:
    return {query: both.ask(query, limit=max(DEPTHS)) for query in QUERIES}


def rendered(answers: Mapping[str, Ranking]) -> str:
    """Return the first eight hits of each query, with their scores."""
    blocks = []
    for query, answer in answers.items():
        title = " / ".join(query.splitlines())
        lines = [f"  {hit.score:6.2f}  {hit.card.symbol_id}" for hit in answer.hits[:DEFAULT_LIMIT]]
        blocks.append("\n".join([f"{title}  [{answer.kind}, {answer.verdict}]", *lines]))
    return "\n\n".join(blocks) + "\n"


def statistics(answers: Mapping[str, Ranking]) -> str:
    """Return recall at some depths and the mean reciprocal rank, over all queries that have an answer, by kind."""
    ranks: dict[str, list[list[int | None]]] = {"all": []}
    for query, right in QUERIES.items():
        names = [hit.card.qualified_name for hit in answers[query].hits]
        if right:
            of_query = [names.index(name) + 1 if name in names else None for name in right]
            ranks["all"].append(of_query)
            ranks.setdefault(answers[query].kind, []).append(of_query)
    head = ["kind", "queries", *(f"recall@{depth}" for depth in DEPTHS), "MRR"]
    rows = [[kind, str(len(some)), *figures(some)] for kind, some in ranks.items()]
    return "\n".join("".join(f"{cell:<11}" for cell in row).rstrip() for row in [head, *rows]) + "\n"


def figures(ranks: Sequence[Sequence[int | None]]) -> list[str]:
    """Return the recall at each depth and the mean reciprocal rank of the first right card."""
    recalls = [fmean(fmean(bool(rank and rank <= depth) for rank in some) for some in ranks) for depth in DEPTHS]
    reciprocal = fmean(max(1 / rank if rank else 0.0 for rank in some) for some in ranks)
    return [f"{value:.3f}" for value in (*recalls, reciprocal)]


@pytest.mark.parametrize(("path", "made"), [(GOLDEN, rendered), (STATS, statistics)], ids=["order", "statistics"])
def test_rankings_are_unchanged(
    answers: dict[str, Ranking], path: Path, made: Callable[[Mapping[str, Ranking]], str]
) -> None:
    found = made(answers)
    if os.environ.get("CODECARDS_REWRITE_GOLDEN"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")
