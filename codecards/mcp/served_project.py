"""Served project: one project that a server answers for: its engine, its index kept up to date, its changes watched.

**Invariant:** a question never waits for a build: while there is no index, the files themselves are searched.
"""

import gc
import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from codecards.answers import Recall
from codecards.config import Settings
from codecards.engine import Engine
from codecards.errors import (
    CodecardsError,
    ProjectError,
    SnapshotError,
    TargetNotFoundError,
    UsageError,
    WriterBusyError,
)
from codecards.features.live_search import live_recall
from codecards.indexer.build.refresh import IndexReport
from codecards.indexer.walk.files import check_root
from codecards.mcp.background import VectorBackfill
from codecards.mcp.process_memory import trim_heap
from codecards.project.watching import FileWatch
from codecards.router.session_defaults import DEFAULT_BUDGET_TOKENS

# The working memory is loaded by the first call that is about it: an agent's first question comes before that.
if TYPE_CHECKING:
    from codecards.router.notes.note import Note
    from codecards.router.session import Session
from codecards.router.compress.summaries import SummariserConfig

BUSY_RETRY_S = 1.0
"""How soon to look again whether another process has finished writing."""
ROOT_RETRY_S = 2.0
SHARE_OF_A_CORE = 0.2
"""At most this part of one core goes into looking at files that keep changing."""
MAX_SPARE_S = 10.0
"""Seconds of work that may be taken in without a pause after a quiet time: single edits never wait."""
FRESH_WAIT_S = 0.4
"""How long a question waits for changes that are being taken in."""
CLOSE_WAIT_S = 0.3
FIRST_QUESTION_S = 0.5
"""How long a first build waits for the question that the server may have been started for."""
MAX_PAUSE_S = 1.0
"""How long a build makes room for questions at a time."""

Answer = TypeVar("Answer")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Indexing:
    """What is being done to the index."""

    phase: str = ""
    """"reading", "linking" …; "" when nothing is being done."""
    n_done: int = 0
    n_total: int = 0
    error: str = ""
    """Why the last run failed."""

    def words(self) -> str:
        """Return it in words."""
        if not self.phase:
            return f"indexing failed: {self.error}" if self.error else ""
        counted = f", {self.n_done} of {self.n_total} files" if self.phase in ("reading", "linking") else ""
        return f"indexing is under way ({self.phase}{counted})"


class ServerClosing(Exception):
    """The server ends; a build that hears of it stops, and what was committed before stays."""


class ServedProject:
    """One project; `start` it once, `close` it at the end. Safe for several threads."""

    def __init__(self, root: Path, settings: Settings, *, read_only: bool = False, session: str = "mcp") -> None:
        """Take a project's folder; with `read_only` nothing is written, the index least of all.

        Args:
            root: The folder.
            settings: Those of the engine.
            read_only: Whether nothing may be written.
            session: Name of the working memory.

        Raises:
            ProjectNotFoundError: There is no such folder.
        """
        check_root(root)
        self.root = root.resolve()
        self.engine = Engine(self.root, settings)
        self.engine.transformer.waits_for_model = False
        self.filling = VectorBackfill(self.engine, lambda: bool(self.indexing.phase))
        """Fills the deep lane."""
        self.read_only = read_only
        self._session_name = session
        self.indexing = Indexing()
        self._n_live = 0
        self._closing = threading.Event()
        self._changed = threading.Event()
        self._asked = threading.Event()
        """Set when a question was answered from the files, or somebody wants the index."""
        self._wake = threading.Event()
        """Set when somebody waits for what has changed."""
        self._settled = threading.Condition()
        self._n_runs = 0
        self._other_writes = False
        """Whether another process holds the index: what it takes in is seen when it is done."""
        self._threads: list[threading.Thread] = []
        self.watch = FileWatch(
            self.root, self.engine.folder.path, self.engine.may_have_changed, _log.warning, self._closing
        )
        self._last_report: IndexReport | None = None

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.root.name or str(self.root)

    def start(self) -> None:
        """Open the index, bring it up to date, and watch the files, all in the background; a second call does nothing."""
        if self._threads:
            return
        work = [self._warm] if self.read_only else [self._refresh_loop, self._watch]
        self._threads = [threading.Thread(target=one, name=f"codecards{one.__name__}", daemon=True) for one in work]
        for thread in self._threads:
            thread.start()
        self.filling.start(fills=not self.read_only)

    def close(self) -> None:
        """Stop all that goes on, and end the worker processes."""
        self._closing.set()
        self._asked.set()
        self.filling.close()
        self._changed.set()
        self._wake.set()
        deadline = time.monotonic() + CLOSE_WAIT_S
        for thread in self._threads[:1]:  # the one that writes; the other ends by itself
            thread.join(max(0.0, deadline - time.monotonic()))
        self.engine.kill_workers()
        self.engine.close()

    def ask(self, question: Callable[[Engine], Answer]) -> Answer:
        """Return what a question to the engine gives.

        Raises:
            ProjectNotFoundError: The project's folder is gone.
            SnapshotError: There is no index yet, or none that can be read.
        """
        self._check()
        self._wait_until_fresh()
        try:
            return question(self.engine)
        except SnapshotError as error:
            self._schedule_rebuild(error)
            raise

    def recall(self, query: str, limit: int, paths: tuple[str, ...], languages: tuple[str, ...]) -> Recall:
        """Return the answer to a question: from the index, or from the files while there is none."""
        self._check()
        self._wait_until_fresh()
        if self.has_index():
            try:
                return self.engine.recall(query, limit=limit, paths=paths, languages=languages)
            except SnapshotError as error:
                self._schedule_rebuild(error)
        self._n_live += 1
        try:
            discovery = self.engine.settings.build.discovery
            return live_recall(self.root, query, limit, discovery, time.monotonic(), paths=paths, languages=languages)
        finally:
            self._n_live -= 1
            self._asked.set()

    def has_index(self) -> bool:
        """Return whether a first index was committed. Cheap."""
        return self.engine.folder.manifest_path.exists()

    def refresh(self, cancelled: Callable[[], bool]) -> IndexReport | None:
        """Bring the index up to date and wait for it; None where the caller gave up or another process does it.

        Raises:
            CodecardsError: It failed.
        """
        self._check()
        with self._settled:
            wanted = self._n_runs + (
                2 if self.indexing.phase else 1
            )  # a run that is under way may have missed something
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

    def session(
        self,
        goal: str = "",
        budget_tokens: int = DEFAULT_BUDGET_TOKENS,
        constraints: Sequence[str] = (),
        summarising: SummariserConfig | None = None,
    ) -> "Session":
        """Return the working memory of this connection; it is made when it is first needed.

        Args:
            goal: Takes the place of the one before.
            budget_tokens: Of a new session.
            constraints: Of a new session.
            summarising: Who words memos and compactions.

        Raises:
            CodecardsError: It can't be read or written.
        """
        from codecards.agents.hooks import NO_GOAL

        self._check()
        name, known = self._session_name, self.engine.sessions.exists
        wanted = goal.strip() or (None if known(name) else NO_GOAL)
        try:
            return self.engine.session(
                name, goal=wanted, budget_tokens=budget_tokens, constraints=constraints, summariser=summarising
            )
        except UsageError:
            if goal.strip() or not known(name):
                raise
            return self.engine.session(name, summariser=summarising)  # another server of the same moment was quicker

    def notes(self) -> "list[Note]":
        """Return the notes of the archive, newest first."""
        self._check()
        return sorted(self.engine.archive.notes(archived=False), key=lambda note: note.created, reverse=True)

    def note(self, note_id: str) -> "Note":
        """Return a note, with what has become of the code that it speaks of.

        Raises:
            TargetNotFoundError: There is no such note.
        """
        from codecards.router.notes.note import with_states

        self._check()
        note = self.engine.archive.show(note_id)
        return with_states(note, self.engine.anchors) if self.has_index() else note

    def digest(self, written: str) -> tuple[str, str]:
        """Return (a file's path, its code card).

        Raises:
            TargetNotFoundError: There is no such file that may be shown.
            OutsideProjectError: The path leads out of the project.
        """
        self._check()
        project = self.engine.project
        path = project.resolve_path(written)
        text = project.texts.read(path)
        if text is None:
            raise TargetNotFoundError(written, what="file that may be shown")
        return path, project.digester.digest(path, text.text)

    # below: how it is done

    def _check(self) -> None:
        try:
            check_root(self.root)
        except ProjectError:
            self.engine.close()  # what is open belongs to a folder that is gone
            self._changed.set()
            raise
        if not self.has_index() and not self.read_only and not self.indexing.phase and not self.indexing.error:
            self._changed.set()  # somebody has removed it

    def _schedule_rebuild(self, error: SnapshotError) -> None:
        """Have an index made that can be read, unless that is going on."""
        _log.info("%s: %s", self.name, error)
        if not self.indexing.phase:
            self._changed.set()

    def _wait_until_fresh(self) -> None:
        """Give changes that are being taken in a moment, so that what was just written is found."""
        deadline = time.monotonic() + FRESH_WAIT_S
        while self.has_index() and self._is_behind() and time.monotonic() < deadline:
            self._wake.set()
            with self._settled:
                self._settled.wait(0.05)

    def _is_behind(self) -> bool:
        if self.read_only or self._other_writes or not self._threads:
            return False
        return self._changed.is_set() or bool(self.indexing.phase)

    def _warm(self) -> None:
        """Open what answers a question, so that the next one need not wait for it."""
        with suppress(CodecardsError):
            if self.has_index():
                self.engine.recall("main", limit=1)

    def _refresh_loop(self) -> None:
        """Refresh at the start and whenever something has changed, until the end."""
        self._let_first_question_pass()
        self._warm()
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
            # Files that change all the time, such as a build's output, are looked at now and then.
            n_idle_s, ended = started - last_end, time.monotonic()
            spare_s = min(MAX_SPARE_S, spare_s + n_idle_s * SHARE_OF_A_CORE) - (ended - started)
            last_end = ended
            self._wake.wait(retry_s or max(0.0, -spare_s / SHARE_OF_A_CORE))
            self._wake.clear()

    def _run(self) -> float | None:
        """Refresh once; return the seconds after which to try again, None if that is not needed."""
        again, error = None, ""
        self.indexing = Indexing("looking")
        try:
            check_root(self.root)
            self._last_report = self.engine.refresh(progress=self._told)
        except ServerClosing:
            return None
        except WriterBusyError as busy:
            _log.info("%s: %s", self.name, busy)
            again = BUSY_RETRY_S
        except CodecardsError as failed:
            error = str(failed)
            _log.warning("%s: indexing failed: %s", self.name, error)
            again = ROOT_RETRY_S if not self.root.exists() else None
        except Exception as failed:  # the outlet of this thread: nobody else would hear of it
            error = f"internal error: {type(failed).__name__}: {failed}"
            _log.exception("%s: indexing failed", self.name)
        self._other_writes = again == BUSY_RETRY_S
        with self._settled:
            self.indexing = Indexing(error=error)
            self._n_runs += again is None or bool(error)
            self._settled.notify_all()
        self._warm()
        if not error and again is None:
            self.filling.wake()
        gc.collect()  # what answered from older generations holds their files open until it is collected
        trim_heap()
        return again

    def _told(self, phase: str, n_done: int, n_total: int) -> None:
        """Note how far a build is; make room for questions that read the files themselves; stop if the server ends."""
        self.indexing = Indexing(phase, n_done, n_total)
        self._make_room()
        if self._closing.is_set():
            raise ServerClosing

    def _make_room(self) -> None:
        """Wait a little for questions that read the files themselves."""
        deadline = time.monotonic() + MAX_PAUSE_S
        while self._n_live and not self._closing.is_set() and time.monotonic() < deadline:
            time.sleep(0.01)

    def _let_first_question_pass(self) -> None:
        """Give the first question the machine: what builds and watches, and all that it loads, comes after it."""
        if not self.has_index():
            self._asked.wait(FIRST_QUESTION_S)
            self._make_room()

    def _watch(self) -> None:
        """Note every change of the project's files, until the end."""
        self._let_first_question_pass()
        while not self._closing.is_set():
            for _ in self.watch.changes():
                self._changed.set()
            # The folder is gone.
            self._changed.set()
            self._closing.wait(ROOT_RETRY_S)
