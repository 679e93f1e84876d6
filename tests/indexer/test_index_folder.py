"""The index folder is safe in an untrusted repository, which may contain links in its place."""

import os
from pathlib import Path

import pytest

from codecards.engine import Engine
from codecards.errors import OutsideProjectError
from tests.support.indexed import index_of, write_repository

needs_links = pytest.mark.skipif(os.name == "nt", reason="links need special rights on Windows")
REPO = "#- project/a.py\ndef one():\n    return 1\n#- outside/keep.txt\nprecious\n"


def indexed_names(root: Path) -> list[str]:
    with Engine.open(root, build=False) as engine:
        engine.refresh()
        return [card.name for card in engine.symbols()]


def tree_of(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.rglob("*")}


@needs_links
@pytest.mark.parametrize("place", [".codecards", ".codecards/index"])
def test_an_index_folder_that_leads_out_of_the_project_is_refused(tmp_path: Path, place: str) -> None:
    write_repository(tmp_path, REPO)
    link = tmp_path / "project" / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(tmp_path / "outside")
    with pytest.raises(OutsideProjectError):
        indexed_names(tmp_path / "project")
    assert tree_of(tmp_path / "outside") == {"keep.txt": "precious\n"}


@needs_links
@pytest.mark.parametrize(
    "name", ["snapshot.db", "manifest.json", "writer.json", "derived", "snapshot.db-wal", "../.gitignore"]
)
def test_links_among_the_files_of_the_index_are_not_followed(tmp_path: Path, name: str) -> None:
    write_repository(tmp_path, REPO)
    folder = index_of(tmp_path / "project")
    folder.path.mkdir(parents=True)
    target = {"derived": "", "../.gitignore": "made.txt"}.get(name, "keep.txt")
    (folder.path / name).symlink_to(tmp_path / "outside" / target)
    assert indexed_names(tmp_path / "project") == ["one"]
    assert tree_of(tmp_path / "outside") == {"keep.txt": "precious\n"}
    assert folder.links() == []


def test_a_folder_named_like_the_manifest_is_replaced(tmp_path: Path) -> None:
    write_repository(tmp_path, REPO)
    root = tmp_path / "project"
    indexed_names(root)
    index_of(root).manifest_path.unlink()
    index_of(root).manifest_path.mkdir()
    assert indexed_names(root) == ["one"]
