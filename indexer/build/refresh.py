"""Build: brings the index up to date with the repository, as one new generation or none.

**Invariant:** whatever the edits before it, a refresh leaves what a fresh index of the same tree would hold.
"""

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from codecards.errors import SnapshotDamagedError, SnapshotFormatError
from codecards.indexer.build.changes import Changes, compare, nothing_changed
from codecards.indexer.cards.record import EXTRACTOR_VERSION
from codecards.indexer.walk.git import GitState, git_state
from codecards.indexer.index_folder import FORMAT, IndexFolder, Manifest
from codecards.indexer.problems import Coverage, Problem
from codecards.indexer.store.writer import SnapshotWriter
from codecards.indexer.walk.discovery import Discovery, discover
from codecards.indexer.walk.files import DiscoverySettings

if TYPE_CHECKING:
    from codecards.indexer.store.derived import Deriver
    from codecards.indexer.cards.record import PackedRecord
    from codecards.indexer.build.ingest import ReadFile
    from codecards.indexer.build.worker_pool import Workers


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


MANY_READ = 1_000
"""Files after which the workers are ended: what they have grown to is not held while the generation is made. After fewer
they wait for the next edit."""
Progress = Callable[[str, int, int], None]
"""Told (what is being done, how many are done, how many there are)."""


@dataclass(slots=True)
class _Run:
    """What one refresh carries along."""

    root: Path
    folder: IndexFolder
    deriver: "Deriver"
    workers: "Callable[[], Workers]"
    settings: BuildSettings
    progress: Progress
    discovery: Discovery
    started: float
    """`time.monotonic()`."""


@dataclass(frozen=True, slots=True)
class _Suspects:
    """What reading the suspects gave."""

    read: "list[ReadFile]"
    problems: Sequence[Problem]
    """Of files that could not be read."""
    n_parsed: int


@dataclass(frozen=True, slots=True)
class _RefreshCounts:
    """What was taken into the index."""

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
    progress: Progress = lambda _what, _done, _total: None,
) -> IndexReport:
    """Bring the index up to date and return what was done.

    Args:
        root: The project's folder.
        folder: Where its index lies.
        deriver: Makes the derived files.
        workers: Gives those that read contents, where there are any to read.
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
    manifest, messages = _open_or_reset(folder)
    with closing(SnapshotWriter(folder.database)) as writer:
        meta = writer.meta()
        if manifest is not None and manifest.database != folder.database_stamp():
            writer.check()  # somebody else touched the file
            if not writer.generation:
                raise SnapshotDamagedError(f"the index {folder.database} has lost what it held")
        old = folder.derived(writer.generation)
        fits = meta.get("derived") == deriver.identity and writer.generation > 0 and not full and deriver.usable(old)
        if not fits and writer.generation and not full:
            messages = (*messages, "the word and vector indexes did not fit this version and were derived anew")
        with _no_collection():
            taken = _ingest(run, writer, old if fits else None, full=full)
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
        n_seen=len(run.discovery.files),
        n_read=taken.n_parsed,
        n_unchanged=len(run.discovery.files) - taken.n_changed,
        n_removed=taken.n_removed,
        n_skipped=len({problem.path for problem in all_problems if problem.kept is Coverage.NONE}),
        n_cards=int(counts["n_cards"]),
        n_edges=int(counts["n_edges"]),
        problems=tuple(all_problems),
        messages=messages,
    )


def _ingest(run: _Run, writer: SnapshotWriter, old: Path | None, *, full: bool) -> _RefreshCounts:
    """Read what changed and commit it; note no more than the time where nothing did.

    Args:
        run: What is carried along.
        writer: Of the generation before.
        old: What was derived from it; None to derive all anew.
        full: Whether to read everything.
    """
    state = _state_values(git_state(run.root))
    same_problems = set(run.discovery.problems) == set(writer.problems(of_content=False))
    if old is not None and same_problems and nothing_changed(writer.stamps(), run.discovery.files):
        _update_stamps(writer, (), state)
        return _RefreshCounts(0, 0, 0)
    # What reads and links costs as much to load as a look at ten thousand files that did not change.
    from codecards.indexer.build.commit import GenerationInput, commit_generation  # noqa: PLC0415
    from codecards.indexer.build.ingest import indexed_text  # noqa: PLC0415

    changes = compare(writer.files(), run.discovery.files, trust_times=not full)
    suspects = _read(run, writer, changes, trusts=not full)
    of_reading = [*run.discovery.problems, *suspects.problems]
    n_changed = sum(one.record is not None for one in suspects.read)
    same_problems = set(of_reading) == set(writer.problems(of_content=False))
    if old is not None and not n_changed and not changes.removed and same_problems:
        _update_stamps(writer, suspects.read, state)
    else:
        new = run.folder.derived(writer.generation + 1)
        read_text = partial(indexed_text, run.root, run.settings.discovery)
        difference = GenerationInput(changes, suspects.read, of_reading, old, state, read_text)
        commit_generation(writer, difference, run.deriver, new, run.progress)
    return _RefreshCounts(suspects.n_parsed, n_changed, len(changes.removed))


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


def _read(run: _Run, writer: SnapshotWriter, changes: Changes, *, trusts: bool) -> _Suspects:
    """Read the suspects; without trust no stored record is used."""
    from codecards.indexer.build.ingest import Store, Ingest  # noqa: PLC0415 - as in `_ingest`

    def keep(records: "list[tuple[bytes, PackedRecord]]") -> None:
        if records:
            with writer.transaction():
                writer.put_records(records, writer.generation + 1)

    store = Store(writer.record if trusts else lambda _: None, keep)
    total = len(changes.suspects)
    reader = Ingest(
        run.root, run.settings.discovery, store, trusts, lambda n_read: run.progress("reading", n_read, total)
    )
    read = reader.read(changes, run.workers())
    if reader.n_parsed >= MANY_READ:
        run.workers().close()
    return _Suspects(read, reader.problems, reader.n_parsed)


def _open_or_reset(folder: IndexFolder) -> tuple[Manifest | None, tuple[str, ...]]:
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


def _update_stamps(writer: SnapshotWriter, read: "Sequence[ReadFile]", state: Mapping[str, str]) -> None:
    """Note time stamps and the commit of a tree that has not changed; write nothing where these are as they were."""
    if not read and state.items() <= writer.meta().items():
        return
    with writer.transaction():
        writer.touch_files([one.entry for one in read])
        writer.put_meta(state)


def _state_values(state: GitState) -> dict[str, str]:
    """Return the named values that say what was checked out."""
    dirty = "" if state.dirty is None else str(int(state.dirty))
    return {"commit": state.commit or "", "dirty": dirty}
