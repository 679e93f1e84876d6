"""Commands in odd environments: each has no effect, or is an error of one line."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from codecards.indexer.text.decoding import valid_unicode
from tests.support.indexed import write_repository

REPO = "#- a.py\ndef one():\n    return two()\n\n\ndef two():\n    return 'größe'\n"
needs_posix = pytest.mark.skipif(os.name == "nt", reason="there is no such thing on Windows")


def run(root: Path, *arguments: str, after: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command, with `after` in a shell and followed by it."""
    words = [sys.executable, "-m", "codecards", "-C", str(root), *arguments]
    command: str | list[str] = f"{shlex.join(words)} {after}" if after else words
    return subprocess.run(
        command,
        shell=bool(after),
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
        errors="replace",
        timeout=120,
    )


def messages(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.split("\n") if line and "building the index" not in line]


@needs_posix
@pytest.mark.parametrize(
    "variables",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"},
        {"HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent", "TMPDIR": "/nonexistent"},
        {"PYTHONWARNINGS": "error"},
        {"GIT_DIR": "/nonexistent", "GIT_WORK_TREE": "/", "GIT_INDEX_FILE": "/nonexistent"},
        {"PATH": "/nonexistent"},
        {"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "1"},
    ],
    ids=lambda variables: next(iter(variables)),
)
def test_odd_environments_do_not_change_the_answer(tmp_path: Path, variables: dict[str, str]) -> None:
    done = run(write_repository(tmp_path, REPO), "recall", "größe", "--json", **variables)
    assert (done.returncode, messages(done)) == (0, [])
    assert {hit["name"] for hit in json.loads(done.stdout)["hits"]} >= {"two"}


@needs_posix
def test_a_full_disk_is_an_error_of_one_line(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    done = run(write_repository(tmp_path, REPO), "symbols", "--json", after="> /dev/full")
    assert done.returncode == 3
    assert [line.partition(";")[0] for line in messages(done)] == ["codecards: system error: No space left on device"]


@needs_posix
def test_a_missing_current_folder_is_an_error_with_a_message(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    words = shlex.join([sys.executable, "-m", "codecards", "status"])
    done = subprocess.run(
        f"cd {gone} && rmdir {gone} && {words}",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert done.returncode == 3
    assert "the current folder no longer exists" in done.stderr


@needs_posix
def test_a_worker_ignores_ctrl_c() -> None:
    worker = subprocess.Popen(
        [sys.executable, "-m", "codecards.indexer.build.worker", "60"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write((8).to_bytes(4, "big") + b"python\0x")
    worker.stdin.flush()
    worker.stdout.read(4)  # the worker has started
    worker.send_signal(signal.SIGINT)
    _, errors = worker.communicate(timeout=60)
    assert (worker.returncode, errors) == (0, b"")


def test_an_index_inside_the_project_is_not_indexed(tmp_path: Path) -> None:
    root = write_repository(tmp_path, REPO)
    for _ in range(2):
        done = run(root, "--index", str(root / "own"), "index", "--json")
        assert json.loads(done.stdout)["files"]["seen"] == 1


@pytest.mark.parametrize(
    ("given", "read"),
    [("größe", "größe"), ("gr\udcc3\udcb6\udcc3\udc9fe", "größe"), ("\udcff", "\ufffd"), ("\ud800x", "?x")],
)
def test_invalid_unicode_in_a_query_is_replaced(given: str, read: str) -> None:
    assert valid_unicode(given) == read
