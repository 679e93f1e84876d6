"""Many threads read an engine while its index is refreshed."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from codecards import Engine, Settings
from tests.support.indexed import write_repository

N_READERS = 3
N_REFRESHES = 6
N_FILES = 12


def source(number: int, version: int) -> str:
    return f"def work_{number}(given):\n    '''Do the work number {number}.'''\n    return given + {version}\n"


def test_readers_get_complete_answers_while_the_index_is_refreshed(tmp_path: Path) -> None:
    """A generation stays open as long as a thread answers from it."""
    root = write_repository(tmp_path / "root", "".join(f"#- m{n}.py\n{source(n, 0)}" for n in range(N_FILES)))
    refreshed = threading.Event()

    def read(engine: Engine, number: int) -> list[int]:
        generations = []
        while not refreshed.is_set():
            recall = engine.recall(f"work_{number}")
            generations.append(recall.generation)
            assert recall.hits[0].card.qualified_name == f"work_{number}"
            assert engine.callers(f"work_{number}").target is not None
            assert len(engine.symbols()) == N_FILES
        return generations

    def renew(engine: Engine) -> None:
        try:
            for version in range(1, N_REFRESHES + 1):
                # Replaced at once, as editors do: a file that is being written is empty for a moment.
                new = tmp_path / "new.py"
                new.write_text(source(version % N_FILES, version), encoding="utf-8")
                new.replace(root / f"m{version % N_FILES}.py")
                engine.refresh()
        finally:
            refreshed.set()

    with Engine(root, Settings(n_workers=1)) as engine, ThreadPoolExecutor(N_READERS + 1) as threads:
        engine.refresh()
        first = engine.status().generation
        readers = [threads.submit(read, engine, number) for number in range(N_READERS)]
        threads.submit(renew, engine).result()
        for reader in readers:
            generations = reader.result()
            assert generations == sorted(generations)
            assert generations[0] >= first
        assert engine.status().generation == first + N_REFRESHES


def test_concurrent_refreshes_and_session_starts_take_turns(tmp_path: Path) -> None:
    root = write_repository(tmp_path, "".join(f"#- m{n}.py\n{source(n, 0)}" for n in range(N_FILES)))
    with Engine(root, Settings(n_workers=1, embedder="none")) as engine, ThreadPoolExecutor(4) as threads:
        reports = [one.result() for one in [threads.submit(engine.refresh) for _ in range(4)]]
        assert sum(report.n_read for report in reports) == N_FILES
        started = [threads.submit(engine.session, "same", goal="look") for _ in range(4)]
        assert {one.result().memory.task.goal for one in started} == {"look"}
