"""Anchors follow the code."""

import pytest

from codecards.router.notes.note import Anchor, current_anchor
from tests.support.archives import Code


@pytest.mark.parametrize(
    ("symbols", "state", "path"),
    [
        ({("f", "a.py"): "1"}, "fresh", "a.py"),
        ({("f", "a.py"): "2"}, "changed", "a.py"),
        ({("f", "b.py"): "1"}, "fresh", "b.py"),
        ({("g", "b.py"): "1"}, "changed", "b.py"),
        ({("g", "b.py"): "1", ("h", "c.py"): "1"}, "gone", "a.py"),
        ({("f", "b.py"): "1", ("h", "c.py"): "1"}, "fresh", "b.py"),
        ({("f", "b.py"): "2"}, "gone", "a.py"),
        ({}, "gone", "a.py"),
    ],
)
def test_an_anchor_follows_the_code_or_reports_that_it_is_gone(
    symbols: dict[tuple[str, str], str], state: str, path: str
) -> None:
    anchor = current_anchor(Anchor("f", "a.py", "1"), Code(symbols))
    assert (anchor.state, anchor.path) == (state, path)
