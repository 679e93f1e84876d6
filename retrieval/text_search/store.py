"""Keeps the signatures of contents in one SQLite file beside the snapshot; it can be deleted and is made again.

Signatures belong to a content, not to a generation: an edit of one file adds one row.
"""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

FILE_NAME = "text_signatures.db"
VERSION = 1
"""Raised where signatures are made in another way."""
MAX_DEAD_SHARE = 1.0
"""Rows of contents that are gone, as a share of the live ones, from which they are removed."""
_BATCH = 500


class SignatureStore:
    """The signatures of an index folder. Safe for several processes.

    Args:
        folder: The index folder.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME

    def read(self, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """Return content key → signature of those that are stored."""
        if not self._path.is_file():
            return {}
        try:
            with self._connected() as connection:
                rows = connection.execute("SELECT content_key, signature FROM signatures")
                wanted = frozenset(keys)
                return {key: signature for key, signature in rows if key in wanted}
        except sqlite3.Error:
            return {}

    def add(self, signatures: Mapping[bytes, bytes], live: Collection[bytes]) -> bool:
        """Store signatures, and drop those of contents that are gone where there are many; return whether that was possible."""
        try:
            with self._connected(writes=True) as connection, connection:
                connection.executemany("INSERT OR REPLACE INTO signatures VALUES (?, ?)", signatures.items())
                (n_rows,) = connection.execute("SELECT count(*) FROM signatures").fetchone()
                if n_rows > len(live) * (1 + MAX_DEAD_SHARE):
                    known = [key for (key,) in connection.execute("SELECT content_key FROM signatures")]
                    gone = frozenset(known) - frozenset(live)
                    connection.executemany("DELETE FROM signatures WHERE content_key = ?", ((key,) for key in gone))
        except (sqlite3.Error, OSError):
            return False
        return True

    @contextmanager
    def _connected(self, *, writes: bool = False) -> Iterator[sqlite3.Connection]:
        if self._path.is_symlink():
            raise sqlite3.OperationalError(f"{self._path} is a link")
        with closing(sqlite3.connect(self._path, timeout=2.0)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version != VERSION:
                if not writes:
                    raise sqlite3.OperationalError("signatures of another version")
                connection.execute("DROP TABLE IF EXISTS signatures")
                connection.execute("CREATE TABLE signatures (content_key BLOB PRIMARY KEY, signature BLOB NOT NULL)")
                connection.execute(f"PRAGMA user_version = {VERSION}")
            yield connection


def batches(keys: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield keys in lists of a few hundred, so that an interrupted run keeps what it has made."""
    batch: list[bytes] = []
    for key in keys:
        batch.append(key)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
