"""Build: brings the index up to date with the repository, as one new generation or none.

**Invariant:** whatever the edits before it, a refresh leaves what a fresh index of the same tree would hold.
"""

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from codecards.errors import SnapshotDamagedError, SnapshotFormatError
from codecards.indexer.cards import Card
from codecards.indexer.changes import Changes, compare
from codecards.indexer.edge_resolution import Edge, Resolver
from codecards.indexer.facts import FileFacts
from codecards.indexer.file_record import EXTRACTOR_VERSION, PackedRecord
from codecards.indexer.git_calls import GitState, git_state
from codecards.indexer.index_folder import FORMAT, IndexFolder, Manifest
from codecards.indexer.problems import Kept, Problem, Reason
from codecards.indexer.reading import ReadFile, Store, SuspectReader
from codecards.indexer.snapshot import FileEntry
from codecards.indexer.snapshot_writer import SnapshotWriter
from codecards.indexer.source_files import Discovery, DiscoverySettings, discover
from codecards.indexer.symbol_table import SymbolTable
from codecards.indexer.tokens import FileTokens
from codecards.indexer.workers import Workers


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

    discovery: DiscoverySettings = field(default_factory=DiscoverySettings)
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
    deriver: Deriver
    workers: Workers
    settings: BuildSettings
    progress: Progress
    discovery: Discovery
    started: float
    """`time.monotonic()`."""


@dataclass(frozen=True, slots=True)
class _Difference:
    """What a new generation has to take in."""

    changes: Changes
    read: Sequence[ReadFile]
    of_reading: Sequence[Problem]
    """Problems of files that could not be read."""


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
        run = _Run(root, folder, deriver, workers, settings, progress, discovery, started)
        try:
            return _refresh(run, full=full)
        except SnapshotDamagedError as error:
            folder.discard()
            report = _refresh(run, full=True)
            return replace(report, messages=(f"{error}; it was rebuilt from the files", *report.messages))


def _refresh(run: _Run, *, full: bool) -> IndexReport:
    """Read what changed and commit it, if it is anything."""
    folder, deriver = run.folder, run.deriver
    manifest, messages = _make_ready(folder)
    with closing(SnapshotWriter(folder.database)) as writer:
        meta = writer.meta()
        if manifest is not None and manifest.database != folder.database_stamp():
            writer.check()  # somebody else touched the file
            if not writer.generation:
                raise SnapshotDamagedError(f"the index {folder.database} has lost what it held")
        changes = compare(writer.files(), run.discovery.files, trust_times=not full)
        reader = _reader(run, writer, len(changes.suspects), trusts=not full)
        read = reader.read(changes, run.workers)
        of_reading = [*run.discovery.problems, *reader.problems]
        old = folder.derived(writer.generation)
        fits = meta.get("derived") == deriver.identity and writer.generation > 0 and not full and deriver.usable(old)
        if not fits and writer.generation and not full:
            messages = (*messages, "the word and vector indexes did not fit this version and were derived anew")
        state = git_state(run.root)
        changed = [one for one in read if one.record is not None]
        if fits and not changed and not changes.removed and set(of_reading) == set(writer.problems(of_content=False)):
            _touch(writer, read, state)
        else:
            _commit(run, writer, _Difference(changes, read, of_reading), state, old if fits else None)
        generation = writer.generation
        counts = writer.meta()
        all_problems = writer.problems()
    folder.write_manifest(Manifest(FORMAT, EXTRACTOR_VERSION, deriver.identity, folder.database_stamp()))
    folder.prune(generation)
    return IndexReport(
        root=run.root,
        generation=generation,
        complete=counts["complete"] == "1",
        took_ms=(time.monotonic() - run.started) * 1000,
        n_seen=len(run.discovery.files),
        n_read=reader.n_parsed,
        n_unchanged=len(run.discovery.files) - len(changed),
        n_removed=len(changes.removed),
        n_skipped=len({problem.path for problem in all_problems if problem.kept is Kept.NONE}),
        n_cards=int(counts["n_cards"]),
        n_edges=int(counts["n_edges"]),
        problems=tuple(all_problems),
        messages=messages,
    )


def _reader(run: _Run, writer: SnapshotWriter, total: int, *, trusts: bool) -> SuspectReader:
    """Return what reads the suspects; without trust no stored record is used."""

    def keep(records: list[tuple[bytes, PackedRecord]]) -> None:
        if records:
            with writer.transaction():
                writer.put_records(records, writer.generation + 1)

    store = Store(writer.record if trusts else lambda _: None, keep)
    return SuspectReader(
        run.root, run.settings.discovery, store, trusts, lambda n_read: run.progress("reading", n_read, total)
    )


def _make_ready(folder: IndexFolder) -> tuple[Manifest | None, tuple[str, ...]]:
    """Discard an index that does not fit this version; return the manifest of one that stays, and what to tell."""
    if not folder.manifest_path.exists():
        return None, ()  # nothing, or a first run that was killed: what it read can be used
    try:
        manifest = folder.read_manifest()
    except (SnapshotFormatError, SnapshotDamagedError) as error:
        folder.discard()
        return None, (f"{str(error).partition(';')[0]}; it was rebuilt",)
    if manifest.extractor != EXTRACTOR_VERSION:
        folder.discard()
        return None, ("the index was made by another version of the extractor and was rebuilt",)
    return manifest, ()


def _commit(run: _Run, writer: SnapshotWriter, difference: _Difference, state: GitState, old: Path | None) -> None:
    """Write the new generation: files, cards, edges, and what is derived."""
    generation, changes = writer.generation + 1, difference.changes
    run.progress("storing", 0, 1)
    with writer.transaction():
        writer.remove_files(entry.file_id for entry in changes.removed)
        changed, facts = _put_files(writer, difference.read)
        writer.put_problems(difference.of_reading, _content_problems(writer, difference))
        stable = writer.generation > 0 and not changes.removed and _same_interfaces(difference)
        _resolve(run, writer, facts, [one.entry for one in changed] if stable else None)
        run.progress("deriving", 0, 1)
        removed = frozenset(entry.file_id for entry in changes.removed)
        everything = changed if old is not None else _every_file(writer, changed)
        run.deriver.derive(Change(old, run.folder.derived(generation), everything, removed, writer.links()))
        writer.forget(generation)
        complete = not any(problem.reason in COSTS_A_FILE for problem in writer.problems())
        writer.put_meta(
            {
                "generation": str(generation),
                "derived": run.deriver.identity,
                "complete": str(int(complete)),
                **_state_values(state),
                **writer.counts(),
            }
        )
    writer.generation = generation
    run.progress("done", 1, 1)


def _put_files(writer: SnapshotWriter, read: Sequence[ReadFile]) -> tuple[list[ChangedFile], dict[str, FileFacts]]:
    """Put changed files in; return them, and path -> facts."""
    changed: list[ChangedFile] = []
    writer.touch_files([one.entry for one in read if one.record is None])
    facts: dict[str, FileFacts] = {}
    for one in read:
        if one.record is not None:
            file_id, cards = writer.put_file(one.entry, one.record.contents.drafts)
            changed.append(ChangedFile(replace(one.entry, file_id=file_id), cards, one.record.contents.tokens))
            facts[one.entry.path] = one.record.facts
    return changed, facts


def _same_interfaces(difference: _Difference) -> bool:
    """Return whether no change can touch how other files' references resolve."""
    before = {known.path: known.interface for _, known in difference.changes.suspects if known is not None}
    return all(before.get(one.entry.path) == one.entry.interface for one in difference.read)


def _resolve(
    run: _Run, writer: SnapshotWriter, fresh: Mapping[str, FileFacts], changed: Sequence[FileEntry] | None
) -> None:
    """Resolve the references of the changed files, or (None) of all."""
    files = writer.files()
    file_ids = {entry.path: entry.file_id for entry in files}
    facts = dict(writer.facts_of_files(without=fresh)) | dict(fresh)
    resolver = Resolver(SymbolTable(facts))
    paths = [entry.path for entry in (files if changed is None else changed)]

    def edges() -> Iterator[Edge]:
        for number, path in enumerate(paths):
            yield from resolver.resolve(path)
            if number % 100 == 0:
                run.progress("linking", number, len(paths))

    replaced = None if changed is None else [entry.file_id for entry in changed]
    with _no_collection():
        writer.put_edges(edges(), file_ids, writer.positions(), replaced=replaced)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Spare the search for cycles among hundreds of thousands of values that all stay (a third of the time)."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _every_file(writer: SnapshotWriter, changed: Sequence[ChangedFile]) -> list[ChangedFile]:
    """Return all files of the generation, those that did not change from what is stored of them."""
    have = {one.entry.file_id: one for one in changed}
    return [have.get(entry.file_id) or ChangedFile(entry, *writer.stored(entry)) for entry in writer.files()]


def _content_problems(writer: SnapshotWriter, difference: _Difference) -> list[Problem]:
    """Return the problems that contents have: of the files read now, and of those that are as before."""
    same = {entry.path for entry in difference.changes.unchanged}
    found: list[Problem] = []
    for one in difference.read:
        if one.record is None:
            same.add(one.entry.path)
        else:
            found += [Problem(one.entry.path, *problem) for problem in one.record.contents.problems]
    return found + [problem for problem in writer.problems(of_content=True) if problem.path in same]


def _touch(writer: SnapshotWriter, read: Sequence[ReadFile], state: GitState) -> None:
    """Note time stamps and the commit of a tree that has not changed."""
    with writer.transaction():
        writer.touch_files([one.entry for one in read])
        writer.put_meta(_state_values(state))


def _state_values(state: GitState) -> dict[str, str]:
    """Return the named values that say what was checked out, and when it was looked at."""
    dirty = "" if state.dirty is None else str(int(state.dirty))
    return {"commit": state.commit or "", "dirty": dirty, "indexed_at": str(time.time())}
