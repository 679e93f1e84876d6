"""State files are replaced atomically."""

from pathlib import Path

import pytest

from codecards.errors import StateFileError
from codecards.indexer.atomic_files import append_line, replace_file, set_aside, write_atomic


def test_a_file_is_replaced_with_its_permissions_and_no_file_is_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "new" / "state.json"
    replace_file(path, b"one")
    replace_file(path, b"two", mode=0o640)
    assert path.read_bytes() == b"two"
    assert [file.name for file in path.parent.iterdir()] == ["state.json"]


def test_a_failed_replacement_leaves_the_old_content(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/kept").write_text("old")
    with pytest.raises(OSError, match="directory"):
        replace_file(tmp_path / "folder", b"new")
    with pytest.raises(StateFileError, match="Nothing was changed"):
        write_atomic(tmp_path / "folder", b"new")
    assert {file.name for file in tmp_path.rglob("*")} == {"folder", "kept"}


def test_a_damaged_file_is_set_aside_under_a_free_name(tmp_path: Path) -> None:
    for expected in ("log.damaged-1.json", "log.damaged-2.json"):
        append_line(tmp_path / "log.json", b"{")
        assert set_aside(tmp_path / "log.json").name == expected
