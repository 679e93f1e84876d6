"""Caches the newest generation of an index and reopens it when a writer commits."""

import logging
import threading
import time

from codecards.errors import SnapshotDamagedError, SnapshotFormatError, SnapshotMissingError
from codecards.indexer.index_folder import IndexFolder
from codecards.project.embedder import LazyEmbedder
from codecards.project.open_projects import OPEN_PROJECTS
from codecards.project.reader import IndexReader, open_reader

logger = logging.getLogger(__name__)

OPEN_TRIES = 3
"""A writer may replace a generation while it is being opened."""
WAIT_S = 0.05


class IndexReaderPool:
    """Opens generations for all threads of an engine.

    Args:
        folder: The index folder.
        embedder: The embedder whose vectors are used.
        max_open: `Settings.max_open_projects`.
    """

    def __init__(self, folder: IndexFolder, embedder: LazyEmbedder, max_open: int = 200) -> None:
        self._folder, self._embedder, self._max_open = folder, embedder, max_open
        self._lock = threading.RLock()
        self._current: IndexReader | None = None

    def close(self) -> None:
        """Close the open generation."""
        with self._lock:
            if self._current is not None:
                self._current.snapshot.close()
                self._current = None
            OPEN_PROJECTS.forget(self)

    def release(self) -> None:
        """Let go of the open generation; it is closed when nobody answers from it any more."""
        self._current = None

    def is_open(self) -> bool:
        """Return whether a generation is held open."""
        return self._current is not None

    def has_index(self) -> bool:
        """Return whether there is a generation that this version can read."""
        try:
            self.newest()
        except (SnapshotMissingError, SnapshotFormatError, SnapshotDamagedError):
            return False
        return True

    def _open(self) -> IndexReader:
        return open_reader(self._folder, self._embedder.get)

    def newest(self) -> IndexReader:
        """Return the newest generation.

        Raises:
            SnapshotError: There is no generation, or it can't be read.
        """
        with self._lock:
            if self._current is not None and self._current.snapshot.is_newest():
                OPEN_PROJECTS.used(self, self.release, self._max_open)
                return self._current
            for attempt in range(OPEN_TRIES):
                try:
                    newest = OPEN_PROJECTS.opened(self, self._folder.path, self._open)
                except SnapshotDamagedError:
                    if attempt == OPEN_TRIES - 1:
                        raise
                    time.sleep(WAIT_S)
                else:
                    # The older generation is not closed here: other threads may still answer from it. Its snapshot
                    # closes itself when the last of them drops it.
                    self._current = newest
                    OPEN_PROJECTS.used(self, self.release, self._max_open)
                    logger.debug("generation opened", extra={"generation": newest.snapshot.generation})
                    return newest
            raise AssertionError("unreachable")

    def newest_with_derived(self) -> IndexReader:
        """Return the newest generation with everything that ranking reads, opened.

        Raises:
            SnapshotError: There is no generation, or it can't be read.
        """
        for attempt in range(OPEN_TRIES):
            reader = self.newest()
            try:
                OPEN_PROJECTS.opened(self, self._folder.path, reader.open_derived)
            except (SnapshotDamagedError, SnapshotMissingError):
                if attempt == OPEN_TRIES - 1:
                    raise
                time.sleep(WAIT_S)
                with self._lock:
                    self._current = None
            else:
                return reader
        raise AssertionError("unreachable")
