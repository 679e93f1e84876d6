"""Reading: suspects are read and told apart by their content; only contents never seen before are parsed."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from codecards.indexer.build.changes import Changes, is_racy
from codecards.indexer.cards.record import PackedContents, PackedRecord, content_key, hold, unpack_facts
from codecards.indexer.walk.roles import role_of
from codecards.indexer.parse.languages import HEAD_BYTES, detect_language
from codecards.indexer.graph.module_paths import module_name
from codecards.indexer.problems import Problem
from codecards.indexer.store.rows import IndexedFile
from codecards.indexer.text.decoding import DecodedText, decode
from codecards.indexer.walk.files import SourceFile, read_file
from codecards.indexer.walk.files import DiscoverySettings
from codecards.indexer.graph.symbols import interface_digest
from codecards.indexer.build.worker_pool import Content, Workers

RECORDS_A_COMMIT = 500
"""Contents read before what they say is kept, so that a killed first run does not begin from nothing again."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A suspect that was read."""

    entry: IndexedFile
    """With `file_id` 0 for a new file."""
    record: PackedContents | None
    """None where the content is the same as before."""


@dataclass(frozen=True, slots=True)
class Store:
    """Where records are found and kept."""

    find: Callable[[bytes], PackedRecord | None]
    """Return the record of a content key, None where there is none (or where none is to be trusted)."""
    keep: Callable[[list[tuple[bytes, PackedRecord]]], None]


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
    """A file whose bytes were read."""

    file: SourceFile
    known: IndexedFile | None
    key: bytes
    language: str
    read_at_ns: int


@dataclass(slots=True)
class Ingest:
    """Reads the suspects of one refresh."""

    root: Path
    settings: DiscoverySettings
    store: Store
    trusts_known: bool
    """Whether a content that is the same as before needs no record."""
    told: Callable[[int], None]
    """Is told how many files were read so far."""
    problems: list[Problem] = field(default_factory=list)
    """Of files that could not be read."""
    n_parsed: int = 0
    _suspects: list[_ReadFile] = field(default_factory=list)
    _records: dict[bytes, PackedRecord] = field(default_factory=dict)

    def read(self, changes: Changes, workers: Workers) -> list[ReadFile]:
        """Return every suspect that could be read; the others are among the problems."""
        unsaved: list[tuple[bytes, PackedRecord]] = []
        for answer in workers.read(self._new_contents(changes)):
            self.n_parsed += 1
            self._records[answer.key] = answer.packed
            unsaved.append((answer.key, answer.packed))
            if len(unsaved) >= RECORDS_A_COMMIT:
                self.store.keep(unsaved)
                unsaved = []
            self.told(len(self._suspects))
        self.store.keep(unsaved)
        return [self._finished(suspect) for suspect in self._suspects]

    def _new_contents(self, changes: Changes) -> Iterator[Content]:
        """Read each suspect's bytes and yield those that nothing is known of."""
        seen: set[bytes] = set()
        for file, known in changes.suspects:
            read_at_ns = time.time_ns()
            data = read_file(self.root, file, self.settings)
            if isinstance(data, Problem):
                self.problems.append(data)
                continue
            language = detect_language(file.path, data[:HEAD_BYTES])
            key = content_key(language, data)
            self._suspects.append(_ReadFile(file, known, key, language, read_at_ns))
            is_same = self.trusts_known and known is not None and known.content_key == key
            if key in seen or is_same:
                continue
            seen.add(key)
            packed = self.store.find(key)
            if packed is not None:
                self._records[key] = packed
            else:
                yield Content(key, language, data)

    def _finished(self, suspect: _ReadFile) -> ReadFile:
        """Return the file with all that its content says."""
        file, known = suspect.file, suspect.known
        racy = is_racy(file.mtime_ns, suspect.read_at_ns)
        record = self._records.get(suspect.key)
        if record is None:
            assert known is not None  # nothing was read for it because its content is the same
            same = replace(known, size_bytes=file.size_bytes, mtime_ns=file.mtime_ns, ctime_ns=file.ctime_ns,
                           inode=file.inode, racy=racy)  # fmt: skip
            return ReadFile(same, None)
        facts, held = unpack_facts(record.facts), hold(record)
        entry = IndexedFile(
            file_id=known.file_id if known is not None else 0,
            path=file.path,
            content_key=suspect.key,
            size_bytes=file.size_bytes,
            mtime_ns=file.mtime_ns,
            ctime_ns=file.ctime_ns,
            inode=file.inode,
            racy=racy,
            language=facts.language if held.head.has_text else suspect.language,
            encoding=held.head.encoding,
            role=role_of(file.path, generated=facts.generated),
            # A name need not be UTF-8, and SQLite takes nothing else as text.
            module=module_name(file.path, facts).encode("utf-8", "backslashreplace").decode(),
            n_lines=facts.n_lines,
            leading_comment=facts.leading_comment,
            interface=interface_digest(file.path, facts),
        )
        return ReadFile(entry, held)
