"""Files are read without following links, and only inside the root."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from codecards.errors import OutsideProjectError
from codecards.indexer.problems import Coverage, Problem, Reason
from codecards.indexer.walk.discovery import discover
from codecards.indexer.walk.files import SourceFile, read_file, resolve_inside
from tests.support.working_trees import write_tree

needs_links = pytest.mark.skipif(os.name == "nt", reason="on Windows only administrators can create links and pipes")


def listed(root: Path, path: str) -> SourceFile:
    return next(file for file in discover(root).files if file.path == path)


def reason_of(answer: bytes | Problem) -> Reason:
    assert isinstance(answer, Problem)
    assert answer.kept is Coverage.NONE
    return answer.reason


def _to_nothing(root: Path) -> None:
    (root / "d/a.py").unlink()


def _to_a_link(root: Path) -> None:
    (root / "d/a.py").unlink()
    (root / "d/a.py").symlink_to("/etc/hostname")


def _to_a_pipe(root: Path) -> None:
    (root / "d/a.py").unlink()
    os.mkfifo(root / "d/a.py")


def _to_a_folder(root: Path) -> None:
    (root / "d/a.py").unlink()
    (root / "d/a.py").mkdir()


def _to_a_link_on_the_way(root: Path) -> None:
    (root / "d").rename(root.parent / "away")
    (root / "d").symlink_to("../away")


def _to_another_folder(root: Path) -> None:
    (root / "d").rename(root / "e")


@needs_links
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_to_nothing, Reason.VANISHED),
        (_to_a_link, Reason.LINK),
        (_to_a_pipe, Reason.SPECIAL_FILE),
        (_to_a_folder, Reason.SPECIAL_FILE),
        (_to_a_link_on_the_way, Reason.LINK),
        (_to_another_folder, Reason.VANISHED),
    ],
)
def test_a_file_that_was_replaced_since_it_was_listed_is_not_read(
    tmp_path: Path, change: Callable[[Path], None], reason: Reason
) -> None:
    root = write_tree(tmp_path / "root", "#- d/a.py\nx = 1\n")
    file = listed(root, "d/a.py")
    change(root)
    assert reason_of(read_file(root, file)) is reason


@pytest.mark.parametrize("path", ["../outside.py", "a/../../outside.py", "..", "/etc/hostname", "a\0b"])
def test_a_path_that_leads_out_of_the_root_is_refused(tmp_path: Path, path: str) -> None:
    root = write_tree(tmp_path / "root", "#- a/b.py\n")
    (tmp_path / "outside.py").write_text("x = 1\n")
    assert reason_of(read_file(root, SourceFile(path, 1, 1, 1))) in (Reason.LINK, Reason.UNREADABLE)
    with pytest.raises(OutsideProjectError):
        resolve_inside(root, path)
