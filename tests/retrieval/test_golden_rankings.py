"""The whole order of small rankings, so that a change of weights is seen as a diff.

Rewrite the file with `CODECARDS_REWRITE_GOLDEN=1 pytest tests/retrieval/test_golden_rankings.py`.
"""

import os
from pathlib import Path

import pytest

from tests.retrieval.indexed_text import IndexedText, indexed
from tests.retrieval.test_search import CHINESE, SHOP

GOLDEN = Path(__file__).parent / "golden_rankings.txt"
QUERIES = (
    "parse_request", "TokenStore.purge", "where are expired sessions removed", "how does the rate limit work",
    "token", "request headers", "tests of the request parser", "src/auth/login.py", "count retries", "订单库存",
)  # fmt: skip


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> IndexedText:
    links = [
        ("src/auth/login.py", "src/auth/token_store.py", 2),
        ("tests/test_request_parser.py", "src/http/request_parser.py", 1),
    ]
    return indexed(tmp_path_factory.mktemp("golden"), SHOP + CHINESE, links)


def rendered(made: IndexedText) -> str:
    blocks = []
    for query in QUERIES:
        answer = made.ask(query)
        lines = [f"  {hit.score:6.2f}  {hit.card.symbol_id}" for hit in answer.hits]
        blocks.append("\n".join([f"{query}  [{answer.kind}, {answer.verdict}]", *lines]))
    return "\n\n".join(blocks) + "\n"


def test_rankings_are_as_they_were(both: IndexedText) -> None:
    found = rendered(both)
    if os.environ.get("CODECARDS_REWRITE_GOLDEN"):
        GOLDEN.write_text(found, encoding="utf-8")
    assert found == GOLDEN.read_text(encoding="utf-8")
