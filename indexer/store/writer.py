"""Snapshot writer: how a new generation is put into the SQLite file, in one transaction.

**Invariant:** until `commit` returns, readers see the generation before; a writer that dies leaves it as it was.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from codecards.errors import IndexWriteError
from codecards.indexer.cards.card import Card
from codecards.indexer.cards.chunking import CardDraft, place
from codecards.indexer.cards.record import PackedRecord, unpack, unpack_facts
from codecards.indexer.facts import FileFacts
from codecards.indexer.problems import Problem
from codecards.indexer.store.derived import ChangedFile
from codecards.indexer.store.rows import IndexedFile
from codecards.indexer.store.snapshot import (
    CARD_COLUMNS,
    STAMPS,
    Stamp,
    card_of_row,
    connect,
    damaged,
    file_of_row,
    problem_of_row,
    schema,
    stamp_of_row,
)

if TYPE_CHECKING:
    from codecards.indexer.graph.edges import Edge

KEPT_GENERATIONS = 50
"""How long a content that no file has any more is remembered, in generations; branch switches find it again."""


class SnapshotWriter:
    """Writes one generation. Only the holder of the index's lock may have one."""

    def __init__(self, database: Path) -> None:
        """Open or make the SQLite file.

        Raises:
            SnapshotDamagedError: It is no usable SQLite file.
            IndexWriteError: It can't be made.
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
        """Fold the log into the file and close it; an open transaction is given up."""
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._connection.execute("PRAGMA busy_timeout = 0")  # a reader may hold the log for as long as it likes
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error:
            pass  # a full disk: the log stays, and is read all the same
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what is done inside, all of it or nothing.

        Raises:
            IndexWriteError: The disk is full, or can't be written.
            SnapshotDamagedError: The file contradicts itself.
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

    # what is there

    def meta(self) -> dict[str, str]:
        """Return all named values."""
        with self._explained():
            return dict(self._connection.execute("SELECT name, value FROM meta"))

    def files(self) -> list[IndexedFile]:
        """Return all files, by path."""
        with self._explained():
            rows = self._connection.execute("SELECT * FROM files ORDER BY path").fetchall()
        return [file_of_row(row) for row in rows]

    def stamps(self) -> list[Stamp]:
        """Return what the file system said of each file, by path."""
        return [stamp_of_row(row) for row in self._rows(STAMPS)]

    def problems(self, *, of_content: bool | None = None) -> list[Problem]:
        """Return the problems that contents have, or that reading had, or (None) all; by path."""
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
            SnapshotDamagedError: What its content says is not there.
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
        """Return what is stored of a content."""
        rows = self._rows("SELECT facts, rest FROM records WHERE content_key = ?", (content_key,))
        return PackedRecord(*rows[0]) if rows else None

    def facts_of_files(self) -> Iterator[tuple[str, FileFacts]]:
        """Yield path and facts of every file, by path."""
        query = "SELECT path, facts FROM files JOIN records USING (content_key) ORDER BY path"
        with self._explained():
            for path_bytes, facts in self._connection.execute(query):
                yield os.fsdecode(path_bytes), unpack_facts(facts)

    def positions(self) -> dict[int, dict[int, int]]:
        """Return file id -> definition position -> card id (the module's card under -1), parts left out."""
        found: dict[int, dict[int, int]] = {}
        query = "SELECT file_id, definition, card_id FROM cards WHERE kind <> 'part' ORDER BY file_id, position DESC"
        for file_id, definition, card_id in self._rows(query):
            found.setdefault(file_id, {})[definition] = card_id
        return found

    def links(self) -> list[tuple[int, int, int]]:
        """Return (source file id, target file id, number of sure or likely edges) between different files."""
        return self._rows(
            "SELECT source_file_id, target_file_id, count(*) FROM edges WHERE target_file_id IS NOT NULL"
            " AND confidence IN ('exact', 'likely') AND target_file_id <> source_file_id GROUP BY 1, 2 ORDER BY 1, 2"
        )

    # what is put in

    def put_records(self, records: Iterable[tuple[bytes, PackedRecord]], generation: int) -> None:
        """Keep what contents say."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?)",
            ((key, packed.facts, packed.rest, generation) for key, packed in records),
        )

    def put_meta(self, values: Mapping[str, str]) -> None:
        """Set named values."""
        self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())

    def put_problems(self, of_reading: Iterable[Problem], of_contents: Iterable[Problem]) -> None:
        """Replace all problems."""
        self._connection.execute("DELETE FROM problems")
        for of_content, problems in ((0, of_reading), (1, of_contents)):
            rows = [
                (os.fsencode(one.path), one.reason.value, one.detail, one.kept.value, of_content) for one in problems
            ]
            self._connection.executemany("INSERT INTO problems VALUES (?, ?, ?, ?, ?)", rows)

    def touch_files(self, entries: Iterable[IndexedFile]) -> None:
        """Note new time stamps of files whose content is the same."""
        self._connection.executemany(
            "UPDATE files SET size_bytes = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, racy = ? WHERE file_id = ?",
            ((one.size_bytes, one.mtime_ns, one.ctime_ns, one.inode, one.racy, one.file_id) for one in entries),
        )

    def put_file(self, entry: IndexedFile, drafts: Sequence[CardDraft]) -> tuple[int, tuple[Card, ...]]:
        """Put a new or changed file in; return its id and its cards. Cards that go on keep their ids."""
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
            place(draft, card_id=card_id, path=entry.path, language=entry.language, module=entry.module)
            for card_id, draft in zip(ids, drafts, strict=True)
        )
        return file_id, tuple(cards)

    def remove_files(self, file_ids: Iterable[int]) -> None:
        """Remove files with their cards and outgoing edges."""
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
        """Put edges in.

        Args:
            edges: As resolved.
            file_ids: Path -> file id.
            positions: As `positions` gives them.
            replaced: Files whose outgoing edges are replaced; None for all.
        """
        if replaced is None:
            self._connection.execute("DELETE FROM edges")
        else:
            self._connection.executemany("DELETE FROM edges WHERE source_file_id = ?", [(one,) for one in replaced])
        self._connection.executemany(_INSERT_EDGE, (_edge_row(edge, file_ids, positions) for edge in edges))

    def forget(self, generation: int) -> None:
        """Mark the contents in use, and drop those that no file has had for long."""
        self._connection.execute(
            "UPDATE records SET last_used = ? WHERE content_key IN (SELECT content_key FROM files)", (generation,)
        )
        self._connection.execute("DELETE FROM records WHERE last_used < ?", (generation - KEPT_GENERATIONS,))

    def _put_file_row(self, entry: IndexedFile) -> int:
        values = (
            os.fsencode(entry.path), entry.content_key, entry.size_bytes, entry.mtime_ns, entry.ctime_ns, entry.inode, entry.racy,
            entry.language, entry.encoding, entry.role, entry.module, entry.n_lines, entry.leading_comment,
            entry.interface,
        )  # fmt: skip
        row = self._connection.execute(_UPSERT_FILE, values).fetchone()
        return int(row[0])

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[tuple]:  # type: ignore[type-arg]
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
            full = "full" in message or "disk I/O" in message
            hint = "no space is left on the disk; free some" if full else "see that it may be written there"
            raise IndexWriteError(
                f"the index {self.database} can't be written ({message}): {hint}. What was indexed before is unharmed."
            ) from error
        except (sqlite3.DatabaseError, msgspec.DecodeError) as error:
            raise damaged(self.database, error) from error


_UPSERT_FILE = """
INSERT INTO files (path, content_key, size_bytes, mtime_ns, ctime_ns, inode, racy, language, encoding, role, module, n_lines,
                   leading_comment, interface)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (path) DO UPDATE SET
    content_key = excluded.content_key, size_bytes = excluded.size_bytes, mtime_ns = excluded.mtime_ns,
    ctime_ns = excluded.ctime_ns,
    inode = excluded.inode, racy = excluded.racy, language = excluded.language, encoding = excluded.encoding,
    role = excluded.role, module = excluded.module, n_lines = excluded.n_lines,
    leading_comment = excluded.leading_comment, interface = excluded.interface
RETURNING file_id
"""
_INSERT_CARD = f"INSERT INTO cards VALUES ({', '.join('?' * 19)})"
_INSERT_EDGE = f"INSERT INTO edges VALUES (NULL, {', '.join('?' * 12)})"
_pack = msgspec.msgpack.Encoder().encode


def _card_row(
    known: Mapping[tuple[str, int], int], file_id: int, position: int, draft: CardDraft
) -> tuple[object, ...]:
    return (
        known.get((draft.qualified_name, draft.ordinal)), file_id, position, draft.definition, draft.kind, draft.name,
        draft.name.casefold(), draft.qualified_name, draft.ordinal, draft.parent, draft.lead_line, draft.first_line,
        draft.name_line, draft.last_line, _pack(draft.own_lines), draft.signature, draft.doc, _pack(draft.bases),
        draft.content_hash,
    )  # fmt: skip


def _edge_row(
    edge: "Edge", file_ids: Mapping[str, int], positions: Mapping[int, Mapping[int, int]]
) -> tuple[object, ...]:
    def card(path: str, definition: int) -> int | None:
        return positions.get(file_ids[path], {}).get(definition)

    target_file = file_ids[edge.target[0]] if edge.target else None
    target = card(*edge.target) if edge.target else None
    candidates = [found for found in (card(*one) for one in edge.candidates) if found is not None]
    caller = card(edge.caller_path, edge.caller)
    return (
        file_ids[edge.caller_path], caller, target_file, target, edge.name, edge.name.rpartition(".")[2], edge.line,
        edge.kind, edge.confidence, edge.rule, _pack(candidates) if candidates else None, edge.n_candidates,
    )  # fmt: skip
