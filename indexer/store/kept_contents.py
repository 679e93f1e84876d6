"""Keeps the records of contents that no file has any more, within a limit, so that a branch switch parses nothing twice."""

import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass

LIVE_BYTES = "live_bytes"
"""Name of the value in `meta` that holds the number of bytes of the records of files."""
_SIZE = "length(facts) + length(rest)"


@dataclass(frozen=True, slots=True)
class KeptSize:
    """What the records of contents take."""

    live_bytes: int
    """Of contents of files."""
    kept_bytes: int
    """Of contents of no file."""
    n_kept: int


class KeptContents:
    """The table `kept` of a snapshot that is being written."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def new_to_files(self, keys: Iterable[bytes]) -> list[bytes]:
        """Return those of some contents that no file has yet."""
        query = "SELECT 1 FROM files WHERE content_key = ? LIMIT 1"
        return [key for key in dict.fromkeys(keys) if not self._connection.execute(query, (key,)).fetchone()]

    def settle(self, fresh: Collection[bytes], old: Iterable[bytes], generation: int) -> int:
        """Enter which contents files have now, and return the bytes of their records.

        Args:
            fresh: Contents that files have since this generation.
            old: Contents that files had before and may not have any more.
            generation: The generation that is being written.
        """
        live_bytes = self._live_bytes()
        if live_bytes is None:
            return self._settle_all(generation)
        gone = self.new_to_files(old)
        sizes = f"SELECT {_SIZE} FROM records WHERE content_key = ?"
        for keys, sign in ((fresh, 1), (gone, -1)):
            for key in keys:
                row = self._connection.execute(sizes, (key,)).fetchone()
                live_bytes += sign * (row[0] if row else 0)
        self._connection.executemany("DELETE FROM kept WHERE content_key = ?", [(key,) for key in fresh])
        self._connection.executemany(
            f"INSERT OR REPLACE INTO kept SELECT content_key, ?, {_SIZE} FROM records WHERE content_key = ?",
            [(generation, key) for key in gone],
        )
        return live_bytes

    def limit(self, n_bytes: int) -> None:
        """Remove records, those that went out of use first, until the kept ones have at most so many bytes."""
        total = self.size().kept_bytes
        removed: list[tuple[bytes]] = []
        rows = self._connection.execute("SELECT content_key, n_bytes FROM kept ORDER BY generation, content_key")
        for key, size in rows:
            if total <= n_bytes:
                break
            total -= size
            removed.append((key,))
        rows.close()
        self._connection.executemany("DELETE FROM records WHERE content_key = ?", removed)
        self._connection.executemany("DELETE FROM kept WHERE content_key = ?", removed)

    def size(self) -> KeptSize:
        """Return what the records take."""
        return kept_size(self._connection)

    def _live_bytes(self) -> int | None:
        row = self._connection.execute("SELECT value FROM meta WHERE name = ?", (LIVE_BYTES,)).fetchone()
        return int(row[0]) if row else None

    def _settle_all(self, generation: int) -> int:
        self._connection.execute("DELETE FROM kept")
        self._connection.execute(
            f"INSERT INTO kept SELECT content_key, ?, {_SIZE} FROM records"
            " WHERE content_key NOT IN (SELECT content_key FROM files)",
            (generation,),
        )
        (total,) = self._connection.execute(f"SELECT coalesce(sum({_SIZE}), 0) FROM records").fetchone()
        return int(total) - self.size().kept_bytes


def kept_size(connection: sqlite3.Connection) -> KeptSize:
    """Return what the records of a snapshot take."""
    n_kept, kept = connection.execute("SELECT count(*), coalesce(sum(n_bytes), 0) FROM kept").fetchone()
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (LIVE_BYTES,)).fetchone()
    return KeptSize(int(row[0]) if row else 0, int(kept), int(n_kept))
