"""Writes a new generation into the SQLite file, in one transaction.

**Invariant:** until the commit, readers see the previous generation; a writer that dies leaves it unchanged.
"""

import os
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from codecards.errors import IndexWriteError
from codecards.indexer.cards.card import Card
from codecards.indexer.cards.chunking import CardDraft, card_of_draft
from codecards.indexer.cards.record import PackedRecord, unpack, unpack_facts
from codecards.indexer.facts import FileFacts
from codecards.indexer.problems import Problem
from codecards.indexer.store.derived import ChangedFile
from codecards.indexer.store.rows import (
    CARD_COLUMNS,
    STAMPS,
    IndexedFile,
    Stamp,
    card_of_row,
    file_of_row,
    problem_of_row,
    stamp_of_row,
)
from codecards.indexer.store.snapshot import check_descriptors, connect, damaged, schema

if TYPE_CHECKING:
    from codecards.indexer.graph.edges import Edge
    from codecards.indexer.store.kept_contents import KeptContents
    from codecards.indexer.store.link_tables import LinkTables

MANY_PATHS = 1_000
"""Paths from which on all files are loaded at once."""


class SnapshotWriter:
    """Writes one generation. Only the holder of the index lock may create one."""

    def __init__(self, database: Path) -> None:
        """Open or create the SQLite file.

        Raises:
            SnapshotDamagedError: It is not a usable SQLite file.
            IndexWriteError: It can't be created.
        """
        self.database = database
        with self._explained():
            self._connection = connect(database, write=True)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute("PRAGMA temp_store = MEMORY")
            if self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone() is None:
                self._connection.executescript("BEGIN;" + schema() + "COMMIT;")
            row = self._connection.execute("SELECT value FROM meta WHERE name = 'generation'").fetchone()
            self.generation = int(row[0]) if row else 0

    def close(self) -> None:
        """Merge the write-ahead log into the file and close it; an open transaction is rolled back."""
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._connection.execute("PRAGMA busy_timeout = 0")  # do not wait for readers that use the log
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error:
            pass  # the disk is full: the log stays, and readers use it
        self._connection.close()

    def vacuum(self) -> None:
        """Return unused pages to the file system.

        Raises:
            IndexWriteError: The disk is full or can't be written.
        """
        with self._explained():
            self._connection.execute("VACUUM")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the body in one transaction.

        Raises:
            IndexWriteError: The disk is full or can't be written.
            SnapshotDamagedError: The file is inconsistent.
        """
        with self._explained():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @cached_property
    def links_tables(self) -> "LinkTables":
        """What resolving references needs."""
        from codecards.indexer.store.link_tables import LinkTables  # lazy: a look at an unchanged tree does not need it

        return LinkTables(self._connection)

    @cached_property
    def kept(self) -> "KeptContents":
        """The records of contents that no file has."""
        from codecards.indexer.store.kept_contents import KeptContents  # lazy, as above

        return KeptContents(self._connection)

    # reads

    def meta(self) -> dict[str, str]:
        """Return all named values."""
        with self._explained():
            return dict(self._connection.execute("SELECT name, value FROM meta"))

    def files(self) -> list[IndexedFile]:
        """Return all files, by path."""
        with self._explained():
            rows = self._connection.execute("SELECT * FROM files ORDER BY path").fetchall()
        return [file_of_row(row) for row in rows]

    def files_at(self, paths: Collection[str]) -> dict[str, IndexedFile]:
        """Return path → file for those of the paths that are indexed."""
        if len(paths) > MANY_PATHS:
            return {entry.path: entry for entry in self.files() if entry.path in paths}
        query = "SELECT * FROM files WHERE path = ?"
        found = [row for path in paths for row in self._rows(query, (os.fsencode(path),))]
        return {entry.path: entry for entry in map(file_of_row, found)}

    def stamps(self) -> list[Stamp]:
        """Return the stamp of each file, by path."""
        return [stamp_of_row(row) for row in self._rows(STAMPS)]

    def raw_stamps(self) -> Iterator[tuple[bytes, int, int, int, int, int]]:
        """Yield the rows of `rows.STAMPS`, with the bytes of each path, in no order."""
        with self._explained():
            yield from self._connection.execute(STAMPS.partition(" ORDER")[0])

    def stored_value(self, name: str) -> bytes:
        """Return a value that is not text, b"" if there is none."""
        rows = self._rows("SELECT value FROM stored WHERE name = ?", (name,))
        return bytes(rows[0][0]) if rows else b""

    def store_value(self, name: str, value: bytes) -> None:
        """Store a value that is not text."""
        self._connection.execute("INSERT OR REPLACE INTO stored VALUES (?, ?)", (name, value))

    def problems(self, *, of_content: bool | None = None) -> list[Problem]:
        """Return the problems by path: those of contents (True), those of reading (False), or all (None)."""
        rows = self._rows("SELECT path, reason, detail, kept, of_content FROM problems ORDER BY path, reason")
        return [problem_of_row(row) for row in rows if of_content is None or bool(row[4]) == of_content]

    def counts(self) -> dict[str, str]:
        """Return the numbers of files, cards and edges, as named values."""
        tables = ("files", "cards", "edges")
        return {f"n_{table}": str(self._rows(f"SELECT count(*) FROM {table}")[0][0]) for table in tables}

    def check(self) -> None:
        """Read every page.

        Raises:
            SnapshotDamagedError: Pages contradict each other.
        """
        verdict = self._rows("PRAGMA quick_check(1)")[0][0]
        if verdict != "ok":
            raise damaged(self.database, sqlite3.DatabaseError(verdict))

    def stored(self, entry: IndexedFile) -> ChangedFile:
        """Return a stored file with its cards, words and embedded texts.

        Raises:
            SnapshotDamagedError: The record of its content is missing.
        """
        packed = self.record(entry.content_key)
        if packed is None:
            raise damaged(self.database, sqlite3.DatabaseError(f"the record of {entry.path} is missing"))
        query = f"SELECT {CARD_COLUMNS} FROM cards c JOIN files f USING (file_id) WHERE file_id = ? ORDER BY c.position"
        cards = tuple(card_of_row(row) for row in self._rows(query, (entry.file_id,)))
        with self._explained():
            contents = unpack(packed).contents
        return ChangedFile(entry, cards, contents.tokens, contents.embedded)

    def record(self, content_key: bytes) -> PackedRecord | None:
        """Return the record of a content, None if there is none."""
        rows = self._rows("SELECT facts, rest FROM records WHERE content_key = ?", (content_key,))
        return PackedRecord(*rows[0]) if rows else None

    def facts_of_files(self) -> Iterator[tuple[str, FileFacts]]:
        """Yield (path, facts) of every file, by path."""
        query = "SELECT path, facts FROM files JOIN records USING (content_key) ORDER BY path"
        with self._explained():
            for path_bytes, facts in self._connection.execute(query):
                yield os.fsdecode(path_bytes), unpack_facts(facts)

    def positions(self) -> dict[int, dict[int, int]]:
        """Return file id → position of a definition (-1: the module) → card id; cards of kind "part" are left out."""
        found: dict[int, dict[int, int]] = defaultdict(dict)
        query = "SELECT file_id, definition, card_id FROM cards WHERE kind <> 'part' ORDER BY file_id, position DESC"
        for file_id, definition, card_id in self._rows(query):
            found[file_id][definition] = card_id
        return found

    def links(self) -> list[tuple[int, int, int]]:
        """Return (source file id, target file id, number of exact or likely edges) for pairs of different files."""
        return self._rows(
            "SELECT source_file_id, target_file_id, count(*) FROM edges WHERE target_file_id IS NOT NULL"
            " AND confidence IN ('exact', 'likely') AND target_file_id <> source_file_id GROUP BY 1, 2 ORDER BY 1, 2"
        )

    # writes

    def put_records(self, records: Iterable[tuple[bytes, PackedRecord]]) -> None:
        """Store the records of contents."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO records VALUES (?, ?, ?)",
            ((key, packed.facts, packed.rest) for key, packed in records),
        )

    def put_meta(self, values: Mapping[str, str]) -> None:
        """Set named values."""
        self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())

    def put_problems(self, of_reading: Iterable[Problem], of_contents: Iterable[Problem], gone: Iterable[str]) -> None:
        """Replace the problems of reading, and those of contents that have changed.

        Args:
            of_reading: Problems of listing and reading files.
            of_contents: Problems of new contents, which last until the content changes.
            gone: Paths whose content is another than before.
        """
        self._connection.execute("DELETE FROM problems WHERE of_content = 0")
        self._connection.executemany("DELETE FROM problems WHERE path = ?", [(os.fsencode(path),) for path in gone])
        for of_content, problems in ((0, of_reading), (1, of_contents)):
            rows = [
                (os.fsencode(one.path), one.reason.value, one.detail, one.kept.value, of_content) for one in problems
            ]
            self._connection.executemany("INSERT INTO problems VALUES (?, ?, ?, ?, ?)", rows)

    def update_stamps(self, entries: Iterable[IndexedFile]) -> None:
        """Store new stamps of files whose content is the same."""
        self._connection.executemany(
            "UPDATE files SET size_bytes = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, racy = ? WHERE file_id = ?",
            ((one.size_bytes, one.mtime_ns, one.ctime_ns, one.inode, one.racy, one.file_id) for one in entries),
        )

    def put_file(self, entry: IndexedFile, drafts: Sequence[CardDraft]) -> tuple[int, tuple[Card, ...]]:
        """Store a new or changed file; return its id and its cards. Cards that still exist keep their ids."""
        file_id = self._put_file_row(entry)
        known = {
            (qualified_name, ordinal): card_id
            for card_id, qualified_name, ordinal in self._connection.execute(
                "SELECT card_id, qualified_name, ordinal FROM cards WHERE file_id = ?", (file_id,)
            )
        }
        if known:
            self._connection.execute("DELETE FROM cards WHERE file_id = ?", (file_id,))
        ids: list[int] = []
        for position, draft in enumerate(drafts):
            cursor = self._connection.execute(_INSERT_CARD, _card_row(known, file_id, position, draft))
            ids.append(cursor.lastrowid or 0)
        cards = (
            card_of_draft(draft, card_id=card_id, path=entry.path, language=entry.language, module=entry.module)
            for card_id, draft in zip(ids, drafts, strict=True)
        )
        return file_id, tuple(cards)

    def remove_files(self, file_ids: Iterable[int]) -> None:
        """Delete files with their cards and outgoing edges."""
        ids = [(file_id,) for file_id in file_ids]
        self._connection.executemany("DELETE FROM edges WHERE source_file_id = ?", ids)
        self._connection.executemany("DELETE FROM cards WHERE file_id = ?", ids)
        self._connection.executemany("DELETE FROM files WHERE file_id = ?", ids)

    def put_edges(
        self,
        edges: "Iterable[Edge]",
        file_ids: Mapping[str, int],
        positions: Mapping[int, Mapping[int, int]],
        *,
        replaced: Sequence[int] | None,
    ) -> None:
        """Store edges.

        Args:
            edges: The resolved edges.
            file_ids: Path → file id.
            positions: The result of `positions`.
            replaced: Ids of the files whose outgoing edges are replaced; None for all files.
        """
        if replaced is None:
            self._connection.execute("DELETE FROM edges")
        else:
            self._connection.executemany("DELETE FROM edges WHERE source_file_id = ?", [(one,) for one in replaced])
        self._connection.executemany(_INSERT_EDGE, (_edge_row(edge, file_ids, positions) for edge in edges))

    def _put_file_row(self, entry: IndexedFile) -> int:
        values = (os.fsencode(entry.path), *(getattr(entry, column) for column in _FILE_COLUMNS[1:]))
        row = self._connection.execute(_UPSERT_FILE, values).fetchone()
        return int(row[0])

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self._explained():
            return self._connection.execute(query, tuple(values)).fetchall()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            message = str(error)
            if "malformed" in message or "not a database" in message:
                raise damaged(self.database, error) from error
            check_descriptors(self.database)
            full = "full" in message or "disk I/O" in message
            hint = "no space is left on the disk; free some" if full else "make sure that it can be written"
            raise IndexWriteError(
                f"the index {self.database} can't be written ({message}): {hint}. What was indexed before is unharmed."
            ) from error
        except (sqlite3.DatabaseError, msgspec.DecodeError) as error:
            raise damaged(self.database, error) from error


_FILE_COLUMNS = (
    "path",
    "content_key",
    "size_bytes",
    "mtime_ns",
    "ctime_ns",
    "inode",
    "racy",
    "language",
    "encoding",
    "role",
    "module",
    "n_lines",
    "leading_comment",
    "interface",
    "head",
)
_UPSERT_FILE = f"""
INSERT INTO files ({", ".join(_FILE_COLUMNS)}) VALUES ({", ".join("?" * len(_FILE_COLUMNS))})
ON CONFLICT (path) DO UPDATE SET {", ".join(f"{column} = excluded.{column}" for column in _FILE_COLUMNS[1:])}
RETURNING file_id
"""
_INSERT_CARD = f"INSERT INTO cards VALUES ({', '.join('?' * 19)})"
_INSERT_EDGE = f"INSERT INTO edges VALUES (NULL, {', '.join('?' * 12)})"
_pack = msgspec.msgpack.Encoder().encode


def _card_row(
    known: Mapping[tuple[str, int], int], file_id: int, position: int, draft: CardDraft
) -> tuple[object, ...]:
    """Return the values of the columns of `cards`.

    Args:
        known: (qualified name, ordinal) → card id of the file's previous cards.
        file_id: The file.
        position: Of the card in the file.
        draft: The card.
    """
    return (
        known.get((draft.qualified_name, draft.ordinal)),
        file_id,
        position,
        draft.definition,
        draft.kind,
        draft.name,
        draft.name.casefold(),
        draft.qualified_name,
        draft.ordinal,
        draft.parent,
        draft.lead_line,
        draft.first_line,
        draft.name_line,
        draft.last_line,
        _pack(draft.own_lines),
        draft.signature,
        draft.doc,
        _pack(draft.bases),
        draft.content_hash,
    )


def _edge_row(
    edge: "Edge", file_ids: Mapping[str, int], positions: Mapping[int, Mapping[int, int]]
) -> tuple[object, ...]:
    def card(path: str, definition: int) -> int | None:
        return positions[file_ids[path]].get(definition)

    target_file = file_ids[edge.target[0]] if edge.target else None
    target = card(*edge.target) if edge.target else None
    candidates = [found for found in (card(*ref) for ref in edge.candidates) if found is not None]
    return (
        file_ids[edge.caller_path],
        card(edge.caller_path, edge.caller),
        target_file,
        target,
        edge.name,
        edge.name.rpartition(".")[2],
        edge.line,
        edge.kind,
        edge.confidence,
        edge.rule,
        _pack(candidates) if candidates else None,
        edge.n_candidates,
    )
