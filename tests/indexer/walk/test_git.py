"""Git is asked without running anything that the repository configures."""

import os
from pathlib import Path

import pytest

from codecards.indexer.walk.git import GitState, excludes_file, git_state, is_repository, listed_files
from tests.support.working_trees import commit_all, git, needs_git, write_tree

pytestmark = needs_git


@pytest.fixture(autouse=True)
def no_settings_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))


def test_the_state_has_the_commit_and_whether_the_tree_differs(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "repo", "#- a.py\n")
    assert git_state(root) == GitState(None, None)
    git(root, "init", "-q")
    assert git_state(root) == GitState(None, True)
    commit_all(root)
    commit = git(root, "rev-parse", "HEAD").decode().strip()
    assert git_state(root) == GitState(commit, False)
    write_tree(root, "#- .codecards/archive/note.md\n")
    assert git_state(root) == GitState(commit, False)
    (root / "a.py").write_text("changed\n")
    assert git_state(root) == GitState(commit, True)


@pytest.mark.skipif(os.name == "nt", reason="the programs are written for a POSIX shell")
@pytest.mark.parametrize(
    "setting",
    [
        "core.fsmonitor",
        "core.sshCommand",
        "filter.evil.clean",
        "filter.evil.process",
        "filter.a=b.c.clean",
        "diff.external",
    ],
)
def test_programs_that_the_repository_configures_are_not_run(tmp_path: Path, setting: str) -> None:
    root = write_tree(tmp_path / "repo", "#- a.py\n#- b.txt\n")
    commit_all(root)
    mark = tmp_path / "was-run"
    git(root, "config", setting, f"touch '{mark}'; cat")
    (root / ".gitattributes").write_text("*.py filter=evil diff=evil\n*.txt filter=a=b.c\n")
    write_tree(root, "#- a.py\nchanged\n#- b.txt\nchanged\n")
    assert git_state(root).dirty is True
    assert listed_files(root, None) is not None
    assert not mark.exists()
    if setting in ("core.fsmonitor", "filter.evil.clean"):  # the program works if git may run it
        git(root, "status")
        assert mark.exists()


def test_variables_that_point_git_elsewhere_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = write_tree(tmp_path / "other", "#- other.py\n")
    commit_all(other)
    root = write_tree(tmp_path / "repo", "#- a.py\n")
    commit_all(root)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    listed = listed_files(root, None)
    assert listed is not None
    assert listed.tracked == {"a.py"}


def test_a_work_tree_that_the_repository_configures_is_not_used(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "repo", "#- a.py\n")
    commit_all(root)
    git(root, "config", "core.worktree", str(tmp_path))
    assert git_state(root).dirty is False


def test_a_broken_repository_does_not_list_the_files_of_the_outer_one(tmp_path: Path) -> None:
    commit_all(write_tree(tmp_path, "#- sub/a.py\n"))
    (tmp_path / "sub/.git").mkdir()
    assert listed_files(tmp_path / "sub", None) is None


@pytest.mark.parametrize(
    ("config", "expected"),
    [(None, None), ("[core]\n\texcludesFile = {here}/mine\n", "mine"), ("[core]\n\texcludesFile =\n", None)],
)
def test_the_ignore_file_of_the_user_is_read_from_the_settings_of_the_user(
    tmp_path: Path, config: str | None, expected: str | None
) -> None:
    if config is not None:
        (tmp_path / "gitconfig").write_text(config.format(here=tmp_path.as_posix()))
    assert excludes_file(tmp_path) == (None if expected is None else tmp_path / expected)


def test_without_a_setting_the_ignore_file_of_the_user_is_the_default_one(tmp_path: Path) -> None:
    write_tree(tmp_path, "#- xdg/git/ignore\n")
    assert excludes_file(tmp_path) == tmp_path / "xdg/git/ignore"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#- a.py\n", False),
        ("#- .git/config\n", False),
        ("#- .git/HEAD\n#- .git/objects/x\n#- .git/refs/x\n", True),
        ("#- .git\ngitdir: ../gone\n", True),
        ("#- .git\nno such thing\n", False),
    ],
)
def test_a_folder_is_a_repository_by_the_content_of_its_git_folder(tmp_path: Path, text: str, expected: bool) -> None:
    assert is_repository(write_tree(tmp_path, text)) is expected
