"""Engine: the one object that holds a project's index and answers questions over it.

**Invariant:** one answer is made from one generation; a new generation is taken up between answers.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from codecards.answers import Caller, Calls, FileSummary, Impact, Recall, ShownTarget, Status, WhyNot
from codecards.errors import (
    CodecardsError,
    SnapshotMissingError,
    TargetNotFoundError,
    UsageError,
)
from codecards.features.calls import callees_of, callers_of
from codecards.features.show import card_at, outline_of, show_target, symbols_of
from codecards.features.targets import find_symbol, find_target, near_names
from codecards.indexer.cards.card import Card
from codecards.indexer.store.snapshot import Snapshot
from codecards.indexer.text.decoding import valid_unicode
from codecards.indexer.text.secrets import mask_secrets
from codecards.project.lifecycle import IndexUpkeep
from codecards.retrieval.store.folder import check_contents

# What builds, ranks and explains is loaded by the method that needs it: an answer that needs none of it (callers, a look
# at an unchanged tree) takes a fifth of the time so.
if TYPE_CHECKING:
    import networkx

    from codecards.features.recall import RecallQuery
    from codecards.features.rerank import HitReranker
    from codecards.retrieval.hits import Ranking
    from codecards.router.compress.summaries import Summariser, SummariserConfig
    from codecards.router.memory.store import SessionStore
    from codecards.router.notes.archive import Archive
    from codecards.router.notes.note import AnchorResolver
    from codecards.router.ports import Project
    from codecards.router.session import Session
    from codecards.sessions.state_folder import ProjectState
    from codecards.tuning.fit import TuneReport

logger = logging.getLogger(__name__)

DEFAULT_CALLS = 100
DEFAULT_BUDGET_TOKENS = 12_000


class Engine(IndexUpkeep):
    """Answers questions over one project. Safe for several threads that read; to be closed."""

    # asking

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
            paths: Globs as in .gitignore; hits lie in one of them.
            languages: Names of languages; hits are in one of them.
            kinds: Kinds of cards; hits are of one of them.

        Raises:
            UsageError: The query is empty or the limit out of range.
            EmbedderError: The reranker that is set can't be loaded.
        """
        query = valid_unicode(query)
        if not 1 <= limit <= 200:
            raise UsageError(f"a limit of {limit} is out of range; take 1 to 200")
        if not query.strip():
            raise UsageError("the query is empty; say what to look for, in words or by name")
        try:
            recalling = self._recall_query()
        except SnapshotMissingError:
            from codecards.features.live_search import live_recall  # noqa: PLC0415

            discovery = self.settings.build.discovery
            return live_recall(self.root, query, limit, discovery, time.monotonic(), paths=paths, languages=languages)
        from codecards.retrieval.rank.filters import Filters  # noqa: PLC0415

        return recalling.recall(query, limit, Filters(tuple(paths), tuple(languages), tuple(kinds)))

    def similar(self, path: str, line: int, *, limit: int = 8) -> tuple[Card, Recall]:
        """Return the card at a line, and cards that do much the same elsewhere.

        Raises:
            TargetNotFoundError: There is no such file or line.
        """
        recalling = self._recall_query()
        card = card_at(recalling.reader.snapshot, self.root, path, line)
        return card, recalling.similar(card, limit)

    def symbols(self, *, path: str | None = None, name: str | None = None) -> list[Card]:
        """Return the symbols of the project, of one file, or of one name (its last part, or qualified)."""
        return symbols_of(self._reader().snapshot, path, name)

    def callers(self, name: str, *, path: str | None = None, limit: int = DEFAULT_CALLS, offset: int = 0) -> Calls:
        """Return who uses a symbol, surest first; without a target where nothing has the name, or several things have."""
        return self._calls(name, path, limit, offset, callers_of)

    def callees(self, name: str, *, path: str | None = None, limit: int = DEFAULT_CALLS, offset: int = 0) -> Calls:
        """Return what a symbol uses, in the order of its lines; without a target as `callers`."""
        return self._calls(name, path, limit, offset, callees_of)

    def show(self, target: str, *, path: str | None = None) -> ShownTarget:
        """Return a symbol, file or line with its text as it is on disk now.

        Raises:
            TargetNotFoundError: Nothing fits.
            AmbiguousTargetError: Several things fit.
            OutsideProjectError: It is a path out of the project.
        """
        reader = self._reader()
        return show_target(reader.snapshot, self.root, self._fresh_files(reader), target, path)

    def outline(self, target: str) -> list[Card]:
        """Return the symbols of a file, or those inside a symbol, by line.

        Raises:
            TargetNotFoundError: Nothing fits.
        """
        return outline_of(self._reader().snapshot, self.root, target)

    def digest(self, target: str) -> str:
        """Return the code card of a file, or of the file that holds a symbol, as it is on disk now.

        It has dependencies, signatures, exports and important comments, a row a thing, with line numbers.

        Raises:
            TargetNotFoundError: Nothing fits, or it can't be read any more.
        """
        from codecards.features.file_digest import file_digest  # noqa: PLC0415

        reader = self._reader()
        snapshot, fresh = reader.snapshot, self._fresh_files(reader)
        found = find_target(snapshot, self.root, target)
        path = found.cards[0].path if found.cards else found.path
        read, entry = fresh.lines(path), snapshot.file_at(path)
        if read is None or entry is None:
            raise TargetNotFoundError(path, what="readable file any more")
        cards = [looked.card for looked in fresh.look(snapshot.cards_in(path))]
        return mask_secrets(file_digest(read[0], cards, snapshot.facts(entry.content_key)))

    def impact(self, revision: str | None = None) -> Impact:
        """Return what a change touches: the changed symbols, who uses them, and the tests to run.

        Args:
            revision: A git revision to compare the working tree with; None for HEAD.

        Raises:
            UsageError: There is no git, or no such revision.
        """
        from codecards.features.impact import impact_of  # noqa: PLC0415

        return impact_of(self._reader().snapshot, self.root, revision or "HEAD")

    def impact_of(self, name: str) -> Impact:
        """Return what a change of a symbol would touch: who uses it, and the tests to run.

        Raises:
            TargetNotFoundError: Nothing has the name.
            AmbiguousTargetError: Several things have it.
        """
        from codecards.features.impact import impact_of_symbol  # noqa: PLC0415

        return impact_of_symbol(self._reader().snapshot, name)

    def why_not(self, path: str, query: str) -> WhyNot:
        """Return why a file is not among the first hits of a query."""
        from codecards.features.why_not import why_not  # noqa: PLC0415
        from codecards.retrieval.rank.filters import Filters  # noqa: PLC0415

        recalling = self._recall_query()
        query = valid_unicode(query)

        def rank(limit: int) -> "Ranking":
            return recalling.ranked(query, limit, Filters())

        return why_not(recalling.reader, self.root, path, rank, self.settings.build.discovery)

    def files(self) -> list[FileSummary]:
        """Return every indexed file, by path."""
        snapshot = self._reader().snapshot
        counts = snapshot.card_counts()
        return [
            FileSummary(file.path, file.language, file.role, file.encoding, counts.get(file.file_id, 0))
            for file in snapshot.files()
            if file.encoding
        ]

    def status(self) -> Status:
        """Return the state of the index. Works without one too."""
        from codecards.project.status import NOTHING_INDEXED, status_of  # noqa: PLC0415

        try:
            reader = self._readers.newest_with_derived()
        except SnapshotMissingError:
            return NOTHING_INDEXED
        status = status_of(reader, self._embedder.chosen(), self._embedder.error, self.n_changed())
        tuned, problem = self._tuned.read() if self._tuned is not None else (None, "")
        retrievers = (*status.retrievers, self.transformer.status(reader), self._reranker.status())
        return replace(status, retrievers=retrievers, tuned=tuned, tuned_problem=problem)

    def tune(self, *, fits: bool = False, n_commits: int = 1_000) -> "TuneReport":
        """Return how well the default weights answer questions of the project's own git history.

        Args:
            fits: Whether to fit weights, and to keep them if tasks that the fit did not see say that they help.
            n_commits: How many of the newest commits are looked at.

        Raises:
            UsageError: There is no git history.
            IndexWriteError: The fitted weights can't be written.
        """
        from codecards.tuning.fit import tune_project  # noqa: PLC0415

        return tune_project(
            self.root, self._readers.newest_with_derived(), self._workers, self.folder, fits=fits, n_commits=n_commits
        )

    def reset_tuning(self) -> bool:
        """Go back to the default weights; return whether there were others."""
        from codecards.project.tuned_weights import TunedWeightsFile  # noqa: PLC0415

        return TunedWeightsFile(self.folder.path).remove()

    def check(self) -> list[str]:
        """Read the whole index and return what is wrong with it, in words; nothing if all is well."""
        try:
            reader = self._readers.newest_with_derived()
            reader.snapshot.check()
            check_contents(self.folder.derived(reader.snapshot.generation))
            reader.snapshot.all_edges()
            list(reader.snapshot.symbols())
        except CodecardsError as error:
            return [str(error)]
        return []

    def call_graph(self) -> "networkx.MultiDiGraph[str]":
        """Return the call graph: nodes are symbol ids with attributes of their cards, edges carry their evidence."""
        from codecards.indexer.graph.networkx_graph import to_networkx  # noqa: PLC0415 - loads networkx

        snapshot = self._reader().snapshot
        return to_networkx(snapshot.symbols(), snapshot.all_edges())

    # working memory

    @cached_property
    def _state(self) -> "ProjectState":
        from codecards.sessions.state_folder import ProjectState  # noqa: PLC0415 - questions need no notes

        return ProjectState(
            self.root, self.settings, reader=self._reader, fresh=self._fresh_files,
            recall=lambda query, limit: self.recall(query, limit=limit), refresh_if_small=self.refresh_if_small,
        )  # fmt: skip

    @property
    def state_folder(self) -> Path:
        """Where sessions and notes lie, whatever folder the index is in; never out of the project."""
        return self._state.folder

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
        """What sessions ask of the project."""
        return self._state.project

    def session(
        self, name: str, *, goal: str | None = None, budget_tokens: int = DEFAULT_BUDGET_TOKENS,
        constraints: Sequence[str] = (), summariser: "Summariser | SummariserConfig | None" = None,
    ) -> "Session":  # fmt: skip
        """Return a session: the one of this name that exists, else a new one.

        Args:
            name: Letters, digits, `-`, `_` and `.`.
            goal: What is to be done; needed for a new session. In one that exists another goal takes the old one's place.
            budget_tokens: Most tokens of a context of a new session.
            constraints: What must hold, for a new session.
            summariser: Words memos and compactions: any callable from (text, most tokens) to a text. It is called in a
                thread of its own. One that fails, is late, or says no less than it got leaves the rules' own words, and
                the result says so. It may take 20 seconds; `Summarising(callable, timeout_s)` has another limit.

        Raises:
            TargetNotFoundError: There is no such session, and no goal for a new one.
            UsageError: The name or the budget can't be used.
            StateFileError: The session on disk can't be read.
        """
        return self._state.session(
            name, goal=goal, budget_tokens=budget_tokens, constraints=constraints, summariser=summariser
        )

    # below: how it is done

    def _recall_query(self) -> "RecallQuery":
        from codecards.features.recall import RecallQuery  # noqa: PLC0415
        from codecards.retrieval.rank.candidates import limits_of  # noqa: PLC0415

        reader = self._readers.newest_with_derived()
        return RecallQuery(
            reader, self._fresh_files(reader), self._embedder, self.transformer, self._tuned, self._reranker,
            limits_of(self.settings.profile),
        )  # fmt: skip

    @cached_property
    def _reranker(self) -> "HitReranker":
        from codecards.features.rerank import HitReranker  # noqa: PLC0415

        return HitReranker(self.settings.reranker)

    def _calls(
        self, name: str, path: str | None, limit: int, offset: int,
        collect: Callable[[Snapshot, Sequence[Card]], list[Caller]],
    ) -> Calls:  # fmt: skip
        if limit < 1 or offset < 0:
            raise UsageError("the limit must be 1 or more, and the offset 0 or more")
        reader = self._reader()
        groups = find_symbol(reader.snapshot, name, path)
        if not groups:
            return Calls(None, (), (), 0, False, tuple(near_names(reader.snapshot, name)))
        if len(groups) > 1:
            return Calls(None, tuple(group[0] for group in groups), (), 0, False)
        calls = collect(reader.snapshot, groups[0])
        page = tuple(calls[offset : offset + limit])
        return Calls(groups[0][0], (), page, len(calls), len(page) < len(calls))
