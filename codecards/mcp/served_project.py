"""One project that the server answers for.

**Invariant:** a question never waits for a build: without an index, the files themselves are searched.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from codecards.answers import Recall
from codecards.config import Settings
from codecards.engine import Engine
from codecards.errors import ProjectError, SnapshotError, TargetNotFoundError, UsageError
from codecards.features.live_search import live_recall
from codecards.indexer.build.refresh import IndexReport
from codecards.indexer.walk.files import check_root
from codecards.mcp.background import VectorBackfill
from codecards.mcp.refresher import Indexing, IndexRefresher, load_index
from codecards.project.watching import FileWatch
from codecards.router.compress.summaries import SummariserConfig
from codecards.router.session_defaults import DEFAULT_BUDGET_TOKENS

# The working memory is imported by the first call that needs it: an agent's first question comes before.
if TYPE_CHECKING:
    from codecards.router.notes.note import Note
    from codecards.router.session import Session

T = TypeVar("T")
_log = logging.getLogger(__name__)


class ServedProject:
    """One project: `start` it once, `close` it at the end. Safe for several threads."""

    def __init__(self, root: Path, settings: Settings, *, read_only: bool = False, session: str = "mcp") -> None:
        """Open the engine of a project.

        Args:
            root: The project's folder.
            settings: Settings of the engine.
            read_only: Write nothing, not even an index.
            session: Name of the session that holds the working memory.

        Raises:
            ProjectNotFoundError: The folder does not exist.
        """
        check_root(root)
        self.root = root.resolve()
        self.engine = Engine(self.root, settings)
        self.engine.transformer.waits_for_model = False
        self.read_only = read_only
        self._session_name = session
        self.backfill = VectorBackfill(self.engine, lambda: bool(self.indexing.phase))
        """Computes missing transformer vectors."""
        self._refresher = IndexRefresher(self.engine, on_refreshed=self.backfill.wake)
        self._is_started = False

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.root.name or str(self.root)

    @property
    def watch(self) -> FileWatch:
        """The watch on the project's files."""
        return self._refresher.watch

    @property
    def indexing(self) -> Indexing:
        """State of the index run."""
        return self._refresher.indexing

    def start(self) -> None:
        """Open and refresh the index and watch the files in the background; a second call does nothing."""
        if self._is_started:
            return
        self._is_started = True
        if self.read_only:
            threading.Thread(target=load_index, args=(self.engine,), name="codecards_load", daemon=True).start()
        else:
            self._refresher.start()
        self.backfill.start(fills=not self.read_only)

    def close(self) -> None:
        """Stop all threads, and end the worker processes."""
        self._refresher.stop()
        self.backfill.close()
        self._refresher.join()
        self.engine.kill_workers()
        self.engine.close()

    def ask(self, question: Callable[[Engine], T]) -> T:
        """Return the answer of the engine to a question.

        Raises:
            ProjectNotFoundError: The project's folder no longer exists.
            SnapshotError: There is no index yet, or it can't be read.
        """
        self._check()
        self._refresher.wait_until_fresh()
        try:
            return question(self.engine)
        except SnapshotError as error:
            self._schedule_rebuild(error)
            raise

    def recall(self, query: str, limit: int, paths: tuple[str, ...], languages: tuple[str, ...]) -> Recall:
        """Return the hits of a query, found in the index, or in the files while there is no index."""
        self._check()
        self._refresher.wait_until_fresh()
        if self.has_index():
            try:
                return self.engine.recall(query, limit=limit, paths=paths, languages=languages)
            except SnapshotError as error:
                self._schedule_rebuild(error)
        with self._refresher.paused_for_file_search():
            discovery = self.engine.settings.build.discovery
            return live_recall(self.root, query, limit, discovery, time.monotonic(), paths=paths, languages=languages)

    def has_index(self) -> bool:
        """Return whether an index was committed. Cheap."""
        return self.engine.folder.manifest_path.exists()

    def refresh(self, cancelled: Callable[[], bool]) -> IndexReport | None:
        """Refresh the index and wait for it; return None if the caller gave up or another process refreshes.

        Raises:
            CodecardsError: The refresh failed.
        """
        self._check()
        return self._refresher.refresh(cancelled)

    def session(
        self,
        goal: str = "",
        budget_tokens: int = DEFAULT_BUDGET_TOKENS,
        constraints: Sequence[str] = (),
        summarising: SummariserConfig | None = None,
    ) -> "Session":
        """Return the working memory of this connection; the first call creates it.

        Args:
            goal: Replaces the previous goal unless it is empty.
            budget_tokens: Budget of a new session.
            constraints: Constraints of a new session.
            summarising: Writes the summaries of closed files and compactions.

        Raises:
            CodecardsError: The session can't be read or written.
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
            return self.engine.session(name, summariser=summarising)  # another server has just created it

    def notes(self) -> "list[Note]":
        """Return the notes of the archive, newest first."""
        self._check()
        return sorted(self.engine.archive.notes(archived=False), key=lambda note: note.created, reverse=True)

    def note(self, note_id: str) -> "Note":
        """Return a note with the present states of its anchors.

        Raises:
            TargetNotFoundError: There is no such note.
        """
        from codecards.router.notes.note import with_states

        self._check()
        note = self.engine.archive.show(note_id)
        return with_states(note, self.engine.anchors) if self.has_index() else note

    def digest(self, written: str) -> tuple[str, str]:
        """Return (the path of a file, its digest).

        Raises:
            TargetNotFoundError: There is no such file, or it may not be shown.
            OutsideProjectError: The path leads out of the project.
        """
        self._check()
        project = self.engine.project
        path = project.resolve_path(written)
        text = project.texts.read(path)
        if text is None:
            raise TargetNotFoundError(written, what="readable file")
        return path, project.digester.digest(path, text.text)

    def _check(self) -> None:
        """Check that the folder exists; request an index if somebody has removed it."""
        try:
            check_root(self.root)
        except ProjectError:
            self.engine.close()  # the open files belong to a folder that is gone
            self._refresher.request()
            raise
        if not self.has_index() and not self.read_only and not self.indexing.phase and not self.indexing.error:
            self._refresher.request()

    def _schedule_rebuild(self, error: SnapshotError) -> None:
        """Schedule a rebuild of an unreadable index, unless one is running."""
        _log.info("%s: %s", self.name, error)
        if not self.indexing.phase:
            self._refresher.request()
