"""Columns: what ranking reads of every file, card and word, as numpy arrays that lie in one folder, memory-mapped.

Files are in order of their path, cards in order of their file and place. Ids are rows unless they are named otherwise.
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
"""Roles of a file by the number that is stored."""
PLACES = ("stem", "folder", "outer_folder")
"""Where in a path a word stands, by the number that is stored: the file's name, its folder, a folder further out."""

Int64s = NDArray[np.int64]
Uint64s = NDArray[np.uint64]
Uint32s = NDArray[np.uint32]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Columns:
    """All columns of one generation."""

    file_id: Int64s
    """(n_files,): the snapshot's id."""
    path_bytes: Bytes
    """All paths in a row, as `os.fsencode` gives them."""
    path_offset: Int64s
    """(n_files + 1,): where each begins."""
    language: Bytes
    """(n_files,): place in the list of languages of `meta.json`."""
    role: Bytes
    """(n_files,): place in `ROLES`."""
    n_lines: Uint32s
    stem_hash: Uint64s
    """(n_files, 3): `name_hash` of the file name without ending, of its stem in the sense of language, and of that of
    folder and name together."""
    flags: Bytes
    """(n_files,): bits of `PathFlag`."""
    old_version: Floats
    """(n_files,): 1 where a sibling folder holds a later version, .5 for a version without a sibling, else 0."""
    depth: Bytes
    """(n_files,): number of folders above."""
    place_offset: Int64s
    """(n_files + 1,): where each file's entries of the next two begin."""
    place_word: Uint32s
    """Words of the path, by id."""
    place_kind: Bytes
    """Place in `PLACES`."""
    card_offset: Int64s
    """(n_files + 1,): first card of each file."""
    centrality: Floats
    """(n_files,): PageRank times n_files, so that 1 is the average."""
    in_weight: Floats
    """(n_files,): sum of the weights of the links that lead here."""
    in_degree: Uint32s
    """(n_files,): number of files with a link here."""
    link_offset: Int64s
    """(n_files + 1,): where each file's outgoing links begin."""
    link_target: Uint32s
    link_weight: Floats
    """ln(1 + number of resolved uses)."""

    card_id: Int64s
    """(n_cards,): the snapshot's id."""
    kind: Bytes
    """(n_cards,): see `KIND_NUMBERS`."""
    folded_name: Uint64s
    """(n_cards,): `name_hash` of the case-folded name, 0 for none."""
    exact_name: Uint64s
    """(n_cards,): `name_hash` of the name as written, 0 for none."""
    parent_name: Uint64s
    """(n_cards,): `name_hash` of the last part of the parent's case-folded name, 0 for none."""
    nesting: Bytes
    """(n_cards,): number of definitions around."""
    first_line: Uint32s
    """(n_cards,): 1-based, as is the next."""
    last_line: Uint32s
    by_name: Uint32s
    """(n_cards,): cards in order of `folded_name`, to be searched by bisection."""
    field_length: NDArray[np.uint16]
    """(n_cards, 6): number of words in each field, 65535 for more."""
    entry_offset: Int64s
    """(n_cards + 1,): where each card's entries of the next two begin."""
    entry_word: Uint32s
    """Words of the card, by id, each once."""
    entry_counts: Bytes
    """(n_entries, 6): occurrences by field."""
    entry_by_word: Uint32s
    """(n_entries,): entries in order of their word, those of one word ascending."""
    word_offset: Int64s
    """(n_words + 1,): where each word's entries begin in the one before."""

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
            OSError: It can't be written.
        """
        for column in fields(self):
            np.save(folder / f"{column.name}.npy", getattr(self, column.name))

    @classmethod
    def open(cls, folder: Path) -> "Columns":
        """Return the columns of a folder, memory-mapped.

        Raises:
            OSError: One is missing.
            ValueError: One is damaged, or they do not fit each other.
        """
        arrays = {column.name: _mapped(folder / f"{column.name}.npy") for column in fields(cls)}
        columns = cls(**arrays)
        columns.check()
        return columns

    def check(self) -> None:
        """Check that the columns fit each other.

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
            raise ValueError("the columns do not fit each other")
        n_entries = len(self.entry_word)
        if len(self.entry_counts) != n_entries or len(self.entry_by_word) != n_entries or len(self.by_name) != n_cards:
            raise ValueError("the columns do not fit each other")


def _mapped(path: Path) -> NDArray[Any]:
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    # A plain view: every operation on numpy's own memmap class costs a call back into Python.
    return array.view(np.ndarray)


def dot_rows(rows: Floats, query: Floats) -> Floats:
    """Return the dot product of each row with a vector.

    Not by BLAS, whose threads wait for each other longer than this takes: 0.2 ms for 10,000 rows, where they took 4 to 8.
    """
    return np.asarray(np.einsum("ij,j->i", rows, query))


def kinds_of(kind: Bytes, wanted: Iterable[str]) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return which cards are of one of the wanted kinds."""
    return np.isin(kind, [KIND_NUMBERS[name] for name in wanted if name in KIND_NUMBERS])
