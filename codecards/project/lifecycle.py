"""Upkeep: a project's index is built, brought up to date, opened, and removed.

**Invariant:** threads of one engine take turns at writing; only another process is a busy writer.
"""

import logging
import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from codecards.config import Settings, settings_from_environment
from codecards.errors import CodecardsError, EmbedderError, IndexWriteError, SnapshotError, WriterBusyError
from codecards.indexer.build.changes import count_changed
from codecards.indexer.cards.record import EXTRACTOR_VERSION
from codecards.indexer.index_folder import IndexFolder
from codecards.indexer.walk.discovery import discover, project_root
from codecards.indexer.walk.files import check_root
from codecards.project.embedder import LazyEmbedder
from codecards.project.freshness import FreshFiles
from codecards.project.reader import IndexReader
from codecards.project.reader_pool import IndexReaderPool
from codecards.project.transformer_vectors import TransformerVectors
from codecards.project.tuned_weights import TunedWeightsFile

# What builds is loaded by the method that needs it: a look at an unchanged tree takes a fifth of the time so.
if TYPE_CHECKING:
    from codecards.indexer.build.refresh import IndexReport, Progress
    from codecards.indexer.build.worker_pool import Workers
    from codecards.retrieval.embed.embedder import Embedder
    from codecards.retrieval.vectors.transformer_fill import Filled

logger = logging.getLogger(__name__)

AUTO_REFRESH_FILES = 500
"""Changed files up to which a question brings the index up to date by itself; more are reported and left."""


def _silent(_what: str, _done: int, _total: int) -> None:
    """Show no progress."""


class IndexUpkeep:
    """Holds one project's index: builds it, brings it up to date, opens it. Safe for several threads; to be closed."""

    def __init__(self, root: Path, settings: Settings) -> None:
        """Take a project's folder; see `open` for what a user wants."""
        self.root = root
        self.settings = settings
        self.folder: IndexFolder = settings.index_folder(root)
        self._lock = threading.RLock()
        self._writing = threading.Lock()
        """Threads of this engine take turns; only another process is a busy writer."""
        self._embedder = LazyEmbedder(settings.embedder)
        self.transformer = TransformerVectors(self.folder.path, is_on=settings.transformer, embedder=settings.embedder)
        """The second opinion on questions, filled by `backfill_vectors`."""
        self._readers = IndexReaderPool(self.folder, self._embedder)
        self._tuned = TunedWeightsFile(settings.index_folder(root).path) if settings.is_tuned else None
        self._building: threading.Thread | None = None
        self._build_error: CodecardsError | None = None

    @classmethod
    def open(cls, path: str | Path = ".", *, settings: Settings | None = None, build: bool = True) -> Self:
        """Return the engine of the project at (or around) a folder.

        Where there is no index yet it is built in the background; until it is there, `recall` searches the files
        themselves and says so.

        Args:
            path: The project's folder, or one inside it.
            settings: Those of the environment by default.
            build: Whether to build a missing index.

        Raises:
            ProjectNotFoundError: The path does not exist or is no folder.
        """
        start = Path(path)
        check_root(start)
        engine = cls(project_root(start.resolve()), settings or settings_from_environment())
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
        """End the worker processes and give the generation up."""
        if "_workers" in self.__dict__:
            self._workers.close()
        self._readers.close()
        self.transformer.close()

    def kill(self) -> None:
        """End the worker processes at once, also in the middle of a file: for a process that is about to end."""
        self._workers.kill()

    # building

    def is_indexed(self) -> bool:
        """Return whether a first index was committed and can be read by this version."""
        return self._readers.is_there()

    def refresh(self, *, full: bool = False, progress: "Progress" = _silent) -> "IndexReport":
        """Bring the index up to date and return what was done.

        Args:
            full: Whether to trust nothing that is stored and read everything anew.
            progress: Is told (what is done, how far, of how many).

        Raises:
            ProjectError: The project can't be read, or the index not written.
            WriterBusyError: Another process is writing.
        """
        from codecards.indexer.build.refresh import refresh  # noqa: PLC0415
        from codecards.retrieval.derive import DerivedIndexBuilder  # noqa: PLC0415

        def run(embedder: "Embedder | None") -> "IndexReport":
            with self._writing:
                return refresh(
                    self.root,
                    self.folder,
                    DerivedIndexBuilder(embedder),
                    lambda: self._workers,
                    self.settings.build,
                    full=full,
                    progress=progress,
                )

        try:
            report = run(self._embedder.chosen())
        except EmbedderError as error:  # its files are there, but are no model
            self._embedder.give_up(error)
            report = run(None)
        _log_run(report)
        return report

    def backfill_vectors(
        self, progress: "Progress" = _silent, *, limit: int | None = None, n_threads: int = 1
    ) -> "Filled":
        """Compute deep vectors of cards of the newest generation that have none; what was computed stays.

        Args:
            progress: Is told ("embedding", cards with a vector, cards that are to have one); what it raises ends it.
            limit: Most vectors to compute now; None for all.
            n_threads: Texts that are embedded at a time.

        Raises:
            SnapshotError: There is no index, or none that can be read.
            WriterBusyError: Another process is at it.
            EmbedderError: The model can't be loaded.
            IndexWriteError: Vectors can't be written.
        """
        reader = self._readers.newest_with_derived()
        derived = reader.derived

        def texts(rows: Sequence[int]) -> Iterator[tuple[int, str]]:
            path = derived.path(int(derived.file_of_card[rows[0]]))
            of_file = reader.snapshot.embedded_texts(path)
            card_ids = derived.columns.card_id[list(rows)].tolist()
            yield from (
                (row, of_file[card_id]) for row, card_id in zip(rows, card_ids, strict=True) if card_id in of_file
            )

        def told(n_done: int, n_total: int) -> None:
            progress("embedding", n_done, n_total)

        return self.transformer.fill(reader, texts, told, limit=limit, n_threads=n_threads)

    def refresh_if_small(self, progress: "Progress" = _silent) -> str:
        """Take in what changed on disk, if it is little; return what keeps the index behind, in words, else ""."""
        try:
            reader = self._reader()
            is_outdated = reader.extractor != EXTRACTOR_VERSION
            n_changed = len(reader.snapshot.stamps()) if is_outdated else self.n_changed()
            if n_changed > AUTO_REFRESH_FILES:
                why = "were read by another version" if is_outdated else "changed since the index was built"
                return f"{n_changed} files {why}; run `codecards index`"
            if n_changed or is_outdated:
                self.refresh(progress=progress)
        except (SnapshotError, WriterBusyError, IndexWriteError) as error:
            return str(error)
        return ""

    def build_in_background(self) -> None:
        """Start building the index in a thread, unless one is at it."""
        with self._lock:
            if self._building is None or not self._building.is_alive():
                self._building = threading.Thread(target=self._build, name="codecards-build", daemon=True)
                self._building.start()

    def is_building(self) -> bool:
        """Return whether a background build is at work."""
        return self._building is not None and self._building.is_alive()

    def wait_until_built(self, timeout_s: float | None = None) -> bool:
        """Wait for the background build; return whether the index is there.

        Raises:
            CodecardsError: The build failed.
        """
        if self._building is not None:
            self._building.join(timeout_s)
        if self._build_error is not None:
            raise self._build_error
        return self.is_indexed()

    def _build(self) -> None:
        try:
            self.refresh()
        except CodecardsError as error:
            self._build_error = error
            logger.warning("background index run failed", extra={"detail": str(error)})

    def n_changed(self) -> int:
        """Return the number of files that are new, gone, or differ in size or time stamp since they were indexed."""
        found = discover(self.root, self.settings.build.discovery).files
        return count_changed(self._reader().snapshot.stamps(), found)

    def clean(self) -> None:
        """Remove the index; notes and sessions stay."""
        self.close()
        self.folder.remove()

    # below: how it is done

    def _reader(self) -> IndexReader:
        return self._readers.newest()

    @cached_property
    def _workers(self) -> "Workers":
        from codecards.indexer.build.worker_pool import Workers  # noqa: PLC0415

        return Workers(self.settings.n_workers, self.settings.worker_time_limit_s)

    def _fresh_files(self, reader: IndexReader) -> FreshFiles:
        return FreshFiles(self.root, reader.snapshot, lambda: self._workers, self.settings.build.discovery)


def _log_run(report: "IndexReport") -> None:
    logger.info("index run", extra={
        "root": str(report.root), "generation": report.generation, "complete": report.complete,
        "files_seen": report.n_seen, "files_read": report.n_read, "files_removed": report.n_removed,
        "files_skipped": report.n_skipped, "cards": report.n_cards, "edges": report.n_edges,
        "took_ms": round(report.took_ms, 1),
    })  # fmt: skip
    for message in report.messages:
        logger.warning("index message", extra={"detail": message})
    for problem in report.problems:
        logger.debug("not indexed whole", extra={"path": problem.path, "reason": problem.reason.value})
