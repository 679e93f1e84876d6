"""Entities in texts."""

import pytest

from codecards.router.compress.entities import find_entities


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see src/a/b.py:12 now", {("path", "src/a/b.py:12")}),
        ("KeyError: 'x'", {("error", "KeyError: 'x'")}),
        ("at deadbee1 or 1234567", {("commit", "deadbee1")}),
        ("call parse_url() of http.client", {("symbol", "parse_url()"), ("symbol", "http.client")}),
        ("ECONNRESET and TS2304", {("error", "ECONNRESET"), ("error", "TS2304")}),
        ("plain words only", set()),
    ],
)
def test_entities(text: str, expected: set[tuple[str, str]]) -> None:
    assert {(entity.kind, entity.text) for entity in find_entities(text)} == expected
