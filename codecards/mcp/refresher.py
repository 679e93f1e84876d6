"""Keeps the index of a served project up to date: one thread refreshes the index, another watches the files."""

import gc
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from codecards.engine import Engine
from codecards.errors import CodecardsError, ProjectError, WriterBusyError
from codecards.indexer.build.refresh import IndexReport
from codecards.indexer.walk.files import check_root
from codecards.mcp.process_memory import trim_heap
from codecards.project.watching import FileWatch

BUSY_RETRY_S = 1.0
"""Delay before the next attempt while another process writes the index."""
ROOT_RETRY_S = 2.0
"""Delay before the next attempt while the project's folder is missing."""
SHARE_OF_A_CORE = 0.2
"""Maximum share of one core for refreshes of files that keep changing."""
MAX_SPARE_S = 10.0
"""Seconds of work without a pause after a quiet time, so that single edits never wait."""
FRESH_WAIT_S = 0.4
"""Time that a question waits for a refresh in progress."""
CLOSE_WAIT_S = 0.3
"""Time that `close` waits for the refreshing thread."""
FIRST_QUESTION_S = 0.5
"""Time that the first build waits for the question for which the server may have been started."""
MAX_PAUSE_S = 1.0
"""Maximum time that a build pauses at once for questions that search the files."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Indexing:
    """State of the index run."""

    phase: str = ""
    """"reading", "linking" …; "" if no run is in progress."""
    n_done: int = 0
    n_total: int = 0
    error: str = ""
    """Why the last run failed."""

    def describe(self) -> str:
        """Return the state as a message; "" if no run is in progress and the last one succeeded."""
        if not self.phase:
            return f"indexing failed: {self.error}" if self.error else ""
        counted = f", {self.n_done} of {self.n_total} files" if self.phase in ("reading", "linking") else ""
        return f"indexing in progress ({self.phase}{counted})"


class ServerClosing(Exception):
    """The server ends: the build stops, and committed generations stay."""


class IndexRefresher:
    """Refreshes an index at the start, on request and whenever files change. Safe for several threads."""

    def __init__(self, engine: Engine, *, on_refreshed: Callable[[], None]) -> None:
        """Take the engine and a function that is called after each successful refresh."""
        self._engine = engine
        self._on_refreshed = on_refreshed
        self.indexing = Indexing()
        self._n_file_searches = 0
        self._closing = threading.Event()
        self._changed = threading.Event()
        self._asked = threading.Event()
        """Set once a question was answered from the files, or the index is wanted."""
        self._wake = threading.Event()
        """Set when a caller waits for a refresh."""
        self._settled = threading.Condition()
        self._n_runs = 0
        self._other_writes = False
        """Whether another process writes the index; its commit ends the wait."""
        self._threads: list[threading.Thread] = []
        self._last_report: IndexReport | None = None
        self.watch = FileWatch(engine.root, engine.folder.path, engine.may_have_changed, _log.warning, self._closing)
        """Waits for changes of the files."""

    def start(self) -> None:
        """Refresh and watch in the background; a second call does nothing."""
        if self._threads:
            return
        self._threads = [
            threading.Thread(target=target, name=f"codecards{target.__name__}", daemon=True)
            for target in (self._refresh_loop, self._watch)
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Ask the threads to end."""
        self._closing.set()
        self._asked.set()
        self._changed.set()
        self._wake.set()

    def join(self) -> None:
        """Wait a little for the thread that writes; the watching thread ends by itself."""
        for thread in self._threads[:1]:
            thread.join(CLOSE_WAIT_S)

    def request(self) -> None:
        """Have the index refreshed, without waiting."""
        self._changed.set()

    def refresh(self, cancelled: Callable[[], bool]) -> IndexReport | None:
        """Refresh the index and wait for it; return None if the caller gave up or another process refreshes.

        Raises:
            CodecardsError: The refresh failed.
        """
        with self._settled:
            # A run in progress may have missed a change, so wait for the one after it.
            wanted = self._n_runs + (2 if self.indexing.phase else 1)
        self._asked.set()
        self._changed.set()
        while not cancelled() and not self._closing.is_set():
            self._wake.set()
            with self._settled:
                if self._n_runs >= wanted:
                    break
                self._settled.wait(0.1)
        if self.indexing.error:
            raise ProjectError(self.indexing.error)
        return self._last_report

    def wait_until_fresh(self) -> None:
        """Give a refresh in progress a moment, so that code just written is found."""
        deadline = time.monotonic() + FRESH_WAIT_S
        while self._engine.folder.manifest_path.exists() and self._is_behind() and time.monotonic() < deadline:
            self._wake.set()
            with self._settled:
                self._settled.wait(0.05)

    @contextmanager
    def paused_for_file_search(self) -> Iterator[None]:
        """Let the build pause while a question is answered from the files."""
        self._n_file_searches += 1
        try:
            yield
        finally:
            self._n_file_searches -= 1
            self._asked.set()

    def _is_behind(self) -> bool:
        if self._other_writes or not self._threads:
            return False
        return self._changed.is_set() or bool(self.indexing.phase)

    def _refresh_loop(self) -> None:
        """Refresh at the start and whenever files have changed, until the end."""
        self._wait_for_first_question()
        load_index(self._engine)
        self._changed.set()
        spare_s, last_end = MAX_SPARE_S, time.monotonic()
        while True:
            self._changed.wait()
            if self._closing.is_set():
                return
            self._changed.clear()
            started = time.monotonic()
            retry_s = self._run()
            if retry_s is not None:
                self._changed.set()
            # Files that keep changing, such as a build's output, cost at most a share of one core.
            idle_s, ended = started - last_end, time.monotonic()
            spare_s = min(MAX_SPARE_S, spare_s + idle_s * SHARE_OF_A_CORE) - (ended - started)
            last_end = ended
            self._wake.wait(retry_s or max(0.0, -spare_s / SHARE_OF_A_CORE))
            self._wake.clear()

    def _run(self) -> float | None:
        """Refresh once; return the seconds until the next attempt, None if none is needed."""
        retry_s, error = None, ""
        self.indexing = Indexing("looking")
        try:
            check_root(self._engine.root)
            self._last_report = self._engine.refresh(progress=self._on_progress)
        except ServerClosing:
            return None
        except WriterBusyError as busy:
            _log.info("%s: %s", self._engine.root.name, busy)
            retry_s = BUSY_RETRY_S
        except CodecardsError as failed:
            error = str(failed)
            _log.warning("%s: indexing failed: %s", self._engine.root.name, error)
            retry_s = ROOT_RETRY_S if not self._engine.root.exists() else None
        except Exception as failed:  # the outermost frame of this thread: nobody else would report the error
            error = f"internal error: {type(failed).__name__}: {failed}"
            _log.exception("%s: indexing failed", self._engine.root.name)
        self._other_writes = retry_s == BUSY_RETRY_S
        with self._settled:
            self.indexing = Indexing(error=error)
            self._n_runs += retry_s is None or bool(error)
            self._settled.notify_all()
        load_index(self._engine)
        if not error and retry_s is None:
            self._on_refreshed()
        gc.collect()  # readers of older generations keep their files open until they are collected
        trim_heap()
        return retry_s

    def _on_progress(self, phase: str, n_done: int, n_total: int) -> None:
        """Record the progress of a build; pause for questions that search the files; stop if the server ends."""
        self.indexing = Indexing(phase, n_done, n_total)
        self._pause_for_file_searches()
        if self._closing.is_set():
            raise ServerClosing

    def _pause_for_file_searches(self) -> None:
        deadline = time.monotonic() + MAX_PAUSE_S
        while self._n_file_searches and not self._closing.is_set() and time.monotonic() < deadline:
            time.sleep(0.01)

    def _wait_for_first_question(self) -> None:
        """Delay indexing and watching until the first question is answered."""
        if not self._engine.folder.manifest_path.exists():
            self._asked.wait(FIRST_QUESTION_S)
            self._pause_for_file_searches()

    def _watch(self) -> None:
        """Request a refresh after every change of the project's files, until the end."""
        self._wait_for_first_question()
        while not self._closing.is_set():
            for _ in self.watch.changes():
                self._changed.set()
            # The folder is gone.
            self._changed.set()
            self._closing.wait(ROOT_RETRY_S)


def load_index(engine: Engine) -> None:
    """Load the parts of an index that a question needs, so that the next question does not wait for them."""
    with suppress(CodecardsError):
        if engine.folder.manifest_path.exists():
            engine.recall("main", limit=1)
