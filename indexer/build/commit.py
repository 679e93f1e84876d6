"""Commits a new generation: changed files, the call graph, and the derived indexes."""

import gc
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codecards.indexer.build.changes import Changes
from codecards.indexer.build.ingest import IngestedFile
from codecards.indexer.build.progress import ProgressCallback
from codecards.indexer.graph.edges import Edge
from codecards.indexer.graph.resolver import Resolver
from codecards.indexer.graph.symbols import SymbolTable
from codecards.indexer.problems import Problem, Reason
from codecards.indexer.store.derived import ChangedFile, Deriver, GenerationDiff, TextReader
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
        writer.remove_files(entry.file_id for entry in changes.removed)
        writer.put_problems(new.of_reading, _content_problems(writer, new))
        stable = writer.generation > 0 and not changes.removed and _same_interfaces(new)
        changed = _put_files(writer, new.read)
        _resolve(writer, [one.entry for one in changed] if stable else None, progress)
        if len(changed) >= MANY_CHANGED:
            gc.collect()  # also clears free lists, which keep 230 of 500 MB alive after linking
        progress("deriving", 0, 1)
        removed = frozenset(entry.file_id for entry in changes.removed)
        everything = changed if new.old_folder is not None else _every_file(writer, changed)
        deriver.derive(GenerationDiff(new.old_folder, new_folder, everything, removed, writer.links(), new.read_text))
        writer.drop_unused_records(generation)
        complete = not any(problem.reason in COSTS_A_FILE for problem in writer.problems())
        writer.put_meta(
            {
                "generation": str(generation),
                "derived": deriver.identity,
                "complete": str(int(complete)),
                **new.state,
                **writer.counts(),
            }
        )
    writer.generation = generation
    progress("done", 1, 1)


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


def _same_interfaces(new: GenerationInput) -> bool:
    """Return whether the changes leave the references of all other files resolved as before."""
    before = {known.path: known.interface for _, known in new.changes.changed if known is not None}
    return all(before.get(one.entry.path) == one.entry.interface for one in new.read)


def _resolve(writer: SnapshotWriter, changed: Sequence[IndexedFile] | None, progress: ProgressCallback) -> None:
    """Resolve the references of the changed files; None resolves those of all files."""
    files = writer.files()
    file_ids = {entry.path: entry.file_id for entry in files}
    # Load all facts in one pass, so that their memory is contiguous and is freed together.
    resolver = Resolver(SymbolTable(dict(writer.facts_of_files())))
    paths = [entry.path for entry in (files if changed is None else changed)]

    def edges() -> Iterator[Edge]:
        for number, path in enumerate(paths):
            yield from resolver.resolve(path)
            if number % 100 == 0:
                progress("linking", number, len(paths))

    replaced = None if changed is None else [entry.file_id for entry in changed]
    writer.put_edges(edges(), file_ids, writer.positions(), replaced=replaced)


def _every_file(writer: SnapshotWriter, changed: Sequence[ChangedFile]) -> list[ChangedFile]:
    """Return all files of the generation; unchanged ones are loaded from the snapshot."""
    known = {one.entry.file_id: one for one in changed}
    return [known.get(entry.file_id) or writer.stored(entry) for entry in writer.files()]


def _content_problems(writer: SnapshotWriter, new: GenerationInput) -> list[Problem]:
    """Return the problems of contents: of the files read now, and of the unchanged ones."""
    same = {entry.path for entry in new.changes.unchanged}
    found: list[Problem] = []
    for one in new.read:
        if one.record is None:
            same.add(one.entry.path)
        else:
            found += [Problem(one.entry.path, *problem) for problem in one.record.head.problems]
    return found + [problem for problem in writer.problems(of_content=True) if problem.path in same]
