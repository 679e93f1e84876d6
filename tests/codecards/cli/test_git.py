"""Nothing of codecards enters a commit but notes, and no checkout fails for it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import codecards

LONG = "print(*range(9_000), sep=chr(10))"
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(["git", *who, *arguments], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a.py").write_text("def one(): return 1\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "start")
    return tmp_path


@pytest.mark.parametrize(
    "command", [("index",), ("session", "start", "task", "--goal", "g"), ("run", "--", sys.executable, "-c", LONG)]
)
def test_git_sees_nothing_of_what_a_command_writes(repository: Path, command: tuple[str, ...]) -> None:
    assert codecards(repository, *command).returncode == 0
    assert (repository / ".codecards").is_dir()
    assert git(repository, "status", "--short") == ""


def test_commits_hold_notes_only_and_branches_can_be_switched(repository: Path) -> None:
    assert codecards(repository, "index").returncode == 0
    git(repository, "checkout", "-q", "-b", "topic")
    assert codecards(repository, "note", "add", "--text", "one returns 1").returncode == 0
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "topic")
    added = git(repository, "show", "--name-only", "--format=", "HEAD").split()
    assert [name.rpartition("/")[0] for name in added] == [".codecards/archive"]
    git(repository, "checkout", "-q", "main")
    assert codecards(repository, "symbols").returncode == 0
    assert git(repository, "status", "--short") == ""
    git(repository, "checkout", "-q", "topic")


def test_a_branch_that_tracks_the_ignore_file_can_be_switched_to(repository: Path) -> None:
    git(repository, "checkout", "-q", "-b", "old")
    (repository / ".codecards").mkdir()
    (repository / ".codecards" / ".gitignore").write_text("*\n!archive/\n!archive/**\n!.gitignore\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "as an earlier version wrote it")
    assert codecards(repository, "index").returncode == 0
    git(repository, "checkout", "-q", "main")
    assert codecards(repository, "recall", "one").returncode == 0  # a question puts the file back
    assert git(repository, "status", "--short") == ""
    git(repository, "checkout", "-q", "old")
