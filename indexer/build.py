"""Build: brings the index up to date with the repository, as one new generation or none.

**Invariant:** whatever the edits before it, a refresh leaves what a fresh index of the same tree would hold.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from codecards.errors import SnapshotDamagedError, SnapshotFormatError
from codecards.indexer.cards import Card
from codecards.indexer.changes import Changes, compare, is_racy
from codecards.indexer.edge_resolution import Edge, Resolver
from codecards.indexer.facts import FileFacts
from codecards.indexer.file_record import EXTRACTOR_VERSION, FileRecord, PackedRecord, unpack
from codecards.indexer.file_roles import role_of
from codecards.indexer.git_calls import GitState, git_state
from codecards.indexer.index_folder import FORMAT, IndexFolder, Manifest
from codecards.indexer.languages import detect_language
from codecards.indexer.module_paths import module_name
from codecards.indexer.problems import Kept, Problem, Reason
from codecards.indexer.snapshot import FileEntry
from codecards.indexer.snapshot_writer import SnapshotWriter
from codecards.indexer.source_files import DiscoverySettings, SourceFile, discover, read_file
from codecards.indexer.symbol_table import SymbolTable, interface_digest
from codecards.indexer.tokens import FileTokens
from codecards.indexer.workers import Content, Workers

RECORDS_A_COMMIT = 500
"""Contents read before what they say is committed, so that a killed first run does not begin from nothing again."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that this generation holds anew, for what is derived from it."""

    entry: FileEntry
    cards: tuple[Card, ...]
    tokens: FileTokens


@dataclass(frozen=True, slots=True)
class Change:
    """What a generation changes, for what is derived from it."""

    old_folder: Path | None
    """What was derived from the generation before; None to derive all anew (`changed` then holds every file)."""
    new_folder: Path
    """Where to put what is derived now; does not exist yet."""
    changed: Sequence[ChangedFile]
    removed_ids: frozenset[int]
    """Ids of files that are gone."""
    links: Sequence[tuple[int, int, int]]
    """(source file id, target file id, number of edges), whole."""


class Deriver(Protocol):
    """Makes what is derived from a generation: columns, word index, vectors."""

    identity: str
    """Changes with anything that makes older derived files useless: their format, the embedder."""

    def derive(self, change: Change) -> None:
        """Fill `change.new_folder`."""

    def usable(self, folder: Path) -> bool:
        """Return whether the files of a derived folder are whole."""


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """How an index is built."""

    discovery: DiscoverySettings = DiscoverySettings()
    wait_for_writer_s: float = 0.0


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What a refresh did."""

    root: Path
    generation: int
    complete: bool
    """Whether every file that should be read was read."""
    took_ms: float
    n_seen: int
    n_read: int
    """Files whose content was parsed; others were known by their content or time stamp."""
    n_unchanged: int
    n_removed: int
    n_skipped: int
    """Files that gave no cards, each with its problem."""
    n_cards: int
    n_edges: int
    problems: tuple[Problem, ...]
    messages: tuple[str, ...] = ()
    """What else the user should know: an older index was replaced, a damaged one rebuilt."""


Progress = Callable[[str, int, int], None]
"""Told (what is being done, how many are done, how many there are)."""
COSTS_A_FILE = frozenset({Reason.WORKER_DIED, Reason.TIMED_OUT, Reason.VANISHED})


@dataclass(slots=True)
class _Run:
    """What one refresh carries along."""

    root: Path
    folder: IndexFolder
    settings: BuildSettings
    writer: SnapshotWriter
    progress: Progress
    n_read: int = 0
    problems: list[Problem] = field(default_factory=list)
    """Of files that could not be read at all."""
    facts: dict[str, FileFacts] = field(default_factory=dict)


def refresh(
    root: Path,
    folder: IndexFolder,
    deriver: Deriver,
    workers: Workers,
    settings: BuildSettings | None = None,
    *,
    full: bool = False,
    progress: Progress = lambda _what, _done, _total: None,
) -> IndexReport:
    """Bring the index up to date and return what was done.

    Args:
        root: The project's folder.
        folder: Where its index lies.
        deriver: Makes the derived files.
        workers: Read contents.
        settings: How to build.
        full: Whether to read and derive everything anew, trusting nothing that is stored.
        progress: Is told how far it is.

    Raises:
        ProjectError: The root can't be read, or the index not written.
        WriterBusyError: Another process is writing.
    """
    started = time.monotonic()
    settings = settings or BuildSettings()
    discovery = discover(root, settings.discovery)
    with folder.writing(settings.wait_for_writer_s):
        try:
            return _refresh(root, folder, deriver, workers, settings, progress, started, full=full, found=discovery.files,
                            problems=discovery.problems)  # fmt: skip
        except SnapshotDamagedError as error:
            folder_message = f"{error}; it was rebuilt from the files"
            _discard(folder)
            report = _refresh(root, folder, deriver, workers, settings, progress, started, full=True,
                              found=discovery.files, problems=discovery.problems)  # fmt: skip
            return replace(report, messages=(folder_message, *report.messages))


def _refresh(
    root: Path,
    folder: IndexFolder,
    deriver: Deriver,
    workers: Workers,
    settings: BuildSettings,
    progress: Progress,
    started: float,
    *,
    full: bool,
    found: Sequence[SourceFile],
    problems: Sequence[Problem],
) -> IndexReport:
    manifest, messages = _make_ready(folder, full=full)
    with closing(SnapshotWriter(folder.database)) as writer:
        run = _Run(root, folder, settings, writer, progress, problems=list(problems))
        meta = writer.meta()
        if manifest is not None and manifest.database != folder.database_stamp():
            writer.check()  # somebody else touched the file
            if not writer.generation:
                raise SnapshotDamagedError(f"the index {folder.database} has lost what it held")
        changes = compare(writer.files(), found, trust_times=not full)
        read = list(_read_suspects(run, changes, workers, reuse=not full))
        state = git_state(root)
        old = folder.derived(writer.generation)
        fits = meta.get("derived") == deriver.identity and writer.generation > 0 and not full and deriver.usable(old)
        if not fits and writer.generation and not full:
            messages = (*messages, "the word and vector indexes did not fit this version and were derived anew")
        same = [one for one in read if one.is_same]
        changed = [one for one in read if not one.is_same]
        same_problems = set(run.problems) == set(writer.problems(of_content=False))
        if fits and not changed and not changes.removed and same_problems:
            _touch(writer, same, state)
            generation = writer.generation
        else:
            generation = writer.generation + 1
            _commit(run, changes, read, deriver, generation, state, old if fits else None)
        counts = writer.meta()
        all_problems = writer.problems()
    folder.write_manifest(Manifest(FORMAT, EXTRACTOR_VERSION, deriver.identity, folder.database_stamp()))
    folder.prune(generation)
    return IndexReport(
        root=root,
        generation=generation,
        complete=counts["complete"] == "1",
        took_ms=(time.monotonic() - started) * 1000,
        n_seen=len(found),
        n_read=run.n_read,
        n_unchanged=len(found) - len(changed),
        n_removed=len(changes.removed),
        n_skipped=len({problem.path for problem in all_problems if problem.kept is Kept.NONE}),
        n_cards=int(counts["n_cards"]),
        n_edges=int(counts["n_edges"]),
        problems=tuple(all_problems),
        messages=messages,
    )


def _make_ready(folder: IndexFolder, *, full: bool) -> tuple[Manifest | None, tuple[str, ...]]:
    """Discard an index that does not fit this version; return the manifest of one that stays, and what to tell."""
    if full:
        _discard(folder)
    if not folder.manifest_path.exists():
        return None, ()  # nothing, or a first run that was killed: what it read can be used
    try:
        manifest = folder.read_manifest()
    except (SnapshotFormatError, SnapshotDamagedError) as error:
        _discard(folder)
        return None, (f"{str(error).partition(';')[0]}; it was rebuilt",)
    if manifest.extractor != EXTRACTOR_VERSION:
        _discard(folder)
        return None, ("the index was made by another version of the extractor and was rebuilt",)
    return manifest, ()


def _discard(folder: IndexFolder) -> None:
    """Remove the snapshot and what is derived from it, under the lock that the caller holds."""
    for path in (folder.manifest_path, folder.database, *folder.database.parent.glob(folder.database.name + "-*")):
        path.unlink(missing_ok=True)
    folder.prune(-1)


# reading


@dataclass(frozen=True, slots=True)
class _ReadFile:
    """A suspect that was read."""

    entry: FileEntry
    """With `file_id` 0 for a new file."""
    record: FileRecord | None
    """None where the content is the same as before."""

    @property
    def is_same(self) -> bool:
        return self.record is None


@dataclass(frozen=True, slots=True)
class _Suspect:
    file: SourceFile
    known: FileEntry | None
    key: bytes
    language: str
    read_at_ns: int


def _read_suspects(run: _Run, changes: Changes, workers: Workers, *, reuse: bool) -> Iterator[_ReadFile]:
    """Yield every suspect that could be read; the others are among the problems."""
    suspects: list[_Suspect] = []
    total = len(changes.suspects)
    unsaved: list[tuple[bytes, PackedRecord]] = []

    def contents() -> Iterator[Content]:
        for file, known in changes.suspects:
            read_at_ns = time.time_ns()
            data = read_file(run.root, file, run.settings.discovery)
            if isinstance(data, Problem):
                run.problems.append(data)
                continue
            language = detect_language(file.path, data[:16384])
            key = content_key(language, data)
            suspects.append(_Suspect(file, known, key, language, read_at_ns))
            yield Content(key, language, data)

    known_keys = {known.content_key for _, known in changes.suspects if known is not None} if reuse else set()
    stored: dict[bytes, FileRecord] = {}

    def unknown(all_contents: Iterable[Content]) -> Iterator[Content]:
        seen: set[bytes] = set()
        for content in all_contents:
            suspect = suspects[-1]
            same = suspect.known is not None and suspect.known.content_key == content.key
            if content.key in seen or (reuse and same and content.key in known_keys):
                continue
            seen.add(content.key)
            packed = run.writer.record(content.key) if reuse else None
            if packed is not None:
                stored[content.key] = unpack(packed)
            else:
                yield content

    for answer in workers.read(unknown(contents()), total):
        run.n_read += 1
        stored[answer.key] = answer.record
        unsaved.append((answer.key, answer.packed))
        if len(unsaved) >= RECORDS_A_COMMIT:
            _save(run, unsaved)
        run.progress("reading", len(suspects), total)
    _save(run, unsaved)
    for suspect in suspects:
        yield _resolved(suspect, stored)


def _save(run: _Run, unsaved: list[tuple[bytes, PackedRecord]]) -> None:
    if unsaved:
        with run.writer.transaction():
            run.writer.put_records(unsaved, run.writer.generation + 1)
        unsaved.clear()


def _resolved(suspect: _Suspect, stored: dict[bytes, FileRecord]) -> _ReadFile:
    """Return the read file with all that its content says."""
    file, known = suspect.file, suspect.known
    racy = is_racy(file.mtime_ns, suspect.read_at_ns)
    if known is not None and known.content_key == suspect.key and suspect.key not in stored:
        entry = replace(known, size_bytes=file.size_bytes, mtime_ns=file.mtime_ns, inode=file.inode, racy=racy)
        return _ReadFile(entry, None)
    record = stored[suspect.key]
    facts = record.facts
    entry = FileEntry(
        file_id=known.file_id if known is not None else 0,
        path=file.path,
        content_key=suspect.key,
        size_bytes=file.size_bytes,
        mtime_ns=file.mtime_ns,
        inode=file.inode,
        racy=racy,
        language=facts.language if record.contents.has_text else suspect.language,
        encoding=record.contents.encoding,
        role=role_of(file.path, generated=facts.generated),
        module=module_name(file.path, facts).encode("utf-8", "backslashreplace").decode(),
        n_lines=facts.n_lines,
        leading_comment=facts.leading_comment,
        interface=interface_digest(file.path, facts),
    )
    return _ReadFile(entry, record)


def content_key(language: str, data: bytes) -> bytes:
    """Return what a content is kept by: 16 bytes of BLAKE2b over language and bytes."""
    return hashlib.blake2b(data, digest_size=16, key=language.encode()).digest()


# committing


def _commit(
    run: _Run,
    changes: Changes,
    read: Sequence[_ReadFile],
    deriver: Deriver,
    generation: int,
    state: GitState,
    old: Path | None,
) -> None:
    """Write the new generation: files, cards, edges, and what is derived."""
    writer = run.writer
    run.progress("storing", 0, 1)
    with writer.transaction():
        writer.remove_files(entry.file_id for entry in changes.removed)
        changed: list[ChangedFile] = []
        interfaces = {known.path: known.interface for _, known in changes.suspects if known is not None}
        stable = writer.generation > 0 and not changes.removed  # whether no other file's edges can have changed
        for one in read:
            if one.record is None:
                writer.touch_files([one.entry])
                continue
            contents = one.record.contents
            stable = stable and interfaces.get(one.entry.path) == one.entry.interface
            file_id, cards = writer.put_file(one.entry, contents.drafts)
            changed.append(ChangedFile(replace(one.entry, file_id=file_id), cards, contents.tokens))
            run.facts[one.entry.path] = one.record.facts
        writer.put_problems(run.problems, _content_problems(run, changes, read))
        _resolve(run, [one.entry for one in changed] if stable else None)
        if old is None:
            changed = _every_file(run, changed)
        new_folder = run.folder.derived(generation)
        run.progress("deriving", 0, 1)
        links = writer.links()
        removed = frozenset(entry.file_id for entry in changes.removed)
        deriver.derive(Change(old, new_folder, changed, removed, links))
        writer.forget(generation)
        writer.put_meta(
            {
                "generation": str(generation),
                "derived": deriver.identity,
                "commit": state.commit or "",
                "dirty": "" if state.dirty is None else str(int(state.dirty)),
                "complete": str(int(not any(problem.reason in COSTS_A_FILE for problem in writer.problems()))),
                "indexed_at": str(time.time()),
                **writer.counts(),
            }
        )
    writer.generation = generation
    run.progress("done", 1, 1)


def _resolve(run: _Run, changed: Sequence[FileEntry] | None) -> None:
    """Resolve the references of the changed files, or (None) of all."""
    writer = run.writer
    for path, facts in writer.facts_of_files():
        run.facts.setdefault(path, facts)
    files = writer.files()
    file_ids = {entry.path: entry.file_id for entry in files}
    facts_now = {path: run.facts[path] for path in file_ids}
    resolver = Resolver(SymbolTable(facts_now))
    paths = [entry.path for entry in (files if changed is None else changed)]

    def edges() -> Iterator[Edge]:
        for number, path in enumerate(paths):
            yield from resolver.resolve(path)
            if number % 200 == 0:
                run.progress("linking", number, len(paths))

    replaced = None if changed is None else [entry.file_id for entry in changed]
    writer.put_edges(edges(), file_ids, writer.positions(), replaced=replaced)


def _every_file(run: _Run, changed: Sequence[ChangedFile]) -> list[ChangedFile]:
    """Return all files of the generation, those that did not change from what is stored of them."""
    have = {one.entry.file_id: one for one in changed}
    everything = (
        have.get(entry.file_id) or ChangedFile(entry, *run.writer.stored(entry)) for entry in run.writer.files()
    )
    return list(everything)


def _content_problems(run: _Run, changes: Changes, read: Sequence[_ReadFile]) -> list[Problem]:
    """Return the problems that contents have: of the files read now, and of those that are as before."""
    found: list[Problem] = []
    for one in read:
        if one.record is not None:
            found += [Problem(one.entry.path, *problem) for problem in one.record.contents.problems]
    same = {entry.path for entry in changes.unchanged} | {one.entry.path for one in read if one.record is None}
    return found + [problem for problem in run.writer.problems(of_content=True) if problem.path in same]


def _touch(writer: SnapshotWriter, same: Sequence[_ReadFile], state: GitState) -> None:
    """Note time stamps and the commit of a tree that has not changed."""
    with writer.transaction():
        writer.touch_files([one.entry for one in same])
        dirty = "" if state.dirty is None else str(int(state.dirty))
        writer.put_meta({"commit": state.commit or "", "dirty": dirty, "indexed_at": str(time.time())})
