"""Sessions derived from a git history: the real parts and those added by rule."""

import os
import subprocess
from pathlib import Path

import pytest

from benchmarks.sessions.from_history import Commit, RecordedChange, mine_sessions, runs
from benchmarks.sessions.recordings import Recording
from benchmarks.sessions.run import main

STORE = "".join(f"ITEM_{number} = {number}\n" for number in range(40)) + "\n\ndef load_store(path):\n    return path\n"
VIEWS = """\
from store import load_store


def show_all(path):
    items = load_store(path)
    return items


def show_none():
    return []
"""


def commit(root: Path, message: str, time: int = 1_700_000_000, author: str = "ada", **texts: str) -> None:
    for name, text in texts.items():
        (root / f"{name}.py").write_text(text, encoding="utf-8")
    date = f"{time} +0000"
    environment = {
        **os.environ,
        "GIT_AUTHOR_NAME": author,
        "GIT_AUTHOR_EMAIL": author,
        "GIT_COMMITTER_NAME": author,
        "GIT_COMMITTER_EMAIL": author,
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_DATE": date,
    }
    for arguments in (["add", "-A"], ["commit", "-q", "-m", message]):
        subprocess.run(["git", *arguments], cwd=root, check=True, env=environment)


@pytest.fixture
def history(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    commit(tmp_path, "Begin with a store and its views", store=STORE, views=VIEWS)
    changed = VIEWS.replace("return items", "return sorted(items)").replace("return []", "return ()")
    commit(tmp_path, "Sort what the views show", views=changed, test_views="def test_show():\n    pass\n")
    again = changed.replace("return ()", "return None")
    commit(tmp_path, "Return nothing where nothing is shown", 1_700_003_600, views=again)
    commit(tmp_path, "bump version to 1.1", 1_700_900_000, store=STORE + "VERSION = 2\n")
    return tmp_path


def mined(history: Path, monkeypatch: pytest.MonkeyPatch) -> Recording:
    monkeypatch.setattr("benchmarks.sessions.from_history.MIN_TURNS", 1)
    [session] = mine_sessions(history)
    return session


def test_neighbouring_commits_on_one_file_are_one_task_and_their_messages_its_goal(
    history: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = mined(history, monkeypatch)
    assert session.task == "Sort what the views show\n\nReturn nothing where nothing is shown"
    assert session.read("views.py") == VIEWS


def test_places_and_their_callees_are_read_before_anything_is_changed(
    history: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = [
        (event.kind, event.path, event.first_line, event.last_line) for event in mined(history, monkeypatch).events
    ]
    assert events[:4] == [
        ("read", "views.py", 4, 6),
        ("read", "store.py", 43, 44),
        ("read", "views.py", 9, 10),
        ("edit", "views.py", 6, 6),
    ]
    assert events[4:7] == [("edit", "views.py", 10, 10), ("create", "test_views.py", 0, 0), ("run", "", 0, 0)]
    assert [event.turn for event in mined(history, monkeypatch).events] == [*range(1, len(events) + 1)]


def test_a_pause_or_another_author_or_other_files_start_another_task() -> None:
    def made(time: int, author: str, path: str) -> Commit:
        return Commit("c", "p", author, time, "do this and that", "", (RecordedChange(path, False, ()),))

    first = made(0, "ada", "a.py")
    others = [made(5, "ada", "b.py"), made(5, "bob", "a.py"), made(5 * 3600, "ada", "a.py"), made(-5, "ada", "a.py")]
    assert [len(runs([first, other])) for other in others] == [2, 2, 2, 2]
    assert len(runs([first, made(5, "ada", "a.py")])) == 1


def test_a_folder_without_history_gives_no_session(tmp_path: Path) -> None:
    assert mine_sessions(tmp_path) == []


def test_the_command_replays_derived_sessions_and_calls_them_synthetic(
    history: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.sessions.from_history.MIN_TURNS", 1)
    assert main(["--history", str(history), "--budget", "2000", "--policy", "ours", "--policy", "fifo"]) == 0
    printed = capsys.readouterr().out
    assert "by rule (synthetic): 1 sessions" in printed
    assert "| ours | 2000 |" in printed
    assert main(["--history", str(history / "none")]) == 3
