"""The state folder of a project: its notes and sessions on disk."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from codecards.answers import Recall
from codecards.config import Settings
from codecards.errors import UsageError
from codecards.indexer.index_folder import FOLDER_NAME, keep_out_of_commits
from codecards.indexer.walk.files import resolve_inside
from codecards.project.freshness import FreshFiles
from codecards.project.reader import IndexReader
from codecards.router.compress.summaries import Summariser, SummariserConfig
from codecards.router.memory.state import TaskSpec
from codecards.router.memory.store import SessionStore
from codecards.router.notes.archive import Archive
from codecards.router.profiles import SessionSettings
from codecards.router.session import Session
from codecards.sessions.anchors import IndexAnchors
from codecards.sessions.index_ports import IndexFunctions, indexed_project


class ProjectState:
    """The notes and sessions of a project, which outlive its index."""

    def __init__(
        self,
        root: Path,
        settings: Settings,
        *,
        reader: Callable[[], IndexReader],
        fresh: Callable[[IndexReader], FreshFiles],
        recall: Callable[[str, int], Recall],
        refresh_if_small: Callable[[], str],
    ) -> None:
        """Take a project and the functions of its engine.

        Args:
            root: The project's root.
            settings: Settings of the engine.
            reader: Returns a reader of the newest generation.
            fresh: Returns the current state of the files that a reader has indexed.
            recall: Answers a query with at most so many hits.
            refresh_if_small: Indexes changed files; returns why the index is still outdated, or "".
        """
        self._settings = settings
        # Notes and sessions stay inside the project, even if the index is elsewhere.
        self.folder = resolve_inside(root, FOLDER_NAME)
        prepare = partial(keep_out_of_commits, self.folder)
        self.archive = Archive(self.folder / "archive", prepare=prepare)
        self.sessions = SessionStore(self.folder / "sessions", prepare=prepare)
        self.anchors = IndexAnchors(root, reader, fresh)
        self.project = indexed_project(
            root,
            settings.build.discovery,
            self.archive,
            IndexFunctions(reader, fresh, recall, refresh_if_small),
            self.anchors,
        )

    def session(
        self,
        name: str,
        *,
        goal: str | None,
        budget_tokens: int,
        constraints: Sequence[str],
        summariser: Summariser | SummariserConfig | None = None,
    ) -> Session:
        """Return the session of this name, or a new one if there is a goal; see `Engine.session`."""
        session_settings = SessionSettings(
            summariser=SummariserConfig.from_callable(summariser), traces_turns=self._settings.traces_turns
        )
        store, project, archive = self.sessions, self.project, self.archive
        if goal is not None and not store.exists(name):
            task = TaskSpec(goal, tuple(constraints), budget_tokens, self._settings.profile)
            try:
                return Session.start(store, name, project, archive, task, session_settings)
            except UsageError:
                if not store.exists(name):
                    raise
                # Another process has just started the session.
        session = Session(store, name, project, archive, session_settings)
        if goal is not None and goal.strip() != session.memory.task.goal:
            session.set_goal(goal)
        return session
