"""Opens, builds, refreshes and removes the index of one project.

**Invariant:** threads that share one `ProjectIndex` take turns at writing; only another process counts as a busy writer.
"""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from codecards.config import Settings
from codecards.errors import (
    CodecardsError,
    EmbedderError,
    IndexWriteError,
    SnapshotError,
    TooManyFilesError,
    WriterBusyError,
)
from codecards.indexer.build.changes import count_changed
from codecards.indexer.cards.record import EXTRACTOR_VERSION
from codecards.indexer.index_folder import IndexFolder
from codecards.indexer.walk.discovery import discover
from codecards.indexer.walk.root import check_width
from codecards.project.embedder import LazyEmbedder
from codecards.project.freshness import FreshFiles
from codecards.project.reader import IndexReader
from codecards.project.reader_pool import IndexReaderPool
from codecards.project.transformer_vectors import TransformerVectors
from codecards.project.tuned_weights import TunedWeightsFile
from codecards.retrieval.store.folder import check_contents

# The methods that build import what they need: without that, checking an unchanged tree takes a fifth of the time.
if TYPE_CHECKING:
    from codecards.indexer.build.progress import ProgressCallback
    from codecards.indexer.build.refresh import IndexReport
    from codecards.indexer.build.worker_pool import Workers
    from codecards.retrieval.embed.embedder import Embedder
    from codecards.retrieval.vectors.transformer_fill import Filled, ReadCardTexts

logger = logging.getLogger(__name__)

AUTO_REFRESH_FILES = 500
"""A question refreshes the index itself up to this many changed files; more are only reported."""


def no_progress(_stage: str, _done: int, _total: int) -> None:
    """Ignore progress."""


WORKER_MB = 160
"""Memory of one worker process with its parsers, in MiB."""
MAIN_SHARE = 0.5
"""Share of the planned memory that the process itself needs to link and to derive."""


def workers_within(settings: Settings) -> int | None:
    """Return the number of worker processes that the settings allow; None for one a usable core."""
    from codecards.indexer.build.worker_pool import usable_cores

    if settings.memory_mb is None:
        return settings.n_workers
    fitting = max(1, int(settings.memory_mb * (1 - MAIN_SHARE)) // WORKER_MB)
    return min(fitting, settings.n_workers or usable_cores())


class ProjectIndex:
    """The index of one project. Safe for several threads; to be closed.

    Args:
        root: The project's folder.
        settings: The engine's settings.

    Attributes:
        folder: The index folder.
        embedder: The static embedder, loaded on first use.
        readers: The newest generation, opened.
        transformer: The transformer vectors, filled by `backfill_vectors`.
        tuned_weights: The weights fitted to this project; None if the settings switch them off.
    """

    def __init__(self, root: Path, settings: Settings) -> None:
        check_width(root, is_named=True)
        self.root = root
        self.settings = settings
        self.folder: IndexFolder = settings.index_folder(root)
        self.embedder = LazyEmbedder(settings.embedder)
        self.readers = IndexReaderPool(self.folder, self.embedder, settings.max_open_projects)
        self.transformer = TransformerVectors(self.folder.path, is_on=settings.transformer, embedder=settings.embedder)
        self.tuned_weights = TunedWeightsFile(self.folder.path) if settings.is_tuned else None
        self._lock = threading.RLock()
        self._writing = threading.Lock()
        self._building: threading.Thread | None = None
        self._build_error: CodecardsError | None = None
        self._has_waited = False

    def close(self) -> None:
        """End the worker processes and close the open generation."""
        if "workers" in self.__dict__:
            self.workers.close()
        self.readers.close()
        self.transformer.close()

    def kill_workers(self) -> None:
        """End the worker processes at once, even in the middle of a file: for a process that is about to exit."""
        self.workers.kill()

    @cached_property
    def workers(self) -> "Workers":
        """The processes that read and parse files; they start on first use."""
        from codecards.indexer.build.worker_pool import Workers

        return Workers(workers_within(self.settings), self.settings.worker_time_limit_s)

    # reading

    def is_indexed(self) -> bool:
        """Return whether an index was committed that this version can read."""
        return self.readers.has_index()

    def fresh_files(self, reader: IndexReader) -> FreshFiles:
        """Return the check of a generation's cards against the files on disk, for one answer."""
        return FreshFiles(self.root, reader.snapshot, lambda: self.workers, self.settings.build.discovery)

    def n_changed(self) -> int:
        """Return the number of files that are new, deleted, or differ in size or time stamp since they were indexed.

        Raises:
            SnapshotError: There is no index, or it can't be read.
        """
        found = discover(self.root, self.settings.build.discovery).files
        return count_changed(self.readers.newest().snapshot.stamps(), found)

    def may_have_changed(self) -> bool:
        """Return whether a refresh could find a change, by stamps alone; an index that can't be read counts as changed."""
        from codecards.indexer.walk.surroundings import changed_stamps, unpack_surroundings

        try:
            snapshot = self.readers.newest().snapshot
            surroundings = unpack_surroundings(snapshot.stored_value("surroundings"))
            is_same = surroundings is not None and surroundings.is_current(self.root, self.settings.build.discovery)
            return not is_same or bool(changed_stamps(self.root, snapshot.raw_stamps()))
        except SnapshotError:
            return True

    def check(self) -> list[str]:
        """Read the whole index and return its faults as sentences; nothing if there are none."""
        try:
            reader = self.readers.newest_with_derived()
            reader.snapshot.check()
            check_contents(self.folder.derived(reader.snapshot.generation))
            reader.snapshot.all_edges()
            list(reader.snapshot.symbols())
        except CodecardsError as error:
            return [str(error)]
        return []

    # building

    def refresh(self, *, full: bool = False, progress: "ProgressCallback" = no_progress) -> "IndexReport":
        """Bring the index up to date and return what was done.

        Args:
            full: Whether to read every file again, whatever is stored.
            progress: Called with (stage, done, total).

        Raises:
            ProjectError: The project can't be read, or the index can't be written.
            WriterBusyError: Another process is writing.
        """
        try:
            report = self._refresh(self.embedder.peek(), full=full, progress=progress)
        except EmbedderError as error:  # the model's files exist, but can't be loaded
            self.embedder.disable(error)
            report = self._refresh(None, full=full, progress=progress)
        _log_report(report)
        return report

    def refresh_if_small(self, progress: "ProgressCallback" = no_progress) -> str:
        """Index changed files if there are few; return why the index is still outdated, or ""."""
        self.folder.keep_out_of_commits()
        try:
            reader = self.readers.newest()
            is_outdated = reader.extractor != EXTRACTOR_VERSION
            n_changed = len(reader.snapshot.stamps()) if is_outdated else self.n_changed()
            if n_changed > AUTO_REFRESH_FILES:
                why = "were indexed by another version" if is_outdated else "changed since the index was built"
                return f"{n_changed} files {why}; run `codecards index`"
            if n_changed or is_outdated:
                self.refresh(progress=progress)
        except (SnapshotError, WriterBusyError, IndexWriteError) as error:
            return str(error)
        return ""

    def backfill_vectors(
        self, progress: "ProgressCallback" = no_progress, *, limit: int | None = None, n_threads: int = 1
    ) -> "Filled":
        """Compute missing transformer vectors of the newest generation's cards; those already computed stay.

        Args:
            progress: Called with ("embedding", cards that have a vector, cards that should have one); an exception
                that it raises ends the run.
            limit: Most vectors to compute now; None for all.
            n_threads: Texts embedded in parallel.

        Raises:
            SnapshotError: There is no index, or it can't be read.
            WriterBusyError: Another process is computing vectors.
            EmbedderError: The model can't be loaded.
            IndexWriteError: Vectors can't be written.
        """
        reader = self.readers.newest_with_derived()

        def report(n_done: int, n_total: int) -> None:
            progress("embedding", n_done, n_total)

        return self.transformer.fill(reader, self._card_texts(reader), report, limit=limit, n_threads=n_threads)

    def build_in_background(self) -> None:
        """Start building the index in a thread, unless one is running."""
        with self._lock:
            if self._building is None or not self._building.is_alive():
                self._building = threading.Thread(target=self._build, name="codecards-build", daemon=True)
                self._building.start()

    def is_building(self) -> bool:
        """Return whether a background build is running."""
        return self._building is not None and self._building.is_alive()

    def wait_for_first_index(self) -> float:
        """Wait for a background build as long as the settings say; return for how many seconds, 0 if none is running.

        Only the first question waits: whoever got an answer without the index may ask again at once.
        """
        limit_s, building = self.settings.first_answer_wait_s, self._building
        if building is None or not building.is_alive() or self._has_waited or limit_s <= 0:
            return 0.0
        self._has_waited = True
        started = time.monotonic()
        building.join(limit_s)
        return time.monotonic() - started

    def wait_until_built(self, timeout_s: float | None = None) -> bool:
        """Wait for the background build; return whether there is an index.

        Raises:
            CodecardsError: The build failed.
        """
        if self._building is not None:
            self._building.join(timeout_s)
        if self._build_error is not None:
            raise self._build_error
        return self.is_indexed()

    def clean(self) -> None:
        """Remove the index; notes and sessions stay."""
        self.close()
        self.folder.remove()

    def clean_kept(self) -> int:
        """Remove what is kept of contents that no file has any more; return how many bytes the index shrank.

        Raises:
            WriterBusyError: Another process is writing the index.
            SnapshotError: There is no index, or it can't be read.
        """
        from codecards.indexer.build.clean_kept import clean_kept

        self.readers.release()  # an open reader keeps the pages that it may still read
        with self._writing:
            return clean_kept(self.folder)

    def _refresh(self, embedder: "Embedder | None", *, full: bool, progress: "ProgressCallback") -> "IndexReport":
        from codecards.indexer.build.refresh import refresh
        from codecards.retrieval.derive import DerivedIndexBuilder

        build = self.settings.build
        deriver = DerivedIndexBuilder(embedder)
        with self._writing:
            try:
                return refresh(
                    self.root, self.folder, deriver, lambda: self.workers, build, full=full, progress=progress
                )
            except (OSError, CodecardsError) as error:
                raise TooManyFilesError.behind(error, self.folder.path) or error from error.__cause__

    def _build(self) -> None:
        try:
            self.refresh()
        except CodecardsError as error:
            self._build_error = error
            logger.warning("background index run failed", extra={"detail": str(error)})

    def _card_texts(self, reader: IndexReader) -> "ReadCardTexts":
        """Return a function that yields (row, text to embed) of cards of one file."""
        derived = reader.derived

        def texts(rows: Sequence[int]) -> Iterator[tuple[int, str]]:
            path = derived.path(int(derived.file_of_card[rows[0]]))
            of_file = reader.snapshot.embedded_texts(path)
            card_ids = derived.columns.card_id[list(rows)].tolist()
            yield from (
                (row, of_file[card_id]) for row, card_id in zip(rows, card_ids, strict=True) if card_id in of_file
            )

        return texts


def _log_report(report: "IndexReport") -> None:
    facts = {
        "root": str(report.root),
        "generation": report.generation,
        "complete": report.complete,
        "files_seen": report.n_seen,
        "files_read": report.n_read,
        "files_removed": report.n_removed,
        "files_skipped": report.n_skipped,
        "cards": report.n_cards,
        "edges": report.n_edges,
        "took_ms": round(report.took_ms, 1),
    }
    logger.info("index run", extra=facts)
    for message in report.messages:
        logger.warning("index message", extra={"detail": message})
    for problem in report.problems:
        logger.debug("not indexed whole", extra={"path": problem.path, "reason": problem.reason.value})
