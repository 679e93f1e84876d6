"""Changes of files are told by events, and by looking where the system gives none."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import watchfiles

from codecards.project import watching
from codecards.project.watching import FileWatch, file_system_without_events, why_no_events


class Looks:
    """Looks at the files: says what a test sets."""

    def __init__(self) -> None:
        self.has_changed = False
        self.n_looks = 0

    def __call__(self) -> bool:
        """Look."""
        self.n_looks += 1
        return self.has_changed


@pytest.fixture
def stopping() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_a_change_of_a_file_is_told_and_one_of_git_or_the_index_is_not(
    tmp_path: Path, stopping: threading.Event
) -> None:
    root = tmp_path / "tree"
    (root / ".git").mkdir(parents=True)
    (root / ".codecards" / "index").mkdir(parents=True)
    watch = FileWatch(root, root / ".codecards" / "index", Looks(), stopping=stopping)
    seen, running = threading.Semaphore(0), threading.Event()

    def run() -> None:
        running.set()
        for _ in watch.changes():
            seen.release()

    threading.Thread(target=run, daemon=True).start()
    running.wait(10)
    for number in range(200):  # the system may take a moment until it watches
        (root / "a.py").write_text(f"x = {number}")
        if seen.acquire(timeout=0.3):
            break
    else:
        pytest.fail("no change was told")
    while seen.acquire(timeout=0.6):
        pass
    (root / ".git" / "index").write_text("1")
    (root / ".codecards" / "index" / "snapshot.db").write_text("1")
    assert not seen.acquire(timeout=0.6)
    assert watch.polls_because == ""


def test_at_the_watch_limit_files_are_looked_at_and_it_is_said(
    tmp_path: Path, stopping: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_paths: object, **_options: object) -> Iterator[object]:
        raise OSError("OS file watch limit reached. about [/x]")

    monkeypatch.setattr(watchfiles, "watch", refused)
    monkeypatch.setattr(watching, "POLL_S", 0.01)
    look, told = Looks(), list[str]()
    watch = FileWatch(tmp_path, tmp_path / "index", look, told.append, stopping)
    changes = watch.changes()
    next(changes)  # what changed before the first look was not seen
    look.has_changed = True
    next(changes)
    next(changes)
    assert look.n_looks == 2
    assert "max_user_watches" in watch.polls_because
    assert len(told) == 1
    assert "max_user_watches" in told[0]


def test_events_are_tried_again_after_a_while(
    tmp_path: Path, stopping: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[object] = [OSError("limit"), [{"a"}, {"b"}]]

    def watch(*_paths: object, **_options: object) -> Iterator[object]:
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        assert isinstance(answer, list)
        yield from answer
        stopping.set()

    monkeypatch.setattr(watchfiles, "watch", watch)
    monkeypatch.setattr(watching, "RETRY_EVENTS_S", 0.0)
    file_watch = FileWatch(tmp_path, tmp_path / "index", Looks(), stopping=stopping)
    assert len(list(file_watch.changes())) == 3  # once for what was missed, then two events
    assert file_watch.polls_because == ""


@pytest.mark.parametrize(("kind", "polls"), [("ext4", False), ("nfs4", True), ("fuse.sshfs", True), ("overlay", False)])
def test_network_drives_are_recognised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, polls: bool) -> None:
    mounts = tmp_path / "mountinfo"
    place = tmp_path / "with space" / "tree"
    place.mkdir(parents=True)
    at = str(place.parent.resolve()).replace(" ", "\\040")
    mounts.write_text(f"1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:40 / {at} rw,relatime shared:1 - {kind} host:/x rw\n")
    monkeypatch.setattr(watching, "MOUNTS", mounts)
    monkeypatch.setattr("codecards.project.watching.sys.platform", "linux")
    assert bool(file_system_without_events(place)) == polls
    assert not file_system_without_events(tmp_path)


def test_reasons_say_what_to_raise() -> None:
    assert "max_user_instances" in why_no_events(OSError("Too many open files (os error 24)"))
    assert "max_user_watches" in why_no_events(RuntimeError("No space left on device (os error 28)"))
