"""Answers questions over one project's index: the public face of the library.

**Invariant:** one answer comes from one generation; a newer generation is opened between answers.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from codecards.answers import Calls, FileSummary, Impact, Recall, ShownTarget, Status, WhyNot
from codecards.config import Settings, settings_from_environment
from codecards.errors import SnapshotMissingError, UsageError
from codecards.features.calls import CallPage, callees_of, callers_of, calls_of
from codecards.features.filter_names import checked_kinds, checked_languages
from codecards.features.reading import ReadingQuestions
from codecards.features.show import card_at, files_of, outline_of, show_target, symbols_of
from codecards.indexer.cards.card import Card
from codecards.indexer.index_folder import IndexFolder
from codecards.indexer.text.decoding import valid_unicode
from codecards.indexer.walk.root import find_project
from codecards.project.lifecycle import ProjectIndex, no_progress
from codecards.project.transformer_vectors import TransformerVectors
from codecards.router.session_defaults import DEFAULT_BUDGET_TOKENS

# The methods that build, rank or explain import what they need: an answer that needs none of it (callers, a check of an
# unchanged tree) then takes a fifth of the time.
if TYPE_CHECKING:
    import networkx

    from codecards.features.recall import RecallQuery
    from codecards.features.rerank import HitReranker
    from codecards.indexer.build.progress import ProgressCallback
    from codecards.indexer.build.refresh import IndexReport
    from codecards.project.freshness import FreshFiles
    from codecards.project.reader import IndexReader
    from codecards.retrieval.hits import Ranking
    from codecards.retrieval.vectors.transformer_fill import Filled
    from codecards.router.compress.summaries import Summariser, SummariserConfig
    from codecards.router.memory.store import SessionStore
    from codecards.router.notes.archive import Archive
    from codecards.router.notes.note import AnchorResolver
    from codecards.router.ports import Project
    from codecards.router.session import Session
    from codecards.sessions.state_folder import ProjectState
    from codecards.tuning.fit import TuneReport

DEFAULT_CALLS = 100
"""Callers or callees that one answer lists."""


class Engine(ReadingQuestions):
    """Answers questions over one project. Safe for several threads that read; to be closed.

    Args:
        root: The project's folder. `Engine.open` finds it from a folder inside.
        settings: All settings.
    """

    def __init__(self, root: Path, settings: Settings) -> None:
        self._index = ProjectIndex(root, settings)

    @classmethod
    def open(cls, path: str | Path = ".", *, settings: Settings | None = None, build: bool = True) -> Self:
        """Return the engine of the project at (or around) a folder.

        A missing index is built in the background. The first `recall` waits for it a little (`Settings.first_answer_wait_s`);
        until it exists, `recall` searches the files themselves and says so.

        Args:
            path: The project's folder, or one inside it. If `settings` name an index, the project is this very folder.
            settings: Those of the environment by default.
            build: Whether to build a missing index.

        Raises:
            ProjectNotFoundError: The path does not exist, is not a folder, or is too wide, such as the home folder;
                `Engine(path, settings)` takes any folder but a whole disk.
        """
        # An index elsewhere is that of the folder that was given; a folder around it has one of its own.
        start, has_own_index = Path(path), settings is not None and settings.index is not None
        root = start.resolve() if has_own_index else find_project(start)
        engine = cls(root, settings or settings_from_environment())
        if build and not engine.is_indexed():
            engine.build_in_background()
        return engine

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the worker processes and close the open generation."""
        self._index.close()

    def kill_workers(self) -> None:
        """End the worker processes at once, even in the middle of a file: for a process that is about to exit."""
        self._index.kill_workers()

    @property
    def root(self) -> Path:
        """The project's folder."""
        return self._index.root

    @property
    def settings(self) -> Settings:
        """The engine's settings."""
        return self._index.settings

    @property
    def folder(self) -> IndexFolder:
        """The index folder."""
        return self._index.folder

    @property
    def transformer(self) -> TransformerVectors:
        """The transformer vectors, filled by `backfill_vectors`."""
        return self._index.transformer

    # building

    def is_indexed(self) -> bool:
        """Return whether an index was committed that this version can read."""
        return self._index.is_indexed()

    def refresh(self, *, full: bool = False, progress: "ProgressCallback" = no_progress) -> "IndexReport":
        """Bring the index up to date and return what was done; see `ProjectIndex.refresh`."""
        return self._index.refresh(full=full, progress=progress)

    def refresh_if_small(self, progress: "ProgressCallback" = no_progress) -> str:
        """Index changed files if there are few; return why the index is still outdated, or ""."""
        return self._index.refresh_if_small(progress)

    def backfill_vectors(
        self, progress: "ProgressCallback" = no_progress, *, limit: int | None = None, n_threads: int = 1
    ) -> "Filled":
        """Compute missing transformer vectors; see `ProjectIndex.backfill_vectors`."""
        return self._index.backfill_vectors(progress, limit=limit, n_threads=n_threads)

    def build_in_background(self) -> None:
        """Start building the index in a thread, unless one is running."""
        self._index.build_in_background()

    def is_building(self) -> bool:
        """Return whether a background build is running."""
        return self._index.is_building()

    def wait_until_built(self, timeout_s: float | None = None) -> bool:
        """Wait for the background build; return whether there is an index.

        Raises:
            CodecardsError: The build failed.
        """
        return self._index.wait_until_built(timeout_s)

    def n_changed(self) -> int:
        """Return the number of files that are new, deleted, or differ in size or time stamp since they were indexed.

        Raises:
            SnapshotError: There is no index, or it can't be read.
        """
        return self._index.n_changed()

    def may_have_changed(self) -> bool:
        """Return whether a refresh could find a change; see `ProjectIndex.may_have_changed`."""
        return self._index.may_have_changed()

    def check(self) -> list[str]:
        """Read the whole index and return its faults as sentences; nothing if there are none."""
        return self._index.check()

    def clean(self) -> None:
        """Remove the index; notes and sessions stay."""
        self._index.clean()

    def clean_kept(self) -> int:
        """Remove what is kept of contents that no file has any more; return how many bytes the index shrank."""
        return self._index.clean_kept()

    # questions

    def recall(
        self,
        query: str,
        *,
        limit: int = 8,
        paths: Sequence[str] = (),
        languages: Sequence[str] = (),
        kinds: Sequence[str] = (),
    ) -> Recall:
        """Return the cards that answer a question, best first.

        Args:
            query: A question, a name, a path, an issue text or a stack trace.
            limit: Most hits, 1 to 200.
            paths: Globs as in .gitignore; a hit's path matches one of them.
            languages: Names of languages; a hit is in one of them.
            kinds: Kinds of cards; a hit is of one of them.

        Raises:
            UsageError: The query is empty, the limit is out of range, or there is no such language or kind.
            EmbedderError: The reranker of the settings can't be loaded.
        """
        query = valid_unicode(query)
        if not 1 <= limit <= 200:
            raise UsageError(f"a limit of {limit} is out of range; use 1 to 200")
        if not query.strip():
            raise UsageError("the query is empty; describe the code in words, or name it")
        languages, kinds = checked_languages(languages), checked_kinds(kinds)
        try:
            recall_query = self._recall_query()
        except SnapshotMissingError:
            from codecards.features.live_search import live_recall

            discovery, started = self.settings.build.discovery, time.monotonic()
            waited_s = self._index.wait_for_first_index()
            if not self.is_indexed():
                found = live_recall(self.root, query, limit, discovery, started, paths=paths, languages=languages)
                waited = (f"waited {waited_s:.1f} s for the index, which is still being built",) if waited_s else ()
                return replace(found, notices=(*found.notices, *waited))
            recall_query = self._recall_query()
        from codecards.retrieval.rank.filters import Filters

        return recall_query.recall(query, limit, Filters(tuple(paths), languages, kinds))

    def similar(self, path: str, line: int, *, limit: int = 8) -> tuple[Card, Recall]:
        """Return the card at a line, and cards elsewhere that do much the same.

        Raises:
            TargetNotFoundError: There is no such file or line.
        """
        recall_query = self._recall_query()
        card = card_at(recall_query.reader.snapshot, self.root, path, line)
        return card, recall_query.similar(card, limit)

    def symbols(self, *, path: str | None = None, name: str | None = None) -> list[Card]:
        """Return the symbols of the project, of one file, or of one name (its last part, or qualified)."""
        return symbols_of(self._reader().snapshot, path, name)

    def callers(self, name: str, *, path: str | None = None, limit: int = DEFAULT_CALLS, offset: int = 0) -> Calls:
        """Return the uses of a symbol, most certain first; `target` is None if no symbol or several have the name."""
        return calls_of(self._reader().snapshot, name, path, CallPage(limit, offset), callers_of)

    def callees(self, name: str, *, path: str | None = None, limit: int = DEFAULT_CALLS, offset: int = 0) -> Calls:
        """Return what a symbol uses, by line; `target` is None as in `callers`."""
        return calls_of(self._reader().snapshot, name, path, CallPage(limit, offset), callees_of)

    def show(self, target: str, *, path: str | None = None) -> ShownTarget:
        """Return a symbol, file or line with its current text on disk.

        Raises:
            TargetNotFoundError: Nothing matches.
            AmbiguousTargetError: Several things match.
            OutsideProjectError: The target is a path outside the project.
        """
        reader = self._reader()
        return show_target(reader.snapshot, self.root, self._fresh_files(reader), target, path)

    def outline(self, target: str) -> list[Card]:
        """Return the symbols of a file, or those inside a symbol, by line.

        Raises:
            TargetNotFoundError: Nothing matches.
        """
        return outline_of(self._reader().snapshot, self.root, target)

    def digest(self, target: str) -> str:
        """Return the digest of a file, or of the file that holds a symbol, as it is on disk now.

        A digest lists dependencies, signatures, exports and important comments, one a row, with line numbers.

        Raises:
            TargetNotFoundError: Nothing matches, or the file can't be read any more.
        """
        from codecards.features.file_digest import digest_of

        reader = self._reader()
        return digest_of(reader.snapshot, self.root, self._fresh_files(reader), target)

    def impact(self, revision: str | None = None) -> Impact:
        """Return what a change touches: the changed symbols, their callers, and the tests to run.

        Args:
            revision: The git revision that the working tree is compared with; None for HEAD.

        Raises:
            UsageError: There is no git, or no such revision.
        """
        from codecards.features.impact import impact_of

        return impact_of(self._reader().snapshot, self.root, revision or "HEAD")

    def impact_of(self, name: str) -> Impact:
        """Return what a change of a symbol would touch: its callers, and the tests to run.

        Raises:
            TargetNotFoundError: No symbol has the name.
            AmbiguousTargetError: Several symbols have it.
        """
        from codecards.features.impact import impact_of_symbol

        return impact_of_symbol(self._reader().snapshot, name)

    def why_not(self, path: str, query: str) -> WhyNot:
        """Return why a file is not among the first hits of a query."""
        from codecards.features.why_not import why_not
        from codecards.retrieval.rank.filters import Filters

        recall_query = self._recall_query()
        query = valid_unicode(query)

        def rank(limit: int) -> "Ranking":
            return recall_query.ranked(query, limit, Filters())

        return why_not(recall_query.reader, self.root, path, rank, self.settings.build.discovery)

    def files(self) -> list[FileSummary]:
        """Return every indexed file, by path."""
        return files_of(self._reader().snapshot)

    def status(self) -> Status:
        """Return the state of the index, also if there is none."""
        from codecards.project.status import status_of

        return status_of(self._index, self._reranker.status)

    def call_graph(self) -> "networkx.MultiDiGraph[str]":
        """Return the call graph: nodes are symbol ids with their cards' attributes, edges carry their evidence."""
        from codecards.indexer.graph.networkx_graph import to_networkx

        snapshot = self._reader().snapshot
        return to_networkx(snapshot.symbols(), snapshot.all_edges())

    # tuning

    def tune(self, *, fits: bool = False, n_commits: int = 1_000) -> "TuneReport":
        """Return how well the default weights answer questions taken from the project's own git history.

        Args:
            fits: Whether to fit weights, and to keep them if they help on tasks that the fit did not see.
            n_commits: How many of the newest commits are read.

        Raises:
            UsageError: There is no git history.
            IndexWriteError: The fitted weights can't be written.
        """
        from codecards.tuning.fit import tune_project

        return tune_project(self._index, fits=fits, n_commits=n_commits)

    def reset_tuning(self) -> bool:
        """Go back to the default weights; return whether there were tuned ones."""
        from codecards.project.tuned_weights import TunedWeightsFile

        return TunedWeightsFile(self.folder.path).remove()

    # working memory

    @property
    def archive(self) -> "Archive":
        """The project's notes."""
        return self._state.archive

    @property
    def sessions(self) -> "SessionStore":
        """The project's sessions on disk."""
        return self._state.sessions

    @property
    def anchors(self) -> "AnchorResolver":
        """Ties notes to code."""
        return self._state.anchors

    @property
    def project(self) -> "Project":
        """The project as sessions see it."""
        return self._state.project

    def session(
        self,
        name: str,
        *,
        goal: str | None = None,
        budget_tokens: int = DEFAULT_BUDGET_TOKENS,
        constraints: Sequence[str] = (),
        summariser: "Summariser | SummariserConfig | None" = None,
    ) -> "Session":
        """Return the session of this name, or a new one.

        Args:
            name: Letters, digits, `-`, `_` and `.`.
            goal: The task; required for a new session. In an existing session a different goal replaces the old one.
            budget_tokens: Most tokens of a context, for a new session.
            constraints: Rules that must hold, for a new session.
            summariser: Writes summaries: any callable from (text, most tokens) to a text, called in its own thread. If
                it fails, is late or returns a text that is not shorter, the extractive fallback is used and the result
                says so. It may take 20 seconds; `SummariserConfig(callable, timeout_s)` sets another limit.

        Raises:
            TargetNotFoundError: There is no such session, and no goal for a new one.
            UsageError: The name or the budget is invalid.
            StateFileError: The session on disk can't be read.
        """
        return self._state.session(
            name, goal=goal, budget_tokens=budget_tokens, constraints=constraints, summariser=summariser
        )

    @cached_property
    def _state(self) -> "ProjectState":
        from codecards.sessions.state_folder import ProjectState

        return ProjectState(
            self.root,
            self.settings,
            reader=self._reader,
            fresh=self._fresh_files,
            recall=lambda query, limit: self.recall(query, limit=limit),
            refresh_if_small=self.refresh_if_small,
        )

    @cached_property
    def _reranker(self) -> "HitReranker":
        from codecards.features.rerank import HitReranker

        return HitReranker(self.settings.reranker)

    def _recall_query(self) -> "RecallQuery":
        from codecards.features.recall import RecallQuery
        from codecards.retrieval.rank.candidates import limits_of

        reader = self._index.readers.newest_with_derived()
        return RecallQuery(self._index, reader, self._reranker, limits_of(self.settings.profile))

    def _reader(self) -> "IndexReader":
        return self._index.readers.newest()

    def _fresh_files(self, reader: "IndexReader") -> "FreshFiles":
        return self._index.fresh_files(reader)
