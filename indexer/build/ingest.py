"""Reads files that may have changed; parses only content that was never seen."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from codecards.indexer.build.changes import Changes, is_racy
from codecards.indexer.build.worker_pool import Content, Workers
from codecards.indexer.cards.record import PackedContents, PackedRecord, content_key, peek, unpack_facts
from codecards.indexer.graph.interface import interface_digest
from codecards.indexer.graph.module_paths import module_name
from codecards.indexer.parse.languages import HEAD_BYTES, detect_language
from codecards.indexer.problems import Problem
from codecards.indexer.store.link_rows import pack_head
from codecards.indexer.store.rows import IndexedFile
from codecards.indexer.text.decoding import DecodedText, decode
from codecards.indexer.walk.files import DiscoverySettings, SourceFile, read_file
from codecards.indexer.walk.roles import role_of

RECORDS_A_COMMIT = 500
"""Parsed contents after which their records are stored, so that a first run that is killed can be resumed."""


@dataclass(frozen=True, slots=True)
class IngestedFile:
    """A file that was read, ready to be stored."""

    entry: IndexedFile
    """With `file_id` 0 for a new file."""
    record: PackedContents | None
    """None if the content is the same as before."""


@dataclass(frozen=True, slots=True)
class RecordStore:
    """Access to the stored records."""

    find: Callable[[bytes], PackedRecord | None]
    """Returns the record of a content key; None if there is none, or if stored records are not trusted."""
    save: Callable[[list[tuple[bytes, PackedRecord]]], None]
    """Stores records by content key."""


def indexed_text(root: Path, settings: DiscoverySettings, entry: IndexedFile) -> str | None:
    """Return the text of an indexed file, None if the file has changed since."""
    data = read_file(root, SourceFile(entry.path, 0, 0, 0), settings)
    if isinstance(data, Problem):
        return None
    if content_key(detect_language(entry.path, data[:HEAD_BYTES]), data) != entry.content_key:
        return None
    decoded = decode(data)
    return decoded.text if isinstance(decoded, DecodedText) else None


@dataclass(frozen=True, slots=True)
class _ReadFile:
    """A file whose bytes were read, before its record is known."""

    file: SourceFile
    known: IndexedFile | None
    key: bytes
    language: str
    read_at_ns: int


@dataclass(slots=True)
class Ingest:
    """Reads the changed files of one refresh."""

    root: Path
    settings: DiscoverySettings
    store: RecordStore
    trusts_known: bool
    """Whether a file whose content is the same as before needs no record."""
    on_progress: Callable[[int], None]
    """Called with the number of files read so far."""
    problems: list[Problem] = field(default_factory=list)
    """Problems of files that could not be read."""
    n_parsed: int = 0
    _read_files: list[_ReadFile] = field(default_factory=list)
    _records: dict[bytes, PackedRecord] = field(default_factory=dict)

    def read(self, changes: Changes, workers: Workers) -> list[IngestedFile]:
        """Return the changed files that could be read; the others are in `problems`."""
        unsaved: list[tuple[bytes, PackedRecord]] = []
        for answer in workers.read(self._new_contents(changes)):
            self.n_parsed += 1
            self._records[answer.key] = answer.packed
            unsaved.append((answer.key, answer.packed))
            if len(unsaved) >= RECORDS_A_COMMIT:
                self.store.save(unsaved)
                unsaved = []
            self.on_progress(len(self._read_files))
        self.store.save(unsaved)
        return [self._ingested(one) for one in self._read_files]

    def _new_contents(self, changes: Changes) -> Iterator[Content]:
        """Read each changed file and yield the contents that have no record."""
        seen: set[bytes] = set()
        for file, known in changes.changed:
            read_at_ns = time.time_ns()
            data = read_file(self.root, file, self.settings)
            if isinstance(data, Problem):
                self.problems.append(data)
                continue
            language = detect_language(file.path, data[:HEAD_BYTES])
            key = content_key(language, data)
            self._read_files.append(_ReadFile(file, known, key, language, read_at_ns))
            is_same = self.trusts_known and known is not None and known.content_key == key
            if key in seen or is_same:
                continue
            seen.add(key)
            packed = self.store.find(key)
            if packed is not None:
                self._records[key] = packed
            else:
                yield Content(key, language, data)

    def _ingested(self, read: _ReadFile) -> IngestedFile:
        """Return a file with the record of its content."""
        file, known = read.file, read.known
        racy = is_racy(file.mtime_ns, read.read_at_ns)
        record = self._records.get(read.key)
        if record is None:
            assert known is not None  # there is no record because the content is the same
            same = replace(
                known,
                size_bytes=file.size_bytes,
                mtime_ns=file.mtime_ns,
                ctime_ns=file.ctime_ns,
                inode=file.inode,
                racy=racy,
            )
            return IngestedFile(same, None)
        facts, held = unpack_facts(record.facts), peek(record)
        entry = IndexedFile(
            file_id=known.file_id if known is not None else 0,
            path=file.path,
            content_key=read.key,
            size_bytes=file.size_bytes,
            mtime_ns=file.mtime_ns,
            ctime_ns=file.ctime_ns,
            inode=file.inode,
            racy=racy,
            language=facts.language if held.head.has_text else read.language,
            encoding=held.head.encoding,
            role=role_of(file.path, generated=facts.generated),
            # A file name need not be UTF-8, but text in SQLite must be.
            module=module_name(file.path, facts).encode("utf-8", "backslashreplace").decode(),
            n_lines=facts.n_lines,
            leading_comment=facts.leading_comment,
            interface=interface_digest(file.path, facts),
            head=pack_head(file.path, facts),
        )
        return IngestedFile(entry, held)
