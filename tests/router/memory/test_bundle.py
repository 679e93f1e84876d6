"""Bundles: one session's working memory merged into another."""

from pathlib import Path

import pytest

from codecards.errors import StateFileError
from codecards.router.memory.operations import ToolCall
from codecards.router.memory.working_memory import (
    Mode,
)
from tests.support.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.seed("S0-43", "S4-29")
def test_a_bundle_has_no_messages_and_its_merge_reports_conflicts(desk: Desk) -> None:
    first, second = desk.start("search", "find the exporter"), desk.start("code")
    first.open_file("utils/exporter.py", "how rows are streamed")
    first.record(ToolCall("edit", paths=["other.py"], reason="first", result="secret act"))
    second.record(ToolCall("edit", paths=["other.py"], reason="second"))
    data = first.export()
    assert b"secret act" not in data
    conflicts = second.merge(data)
    assert [conflict.what for conflict in conflicts] == ["goal", "change of other.py"]
    entry = second.memory.entry("utils/exporter.py")
    assert entry is not None
    assert (entry.mode, entry.why) == (Mode.DIGEST, "from session search")
    assert second.merge(data) == conflicts
    with pytest.raises(StateFileError):
        second.merge(b"{}")


@pytest.mark.parametrize("data", [b"x" * 10, b"\x00\xff", b"{}"])
def test_a_damaged_bundle_changes_nothing(desk: Desk, data: bytes) -> None:
    session = desk.start()
    before = session.state
    with pytest.raises(StateFileError):
        session.merge(data)
    assert desk.again().state == before
