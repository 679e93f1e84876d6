"""Tasks are mined from a project's own history."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from codecards.errors import UsageError
from codecards.indexer.build.worker_pool import Workers
from codecards.tuning.commit_tasks import MinedTasks, mine_tasks, question_of
from tests.support.indexed import build, snapshot_of
from tests.support.working_trees import git, git_environment, needs_git, write_tree

pytestmark = needs_git

STORE = """\
#- store.py
class Store:
    def purge(self, now):
        return now

    def read(self, key):
        return key
"""
PURGED = STORE.replace("return now", "return now + 1")


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers(1) as made:
        yield made


def commit(root: Path, message: str, files: str = "") -> None:
    """Write files and commit all."""
    write_tree(root, files)
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message)


def mined(root: Path, workers: Workers) -> MinedTasks:
    """Return the tasks of a repository in its current state."""
    build(root, workers)
    with snapshot_of(root) as snapshot:
        return mine_tasks(root, snapshot, workers, 100)


def test_a_commit_asks_for_the_symbols_that_it_changed_and_that_still_exist(tmp_path: Path, workers: Workers) -> None:
    git(tmp_path, "init", "-q")
    commit(tmp_path, "Add a store for session values", STORE)
    commit(tmp_path, "fix(store): purge values that have expired (#123)", PURGED)
    commit(tmp_path, "Read returns a copy of the value", PURGED.replace("return key", "return key + key"))
    commit(tmp_path, "Call reading what it is called elsewhere", PURGED.replace("def read", "def fetch"))
    tasks = mined(tmp_path, workers).tasks
    assert [(task.text, task.paths, task.symbol_ids) for task in tasks] == [
        ("Add a store for session values", ("store.py",), ("store.py::Store", "store.py::Store.purge")),
        ("store purge values that have expired", ("store.py",), ("store.py::Store.purge",)),
        ("Read returns a copy of the value", ("store.py",), ()),  # Store.read is called otherwise now
        ("Call reading what it is called elsewhere", ("store.py",), ("store.py::Store.fetch",)),
    ]


def test_commits_without_a_question_are_left_out_and_counted(tmp_path: Path, workers: Workers) -> None:
    git(tmp_path, "init", "-q")
    commit(tmp_path, "Add a store for session values", STORE)
    commit(tmp_path, "Bump version to 1.2.3", "#- store.py\n# 1\n")
    commit(tmp_path, 'Revert "Make the store faster"', "#- store.py\n# 2\n")
    commit(tmp_path, "Fix it", "#- store.py\n# 3\n")
    commit(tmp_path, "Reformat the whole store with a tool", "#- store.py\n# 4\n")
    commit(tmp_path, "Explain the store to its readers", "#- README.md\n# Store\n")
    commit(
        tmp_path, "Import a very large table of values", "#- table.py\n" + "".join(f"v{n} = {n}\n" for n in range(500))
    )
    git(tmp_path, "checkout", "-q", "-b", "side", "HEAD~1")
    commit(tmp_path, "Count values on another branch", "#- side.py\ndef count():\n    return 1\n")
    git(tmp_path, "checkout", "-q", "main")
    git(tmp_path, "merge", "-q", "--no-ff", "-m", "Merge the branch that counts values", "side")
    found = mined(tmp_path, workers)
    assert [task.text for task in found.tasks] == ["Add a store for session values", "Count values on another branch"]
    assert found.left_out == {"version": 1, "revert": 1, "short": 1, "style": 1, "no_code_now": 1, "huge": 1}
    assert found.n_commits == 8


def test_a_file_that_moved_under_a_new_folder_is_found_there(tmp_path: Path, workers: Workers) -> None:
    git(tmp_path, "init", "-q")
    commit(tmp_path, "Add a store for session values", STORE)
    (tmp_path / "src").mkdir()
    git(tmp_path, "mv", "store.py", "src/store.py")
    git(tmp_path, "commit", "-q", "-m", "Move the sources below one folder")
    first = mined(tmp_path, workers).tasks[0]
    assert first.paths == ("src/store.py",)
    assert "src/store.py::Store.purge" in first.symbol_ids


def test_a_folder_without_history_is_an_error(tmp_path: Path, workers: Workers) -> None:
    write_tree(tmp_path, STORE)
    with pytest.raises(UsageError, match="no git history"):
        mined(tmp_path, workers)


@pytest.mark.parametrize(
    ("subject", "question"),
    [
        ("feat(parser)!: accept empty input (#1234)", "parser accept empty input"),
        ("[3.2.x] Fixed #30421 -- Allowed symmetrical m2m", "Fixed -- Allowed symmetrical m2m"),
        ("Close idle sockets sooner", "Close idle sockets sooner"),
    ],
)
def test_a_question_is_the_subject_without_its_labels(subject: str, question: str) -> None:
    assert question_of(subject) == question


@pytest.mark.skipif(os.name == "nt", reason="the programs are written for a POSIX shell")
def test_no_program_named_by_the_repository_is_run(tmp_path: Path, workers: Workers) -> None:
    root, mark = tmp_path / "repo", tmp_path / "was-run"
    root.mkdir()
    git(root, "init", "-q")
    commit(root, "Add a store for session values", STORE + "#- .gitattributes\n*.py diff=evil\n")
    signed = git(root, "cat-file", "commit", "HEAD").replace(
        b"\n\n", b"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n\n", 1
    )
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        cwd=root,
        input=signed,
        env=git_environment(),
        capture_output=True,
        check=True,
    )
    git(root, "update-ref", "refs/heads/main", made.stdout.decode().strip())
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{mark}'\ncat \"$1\" 2>/dev/null\n")
    program.chmod(0o755)
    for name in (
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "gpg.program",
        "core.fsmonitor",
        "core.pager",
    ):
        git(root, "config", name, str(program))
    git(root, "config", "log.showSignature", "true")
    assert [task.text for task in mined(root, workers).tasks] == ["Add a store for session values"]
    assert not mark.exists()
    git(root, "log", "-p")  # the program works where it is let
    assert mark.exists()
