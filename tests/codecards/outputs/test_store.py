"""Whole outputs are kept, found by words and given back by line."""

import stat
import sys
from pathlib import Path

import pytest

from codecards.errors import StateFileError, TargetNotFoundError
from codecards.outputs.store import OutputStore
from codecards.router.compress.excerpts import handle_of

TEXT = "first line\nE   AssertionError: total_price is 4\nlast line without end"


def test_a_kept_output_comes_back_byte_for_byte(tmp_path: Path) -> None:
    store = OutputStore(tmp_path)
    odd = "tab\there\r\nüñí \udcff\x00 end"
    handle = store.put(odd, "make", 2)
    found = store.get(handle)
    assert (found.text, found.source, found.exit_code, handle) == (odd, "make", 2, handle_of(odd))


def test_lines_come_back_by_their_numbers(tmp_path: Path) -> None:
    found = OutputStore(tmp_path).get(OutputStore(tmp_path).put(TEXT, "pytest"))
    assert found.lines(2, 2) == "E   AssertionError: total_price is 4\n"
    assert found.lines(3) == "last line without end"
    assert found.lines(9) == ""


def test_words_and_their_beginnings_are_found(tmp_path: Path) -> None:
    store = OutputStore(tmp_path)
    handle = store.put(TEXT, "pytest")
    store.put("nothing of interest", "ls")
    (line,) = store.search("assertion total_price")
    assert (line.handle, line.line, line.source) == (handle, 2, "pytest")
    assert store.search('"; DROP TABLE lines') == []
    assert store.search("?!") == []
    assert store.search("interest", handle=handle) == []


def test_equal_outputs_are_kept_once(tmp_path: Path) -> None:
    store = OutputStore(tmp_path)
    assert store.put(TEXT, "pytest") == store.put(TEXT, "pytest -x")
    assert [one.source for one in store.latest()] == ["pytest -x"]


def test_the_oldest_leave_when_there_is_too_much(tmp_path: Path) -> None:
    """Mutation: never prune; the first output is still there."""
    store = OutputStore(tmp_path, max_bytes=2_500)
    handles = [store.put(f"{letter}{letter} " * 300, letter) for letter in "abcd"]
    with pytest.raises(TargetNotFoundError):
        store.get(handles[0])
    assert store.get(handles[-1]).text.startswith("dd")
    assert store.search("aa") == []


def test_an_unknown_handle_names_the_latest(tmp_path: Path) -> None:
    store = OutputStore(tmp_path)
    handle = store.put(TEXT, "pytest")
    with pytest.raises(TargetNotFoundError, match=handle):
        store.get("t-000000000000")


def test_a_damaged_store_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "outputs.db").write_bytes(b"no database" * 100)
    with pytest.raises(StateFileError, match=r"outputs\.db"):
        OutputStore(tmp_path).put(TEXT, "pytest")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no mode bits")
def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    store = OutputStore(tmp_path)
    store.put(TEXT, "pytest")
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
