"""Reads and writes what resolving references needs of a snapshot: symbols, the names that files asked for, owners."""

import os
import sqlite3
from collections.abc import Collection, Iterable, Mapping

from codecards.indexer.cards.record import unpack_facts
from codecards.indexer.facts import FileFacts
from codecards.indexer.graph.asked import key_number
from codecards.indexer.graph.heads import FileHead, FullName
from codecards.indexer.graph.owners import OwnerAssignment
from codecards.indexer.store.link_rows import SymbolRow, symbol_rows, unpack_head

MAX_VARIABLES = 500


class LinkTables:
    """The tables `symbols`, `asked` and `owners` of a snapshot that is being written."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    # reads

    def heads(self) -> tuple[dict[str, int], dict[str, FileHead]]:
        """Return path → file id and path → head of all files, by path."""
        file_ids: dict[str, int] = {}
        heads: dict[str, FileHead] = {}
        known: dict[bytes, FileHead] = {}
        rows = self._connection.execute("SELECT file_id, path, head FROM files").fetchall()
        for file_id, path, head in sorted((one[0], os.fsdecode(one[1]), one[2]) for one in rows):
            file_ids[path] = file_id
            heads[path] = known.get(head) or known.setdefault(head, unpack_head(head))
        return file_ids, dict(sorted(heads.items()))

    def facts(self, content_key: bytes) -> FileFacts | None:
        """Return the facts of a content, None if they are not stored."""
        row = self._connection.execute("SELECT facts FROM records WHERE content_key = ?", (content_key,)).fetchone()
        return unpack_facts(row[0]) if row else None

    def facts_at(self, path: str) -> FileFacts | None:
        """Return the facts of a file, None if there is none at the path."""
        row = self._connection.execute(
            "SELECT facts FROM files JOIN records USING (content_key) WHERE path = ?", (os.fsencode(path),)
        ).fetchone()
        return unpack_facts(row[0]) if row else None

    def symbols_named(self, name: str) -> list[tuple[int, int, int, bytes]]:
        """Return (file id, position, is_named, entry) of everything that is asked for by a name."""
        return self._connection.execute(
            "SELECT file_id, position, is_named, entry FROM symbols WHERE name = ?", (name,)
        ).fetchall()

    def asking(self, names: Collection[str]) -> set[int]:
        """Return the ids of the files that asked for one of the names."""
        keys = sorted({key_number(name) for name in names})
        found: set[int] = set()
        for start in range(0, len(keys), MAX_VARIABLES):
            some = keys[start : start + MAX_VARIABLES]
            query = f"SELECT file_id FROM asked WHERE key IN ({','.join('?' * len(some))})"
            found.update(row[0] for row in self._connection.execute(query, some))
        return found

    def assignments(self, paths: Mapping[int, str]) -> list[OwnerAssignment]:
        """Return all assignments of members to types; `paths` gives the path of a file id."""
        rows = self._connection.execute("SELECT * FROM owners").fetchall()
        return [
            OwnerAssignment((paths[row[0]], row[1]), FullName(row[2], row[3]), FullName(row[4], row[5]), row[6])
            for row in rows
        ]

    def card_ids(self, file_id: int) -> dict[int, int]:
        """Return position of a definition (-1: the module) → card id; cards of kind "part" are left out."""
        query = "SELECT definition, card_id FROM cards WHERE file_id = ? AND kind <> 'part' ORDER BY position DESC"
        return dict(self._connection.execute(query, (file_id,)).fetchall())

    def named_cards(self, file_id: int) -> dict[str, list[tuple[str, int]]]:
        """Return name → (qualified name, card id) of the cards of a file, by definition; "" for the module."""
        query = (
            "SELECT name, qualified_name, card_id FROM cards WHERE file_id = ? AND kind <> 'part'"
            " ORDER BY definition, position DESC"
        )
        found: dict[str, list[tuple[str, int]]] = {}
        for name, qualified_name, card_id in self._connection.execute(query, (file_id,)):
            found.setdefault(name, []).append((qualified_name, card_id))
        return found

    # writes

    def replace_symbols(self, file_id: int, path: str, before: FileFacts | None, after: FileFacts | None) -> None:
        """Replace the symbols of a file where they differ; None stands for no file."""
        old = symbol_rows(path, before) if before is not None else {}
        new = symbol_rows(path, after) if after is not None else {}
        self._connection.executemany(
            "DELETE FROM symbols WHERE name = ? AND file_id = ? AND position = ?",
            [(name, file_id, position) for name, position in old.keys() - new.keys()],
        )
        self._put_symbols(file_id, [row for key, row in new.items() if row != old.get(key)])

    def put_all_symbols(self, files: Iterable[tuple[int, str, FileFacts]]) -> None:
        """Replace the symbols of all files, given as (file id, path, facts)."""
        self._connection.execute("DELETE FROM symbols")
        rows = [
            (row.name, file_id, row.position, row.is_named, row.entry)
            for file_id, path, facts in files
            for row in symbol_rows(path, facts).values()
        ]
        rows.sort()  # in the order of the table, which is written once from its start to its end
        self._connection.executemany("INSERT INTO symbols VALUES (?, ?, ?, ?, ?)", rows)

    def put_asked(self, asked: Mapping[int, Collection[str]], *, all_files: bool) -> None:
        """Store the names that files asked for; names that a file does not ask for any more stay, and do no harm.

        Args:
            asked: File id → names and module keys.
            all_files: Whether these are all files, so that everything older is removed.
        """
        if all_files:
            self._connection.execute("DELETE FROM asked")
        numbers: dict[str, int] = {}
        rows: list[tuple[int, int]] = []
        for file_id, names in asked.items():
            for name in names:
                number = numbers.get(name)
                if number is None:
                    number = numbers[name] = key_number(name)
                rows.append((number, file_id))
        rows.sort()
        self._connection.executemany("INSERT OR IGNORE INTO asked VALUES (?, ?)", rows)

    def put_assignments(self, file_ids: Mapping[str, int], assignments: Iterable[OwnerAssignment]) -> None:
        """Replace all assignments of members to types."""
        self._connection.execute("DELETE FROM owners")
        self._connection.executemany(
            "INSERT INTO owners VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(file_ids[one.ref[0]], one.ref[1], *one.owner, *one.found, one.member) for one in assignments],
        )

    def _put_symbols(self, file_id: int, rows: Iterable[SymbolRow]) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO symbols VALUES (?, ?, ?, ?, ?)",
            [(row.name, file_id, row.position, row.is_named, row.entry) for row in rows],
        )
