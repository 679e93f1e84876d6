"""Compares a listing with the last generation, to find the files that may have changed, without reading them.

A file counts as unchanged if its size, modification time, change time and inode are the same, and if it was not racily
clean: changed so shortly before it was read that a later change may have the same time stamp. Source: git's
"racy-git.txt", with a margin for file systems that store whole seconds.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from codecards.indexer.store.rows import IndexedFile, Stamp
from codecards.indexer.walk.files import SourceFile

RACY_MARGIN_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference between the files on disk and the last generation."""

    changed: tuple[tuple[SourceFile, IndexedFile | None], ...]
    """Files that may have changed, with their entries in the last generation; None for a new file."""
    removed: tuple[IndexedFile, ...]
    n_files: int
    """Files on disk now."""


def compare(
    known: Iterable[Stamp],
    found: Iterable[SourceFile],
    entries: Callable[[Collection[str]], Mapping[str, IndexedFile]],
    *,
    trust_times: bool = True,
) -> Changes:
    """Return the difference between two listings.

    Args:
        known: The stamps of the last generation.
        found: The files on disk now.
        entries: Returns path → entry of files of the last generation; called once, for those that differ.
        trust_times: Whether equal stamps prove a file unchanged; if False, every file counts as changed.
    """
    before = {stamp[0]: stamp for stamp in known}
    changed: list[SourceFile] = []
    files = tuple(found)
    for file in files:
        stamp = before.get(file.path)
        now = (file.path, file.size_bytes, file.mtime_ns, file.ctime_ns, file.inode, 0)
        if stamp == now and trust_times:
            del before[file.path]
        else:
            changed.append(file)
    removed = before.keys() - {file.path for file in changed}
    of = entries(before.keys())
    return Changes(
        tuple((file, of.get(file.path)) for file in changed),
        tuple(of[path] for path in before if path in removed),
        len(files),
    )


def count_changed(known: Iterable[Stamp], found: Iterable[SourceFile]) -> int:
    """Return the number of files that are new, gone, or of another size or time; racy files count as unchanged.

    The change time is not compared: it differs for every file of a copied tree.
    """
    before = {(path, size_bytes, mtime_ns) for path, size_bytes, mtime_ns, *_ in known}
    now = {(file.path, file.size_bytes, file.mtime_ns) for file in found}
    if before == now:
        return 0
    return len(now - before) + len({path for path, _, _ in before} - {path for path, _, _ in now})


def nothing_changed(known: Iterable[Stamp], found: Iterable[SourceFile]) -> bool:
    """Return whether `compare` would find neither changed nor removed files; ten times as fast."""
    now = {(file.path, file.size_bytes, file.mtime_ns, file.ctime_ns, file.inode, 0) for file in found}
    return set(known) == now


def is_racy(mtime_ns: int, read_at_ns: int) -> bool:
    """Return whether a change after reading could leave the same time stamp; both in nanoseconds since 1970."""
    return mtime_ns > read_at_ns - RACY_MARGIN_NS


def same_stamp(file: SourceFile, entry: IndexedFile) -> bool:
    """Return whether size, times and inode of a file are as when it was indexed."""
    now = (file.size_bytes, file.mtime_ns, file.ctime_ns, file.inode)
    return now == (entry.size_bytes, entry.mtime_ns, entry.ctime_ns, entry.inode)
