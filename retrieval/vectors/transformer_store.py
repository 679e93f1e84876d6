"""Stores the transformer vectors by the hash of the embedded text, independent of generations.

A vector belongs to a text, so renames, reverts and branch switches find theirs again. The store is one SQLite file in the
index folder; writers of several processes take turns, and readers see what is committed while the store grows.
"""

import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codecards.errors import IndexWriteError, SnapshotDamagedError

FORMAT = 1
BUSY_S = 10.0
_SCHEMA = (
    "CREATE TABLE meta (identity TEXT NOT NULL, dimensions INTEGER NOT NULL, canary BLOB NOT NULL)",
    # Numbers are never reused: a reader asks for the vectors after the last number that it knows.
    "CREATE TABLE vectors (number INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL)",
    f"PRAGMA user_version = {FORMAT}",
)


class TransformerStore:
    """One open store. Safe for several threads; must be closed.

    Reading a closed, damaged or deleted store raises `SnapshotDamagedError`.

    Attributes:
        identity: Identity of the model that made the vectors.
        probe_vectors: (k, dimensions) float32: the model's vectors of fixed texts when the store was created.
        dimensions: Length of a vector.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Take an open connection to a store; see `open_store` and `make_store`.

        Raises:
            sqlite3.DatabaseError: The file is damaged.
            ValueError: The file has another format.
        """
        self._connection = connection
        self._lock = threading.Lock()
        if connection.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
            raise ValueError("the store has another format")
        row = connection.execute("SELECT identity, dimensions, canary FROM meta").fetchone()
        if row is None:
            raise ValueError("the store names no model")
        self.identity, self.dimensions = str(row[0]), int(row[1])
        self.probe_vectors: NDArray[np.float32] = np.frombuffer(row[2], np.float32).reshape(-1, self.dimensions)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def keys(self) -> set[bytes]:
        """Return the keys of all vectors."""
        with self._reading():
            return {row[0] for row in self._connection.execute("SELECT key FROM vectors")}

    def last_number(self) -> int:
        """Return the number of the newest vector, 0 if there is none; cheap."""
        with self._reading():
            return int(self._connection.execute("SELECT coalesce(max(number), 0) FROM vectors").fetchone()[0])

    def after(self, number: int) -> tuple[int, NDArray[np.uint64], NDArray[np.float16]]:
        """Return the vectors that were stored after a number.

        Returns:
            The number of the newest vector, (n, 2) keys, and (n, dimensions) vectors.
        """
        with self._reading():
            query = "SELECT number, key, vector FROM vectors WHERE number > ? ORDER BY number"
            rows = self._connection.execute(query, (number,)).fetchall()
        if not rows:
            return number, np.zeros((0, 2), np.uint64), np.zeros((0, self.dimensions), np.float16)
        keys = np.frombuffer(b"".join(row[1] for row in rows), np.uint64).reshape(-1, 2)
        vectors = np.frombuffer(b"".join(row[2] for row in rows), np.float16).reshape(-1, self.dimensions)
        return int(rows[-1][0]), keys, vectors

    def put(self, keys: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
        """Store some vectors, all or none; known keys keep their vectors.

        Args:
            keys: As returned by `text_key`.
            vectors: (n, dimensions): rows of length 1.

        Raises:
            IndexWriteError: The vectors can't be written.
        """
        small = vectors.astype(np.float16)
        rows = [(key, small[place].tobytes()) for place, key in enumerate(keys)]
        with self._writing():
            self._connection.executemany("INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", rows)

    def prune(self, needed: Iterable[bytes], most: int) -> int:
        """Delete the oldest unneeded vectors beyond a limit; return how many were deleted.

        Args:
            needed: Keys whose vectors stay.
            most: Number of vectors up to which unneeded ones stay too, for a later switch back.

        Raises:
            IndexWriteError: The store can't be written.
        """
        with self._reading():
            rows = self._connection.execute("SELECT number, key FROM vectors ORDER BY number").fetchall()
        keep = set(needed)
        spare = [(number,) for number, key in rows if key not in keep]
        dropped = spare[: max(0, len(rows) - most)]
        if dropped:
            with self._writing():
                self._connection.executemany("DELETE FROM vectors WHERE number = ?", dropped)
            with self._reading():
                self._connection.execute("PRAGMA incremental_vacuum").fetchall()
        return len(dropped)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                raise SnapshotDamagedError(
                    f"the transformer vectors can't be read ({error}); the index is undamaged"
                ) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    yield
                except BaseException:
                    self._connection.execute("ROLLBACK")
                    raise
                self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise IndexWriteError(
                    f"the transformer vectors can't be written ({error}); the index is undamaged"
                ) from error


def open_store(path: Path, identity: str) -> TransformerStore | None:
    """Return the store of a model; None if there is none, if it belongs to another model, or if it can't be read.

    Args:
        path: The file.
        identity: Identity of the model.
    """
    if not path.is_file() or path.is_symlink():
        return None
    with suppress(sqlite3.Error, ValueError):
        connection = _connect(path)
        try:
            store = TransformerStore(connection)
        except BaseException:
            connection.close()
            raise
        if store.identity == identity:
            return store
        store.close()
    return None


def make_store(path: Path, identity: str, probe_vectors: NDArray[np.float32]) -> TransformerStore:
    """Return the store of a model for writing; replace a store that is damaged or belongs to another model.

    The caller holds the lock of the writer.

    Args:
        path: The file, in an existing folder.
        identity: Identity of the model.
        probe_vectors: (k, dimensions): the model's vectors of fixed texts.

    Raises:
        IndexWriteError: The store can't be created.
    """
    if (known := open_store(path, identity)) is not None:
        return known
    try:
        for name in (path.name, f"{path.name}-wal", f"{path.name}-shm", f"{path.name}-journal"):
            path.with_name(name).unlink(missing_ok=True)
        connection = _connect(path)
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA:
            connection.execute(statement)
        values = (identity, probe_vectors.shape[1], np.ascontiguousarray(probe_vectors, np.float32).tobytes())
        connection.execute("INSERT INTO meta VALUES (?, ?, ?)", values)
        connection.execute("COMMIT")
        return TransformerStore(connection)
    except (OSError, sqlite3.Error) as error:
        raise IndexWriteError(
            f"{path} can't be created ({error}); transformer vectors stay off, the index is undamaged"
        ) from error


def _connect(path: Path) -> sqlite3.Connection:
    """Open the file; read-only if its folder can't be written."""
    modes = ("?mode=rwc",) if os.access(path.parent, os.W_OK) else ("?mode=ro", "?immutable=1")
    for mode in modes:
        connection = sqlite3.connect(
            path.absolute().as_uri() + mode, uri=True, isolation_level=None, check_same_thread=False, timeout=BUSY_S
        )
        try:
            connection.execute("SELECT name FROM sqlite_master LIMIT 1").fetchone()
            # A power failure may lose the last second of vectors, but can't damage the file.
            connection.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.Error:
            connection.close()
            if mode == modes[-1]:
                raise
        else:
            return connection
    raise AssertionError("unreachable")
