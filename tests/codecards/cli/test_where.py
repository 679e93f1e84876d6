"""Which project a command is about, and the paths that it takes and prints."""

from pathlib import Path

import pytest

from tests.support.command_line import codecards
from tests.support.indexed import write_repository

REPO = """\
#- src/click/termui.py
def echo():
    return prompt()


def prompt():
    return 1
#- examples/termui.py
def main():
    return 2
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_repository(tmp_path / "project", REPO)


def test_a_first_build_names_its_folder(project: Path) -> None:
    done = codecards(project, "recall", "echo")
    assert f"building the index of {project.resolve()}" in done.stderr
    assert "building" not in codecards(project, "recall", "echo").stderr


def test_the_home_folder_is_refused_unless_it_is_named(project: Path) -> None:
    home = {"HOME": str(project), "USERPROFILE": str(project)}
    for command in (("recall", "echo"), ("index",), ("files",), ("session", "list"), ("status",)):
        done = codecards(project, *command, environment=home)
        assert (done.returncode, "is the home folder" in done.stderr) == (3, True), command
    assert not (project / ".codecards").exists()
    assert codecards(project, "-C", ".", "index", environment=home).returncode == 0


def test_a_folder_of_an_indexed_project_makes_no_second_project(project: Path) -> None:
    assert codecards(project, "index").returncode == 0
    done = codecards(project, "index", "src/click")
    assert (done.returncode, "recall --path 'src/click/**'" in done.stderr) == (2, True)
    assert not (project / "src" / "click" / ".codecards").exists()
    assert codecards(project, "index", ".").returncode == 0


def test_an_index_above_is_named(project: Path) -> None:
    assert codecards(project, "index").returncode == 0
    done = codecards(project / "src", "recall", "echo")
    assert f"belongs to the project {project.resolve()}" in done.stderr
