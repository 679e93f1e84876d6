"""Reads one committed generation of the index from the SQLite file.

**Invariant:** all results of one `Snapshot` come from the same generation, whatever a writer does meanwhile.
"""

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from codecards.errors import SnapshotDamagedError, SnapshotMissingError, TooManyFilesError
from codecards.indexer.cards.card import Card
from codecards.indexer.cards.embedded_text import with_heading
from codecards.indexer.cards.record import unpack_embedded, unpack_facts
from codecards.indexer.facts import FileFacts
from codecards.indexer.graph.edges import CallEdge
from codecards.indexer.problems import Problem
from codecards.indexer.store.rows import (
    CARD_COLUMNS,
    EDGE_COLUMNS,
    STAMPS,
    IndexedFile,
    Stamp,
    card_of_row,
    edge_of_row,
    file_of_row,
    problem_of_row,
    stamp_of_row,
)

if TYPE_CHECKING:
    from codecards.indexer.store.kept_contents import KeptSize

CLOCK_TICK_NS = 100_000_000
"""A file that changed this recently may change again without another time stamp."""
MAX_VARIABLES = 500
"""Values in one SQL statement; older versions of SQLite allow 999."""


def connect(database: Path, *, write: bool = False) -> sqlite3.Connection:
    """Open the SQLite file.

    Raises:
        SnapshotMissingError: It does not exist (when reading).
        SnapshotDamagedError: It is not an SQLite file.
    """
    if not write and not database.exists():
        raise SnapshotMissingError(f"nothing is indexed in {database.parent}; run `codecards index` first")
    uri = database.absolute().as_uri()
    modes = ("?mode=rwc",) if write else ("?mode=rw", "?mode=ro", "?immutable=1")
    for mode in modes:
        connection = sqlite3.connect(uri + mode, uri=True, isolation_level=None, check_same_thread=False, timeout=30)
        try:
            connection.execute("SELECT name FROM sqlite_master LIMIT 1").fetchone()
        except sqlite3.OperationalError:  # the folder may be read-only: try the next mode
            connection.close()
            if mode == modes[-1]:
                check_descriptors(database)
                if not write and not database.is_file():
                    raise damaged(database, "it is not a file") from None
                raise
        except sqlite3.DatabaseError as error:
            connection.close()
            raise damaged(database, error) from error
        else:
            return connection
    raise AssertionError("unreachable")


def check_descriptors(database: Path) -> None:
    """Raise if no more files can be opened, which SQLite does not tell from other reasons.

    Raises:
        TooManyFilesError: That is so.
    """
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        if (too_many := TooManyFilesError.of(error, database)) is not None:
            raise too_many from error


def _close_all(connections: Iterable[sqlite3.Connection]) -> None:
    for connection in connections:
        connection.close()


def damaged(database: Path, error: Exception | str) -> SnapshotDamagedError:
    """Return the error for a damaged SQLite file."""
    return SnapshotDamagedError(f"the index {database} is damaged ({error}); run `codecards index` to rebuild it")


def schema() -> str:
    """Return the SQL statements that create an empty snapshot."""
    return Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")


def _file_identity(path: Path) -> tuple[int, int] | None:
    """Return (device, inode), which change when another file replaces this one; None if it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _commit_stamp(database: Path) -> tuple[int, ...] | None:
    """Return a value that every commit changes; None if it can't be told, or if a commit may follow unseen."""
    stamp: list[int] = []
    for path in (database, database.with_name(database.name + "-wal")):
        try:
            status = path.stat()
        except FileNotFoundError:
            stamp += (0, 0)
            continue
        except OSError:
            return None
        if status.st_mtime_ns > time.time_ns() - CLOCK_TICK_NS:
            return None
        stamp += (status.st_size, status.st_mtime_ns)
    return tuple(stamp)


class Snapshot:
    """One generation of the index. Thread-safe; closed explicitly, or when the last reference is dropped."""

    def __init__(self, database: Path) -> None:
        """Open the newest committed generation.

        Raises:
            SnapshotMissingError: Nothing is indexed yet.
            SnapshotDamagedError: The file can't be read as a snapshot.
        """
        self.database = database
        self._file = _file_identity(database)
        self._lock = threading.Lock()
        self._connection = connect(database)
        self._connections = [self._connection]
        self._seen: tuple[int, tuple[int, ...]] | None = None
        weakref.finalize(self, _close_all, self._connections)
        try:
            self._connection.execute("PRAGMA query_only = 1")
            self._connection.execute("BEGIN")
            self.meta = dict(self._connection.execute("SELECT name, value FROM meta"))
            self.generation = int(self.meta["generation"])
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise damaged(database, error) from error
        except (KeyError, ValueError):
            self._connection.close()
            raise SnapshotMissingError(
                f"indexing in {database.parent} was never completed; run `codecards index`"
            ) from None

    def close(self) -> None:
        """Close the connections."""
        _close_all(self._connections)

    def is_newest(self) -> bool:
        """Return whether a snapshot opened now would read the same generation of the same file."""
        return _file_identity(self.database) == self._file and self.newest_generation() == self.generation

    def newest_generation(self) -> int:
        """Return the number of the generation that a snapshot opened now would read."""
        with self._lock:
            stamp = _commit_stamp(self.database)
            if stamp is not None and self._seen is not None and self._seen[1] == stamp:
                return self._seen[0]
            # A connection of its own sees the latest commit; it is not kept, because each holds files open.
            with closing(connect(self.database)) as connection:
                row = connection.execute("SELECT value FROM meta WHERE name = 'generation'").fetchone()
            generation = int(row[0]) if row else 0
            self._seen = (generation, stamp) if stamp is not None else None
            return generation

    def check(self) -> None:
        """Read every page.

        Raises:
            SnapshotDamagedError: Pages contradict each other.
        """
        with self._rows("PRAGMA quick_check(1)") as rows:
            verdict = rows[0][0]
        if verdict != "ok":
            raise damaged(self.database, sqlite3.DatabaseError(verdict))

    # files

    def files(self) -> list[IndexedFile]:
        """Return all indexed files, by path."""
        with self._rows("SELECT * FROM files ORDER BY path") as rows:
            return [file_of_row(row) for row in rows]

    def stamps(self) -> list[Stamp]:
        """Return the stamp of each indexed file, by path."""
        with self._rows(STAMPS) as rows:
            return [stamp_of_row(row) for row in rows]

    def raw_stamps(self) -> list[tuple[bytes, int, int, int, int, int]]:
        """Return the stamps with the bytes of each path, in no order."""
        with self._rows(STAMPS.partition(" ORDER")[0]) as rows:
            return rows

    def stored_value(self, name: str) -> bytes:
        """Return a value that is not text, b"" if there is none."""
        with self._rows("SELECT value FROM stored WHERE name = ?", (name,)) as rows:
            return bytes(rows[0][0]) if rows else b""

    def file_at(self, path: str) -> IndexedFile | None:
        """Return the file with this path, None if it is not indexed."""
        with self._rows("SELECT * FROM files WHERE path = ?", (os.fsencode(path),)) as rows:
            return file_of_row(rows[0]) if rows else None

    def files_at(self, paths: Collection[str]) -> dict[str, IndexedFile]:
        """Return path → file for those of the paths that are indexed."""
        wanted, found = [os.fsencode(path) for path in paths], dict[str, IndexedFile]()
        for start in range(0, len(wanted), MAX_VARIABLES):
            some = wanted[start : start + MAX_VARIABLES]
            with self._rows(f"SELECT * FROM files WHERE path IN ({','.join('?' * len(some))})", some) as rows:
                found.update((entry.path, entry) for entry in map(file_of_row, rows))
        return found

    def card_counts(self) -> dict[int, int]:
        """Return file id → number of cards."""
        with self._rows("SELECT file_id, count(*) FROM cards GROUP BY file_id") as rows:
            return dict(rows)

    def problems(self) -> list[Problem]:
        """Return the problems of all files, by path."""
        with self._rows("SELECT path, reason, detail, kept FROM problems ORDER BY path, reason") as rows:
            return [problem_of_row(row) for row in rows]

    def facts(self, content_key: bytes) -> FileFacts | None:
        """Return the facts of a content, None if they are not stored."""
        with self._rows("SELECT facts FROM records WHERE content_key = ?", (content_key,)) as rows:
            return unpack_facts(rows[0][0]) if rows else None

    # cards

    def cards(self, card_ids: Iterable[int]) -> dict[int, Card]:
        """Return card id → card for the cards that exist."""
        wanted, found = list(card_ids), dict[int, Card]()
        for start in range(0, len(wanted), MAX_VARIABLES):
            some = wanted[start : start + MAX_VARIABLES]
            marks = ",".join("?" * len(some))
            where = f"WHERE c.card_id IN ({marks})"
            found.update((card.card_id, card) for card in self._cards(where, some))
        return found

    def cards_in(self, path: str) -> list[Card]:
        """Return the cards of a file, by position."""
        return self._cards("WHERE f.path = ? ORDER BY c.position", (os.fsencode(path),))

    def embedded_texts(self, path: str) -> dict[int, str]:
        """Return card id -> the text that is embedded of it, for the cards of a file."""
        key = (os.fsencode(path),)
        with self._rows("SELECT rest FROM files JOIN records USING (content_key) WHERE path = ?", key) as rows:
            contents = unpack_embedded(rows[0][0]) if rows else []
        query = "SELECT card_id, qualified_name FROM cards JOIN files USING (file_id) WHERE path = ? ORDER BY position"
        with self._rows(query, key) as cards:
            return {
                card_id: with_heading(path, qualified_name, content)
                for (card_id, qualified_name), content in zip(cards, contents, strict=False)
            }

    def cards_named(self, name: str, *, limit: int = 1000) -> list[Card]:
        """Return the cards whose last name part is `name` in any case, exact matches first."""
        found = self._cards(
            "WHERE c.folded_name = ? ORDER BY c.name <> ?, f.path, c.position LIMIT ?", (name.casefold(), name, limit)
        )
        return [card for card in found if card.name]

    def symbols(self, path: str | None = None) -> Iterator[Card]:
        """Yield all named cards, by path and position."""
        where, values = ("AND f.path = ?", (os.fsencode(path),)) if path is not None else ("", ())
        yield from self._cards(f"WHERE c.name <> '' {where} ORDER BY f.path, c.position", values)

    def card_at(self, path: str, line: int) -> Card | None:
        """Return the card that owns a line (1-based) of a file, else the innermost card around it."""
        around = [card for card in self.cards_in(path) if card.lead_line <= line <= card.last_line]
        owners = [card for card in around if any(first <= line <= last for first, last in card.own_lines)]
        chosen = owners or sorted(around, key=lambda card: card.last_line - card.lead_line)
        return chosen[0] if chosen else None

    def n_cards(self) -> int:
        """Return the number of cards."""
        return self._count("SELECT count(*) FROM cards")

    # edges

    def n_edges(self) -> int:
        """Return the number of edges, external edges included."""
        return self._count("SELECT count(*) FROM edges")

    def edges_from(self, card_ids: Sequence[int]) -> list[CallEdge]:
        """Return the edges whose reference is in one of the cards, by line."""
        return self._edges("e.caller_id", card_ids)

    def edges_to(self, card_ids: Sequence[int]) -> list[CallEdge]:
        """Return the exact and likely edges to one of the cards, by the caller's path and line."""
        return self._edges("e.target_id", card_ids)

    def ambiguous_edges_to(self, card: Card) -> list[CallEdge]:
        """Return the edges that have the card among their candidates."""
        found = self._edges("e.candidates IS NOT NULL AND e.last_name", [card.name])
        return [edge for edge in found if card.card_id in edge.candidate_ids]

    def all_edges(self) -> list[CallEdge]:
        """Return every edge."""
        return self._edges("1", [1])

    def kept_size(self) -> "KeptSize":
        """Return what the records of contents take."""
        from codecards.indexer.store.kept_contents import kept_size  # lazy: only `status` asks

        try:
            with self._lock:
                return kept_size(self._connection)
        except sqlite3.DatabaseError as error:
            raise damaged(self.database, error) from error

    # queries

    @contextmanager
    def _rows(self, query: str, values: Sequence[object] = ()) -> Iterator[list[tuple[Any, ...]]]:
        try:
            with self._lock:
                rows = self._connection.execute(query, tuple(values)).fetchall()
            yield rows
        except (sqlite3.DatabaseError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise damaged(self.database, error) from error

    def _count(self, query: str) -> int:
        with self._rows(query) as rows:
            return int(str(rows[0][0]))

    def _cards(self, where: str, values: Sequence[object]) -> list[Card]:
        query = f"SELECT {CARD_COLUMNS} FROM cards c JOIN files f USING (file_id) {where}"
        with self._rows(query, values) as rows:
            return [card_of_row(row) for row in rows]

    def _edges(self, column: str, values: Sequence[object]) -> list[CallEdge]:
        found: list[CallEdge] = []
        for start in range(0, len(values), MAX_VARIABLES):
            some = values[start : start + MAX_VARIABLES]
            query = (
                f"SELECT {EDGE_COLUMNS} FROM edges e JOIN files s ON s.file_id = e.source_file_id"
                " LEFT JOIN files t ON t.file_id = e.target_file_id"
                f" WHERE {column} IN ({','.join('?' * len(some))}) ORDER BY s.path, e.line, e.edge_id"
            )
            with self._rows(query, some) as rows:
                found += [edge_of_row(row) for row in rows]
        return found
