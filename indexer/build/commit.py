"""Commits a new generation: changed files, the call graph, and the derived indexes."""

import gc
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codecards.indexer.build.changes import Changes
from codecards.indexer.build.ingest import IngestedFile
from codecards.indexer.build.linking import MANY_FILES, SHARE_OF_FILES, FileChange, Linker
from codecards.indexer.build.progress import ProgressCallback
from codecards.indexer.problems import Problem, Reason
from codecards.indexer.store.derived import ChangedFile, Deriver, GenerationDiff, LazyLinks, TextReader
from codecards.indexer.store.kept_contents import LIVE_BYTES
from codecards.indexer.store.rows import IndexedFile
from codecards.indexer.store.writer import SnapshotWriter

MANY_CHANGED = 1_000
"""Changed files from which on a garbage collection, which takes 0.1 s, frees enough memory."""
COSTS_A_FILE = frozenset({Reason.WORKER_DIED, Reason.TIMED_OUT, Reason.VANISHED})


@dataclass(frozen=True, slots=True)
class GenerationInput:
    """The changes that a new generation contains."""

    changes: Changes
    read: list[IngestedFile]
    """Emptied while its files are stored, so that their memory is freed early."""
    of_reading: Sequence[Problem]
    """Problems of listing and reading files."""
    old_folder: Path | None
    """The derived files of the generation before; None to derive everything anew."""
    state: Mapping[str, str]
    """Named values of the git state."""
    read_text: TextReader
    """See `GenerationDiff.read_text`."""
    surroundings: bytes
    """`surroundings.pack_surroundings` of the listing; b"" if it is not stored."""
    is_full: bool
    """Whether nothing that is stored is trusted."""
    max_kept_bytes: int | None
    """See `BuildSettings.max_kept_bytes`."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of the files that are changed or removed."""

    entries: Mapping[str, IndexedFile]
    cards: Mapping[str, Mapping[str, list[tuple[str, int]]]]
    """Path → `LinkTables.named_cards`."""
    is_everything: bool
    """Whether so much changes that all files are resolved."""


def commit_generation(
    writer: SnapshotWriter, new: GenerationInput, deriver: Deriver, new_folder: Path, progress: ProgressCallback
) -> None:
    """Write the next generation: files, cards, edges and derived files.

    Args:
        writer: The writer, at the generation before.
        new: The changes.
        deriver: Builds the derived files.
        new_folder: The folder for the derived files.
        progress: Called as stages advance.
    """
    generation, changes = writer.generation + 1, new.changes
    progress("storing", 0, 1)
    with writer.transaction():
        known = _known(writer, new)
        fresh = writer.kept.new_to_files(one.entry.content_key for one in new.read)
        writer.remove_files(entry.file_id for entry in changes.removed)
        writer.put_problems(new.of_reading, _new_problems(new), _paths_with_new_content(new))
        changed = _put_files(writer, new.read)
        _link(writer, known, changed, progress)
        if len(changed) >= MANY_CHANGED:
            gc.collect()  # also clears free lists, which keep 230 of 500 MB alive after linking
        progress("deriving", 0, 1)
        removed = frozenset(entry.file_id for entry in changes.removed)
        everything = changed if new.old_folder is not None else _every_file(writer, changed)
        deriver.derive(
            GenerationDiff(new.old_folder, new_folder, everything, removed, LazyLinks(writer.links), new.read_text)
        )
        live_bytes = writer.kept.settle(fresh, [one.content_key for one in known.entries.values()], generation)
        writer.kept.limit(live_bytes if new.max_kept_bytes is None else new.max_kept_bytes)
        complete = not any(problem.reason in COSTS_A_FILE for problem in writer.problems())
        writer.put_meta(
            {
                "generation": str(generation),
                "derived": deriver.identity,
                "complete": str(int(complete)),
                LIVE_BYTES: str(live_bytes),
                "peak_mb": str(_peak_mb()),
                **new.state,
                **writer.counts(),
            }
        )
        writer.store_value("surroundings", new.surroundings)
    writer.generation = generation
    progress("done", 1, 1)


def _peak_mb() -> int:
    """Return the peak memory of this process, in MiB; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> (20 if sys.platform == "darwin" else 10)


def _put_files(writer: SnapshotWriter, read: list[IngestedFile]) -> list[ChangedFile]:
    """Store the files that were read, emptying the list; return those that changed."""
    changed: list[ChangedFile] = []
    writer.update_stamps([one.entry for one in read if one.record is None])
    waiting = deque(read)
    read.clear()
    while waiting:
        one = waiting.popleft()
        if one.record is not None:
            contents = one.record.contents
            file_id, cards = writer.put_file(one.entry, contents.drafts)
            entry = replace(one.entry, file_id=file_id)
            changed.append(ChangedFile(entry, cards, contents.tokens, contents.embedded))
    return changed


def _known(writer: SnapshotWriter, new: GenerationInput) -> _Known:
    """Return what the last generation has of the files that are changed or removed."""
    read = {one.entry.path for one in new.read if one.record is not None}
    entries = {known.path: known for _, known in new.changes.changed if known is not None and known.path in read}
    entries |= {known.path: known for known in new.changes.removed}
    is_many = len(read) > max(MANY_FILES, SHARE_OF_FILES * new.changes.n_files)
    is_everything = not writer.generation or new.is_full or is_many
    tables = writer.links_tables
    cards = {} if is_everything else {path: tables.named_cards(one.file_id) for path, one in entries.items()}
    return _Known(entries, cards, is_everything)


def _link(writer: SnapshotWriter, known: _Known, changed: Sequence[ChangedFile], progress: ProgressCallback) -> None:
    """Resolve the references that the changes can affect."""
    linker = Linker(writer, progress)
    if known.is_everything:
        linker.link_all()
        return
    after = {one.entry.path: one.entry for one in changed}
    linker.link(
        [
            FileChange(path, known.entries.get(path), after.get(path), known.cards.get(path, {}))
            for path in sorted(known.entries.keys() | after.keys())
        ]
    )


def _every_file(writer: SnapshotWriter, changed: Sequence[ChangedFile]) -> list[ChangedFile]:
    """Return all files of the generation; unchanged ones are loaded from the snapshot."""
    known = {one.entry.file_id: one for one in changed}
    return [known.get(entry.file_id) or writer.stored(entry) for entry in writer.files()]


def _new_problems(new: GenerationInput) -> list[Problem]:
    """Return the problems of the contents that were read now."""
    found: list[Problem] = []
    for one in new.read:
        if one.record is not None:
            found += [Problem(one.entry.path, *problem) for problem in one.record.head.problems]
    return found


def _paths_with_new_content(new: GenerationInput) -> set[str]:
    """Return the paths whose content is not, or not surely, as it was."""
    same = {one.entry.path for one in new.read if one.record is None}
    paths = {file.path for file, _ in new.changes.changed} | {entry.path for entry in new.changes.removed}
    return paths - same
