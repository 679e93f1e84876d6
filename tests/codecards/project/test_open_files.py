"""A process that holds many projects opens few files a project, and says what to do when it may open no more."""

import subprocess
import sys
from pathlib import Path

import pytest

from codecards.config import Settings
from codecards.engine import Engine
from codecards.indexer.build.worker_pool import Workers
from codecards.indexer.store.snapshot import Snapshot
from tests.support.indexed import build, index_of, write_repository

psutil = pytest.importorskip("psutil")
TOO_MANY = """
import os, sys
from pathlib import Path
from codecards.config import Settings
from codecards.engine import Engine
from codecards.errors import TooManyFilesError
root, other = Path(sys.argv[1]), Path(sys.argv[2])
for name in "12":
    other.mkdir(exist_ok=True)
    (other / "a.py").write_text(f"def one(): return {name}")
    with Engine(other, Settings(n_workers=1)) as warm:  # imports all that is needed
        warm.refresh()
        warm.recall("one")
engine = Engine(root, Settings(n_workers=1))
held = []
while True:
    try:
        held.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        break
if sys.argv[3] == "some":
    for one in held[-6:]:
        os.close(one)
try:
    engine.recall("one") if sys.argv[4] == "recall" else engine.refresh()
except TooManyFilesError as error:
    for one in held[:6]:
        os.close(one)
    print(error)
"""


def n_open_files() -> int:
    return int(psutil.Process().num_fds())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows counts handles")
def test_a_snapshot_holds_at_most_four_files_open_whatever_is_committed(tmp_path: Path, workers: Workers) -> None:
    write_repository(tmp_path, "#- a.py\ndef one(): pass\n")
    build(tmp_path, workers)
    before = n_open_files()
    snapshots = [Snapshot(index_of(tmp_path).database)]
    for number in range(5):
        (tmp_path / "a.py").write_text(f"def one(): return {number}\n")
        build(tmp_path, workers)
        assert not snapshots[0].is_newest()
    assert n_open_files() - before <= 4
    snapshots[0].close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize("room", ["none", "some"])
@pytest.mark.parametrize("what", ["recall", "refresh"])
def test_too_many_open_files_is_an_error_that_says_what_to_do(tmp_path: Path, room: str, what: str) -> None:
    root = write_repository(tmp_path / "project", "#- a.py\ndef one(): pass\n")
    with Engine(root, Settings(n_workers=1)) as engine:
        engine.refresh()
    (root / "a.py").write_text("def one(): return 2\n")
    script = tmp_path / "script.py"
    script.write_text(TOO_MANY)
    command = f"ulimit -n 100; exec {sys.executable} {script} {root} {tmp_path / 'other'} {room} {what}"
    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert "ulimit -n" in run.stdout, run.stderr
    with Engine(root, Settings(n_workers=1)) as engine:
        assert engine.symbols(name="one")  # nothing was taken for removed


def test_projects_asked_least_recently_are_closed_and_opened_again(tmp_path: Path) -> None:
    engines = []
    for number in range(6):
        root = write_repository(tmp_path / f"p{number}", f"#- a.py\ndef one{number}(): pass\n")
        engines.append(Engine(root, Settings(n_workers=1, embedder="none", transformer=False, max_open_projects=2)))
        engines[-1].refresh()
    for _ in range(2):
        for number, engine in enumerate(engines):
            assert [card.name for card in engine.symbols()] == [f"one{number}"]
    is_open = [engine._index.readers.is_open() for engine in engines]
    for engine in engines:
        engine.close()
    assert is_open == [False, False, False, False, True, True]
