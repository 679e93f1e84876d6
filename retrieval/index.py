"""Opens the derived index of one generation: columns, vocabulary, word index, vectors and glossary.

**Invariant:** all parts of a `DerivedIndex` belong to one generation, whatever a writer does meanwhile.
"""

import os
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codecards.errors import SnapshotDamagedError, SnapshotMissingError
from codecards.indexer.cards.words import FIELDS
from codecards.retrieval.embed.embedder import Embedder
from codecards.retrieval.store.columns import Columns, Floats, Int64s, Uint64s
from codecards.retrieval.store.expansion import Expander
from codecards.retrieval.store.folder import COLUMNS_FOLDER, KEYWORDS_FOLDER, VECTORS_FOLDER, read_languages
from codecards.retrieval.store.glossary import Glossary, read_glossary
from codecards.retrieval.store.keyword_index import KeywordIndex
from codecards.retrieval.store.names import BOILERPLATE_NAMES
from codecards.retrieval.store.paths import ENTRY_STEMS
from codecards.retrieval.store.vocabulary import Vocabulary
from codecards.retrieval.vectors.card_vectors import CardVectors


class DerivedIndex:
    """The derived index, memory-mapped for ranking. Safe for several threads.

    Attributes:
        columns: Files, cards and words as arrays.
        vocabulary: Word ↔ id.
        languages: Names of the languages, by the number that the columns store.
        vectors: The static vectors; None if there are none, or without an embedder.
        glossary: Chinese words and the English words that this repository uses for them.
    """

    def __init__(
        self,
        columns: Columns,
        vocabulary: Vocabulary,
        languages: list[str],
        keywords: KeywordIndex,
        vectors: CardVectors | None,
        embedder: Embedder | None,
        glossary: Glossary,
    ) -> None:
        self.columns = columns
        self.vocabulary = vocabulary
        self.languages = languages
        self.keywords = keywords
        self.vectors = vectors if embedder is not None else None
        self.embedder = embedder
        self.glossary = glossary
        self.expander = Expander(vocabulary)

    @classmethod
    def open(cls, folder: Path, embedder: Embedder | None = None) -> "DerivedIndex":
        """Return the index of a derived folder.

        Args:
            folder: A folder that `DerivedIndexBuilder` filled.
            embedder: The embedder of the vectors; None to search without vectors. Vectors of another embedder are ignored.

        Raises:
            SnapshotMissingError: The folder does not exist.
            SnapshotDamagedError: Its files are damaged or of another format.
        """
        if not folder.is_dir():
            raise SnapshotMissingError(f"{folder} does not exist; run `codecards index`")
        try:
            vectors = _open_vectors(folder / VECTORS_FOLDER, embedder)
            return cls(
                Columns.open(folder / COLUMNS_FOLDER),
                Vocabulary.open(folder),
                read_languages(folder),
                KeywordIndex(folder / KEYWORDS_FOLDER),
                vectors,
                embedder,
                read_glossary(folder),
            )
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise SnapshotDamagedError(f"the index in {folder} is damaged ({error}); run `codecards index`") from error

    @property
    def has_vectors(self) -> bool:
        """Whether searches use vectors."""
        return self.vectors is not None

    def path(self, row: int) -> str:
        """Return the path of a file by its row, from the root, with slashes."""
        first, last = self.columns.path_offset[row], self.columns.path_offset[row + 1]
        return os.fsdecode(self.columns.path_bytes[first:last].tobytes())

    @cached_property
    def paths(self) -> list[str]:
        """Paths of all files, by row."""
        text, bounds = self.columns.path_bytes.tobytes(), self.columns.path_offset.tolist()
        return [os.fsdecode(text[first:last]) for first, last in pairwise(bounds)]

    @cached_property
    def file_order(self) -> Int64s:
        """(n_files,): rows, ordered by the snapshot's file ids."""
        return np.argsort(self.columns.file_id)

    def rows_of_files(self, file_ids: Int64s) -> Int64s:
        """Return the rows of files by the snapshot's ids, all of which must exist."""
        ordered = self.columns.file_id[self.file_order]
        return self.file_order[np.searchsorted(ordered, file_ids)]

    @cached_property
    def file_of_card(self) -> Int64s:
        """(n_cards,): row of each card's file."""
        return np.repeat(np.arange(self.columns.n_files), np.diff(self.columns.card_offset))

    @cached_property
    def is_boilerplate(self) -> NDArray[np.bool_]:
        """(n_cards,): whether a card is a boilerplate method, such as `__eq__`."""
        return np.isin(self.columns.folded_name, BOILERPLATE_NAMES)

    @cached_property
    def mean_lengths(self) -> Floats:
        """(6,): mean number of words per card, by field."""
        lengths = self.columns.field_length
        return (
            lengths.mean(axis=0, dtype=np.float64).astype(np.float32)
            if len(lengths)
            else np.ones(len(FIELDS), np.float32)
        )

    @cached_property
    def file_lengths(self) -> Floats:
        """(n_files, 6): number of words in each file's cards, by field."""
        sums = np.zeros((self.columns.n_cards + 1, len(FIELDS)), np.float64)
        np.cumsum(self.columns.field_length, axis=0, out=sums[1:])
        bounds = self.columns.card_offset
        return (sums[bounds[1:]] - sums[bounds[:-1]]).astype(np.float32)

    @cached_property
    def mean_file_lengths(self) -> Floats:
        """(6,): mean number of words per file, by field."""
        lengths = self.file_lengths
        return lengths.mean(axis=0) if len(lengths) else np.ones(len(FIELDS), np.float32)

    @cached_property
    def compounds(self) -> range:
        """Ids of the whole-word tokens of compound words."""
        return self.vocabulary.starting_with("=")

    @cached_property
    def n_named_alike(self) -> Floats:
        """(n_files,): number of files with the same name without suffix; at least 1."""
        _, name, n_files = np.unique(self.columns.stem_hash[:, 0], return_inverse=True, return_counts=True)
        return n_files[name].astype(np.float32)

    @cached_property
    def least_depth(self) -> int:
        """Number of folders above every source file; a single top folder such as src/ distinguishes nothing."""
        depths = self.columns.depth[self.columns.role == 0]
        return int(depths.min()) if len(depths) else 0

    @cached_property
    def sorted_names(self) -> Uint64s:
        """(n_cards,): hashes of the case-folded names, in the order of `Columns.by_name`."""
        return self.columns.folded_name[self.columns.by_name]

    def cards_named(self, folded_hash: int) -> Int64s:
        """Return the rows of the cards whose case-folded name has this hash, ascending."""
        wanted = np.uint64(folded_hash)
        first = int(np.searchsorted(self.sorted_names, wanted))
        last = int(np.searchsorted(self.sorted_names, wanted, "right"))
        return np.sort(self.columns.by_name[first:last]).astype(np.int64)

    @cached_property
    def rows_by_filename(self) -> dict[str, list[int]]:
        """File name → rows of its files, ordered by path."""
        found: dict[str, list[int]] = {}
        for row, path in enumerate(self.paths):
            found.setdefault(path.rpartition("/")[2], []).append(row)
        return found

    def files_ending(self, path: str, *, loosely: bool = False) -> list[int]:
        """Return the rows of the files whose path ends with a given path.

        Args:
            path: As it was written, with slashes.
            loosely: Whether the path may begin with folders that do not exist here, as in a traceback from another machine;
                returns the files that share the longest end with it.
        """
        wanted = [part for part in path.split("/") if part not in ("", ".", "..", "~")]
        if not wanted:
            return []
        best, found = 0, list[int]()
        for row in self.rows_by_filename.get(wanted[-1], ()):
            have = self.paths[row].split("/")
            n_common = 0
            while n_common < min(len(have), len(wanted)) and have[-1 - n_common] == wanted[-1 - n_common]:
                n_common += 1
            if not loosely and n_common < len(wanted):
                continue
            if loosely and n_common > best:
                best, found = n_common, []
            if not loosely or n_common == best:
                found.append(row)
        return found

    @cached_property
    def _rows_by_stem(self) -> dict[str, list[int]]:
        """File name without suffix → rows; an entry file counts under the name of its folder."""
        found: dict[str, list[int]] = {}
        for row, path in enumerate(self.paths):
            *folders, filename = path.split("/")
            stem = filename.partition(".")[0]
            found.setdefault(folders[-1] if stem in ENTRY_STEMS and folders else stem, []).append(row)
        return found

    def files_with_stem(self, path: str) -> list[int]:
        """Return the rows of the files whose path without suffix ends with a path such as "modeling/separable"."""
        found: list[int] = []
        for row in self._rows_by_stem.get(path.rpartition("/")[2], ()):
            base = self.paths[row].rpartition(".")[0] or self.paths[row]
            if base.rpartition("/")[2] in ENTRY_STEMS:
                base = base.rpartition("/")[0]
            if base == path or base.endswith("/" + path):
                found.append(row)
        return found


def _open_vectors(folder: Path, embedder: Embedder | None) -> CardVectors | None:
    if embedder is None or not embedder.dimensions or not (folder / "vectors.json").exists():
        return None
    vectors = CardVectors(folder)
    return vectors if vectors.identity == embedder.identity else None
