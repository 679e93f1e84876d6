"""Searching notes."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.archives import filled

LINTERS = (
    "Use ruff for linting in this repo.",
    "In this repo use ruff for linting.",
    "Linting in this repo is done with ruff.",
    "use ruff for linting in this repo",
    "Use ruff for linting in this repo!",
)


@pytest.mark.parametrize(
    ("texts", "query", "expected"),
    [
        (LINTERS, "which linter", 1),
        (
            ("Integration tests may use the network.", "Integration tests may not use the network."),
            "integration tests network",
            2,
        ),
        (("Port is 8080.", "Port is 9443."), "port", 2),
        (("不要使用设备清单", "要使用设备清单"), "设备", 2),
        (("设备清单:机房有两台存储服务器", "部署方案讨论:先灰度再全量"), "设备", 1),
        (("発表資料は共有フォルダーに置く",), "共有フォルダー", 1),
        (("writer 3 note 17: token w3i17q", "writer 3 note 18: token w3i18q"), "w3i17q", 1),
        (("anything",), "nothing of that", 0),
    ],
)
def test_near_duplicates_are_returned_once(tmp_path: Path, texts: Sequence[str], query: str, expected: int) -> None:
    assert len(filled(tmp_path, *texts).search(query)) == expected


@pytest.mark.seed("S1-29")
def test_an_old_decision_is_found_by_a_natural_query(tmp_path: Path) -> None:
    noise = [f"Topic {number}: nothing about it, colour {number}" for number in range(30)]
    archive = filled(
        tmp_path, *noise, "Auth stays synchronous: the tradeoff against timeouts was accepted in the design."
    )
    assert "synchronous" in archive.search("auth timeout and sync design tradeoff")[0].note.text
