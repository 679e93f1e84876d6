"""Finding the project of a folder: never the home folder, the disk, or another project's index unasked."""

import os
from pathlib import Path

import pytest

from codecards import Engine
from codecards.config import Settings
from codecards.errors import ProjectNotFoundError
from codecards.indexer.walk import root as module
from codecards.indexer.walk.root import check_width, find_project, is_too_wide, project_root


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home" / "me"
    folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    return folder


@pytest.mark.parametrize("mark", [".git", ".codecards"])
def test_the_root_is_the_nearest_folder_with_a_repository_or_an_index(tmp_path: Path, mark: str) -> None:
    (tmp_path / "project" / mark).mkdir(parents=True)
    inside = tmp_path / "project" / "a" / "b"
    inside.mkdir(parents=True)
    assert project_root(inside) == tmp_path / "project"


@pytest.mark.parametrize("mark", [".git", ".codecards"])
def test_the_search_stops_below_a_ceiling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    (tmp_path / mark).mkdir()
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", os.pathsep.join(["/elsewhere", str(tmp_path)]))
    assert project_root(inside) == inside
    assert project_root(tmp_path) == tmp_path


def test_the_search_stops_at_the_border_of_a_repository(tmp_path: Path) -> None:
    (tmp_path / ".codecards").mkdir()
    (tmp_path / "inner" / ".git").mkdir(parents=True)
    (tmp_path / "inner" / "src").mkdir()
    assert project_root(tmp_path / "inner" / "src") == tmp_path / "inner"


@pytest.mark.parametrize("mark", [".git", ".codecards"])
def test_the_search_stops_below_the_home_folder(home: Path, mark: str) -> None:
    for folder in (home, home.parent):
        (folder / mark).mkdir()
    (home / "scratch").mkdir()
    assert project_root(home / "scratch") == home / "scratch"


def test_the_search_stops_at_the_border_of_a_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    mounted = tmp_path / "mounted" / "src"
    mounted.mkdir(parents=True)
    monkeypatch.setattr(module, "_device", lambda folder: 2 if "mounted" in folder.parts else 1)
    assert project_root(mounted) == mounted
    monkeypatch.setenv("GIT_DISCOVERY_ACROSS_FILESYSTEM", "1")
    assert project_root(mounted) == tmp_path


@pytest.mark.skipif(os.name == "nt", reason="the folders of a POSIX system")
def test_the_home_folder_the_folders_above_it_and_those_of_the_system_are_too_wide(home: Path) -> None:
    (home / ".git").mkdir()
    wide = [home, home.parent, Path("/"), Path("/usr"), Path("/tmp")]
    assert [one for one in wide if not is_too_wide(one)] == []
    for one in wide:
        with pytest.raises(ProjectNotFoundError, match="-C"):
            Engine.open(one)
    assert not (home / ".codecards").exists()


def test_only_a_whole_disk_is_refused_when_it_is_named(home: Path) -> None:
    check_width(home, is_named=True)
    with pytest.raises(ProjectNotFoundError, match="whole disk"):
        check_width(Path(home.anchor), is_named=True)
    with pytest.raises(ProjectNotFoundError, match="whole disk"):
        Engine(Path(home.anchor), Settings())


def test_an_index_above_is_not_taken_in_silence(tmp_path: Path) -> None:
    (tmp_path / ".codecards").mkdir()
    (tmp_path / "src").mkdir()
    said: list[str] = []
    assert find_project(tmp_path / "src", said.append) == tmp_path.resolve()
    assert [str(tmp_path.resolve()) in one for one in said] == [True]
    said.clear()
    (tmp_path / ".git").mkdir()  # a repository is a project as everybody knows it
    find_project(tmp_path / "src", said.append)
    find_project(tmp_path, said.append)
    assert said == []
