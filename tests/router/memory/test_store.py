"""Sessions on disk: damage, concurrent users, names, clocks."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from codecards.errors import StateFileError, UsageError
from codecards.router.memory.operations import ToolCall
from codecards.router.profiles import SessionSettings
from codecards.router.session import Session
from tests.support.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_damaged_state_is_set_aside_and_nothing_is_lost(desk: Desk) -> None:
    session = desk.start()
    session.before_generation("begin")
    session.open_file("other.py", "look")
    path = desk.store.folder / "task" / "state.json"
    path.write_bytes(b'{"name": "ta')
    assert desk.again().state == session.state
    assert path.with_name("state.damaged-1.json").read_bytes() == b'{"name": "ta'
    [notice] = desk.store.take_notices()
    assert "kept as state.damaged-1.json" in notice
    assert "nothing is lost" in notice
    assert desk.store.take_notices() == []


def test_if_the_copy_is_damaged_too_the_state_of_the_last_turn_is_restored(desk: Desk) -> None:
    session = desk.start()
    session.before_generation("begin")
    session.open_file("other.py", "look")
    path = desk.store.folder / "task" / "state.json"
    for one in (path, path.with_name("state.copy.json")):
        one.write_bytes(b"\0\0\0")
    assert (desk.again().memory.turn, desk.again().memory.entry("other.py")) == (1, None)
    assert "continues from turn 1: changes made since that turn began are lost" in desk.store.notices[0]


@pytest.mark.parametrize("data", [b"", b"[]", b'{"format": 99}', b'{"name": 3}'])
def test_a_state_that_can_not_be_read_is_left_unchanged(desk: Desk, data: bytes) -> None:
    desk.start()
    path = desk.store.folder / "task" / "state.json"
    path.with_name("state.copy.json").unlink()
    path.write_bytes(data)
    with pytest.raises(StateFileError):
        desk.again()
    assert path.read_bytes() == data


def test_two_users_of_one_session_lose_nothing(desk: Desk) -> None:
    desk.start()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: desk.again().record(ToolCall("run", text=f"run {n}", result="ok")), range(12)))
    state = desk.again().state
    assert [operation.number for operation in state.operations] == list(range(1, 13))


def test_a_clock_that_was_set_back_does_not_make_the_state_older(desk: Desk) -> None:
    session = desk.start()
    start = session.state.updated
    late = Session(
        desk.store,
        "task",
        desk.project,
        desk.archive,
        SessionSettings(clock=lambda: datetime(1999, 1, 1, tzinfo=UTC)),
    )
    late.before_generation("x")
    assert late.state.updated == start


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 99, "a\0b"])
def test_a_session_name_never_leads_out_of_the_folder(desk: Desk, name: str) -> None:
    with pytest.raises(UsageError):
        desk.start(name)


def test_evictions_under_their_earlier_name_are_read(desk: Desk) -> None:
    session = desk.start()
    session.open_file("other.py", "look")
    session.close_file("other.py")
    path = desk.store.folder / "task" / "state.json"
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"evicted"', b'"forgotten"'))
    assert path.read_bytes() != data
    assert desk.again().memory.evicted == session.memory.evicted != ()
