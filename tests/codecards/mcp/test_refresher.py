"""The state of an index run as a message; the rest of the refresher is tested through `ServedProject`."""

import pytest

from codecards.mcp.refresher import Indexing


@pytest.mark.parametrize(
    ("indexing", "message"),
    [
        (Indexing("reading", 3, 10), "indexing in progress (reading, 3 of 10 files)"),
        (Indexing("looking"), "indexing in progress (looking)"),
        (Indexing(error="disk full"), "indexing failed: disk full"),
        (Indexing(), ""),
    ],
)
def test_the_state_of_a_run_is_described(indexing: Indexing, message: str) -> None:
    assert indexing.describe() == message
