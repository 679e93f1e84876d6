"""Generation: what changed becomes a new committed state, with its call graph and all that is derived from it."""

import gc
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codecards.indexer.build.changes import Changes
from codecards.indexer.store.derived import ChangedFile, Deriver, GenerationDiff, TextReader
from codecards.indexer.graph.resolver import Resolver
from codecards.indexer.graph.edges import Edge
from codecards.indexer.problems import Problem, Reason
from codecards.indexer.build.ingest import ReadFile
from codecards.indexer.store.rows import IndexedFile
from codecards.indexer.store.writer import SnapshotWriter
from codecards.indexer.graph.symbols import SymbolTable

Progress = Callable[[str, int, int], None]
"""Told (what is being done, how many are done, how many there are)."""
MANY_CHANGED = 1_000
"""Files from which on memory is worth a search through all values, which takes a tenth of a second."""
COSTS_A_FILE = frozenset({Reason.WORKER_DIED, Reason.TIMED_OUT, Reason.VANISHED})


@dataclass(frozen=True, slots=True)
class GenerationInput:
    """What a new generation has to take in."""

    changes: Changes
    read: list[ReadFile]
    """Is emptied, so that what was read is held in memory no longer than it is needed."""
    of_reading: Sequence[Problem]
    """Problems of files that could not be read."""
    old_folder: Path | None
    """What was derived from the generation before; None to derive all anew."""
    state: Mapping[str, str]
    """Named values that say what was checked out."""
    read_text: TextReader
    """See `GenerationDiff.read_text`."""


def commit_generation(
    writer: SnapshotWriter, difference: GenerationInput, deriver: Deriver, new_folder: Path, progress: Progress
) -> None:
    """Write the next generation: files, cards, edges, and what is derived.

    Args:
        writer: Of the generation before.
        difference: What is new.
        deriver: Makes the derived files.
        new_folder: Where it puts them.
        progress: Is told how far it is.
    """
    generation, changes = writer.generation + 1, difference.changes
    progress("storing", 0, 1)
    with writer.transaction():
        writer.remove_files(entry.file_id for entry in changes.removed)
        writer.put_problems(difference.of_reading, _content_problems(writer, difference))
        stable = writer.generation > 0 and not changes.removed and _same_interfaces(difference)
        changed = _put_files(writer, difference.read)
        _resolve(writer, [one.entry for one in changed] if stable else None, progress)
        if len(changed) >= MANY_CHANGED:
            gc.collect()  # values that the interpreter keeps for later use hold what linking needed: 230 MB of 500
        progress("deriving", 0, 1)
        removed = frozenset(entry.file_id for entry in changes.removed)
        everything = changed if difference.old_folder is not None else _every_file(writer, changed)
        deriver.derive(
            GenerationDiff(difference.old_folder, new_folder, everything, removed, writer.links(), difference.read_text)
        )
        writer.forget(generation)
        complete = not any(problem.reason in COSTS_A_FILE for problem in writer.problems())
        writer.put_meta(
            {
                "generation": str(generation),
                "derived": deriver.identity,
                "complete": str(int(complete)),
                **difference.state,
                **writer.counts(),
            }
        )
    writer.generation = generation
    progress("done", 1, 1)


def _put_files(writer: SnapshotWriter, read: list[ReadFile]) -> list[ChangedFile]:
    """Put changed files in, and empty the list; return them."""
    changed: list[ChangedFile] = []
    writer.touch_files([one.entry for one in read if one.record is None])
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


def _same_interfaces(difference: GenerationInput) -> bool:
    """Return whether no change can touch how other files' references resolve."""
    before = {known.path: known.interface for _, known in difference.changes.suspects if known is not None}
    return all(before.get(one.entry.path) == one.entry.interface for one in difference.read)


def _resolve(writer: SnapshotWriter, changed: Sequence[IndexedFile] | None, progress: Progress) -> None:
    """Resolve the references of the changed files, or (None) of all."""
    files = writer.files()
    file_ids = {entry.path: entry.file_id for entry in files}
    # All at once and from the snapshot: what lies together in memory is given back together when it is done with.
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
    """Return all files of the generation, those that did not change from what is stored of them."""
    have = {one.entry.file_id: one for one in changed}
    return [have.get(entry.file_id) or writer.stored(entry) for entry in writer.files()]


def _content_problems(writer: SnapshotWriter, difference: GenerationInput) -> list[Problem]:
    """Return the problems that contents have: of the files read now, and of those that are as before."""
    same = {entry.path for entry in difference.changes.unchanged}
    found: list[Problem] = []
    for one in difference.read:
        if one.record is None:
            same.add(one.entry.path)
        else:
            found += [Problem(one.entry.path, *problem) for problem in one.record.head.problems]
    return found + [problem for problem in writer.problems(of_content=True) if problem.path in same]
