"""Snapshot: what is known of a repository, read from one committed generation of the SQLite file.

**Invariant:** all answers of one `Snapshot` come from one generation, whatever a writer does meanwhile.
"""

import os
import sqlite3
import threading
import weakref
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from codecards.errors import SnapshotDamagedError, SnapshotMissingError
from codecards.indexer.cards.card import Card
from codecards.indexer.cards.chunking import symbol_id
from codecards.indexer.cards.embedded_text import with_heading
from codecards.indexer.cards.record import unpack_embedded, unpack_facts
from codecards.indexer.facts import FileFacts
from codecards.indexer.graph.edges import CallEdge
from codecards.indexer.problems import Coverage, Problem, Reason
from codecards.indexer.store.rows import IndexedFile

CARD_COLUMNS = (
    "c.card_id, f.path, f.language, c.kind, c.name, c.qualified_name, c.ordinal, c.parent, f.module, c.lead_line, "
    "c.first_line, c.name_line, c.last_line, c.own_lines, c.signature, c.doc, c.bases, c.content_hash"
)
Stamp = tuple[str, int, int, int, int, int]
"""What is known of a file without reading it: path, size in bytes, mtime_ns, ctime_ns, inode, and 1 if it is racy."""
STAMPS = "SELECT path, size_bytes, mtime_ns, ctime_ns, inode, racy FROM files ORDER BY path"
MAX_VARIABLES = 500
"""Values in one SQL statement; old SQLite libraries allow 999."""


def connect(database: Path, *, write: bool = False) -> sqlite3.Connection:
    """Open the SQLite file.

    Raises:
        SnapshotMissingError: There is none (when reading).
        SnapshotDamagedError: It is no SQLite file.
    """
    if not write and not database.exists():
        raise SnapshotMissingError(f"nothing is indexed in {database.parent}; run `codecards index` first")
    uri = database.absolute().as_uri()
    modes = ("?mode=rwc",) if write else ("?mode=rw", "?mode=ro", "?immutable=1")
    for mode in modes:
        connection = sqlite3.connect(uri + mode, uri=True, isolation_level=None, check_same_thread=False, timeout=30)
        try:
            connection.execute("SELECT name FROM sqlite_master LIMIT 1").fetchone()
        except sqlite3.OperationalError:  # a folder that can't be written: a read-only way of opening may do
            connection.close()
            if mode == modes[-1]:
                if not write and not database.is_file():
                    raise damaged(database, "it is no file") from None
                raise
        except sqlite3.DatabaseError as error:
            connection.close()
            raise damaged(database, error) from error
        else:
            return connection
    raise AssertionError("unreachable")


def _close_all(connections: Iterable[sqlite3.Connection]) -> None:
    for connection in connections:
        connection.close()


def damaged(database: Path, error: Exception | str) -> SnapshotDamagedError:
    """Return the error that says that the SQLite file can't be trusted."""
    return SnapshotDamagedError(f"the index {database} is damaged ({error}); run `codecards index` to rebuild it")


def schema() -> str:
    """Return the SQL text that makes an empty snapshot."""
    import importlib.resources  # noqa: PLC0415 - needed once in the life of an index

    return importlib.resources.files("codecards.indexer.store").joinpath("schema.sql").read_text(encoding="utf-8")


def _file_identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from one that was put in its place, None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


class Snapshot:
    """Answers questions from one generation; safe for several threads. To be closed, or let go of by all."""

    def __init__(self, database: Path) -> None:
        """Open the newest committed generation.

        Raises:
            SnapshotMissingError: Nothing was indexed yet.
            SnapshotDamagedError: The file can't be read as a snapshot.
        """
        self.database = database
        self._file = _file_identity(database)
        self._lock = threading.Lock()
        self._connection = connect(database)
        self._connections = [self._connection]
        self._watched: tuple[int, int] | None = None
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
                f"indexing in {database.parent} never came to an end; run `codecards index`"
            ) from None

    def close(self) -> None:
        """Give the generation up."""
        _close_all(self._connections)

    def is_newest(self) -> bool:
        """Return whether one opened now would read the same: no newer generation, and no other file in its place."""
        return _file_identity(self.database) == self._file and self.newest_generation() == self.generation

    def newest_generation(self) -> int:
        """Return the generation that a snapshot opened now would read."""
        with self._lock:
            watching = self._watching()
            row = watching.execute("SELECT value FROM meta WHERE name = 'generation'").fetchone()
            return int(row[0]) if row else 0

    def _watching(self) -> sqlite3.Connection:
        """Return a connection that sees what is committed now; it is kept, for opening one costs more than a look."""
        file = _file_identity(self.database)
        # Another file may have taken the place of the one that is open, and in a folder that can't be written SQLite
        # may have been told that nothing changes.
        if file is None or file != self._watched or not os.access(self.database.parent, os.W_OK):
            _close_all(self._connections[1:])
            self._connections[1:] = [connect(self.database)]
            self._watched = file
        return self._connections[1]

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
        """Return what the file system said of each indexed file, by path."""
        with self._rows(STAMPS) as rows:
            return [stamp_of_row(row) for row in rows]

    def file_at(self, path: str) -> IndexedFile | None:
        """Return the file of exactly this path, None if it is not indexed."""
        with self._rows("SELECT * FROM files WHERE path = ?", (os.fsencode(path),)) as rows:
            return file_of_row(rows[0]) if rows else None

    def files_at(self, paths: Collection[str]) -> dict[str, IndexedFile]:
        """Return path -> file for those of some paths that are indexed."""
        wanted, found = [os.fsencode(path) for path in paths], dict[str, IndexedFile]()
        for start in range(0, len(wanted), MAX_VARIABLES):
            some = wanted[start : start + MAX_VARIABLES]
            with self._rows(f"SELECT * FROM files WHERE path IN ({','.join('?' * len(some))})", some) as rows:
                found.update((entry.path, entry) for entry in map(file_of_row, rows))
        return found

    def card_counts(self) -> dict[int, int]:
        """Return file id -> number of cards."""
        with self._rows("SELECT file_id, count(*) FROM cards GROUP BY file_id") as rows:
            return dict(rows)

    def problems(self) -> list[Problem]:
        """Return every file that is not indexed as one would expect, by path."""
        with self._rows("SELECT path, reason, detail, kept FROM problems ORDER BY path, reason") as rows:
            return [problem_of_row(row) for row in rows]

    def facts(self, content_key: bytes) -> FileFacts | None:
        """Return what a content says, None where it is not stored."""
        with self._rows("SELECT facts FROM records WHERE content_key = ?", (content_key,)) as rows:
            return unpack_facts(rows[0][0]) if rows else None

    # cards

    def cards(self, card_ids: Iterable[int]) -> dict[int, Card]:
        """Return card id -> card for those that exist."""
        wanted, found = list(card_ids), dict[int, Card]()
        for start in range(0, len(wanted), MAX_VARIABLES):
            some = wanted[start : start + MAX_VARIABLES]
            marks = ",".join("?" * len(some))
            where = f"WHERE c.card_id IN ({marks})"
            found.update((card.card_id, card) for card in self._cards(where, some))
        return found

    def cards_in(self, path: str) -> list[Card]:
        """Return a file's cards in order of their place."""
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
        """Return the cards whose last name part is `name`, whatever the case; those of exactly this case first."""
        found = self._cards(
            "WHERE c.folded_name = ? ORDER BY c.name <> ?, f.path, c.position LIMIT ?", (name.casefold(), name, limit)
        )
        return [card for card in found if card.name]

    def card_ids_named(self, folded_name: str) -> list[int]:
        """Return the ids of the cards with this case-folded last name part."""
        with self._rows("SELECT card_id FROM cards WHERE folded_name = ? ORDER BY card_id", (folded_name,)) as rows:
            return [row[0] for row in rows]

    def symbols(self, path: str | None = None) -> Iterator[Card]:
        """Yield all cards that have a name, by path and place."""
        where, values = ("AND f.path = ?", (os.fsencode(path),)) if path is not None else ("", ())
        yield from self._cards(f"WHERE c.name <> '' {where} ORDER BY f.path, c.position", values)

    def card_at(self, path: str, line: int) -> Card | None:
        """Return the card that owns a line (1-based) of a file, else the innermost around it."""
        around = [card for card in self.cards_in(path) if card.lead_line <= line <= card.last_line]
        owners = [card for card in around if any(first <= line <= last for first, last in card.own_lines)]
        chosen = owners or sorted(around, key=lambda card: card.last_line - card.lead_line)
        return chosen[0] if chosen else None

    def n_cards(self) -> int:
        """Return the number of cards."""
        return self._count("SELECT count(*) FROM cards")

    # edges

    def n_edges(self) -> int:
        """Return the number of edges, external ones included."""
        return self._count("SELECT count(*) FROM edges")

    def edges_from(self, card_ids: Sequence[int]) -> list[CallEdge]:
        """Return the edges whose reference one of the cards holds, by line."""
        return self._edges("e.caller_id", card_ids)

    def edges_to(self, card_ids: Sequence[int]) -> list[CallEdge]:
        """Return the edges that surely or likely lead to one of the cards, by caller's path and line."""
        return self._edges("e.target_id", card_ids)

    def ambiguous_edges_to(self, card: Card) -> list[CallEdge]:
        """Return the edges that may mean the card among others."""
        found = self._edges("e.candidates IS NOT NULL AND e.last_name", [card.name])
        return [edge for edge in found if card.card_id in edge.candidate_ids]

    def all_edges(self) -> list[CallEdge]:
        """Return every edge."""
        return self._edges("1", [1])

    # below: how rows become values

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
                "SELECT e.edge_id, e.caller_id, s.path, e.target_id, t.path, e.name, e.line, e.kind, e.confidence,"
                " e.rule,"
                " e.candidates, e.n_candidates FROM edges e JOIN files s ON s.file_id = e.source_file_id"
                " LEFT JOIN files t ON t.file_id = e.target_file_id"
                f" WHERE {column} IN ({','.join('?' * len(some))}) ORDER BY s.path, e.line, e.edge_id"
            )
            with self._rows(query, some) as rows:
                found += [_edge(row) for row in rows]
        return found


_runs = msgspec.msgpack.Decoder(tuple[tuple[int, int], ...])
_names = msgspec.msgpack.Decoder(tuple[str, ...])
_ids = msgspec.msgpack.Decoder(tuple[int, ...])


def file_of_row(row: tuple[Any, ...]) -> IndexedFile:
    """Return the file of a row with all columns of `files`."""
    values = list(row)
    values[1], values[7] = os.fsdecode(values[1]), bool(values[7])
    return IndexedFile(*values)


def stamp_of_row(row: tuple[Any, ...]) -> Stamp:
    """Return the stamp of a row of `STAMPS`."""
    return (os.fsdecode(row[0]), *row[1:])


def card_of_row(row: tuple[Any, ...]) -> Card:
    """Return the card of a row with `CARD_COLUMNS`."""
    (card_id, path_bytes, language, kind, name, qualified_name, ordinal, parent, module, *lines) = row
    lead_line, first_line, name_line, last_line, own_lines, signature, doc, bases, content_hash = lines
    path = os.fsdecode(path_bytes)
    return Card(
        card_id, symbol_id(path, qualified_name, ordinal), path, language, kind, name, qualified_name, parent, module,
        lead_line, first_line, name_line, last_line, _runs.decode(own_lines), signature, doc, _names.decode(bases),
        content_hash,
    )  # fmt: skip


def problem_of_row(row: tuple[Any, ...]) -> Problem:
    """Return the problem of a row that starts with path, reason, detail, kept."""
    return Problem(os.fsdecode(row[0]), Reason(row[1]), row[2], Coverage(row[3]))


def _edge(row: tuple[Any, ...]) -> CallEdge:
    edge_id, caller_id, source, target_id, target, name, line, kind, confidence, rule, candidates, n_candidates = row
    return CallEdge(
        edge_id, caller_id, os.fsdecode(source), target_id, os.fsdecode(target) if target is not None else None,
        name, line, kind, confidence, rule, _ids.decode(candidates) if candidates else (), n_candidates,
    )  # fmt: skip
