"""The columns that ranking reads: numpy arrays of all files, cards and words, memory-mapped from one folder.

Files are ordered by path, cards by file and position. Ids are row numbers unless stated otherwise.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codecards.indexer.facts import Kind

KIND_NUMBERS: Mapping[str, int] = {kind.value: number for number, kind in enumerate(Kind)}
"""Kind of card → the number that is stored."""
ROLES = ("source", "test", "generated", "vendored", "docs", "config")
"""Roles of files; the columns store a role's position."""
PLACES = ("stem", "folder", "outer_folder")
"""Parts of a path, stored by position: the file's name, its folder, a folder further out."""

Int64s = NDArray[np.int64]
Uint64s = NDArray[np.uint64]
Uint32s = NDArray[np.uint32]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Columns:
    """All columns of one generation."""

    file_id: Int64s
    """(n_files,): id in the snapshot."""
    path_bytes: Bytes
    """All paths concatenated, encoded by `os.fsencode`."""
    path_offset: Int64s
    """(n_files + 1,): start of each path, and the end."""
    language: Bytes
    """(n_files,): position in the languages of `meta.json`."""
    role: Bytes
    """(n_files,): position in `ROLES`."""
    n_lines: Uint32s
    stem_hash: Uint64s
    """(n_files, 3): `name_hash` of the file name without suffix, of its linguistic stem, and of the stem of folder and name
    together."""
    flags: Bytes
    """(n_files,): bits of `PathFlag`."""
    old_version: Floats
    """(n_files,): 1 if a sibling folder holds a later version, .5 for a version without siblings, else 0."""
    depth: Bytes
    """(n_files,): number of folders above."""
    place_offset: Int64s
    """(n_files + 1,): start of each file's entries in the next two columns."""
    place_word: Uint32s
    """Word ids of the path."""
    place_kind: Bytes
    """Position in `PLACES`."""
    card_offset: Int64s
    """(n_files + 1,): first card of each file."""
    centrality: Floats
    """(n_files,): PageRank times n_files; 1 is average."""
    in_weight: Floats
    """(n_files,): sum of the weights of incoming links."""
    in_degree: Uint32s
    """(n_files,): number of files that link to this one."""
    link_offset: Int64s
    """(n_files + 1,): start of each file's outgoing links."""
    link_target: Uint32s
    link_weight: Floats
    """ln(1 + number of resolved uses)."""

    card_id: Int64s
    """(n_cards,): id in the snapshot."""
    kind: Bytes
    """(n_cards,): position in `KINDS`."""
    folded_name: Uint64s
    """(n_cards,): `name_hash` of the case-folded name, 0 for none."""
    exact_name: Uint64s
    """(n_cards,): `name_hash` of the name as written, 0 for none."""
    parent_name: Uint64s
    """(n_cards,): `name_hash` of the last part of the parent's case-folded name, 0 for none."""
    nesting: Bytes
    """(n_cards,): number of enclosing definitions."""
    first_line: Uint32s
    """(n_cards,): 1-based, like `last_line`."""
    last_line: Uint32s
    by_name: Uint32s
    """(n_cards,): cards ordered by `folded_name`, for binary search."""
    field_length: NDArray[np.uint16]
    """(n_cards, 6): number of words in each field, 65535 for more."""
    entry_offset: Int64s
    """(n_cards + 1,): start of each card's entries in the next two columns."""
    entry_word: Uint32s
    """Word ids of the card, each once."""
    entry_counts: Bytes
    """(n_entries, 6): occurrences in each field."""
    entry_by_word: Uint32s
    """(n_entries,): entries ordered by word; those of one word ascend."""
    word_offset: Int64s
    """(n_words + 1,): start of each word's entries in `entry_by_word`."""

    word_files: Uint32s
    """(n_words,): number of files with the word in a card."""
    word_paths: Uint32s
    """(n_words,): number of files with the word in their path."""

    @property
    def n_files(self) -> int:
        """Number of files."""
        return len(self.file_id)

    @property
    def n_cards(self) -> int:
        """Number of cards."""
        return len(self.card_id)

    def save(self, folder: Path) -> None:
        """Write every column into a folder.

        Raises:
            OSError: The folder can't be written.
        """
        for column in fields(self):
            np.save(folder / f"{column.name}.npy", getattr(self, column.name))

    @classmethod
    def open(cls, folder: Path) -> "Columns":
        """Return the columns of a folder, memory-mapped.

        Raises:
            OSError: A column is missing.
            ValueError: A column is damaged, or the columns contradict each other.
        """
        arrays = {column.name: _mapped(folder / f"{column.name}.npy") for column in fields(cls)}
        columns = cls(**arrays)
        columns.check()
        return columns

    def check(self) -> None:
        """Check that the lengths of the columns agree.

        Raises:
            ValueError: They do not.
        """
        n_files, n_cards = self.n_files, self.n_cards
        ends = (
            (self.path_offset, n_files, len(self.path_bytes)),
            (self.place_offset, n_files, len(self.place_word)),
            (self.card_offset, n_files, n_cards),
            (self.link_offset, n_files, len(self.link_target)),
            (self.entry_offset, n_cards, len(self.entry_word)),
            (self.word_offset, len(self.word_files), len(self.entry_by_word)),
        )
        if any(len(offset) != n_rows + 1 or offset[-1] != end for offset, n_rows, end in ends):
            raise ValueError("the lengths of the columns do not agree")
        n_entries = len(self.entry_word)
        if len(self.entry_counts) != n_entries or len(self.entry_by_word) != n_entries or len(self.by_name) != n_cards:
            raise ValueError("the lengths of the columns do not agree")


def _mapped(path: Path) -> NDArray[Any]:
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    # A plain array: every operation on numpy's memmap class calls back into Python.
    return array.view(np.ndarray)


def dot_rows(rows: Floats, query: Floats) -> Floats:
    """Return the dot product of each row with a vector.

    Avoids BLAS, whose threads wait for each other: 0.2 ms for 10,000 rows instead of 4 to 8.
    """
    return np.asarray(np.einsum("ij,j->i", rows, query))


def kinds_of(kind: Bytes, wanted: Iterable[str]) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return which cards are of one of the wanted kinds."""
    return np.isin(kind, [KIND_NUMBERS[name] for name in wanted if name in KIND_NUMBERS])


def runs(first: Int64s, lengths: Int64s) -> Int64s:
    """Return the numbers of several runs, concatenated: first (5, 2), lengths (2, 3) → 5 6 2 3 4."""
    offsets = np.repeat(first - starts(lengths)[:-1], lengths)
    return offsets + np.arange(len(offsets), dtype=np.int64)


def starts(lengths: NDArray[np.integer[Any]]) -> Int64s:
    """Return the start of each of several runs of given lengths, and the end."""
    found = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=found[1:])
    return found
