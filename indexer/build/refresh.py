"""Brings the index up to date with the repository, as one new generation or none.

**Invariant:** whatever edits came before, a refresh leaves the same index as indexing the tree from scratch.
"""

import gc
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

from codecards.errors import SnapshotDamagedError, SnapshotFormatError
from codecards.indexer.build.changes import Changes, compare, nothing_changed
from codecards.indexer.build.progress import ProgressCallback
from codecards.indexer.cards.record import EXTRACTOR_VERSION
from codecards.indexer.index_folder import FORMAT, IndexFolder, Manifest
from codecards.indexer.problems import Coverage, Problem
from codecards.indexer.store.writer import SnapshotWriter
from codecards.indexer.walk.discovery import Discovery, discover
from codecards.indexer.walk.files import DiscoverySettings, SourceFile, check_root
from codecards.indexer.walk.git import GitState, git_state
from codecards.indexer.walk.surroundings import changed_stamps, pack_surroundings, unpack_surroundings

if TYPE_CHECKING:
    from codecards.indexer.build.ingest import IngestedFile
    from codecards.indexer.build.worker_pool import Workers
    from codecards.indexer.cards.record import PackedRecord
    from codecards.indexer.store.derived import Deriver


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """Settings of a refresh."""

    discovery: DiscoverySettings = field(default_factory=DiscoverySettings)
    wait_for_writer_s: float = 0.0
    """How long to wait for another process that is writing the index."""
    max_kept_bytes: int | None = None
    """Limit on the records of contents that no file has any more; None for as much as those of the files take."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The result of a refresh."""

    root: Path
    generation: int
    complete: bool
    """Whether every file that should have been read was read."""
    took_ms: float
    n_seen: int
    n_read: int
    """Files whose content was parsed; the others were known by their content or stamp."""
    n_unchanged: int
    n_removed: int
    n_skipped: int
    """Files without cards, each with a problem."""
    n_cards: int
    n_edges: int
    problems: tuple[Problem, ...]
    messages: tuple[str, ...] = ()
    """Messages for the user: an older index was replaced, a damaged one rebuilt."""


UNKNOWN_DIRTY = "?"
"""Value of "dirty" after an edit: asking git takes longer than indexing it, so `status` asks."""
MANY_READ = 1_000
"""After so many parsed files the workers are stopped, to free their memory before linking; otherwise they wait for the next
edit."""


@dataclass(slots=True)
class _Run:
    """The state of one refresh."""

    root: Path
    folder: IndexFolder
    deriver: "Deriver"
    workers: "Callable[[], Workers]"
    settings: BuildSettings
    progress: ProgressCallback
    started: float
    """`time.monotonic()`."""
    listed_again: "_ListedByStamps | None" = None
    """The last listing with current stamps, if nothing has changed but contents of files."""
    _discovery: Discovery | None = None

    @property
    def discovery(self) -> Discovery:
        """The files on disk, listed on first use."""
        if self.listed_again is not None:
            return self.listed_again.discovery
        if self._discovery is None:
            self._discovery = discover(self.root, self.settings.discovery)
        return self._discovery


@dataclass(frozen=True, slots=True)
class _ListedByStamps:
    """A listing that was made from the last one."""

    discovery: Discovery
    """Without files if none has changed."""
    n_changed: int


@dataclass(frozen=True, slots=True)
class _Ingested:
    """The result of reading the changed files."""

    files: "list[IngestedFile]"
    problems: Sequence[Problem]
    """Problems of files that could not be read."""
    n_parsed: int


@dataclass(frozen=True, slots=True)
class _RefreshCounts:
    """Counts of a refresh."""

    n_parsed: int
    n_changed: int
    n_removed: int


def refresh(
    root: Path,
    folder: IndexFolder,
    deriver: "Deriver",
    workers: "Callable[[], Workers]",
    settings: BuildSettings | None = None,
    *,
    full: bool = False,
    progress: ProgressCallback = lambda _what, _done, _total: None,
) -> IndexReport:
    """Bring the index up to date and return a report.

    Args:
        root: The project's folder.
        folder: The folder of its index.
        deriver: Builds the derived files.
        workers: Returns the worker pool; called only if there are contents to read.
        settings: Settings of the refresh.
        full: Whether to read and derive everything anew, without trust in what is stored.
        progress: Called as stages advance.

    Raises:
        ProjectError: The root can't be read, or the index can't be written.
        WriterBusyError: Another process is writing the index.
    """
    started = time.monotonic()
    settings = settings or BuildSettings()
    check_root(root)
    with folder.writing(settings.wait_for_writer_s):
        run = _Run(root, folder, deriver, workers, settings, progress, started)
        try:
            return _refresh(run, full=full)
        except SnapshotDamagedError as error:
            folder.discard()
            report = _refresh(run, full=True)
            return replace(report, messages=(f"{error}; it was rebuilt from the files", *report.messages))


def _refresh(run: _Run, *, full: bool) -> IndexReport:
    """Index what changed, and write the manifest."""
    folder, deriver = run.folder, run.deriver
    manifest, messages = _open_or_reset(folder)
    with closing(SnapshotWriter(folder.database)) as writer:
        meta = writer.meta()
        if manifest is not None and manifest.database != folder.database_stamp():
            writer.check()  # another program changed the file
            if not writer.generation:
                raise SnapshotDamagedError(f"the index {folder.database} has lost its content")
        old = folder.derived(writer.generation)
        fits = meta.get("derived") == deriver.identity and writer.generation > 0 and not full and deriver.usable(old)
        if not fits and writer.generation and not full:
            messages = (*messages, "the word and vector indexes did not fit this version and were rebuilt")
        if fits:
            run.listed_again = _listed_by_stamps(run, writer)
        is_current = run.listed_again is not None and not run.listed_again.n_changed
        with _without_garbage_collection():
            done = None if is_current else _ingest(run, writer, old if fits else None, full=full)
        generation = writer.generation
        counts = writer.meta()
        all_problems = writer.problems()
    made_by = Manifest(FORMAT, EXTRACTOR_VERSION, deriver.identity, folder.database_stamp())
    if made_by != manifest:
        folder.write_manifest(made_by)
    folder.prune(generation)
    return IndexReport(
        root=run.root,
        generation=generation,
        complete=counts["complete"] == "1",
        took_ms=(time.monotonic() - run.started) * 1000,
        n_seen=int(counts["n_files"]) if done is None else len(run.discovery.files),
        n_read=done.n_parsed if done is not None else 0,
        n_unchanged=int(counts["n_files"]) if done is None else len(run.discovery.files) - done.n_changed,
        n_removed=done.n_removed if done is not None else 0,
        n_skipped=len({problem.path for problem in all_problems if problem.kept is Coverage.NONE}),
        n_cards=int(counts["n_cards"]),
        n_edges=int(counts["n_edges"]),
        problems=tuple(all_problems),
        messages=messages,
    )


def _listed_by_stamps(run: _Run, writer: SnapshotWriter) -> "_ListedByStamps | None":
    """Return the last listing with current stamps; None if other files may be listed now."""
    surroundings = unpack_surroundings(writer.stored_value("surroundings"))
    if surroundings is None or not surroundings.is_current(run.root, run.settings.discovery):
        return None
    known = list(writer.raw_stamps())
    changed = changed_stamps(run.root, known)
    if not changed:
        return _ListedByStamps(Discovery((), (), 0, surroundings), 0)
    files: list[SourceFile] = []
    for number, (path, size_bytes, mtime_ns, ctime_ns, inode, _) in enumerate(known):
        status = changed.get(number)
        if status is not None:
            size_bytes, inode = status.st_size, status.st_ino
            mtime_ns, ctime_ns = status.st_mtime_ns, status.st_ctime_ns
            if not S_ISREG(status.st_mode) or size_bytes > run.settings.discovery.max_file_bytes:
                return None
        files.append(SourceFile(os.fsdecode(path), size_bytes, mtime_ns, inode, ctime_ns))
    problems = tuple(writer.problems(of_content=False))
    return _ListedByStamps(Discovery(tuple(files), problems, 0, surroundings), len(changed))


def _ingest(run: _Run, writer: SnapshotWriter, old: Path | None, *, full: bool) -> _RefreshCounts:
    """Index and commit what changed; if nothing did, only update stamps.

    Args:
        run: The state of the refresh.
        writer: The writer, at the generation before.
        old: The derived files of that generation; None to derive everything anew.
        full: Whether to read every file.
    """
    state = _state_values(git_state(run.root)) if run.listed_again is None else {"dirty": UNKNOWN_DIRTY}
    same_problems = set(run.discovery.problems) == set(writer.problems(of_content=False))
    known = writer.stamps()
    if old is not None and same_problems and nothing_changed(known, run.discovery.files):
        _update_stamps(writer, (), state, pack_surroundings(run.discovery.surroundings))
        return _RefreshCounts(0, 0, 0)
    # Importing the parsers and the linker takes as long as checking ten thousand unchanged files.
    from codecards.indexer.build.commit import GenerationInput, commit_generation
    from codecards.indexer.build.ingest import indexed_text

    changes = compare(known, run.discovery.files, writer.files_at, trust_times=not full)
    ingested = _read(run, writer, changes, trusts=not full)
    of_reading = [*run.discovery.problems, *ingested.problems]
    n_changed = sum(one.record is not None for one in ingested.files)
    same_problems = set(of_reading) == set(writer.problems(of_content=False))
    surroundings = b"" if ingested.problems else pack_surroundings(run.discovery.surroundings)
    if old is not None and not n_changed and not changes.removed and same_problems:
        _update_stamps(writer, ingested.files, state, surroundings)
    else:
        new_folder = run.folder.derived(writer.generation + 1)
        read_text = partial(indexed_text, run.root, run.settings.discovery)
        new = GenerationInput(
            changes=changes,
            read=ingested.files,
            of_reading=of_reading,
            old_folder=old,
            state=state,
            read_text=read_text,
            surroundings=surroundings,
            is_full=full,
            max_kept_bytes=run.settings.max_kept_bytes,
        )
        commit_generation(writer, new, run.deriver, new_folder, run.progress)
    return _RefreshCounts(ingested.n_parsed, n_changed, len(changes.removed))


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Disable garbage collection: hundreds of thousands of values stay alive, and searching them takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _read(run: _Run, writer: SnapshotWriter, changes: Changes, *, trusts: bool) -> _Ingested:
    """Read the changed files; `trusts` says whether stored records may be used."""
    from codecards.indexer.build.ingest import Ingest, RecordStore  # lazy, as in `_ingest`

    def save(records: "list[tuple[bytes, PackedRecord]]") -> None:
        if records:
            with writer.transaction():
                writer.put_records(records)

    store = RecordStore(writer.record if trusts else lambda _: None, save)
    total = len(changes.changed)
    reader = Ingest(
        run.root, run.settings.discovery, store, trusts, lambda n_read: run.progress("reading", n_read, total)
    )
    read = reader.read(changes, run.workers())
    if reader.n_parsed >= MANY_READ:
        run.workers().close()
    return _Ingested(read, reader.problems, reader.n_parsed)


def _open_or_reset(folder: IndexFolder) -> tuple[Manifest | None, tuple[str, ...]]:
    """Return the manifest of an index that fits this version, else discard the index; and messages for the user."""
    if not folder.manifest_path.exists():
        return None, ()  # no index, or a first run that was killed, whose records can be used
    try:
        manifest = folder.read_manifest()
    except (SnapshotFormatError, SnapshotDamagedError) as error:
        folder.discard()
        return None, (f"{str(error).partition(';')[0]}; it was rebuilt",)
    if manifest.extractor != EXTRACTOR_VERSION:
        folder.discard()
        return None, ("the index was written by another version of the extractor and was rebuilt",)
    return manifest, ()


def _update_stamps(
    writer: SnapshotWriter, read: "Sequence[IngestedFile]", state: Mapping[str, str], surroundings: bytes
) -> None:
    """Store stamps and the git state of an unchanged tree; write nothing if these are unchanged too."""
    is_same = state.items() <= writer.meta().items() and surroundings == writer.stored_value("surroundings")
    if not read and is_same:
        return
    with writer.transaction():
        writer.update_stamps([one.entry for one in read])
        writer.put_meta(state)
        writer.store_value("surroundings", surroundings)


def _state_values(state: GitState) -> dict[str, str]:
    """Return the git state as named values."""
    dirty = "" if state.dirty is None else str(int(state.dirty))
    return {"commit": state.commit or "", "dirty": dirty}
