"""Keeps whole outputs of commands and tools in a project's folder, searchable by words and restorable by line.

    <root>/.codecards/outputs/outputs.db    SQLite; readable by its owner alone

An output is known by a handle made of its content, so that equal outputs are kept once. The oldest leave when all of
them together exceed `MAX_BYTES`.
"""

import os
import re
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from codecards.errors import StateFileError, TargetNotFoundError
from codecards.indexer.index_folder import FOLDER_NAME, keep_out_of_commits
from codecards.indexer.walk.root import project_root
from codecards.router.compress.excerpts import handle_of

FILE_NAME = "outputs.db"
MAX_BYTES = 200_000_000
"""Characters of text that are kept in all."""
MAX_INDEXED_LINES = 50_000
"""Lines of one output that are searchable; the rest is kept and can be restored."""
MAX_INDEXED_CHARACTERS = 2_000
BUSY_TIMEOUT_S = 10.0
_SCHEMA = (
    """
    CREATE TABLE IF NOT EXISTS outputs (
        output_id INTEGER PRIMARY KEY, handle TEXT NOT NULL UNIQUE, created TEXT NOT NULL, last_used INTEGER NOT NULL,
        source TEXT NOT NULL, exit_code INTEGER, n_lines INTEGER NOT NULL, n_characters INTEGER NOT NULL, text BLOB NOT NULL
    )
    """,
    """
    CREATE VIRTUAL TABLE IF NOT EXISTS lines USING fts5(
        text, output_id UNINDEXED, line UNINDEXED, tokenize = "unicode61 tokenchars '_'"
    )
    """,
)


@dataclass(frozen=True, slots=True)
class StoredOutput:
    """One output as it was."""

    handle: str
    """"t-1f0c3a5b7d9e"."""
    created: str
    """ISO 8601 in UTC."""
    source: str
    """The command line or the tool that gave it."""
    exit_code: int | None
    """None where it is not known."""
    text: str

    def lines(self, first: int = 1, last: int | None = None) -> str:
        """Return some lines, 1-based and inclusive; lines beyond the end are left out."""
        found = self.text.splitlines(keepends=True)
        return "".join(found[max(0, first - 1) : last])


@dataclass(frozen=True, slots=True)
class OutputLine:
    """A line that a search found."""

    handle: str
    source: str
    line: int
    """1-based."""
    text: str


class OutputStore:
    """The kept outputs of one project; safe for several threads and processes."""

    def __init__(self, folder: Path, *, prepare: Callable[[], None] = lambda: None, max_bytes: int = MAX_BYTES) -> None:
        """Take the folder, which is made when the first output is kept.

        Args:
            folder: Where the database lies.
            prepare: Called before the folder is made; it keeps the folder out of commits.
            max_bytes: Characters that are kept in all.
        """
        self.path = folder / FILE_NAME
        self._prepare = prepare
        self._max_bytes = max_bytes

    def put(self, text: str, source: str, exit_code: int | None = None) -> str:
        """Keep an output and return its handle.

        Raises:
            StateFileError: It can't be written.
        """
        handle = handle_of(text)
        self._prepare()
        with self._open(write=True) as connection:
            used = connection.execute("SELECT coalesce(max(last_used), 0) + 1 FROM outputs").fetchone()[0]
            row = connection.execute("SELECT output_id FROM outputs WHERE handle = ?", (handle,)).fetchone()
            if row is not None:
                connection.execute(
                    "UPDATE outputs SET last_used = ?, source = ?, exit_code = ? WHERE output_id = ?",
                    (used, source, exit_code, row[0]),
                )
                return handle
            lines = text.splitlines()
            values = (
                handle,
                datetime.now(UTC).isoformat(timespec="seconds"),
                used,
                source,
                exit_code,
                len(lines),
                len(text),
                zlib.compress(text.encode("utf-8", "surrogatepass")),
            )
            cursor = connection.execute(
                "INSERT INTO outputs (handle, created, last_used, source, exit_code, n_lines, n_characters, text)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )
            connection.executemany(
                "INSERT INTO lines VALUES (?, ?, ?)",
                (
                    (_searchable(line), cursor.lastrowid, number)
                    for number, line in enumerate(lines[:MAX_INDEXED_LINES], 1)
                    if line.strip()
                ),
            )
            self._prune(connection)
        return handle

    def get(self, handle: str) -> StoredOutput:
        """Return an output by its handle.

        Raises:
            TargetNotFoundError: There is none of that handle.
            StateFileError: It can't be read.
        """
        if self.path.exists():
            with self._open() as connection:
                row = connection.execute(
                    "SELECT handle, created, source, exit_code, text FROM outputs WHERE handle = ?", (handle,)
                ).fetchone()
            if row is not None:
                return StoredOutput(
                    row[0], row[1], row[2], row[3], zlib.decompress(row[4]).decode("utf-8", "surrogatepass")
                )
        known = tuple(one.handle for one in self.latest(3))
        raise TargetNotFoundError(handle, what="kept output", suggestions=known)

    def latest(self, limit: int = 20) -> list[StoredOutput]:
        """Return the outputs used last, without their text, the latest first."""
        if not self.path.exists():
            return []
        with self._open() as connection:
            rows = connection.execute(
                "SELECT handle, created, source, exit_code, '' FROM outputs ORDER BY last_used DESC LIMIT ?", (limit,)
            ).fetchall()
        return [StoredOutput(*row) for row in rows]

    def search(self, query: str, limit: int = 20, *, handle: str = "") -> list[OutputLine]:
        """Return the lines that hold all words of a query, best first; with a handle, of that output alone.

        A word matches whole words and their beginnings. A query without a word finds nothing.
        """
        words = re.findall(r"\w+", query)
        if not words or not self.path.exists():
            return []
        match = " ".join(f'"{word}"*' for word in words)
        wanted = "AND o.handle = ?" if handle else ""
        with self._open() as connection:
            rows = connection.execute(
                "SELECT o.handle, o.source, l.line, l.text FROM lines l JOIN outputs o USING (output_id)"
                f" WHERE lines MATCH ? {wanted} ORDER BY rank, o.last_used DESC, l.line LIMIT ?",
                (match, *([handle] if handle else []), limit),
            ).fetchall()
        return [OutputLine(str(row[0]), str(row[1]), int(row[2]), str(row[3])) for row in rows]

    def _prune(self, connection: sqlite3.Connection) -> None:
        total = connection.execute("SELECT coalesce(sum(n_characters), 0) FROM outputs").fetchone()[0]
        if total <= self._max_bytes:
            return
        rows = connection.execute("SELECT output_id, n_characters FROM outputs ORDER BY last_used").fetchall()
        for output_id, n_characters in rows[:-1]:  # the one just put in stays
            connection.execute("DELETE FROM lines WHERE output_id = ?", (output_id,))
            connection.execute("DELETE FROM outputs WHERE output_id = ?", (output_id,))
            total -= n_characters
            if total <= self._max_bytes:
                return

    @contextmanager
    def _open(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        try:
            if write and not self.path.exists():
                self.path.parent.mkdir(parents=True, exist_ok=True)
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))  # outputs can hold secrets
            with closing(sqlite3.connect(self.path, timeout=BUSY_TIMEOUT_S, isolation_level=None)) as connection:
                if not write:
                    yield connection
                    return
                connection.execute("BEGIN IMMEDIATE")  # two writers must not create the tables at once
                for statement in _SCHEMA:
                    connection.execute(statement)
                yield connection
                connection.execute("COMMIT")  # an error closes the connection, which rolls back
        except (sqlite3.Error, OSError, zlib.error) as error:
            raise StateFileError(
                f"the kept outputs in {self.path} can't be used ({error}); remove the file to begin anew"
            ) from error


def _searchable(line: str) -> str:
    return line[:MAX_INDEXED_CHARACTERS].encode("utf-8", "replace").decode()


def project_folder(start: Path) -> Path:
    """Return the `.codecards` folder of the project around a folder, which git ignores from then on."""
    folder = project_root(start) / FOLDER_NAME
    keep_out_of_commits(folder)
    return folder


def project_outputs(start: Path) -> OutputStore:
    """Return the kept outputs of the project around a folder; nothing is written before the first output."""
    folder = project_root(start) / FOLDER_NAME
    return OutputStore(folder / "outputs", prepare=lambda: keep_out_of_commits(folder))
