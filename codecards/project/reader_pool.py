"""Readers: the newest generation of an index, opened once and taken up anew when a writer has committed a later one."""

import logging
import threading
import time

from codecards.errors import SnapshotDamagedError, SnapshotFormatError, SnapshotMissingError
from codecards.indexer.index_folder import IndexFolder
from codecards.project.embedder import LazyEmbedder
from codecards.project.reader import IndexReader, open_reader

logger = logging.getLogger(__name__)

OPEN_TRIES = 3
"""A writer may replace what is about to be opened."""
WAIT_S = 0.05


class IndexReaderPool:
    """Opens generations for all threads of an engine."""

    def __init__(self, folder: IndexFolder, embedder: LazyEmbedder) -> None:
        """Take the index, and the embedder whose vectors are wanted."""
        self._folder, self._embedder = folder, embedder
        self._lock = threading.RLock()
        self._current: IndexReader | None = None

    def close(self) -> None:
        """Give the generation up."""
        with self._lock:
            if self._current is not None:
                self._current.snapshot.close()
                self._current = None

    def is_there(self) -> bool:
        """Return whether there is a generation that this version can read."""
        try:
            self.newest()
        except (SnapshotMissingError, SnapshotFormatError, SnapshotDamagedError):
            return False
        return True

    def newest(self) -> IndexReader:
        """Return the newest generation.

        Raises:
            SnapshotError: There is none, or none that can be read.
        """
        with self._lock:
            if self._current is not None and self._current.snapshot.is_newest():
                return self._current
            for attempt in range(OPEN_TRIES):
                try:
                    newest = open_reader(self._folder, self._embedder.loaded)
                except SnapshotDamagedError:
                    if attempt == OPEN_TRIES - 1:
                        raise
                    time.sleep(WAIT_S)
                else:
                    # The older generation is not closed here: other threads may still answer from it. Its snapshot
                    # closes itself when the last of them lets it go.
                    self._current = newest
                    logger.debug("generation opened", extra={"generation": newest.snapshot.generation})
                    return newest
            raise AssertionError("unreachable")

    def newest_with_derived(self) -> IndexReader:
        """Return the newest generation with all that ranking reads.

        Raises:
            SnapshotError: There is none, or none that can be read.
        """
        for attempt in range(OPEN_TRIES):
            reader = self.newest()
            try:
                reader.open_derived()
            except (SnapshotDamagedError, SnapshotMissingError):
                if attempt == OPEN_TRIES - 1:
                    raise
                time.sleep(WAIT_S)
                with self._lock:
                    self._current = None
            else:
                return reader
        raise AssertionError("unreachable")
