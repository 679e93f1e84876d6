"""Text evidence: BM25 and BM25F scores of the candidate files and of their cards.

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009). Simplified: IDF is over
files for cards too.

Axes of the arrays:
    F       candidate files
    C       cards of these files with a match
    E       postings: a word in a card
    P       pairs of a posting and a group that its word stands for
    G       groups of the query
    cells   pairs of a card (or file) and a group that occurs in it; scores are computed over these few pairs, and not over
            every card times every group
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codecards.retrieval.evidence.terms import TermGroups
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.store.columns import Bytes, Columns, Floats, Int64s, Uint32s, runs

FIELD_NAME, FIELD_PARENT, FIELD_SIGNATURE, FIELD_DOC, FIELD_BODY, FIELD_MESSAGE = range(6)


@dataclass(frozen=True, slots=True)
class TextWeights:
    """How much a word counts by its field, and how length and repetition are dampened."""

    fields: tuple[float, float, float, float, float, float]
    """Name, parent, signature, doc, body (which includes the text of the others), message."""
    saturation: float = 1.2
    """k1."""
    length: float = 0.4
    """b: 0 ignores length, 1 normalises by it in full."""


CARD_WEIGHTS = TextWeights((6.0, 1.5, 2.0, 1.5, 0.4, 0.0))
FILE_WEIGHTS = TextWeights((2.0, 0.3, 1.5, 1.2, 1.0, 0.0))
PLAIN_FILE_WEIGHTS = TextWeights((0.0, 0.0, 0.0, 0.0, 1.0, 0.0), saturation=1.5)
DOC_WEIGHTS = TextWeights((0.0, 0.0, 0.0, 1.0, 0.0, 0.0), length=0.3)
MAX_WORD_SCORE = 2.2
"""Highest BM25 score of one word of IDF 1 with the default saturation: k1 + 1."""


@dataclass(frozen=True, slots=True)
class Postings:
    """Occurrences of the words of a query in the candidate files."""

    files: Int64s
    """(F,): rows of the candidates, ascending."""
    file: Int64s
    """(E,): position in `files`, ascending."""
    card: Int64s
    """(E,): row of the card, ascending."""
    word: Uint32s
    """(E,): the word's id."""
    counts: Bytes
    """(E, 6): how often, by field."""


@dataclass(frozen=True, slots=True)
class TermMatches:
    """Postings by the groups of a query."""

    files: Int64s
    """(F,): rows of the candidates, ascending."""
    cards: Int64s
    """(C,): rows of the cards, ascending."""
    card_file: Int64s
    """(C,): position of each card's file in `files`."""
    entry_card: Int64s
    """(E,): position of each posting's card in `cards`."""
    entry_term: Int64s
    """(E,): position of its word in `TermGroups.word_ids`."""
    counts: Bytes
    """(E, 6): how often, by field."""
    pair_entry: Int64s
    """(P,): the posting."""
    pair_strength: Floats
    """(P,): how surely the word stands for the group, 0 to 1."""
    pair_cell: Int64s
    """(P,): position in the cells of cards."""
    cell_card: Int64s
    """(cells of cards,): position in `cards`, ascending."""
    cell_group: Int64s
    """(cells of cards,): the group."""
    cell_held: NDArray[np.float64]
    """(cells of cards,): how surely the card holds the group, 0 to 1."""
    pair_file_cell: Int64s
    """(P,): position in the cells of files."""
    file_cell_file: Int64s
    """(cells of files,): position in `files`, ascending."""
    file_cell_group: Int64s
    """(cells of files,): the group."""

    def by_card(self, weights: tuple[float, ...]) -> Floats:
        """Return (cells of cards,): weighted number of postings."""
        return self._summed(self.pair_cell, len(self.cell_card), weights)

    def by_file(self, weights: tuple[float, ...]) -> Floats:
        """Return (cells of files,): weighted number of postings."""
        return self._summed(self.pair_file_cell, len(self.file_cell_file), weights)

    def card_shares(self, values: Floats) -> Floats:
        """Return (C,): sum of (G,) values over the groups of each card, by how surely it holds them."""
        return np.bincount(self.cell_card, self.cell_held * values[self.cell_group], len(self.cards)).astype(np.float32)

    def _summed(self, cells: Int64s, n_cells: int, weights: tuple[float, ...]) -> Floats:
        values = (self.counts @ np.array(weights, np.float32))[self.pair_entry] * self.pair_strength
        return np.bincount(cells, values, n_cells).astype(np.float32)


def find_postings(index: DerivedIndex, files: Int64s, word_ids: Uint32s) -> Postings:
    """Return the occurrences of some words in some files.

    Args:
        index: The index.
        files: Rows of the files, ascending.
        word_ids: The words, each once.
    """
    columns = index.columns
    first = columns.entry_offset[columns.card_offset[files]]
    last = columns.entry_offset[columns.card_offset[files + 1]]
    low, high = columns.word_offset[word_ids], columns.word_offset[word_ids.astype(np.int64) + 1]
    # For long queries, scanning the candidates is cheaper than following every posting list.
    is_rare = int((high - low).sum()) <= int((last - first).sum())
    found = _entries_of_words(columns, low, high) if is_rare else _entries_in_files(columns, first, last, word_ids)
    begin, end = np.searchsorted(found, first), np.searchsorted(found, last)
    entries = _joined_slices(found, begin, end)
    file = np.repeat(np.arange(len(files)), end - begin)
    card = np.searchsorted(columns.entry_offset, entries, "right") - 1
    return Postings(files, file, card, columns.entry_word[entries], columns.entry_counts[entries])


def _entries_of_words(columns: Columns, low: Int64s, high: Int64s) -> Int64s:
    """Return the entries of some words in all files, ascending."""
    entries = _joined_slices(columns.entry_by_word, low, high)
    entries.sort()
    return entries.astype(np.int64)


def _entries_in_files(columns: Columns, first: Int64s, last: Int64s, word_ids: Uint32s) -> Int64s:
    """Return the entries of several runs that have one of some words, ascending."""
    wanted = np.zeros(len(columns.word_files), np.bool_)
    wanted[word_ids] = True
    words = _joined_slices(columns.entry_word, first, last)
    entries: Int64s = runs(first, last - first)[wanted[words]]
    return entries


def _joined_slices(values: NDArray[Any], first: Int64s, last: Int64s) -> NDArray[Any]:
    """Return several slices of an array, concatenated."""
    parts = [values[low:high] for low, high in zip(first.tolist(), last.tolist(), strict=True)]
    return np.concatenate(parts) if parts else values[:0].copy()


def match_terms(postings: Postings, groups: TermGroups) -> TermMatches:
    """Return the postings whose words stand for a group of the query."""
    files, n_groups = postings.files, max(1, len(groups.terms))
    term = np.searchsorted(groups.word_ids, postings.word)
    file, rows, counts = postings.file, postings.card, postings.counts
    mine = term < len(groups.word_ids)
    mine[mine] = groups.word_ids[term[mine]] == postings.word[mine]
    if not mine.all():
        term, file, rows, counts = term[mine], file[mine], rows[mine], counts[mine]
    is_first = np.diff(rows, prepend=-1) != 0
    cards, entry_card = rows[is_first], np.cumsum(is_first) - 1
    card_file = file[is_first]
    pair_entry, group, strength = groups.pairs(term)
    cells, pair_cell = _numbered(entry_card[pair_entry] * n_groups + group, len(cards) * n_groups)
    file_cells, pair_file_cell = _numbered(card_file[entry_card[pair_entry]] * n_groups + group, len(files) * n_groups)
    return TermMatches(
        files=files,
        cards=cards,
        card_file=card_file,
        entry_card=entry_card,
        entry_term=term,
        counts=counts,
        pair_entry=pair_entry,
        pair_strength=strength,
        pair_cell=pair_cell,
        cell_card=cells // n_groups,
        cell_group=cells % n_groups,
        cell_held=np.minimum(1.0, np.bincount(pair_cell, strength, len(cells))),
        pair_file_cell=pair_file_cell,
        file_cell_file=file_cells // n_groups,
        file_cell_group=file_cells % n_groups,
    )


def _numbered(cells: Int64s, n_cells: int) -> tuple[Int64s, Int64s]:
    """Return the unique values of numbers below `n_cells`, and the inverse, like `np.unique` but without sorting."""
    is_there = np.zeros(n_cells, np.bool_)
    is_there[cells] = True
    place = np.cumsum(is_there) - 1
    return np.flatnonzero(is_there), place[cells]


def card_scores(index: DerivedIndex, matches: TermMatches, groups: TermGroups, weights: TextWeights) -> Floats:
    """Return (C,): BM25F of each card with a match."""
    fields = np.array(weights.fields, np.float32)
    lengths = index.columns.field_length[matches.cards] @ fields
    counts = matches.by_card(weights.fields)
    norm = _norm(lengths, float(index.mean_lengths @ fields), weights)[matches.cell_card]
    values = counts * (weights.saturation + 1) / (counts + weights.saturation * norm) * groups.idf[matches.cell_group]
    return np.bincount(matches.cell_card, values, len(matches.cards)).astype(np.float32)


def file_scores(
    index: DerivedIndex,
    matches: TermMatches,
    groups: TermGroups,
    weights: TextWeights,
    path_counts: Floats | None = None,
) -> Floats:
    """Return (F,): BM25F of each candidate file.

    Args:
        index: The index.
        matches: Where the words occur.
        groups: The query.
        weights: How much words count by their field.
        path_counts: (F, G): weighted occurrences in the path, a field without length normalisation.
    """
    if not groups.terms:
        return np.zeros(len(matches.files), np.float32)
    fields = np.array(weights.fields, np.float32)
    lengths = index.file_lengths[matches.files] @ fields
    norm = _norm(lengths, float(index.mean_file_lengths @ fields), weights)
    counts = np.zeros((len(matches.files), len(groups.terms)), np.float32)
    values = matches.by_file(weights.fields) / norm[matches.file_cell_file]
    counts[matches.file_cell_file, matches.file_cell_group] = values
    if path_counts is not None:
        counts += path_counts
    return np.asarray((counts * (weights.saturation + 1) / (counts + weights.saturation)) @ groups.idf)


def max_per_file(values: Floats, card_file: Int64s, n_files: int) -> Floats:
    """Return (F,): each file's highest value, 0 for a file without cards.

    Args:
        values: (C,), at least 0.
        card_file: (C,), ascending.
        n_files: F.
    """
    best = np.zeros(n_files, np.float32)
    if len(values):
        files, first = np.unique(card_file, return_index=True)
        best[files] = np.maximum.reduceat(values, first)
    return best


def decayed_sum(values: Floats, card_file: Int64s, n_files: int, *, n_best: int = 8, decay: float = 0.65) -> Floats:
    """Return (F,): each file's best values (0 or more), the second times `decay`, the third times its square, and so on."""
    if not len(values):
        return np.zeros(n_files, np.float32)
    # File and value in one number, the higher value first: sorting numbers is far faster than `argsort` or `lexsort`.
    falling = np.uint32(0xFFFFFFFF) - np.asarray(values + 0, np.float32).view(np.uint32)
    keys = np.sort((card_file.astype(np.uint64) << np.uint64(32)) | falling)
    ordered_files = (keys >> np.uint64(32)).astype(np.int64)
    ordered = (np.uint32(0xFFFFFFFF) - keys.astype(np.uint32)).view(np.float32)
    first = np.searchsorted(ordered_files, np.arange(n_files))
    rank = np.arange(len(keys)) - first[ordered_files]
    shares = np.append(decay ** np.arange(n_best), 0.0)
    share = shares[np.minimum(rank, n_best)]
    return np.bincount(ordered_files, ordered * share, n_files).astype(np.float32)


def _norm(lengths: Floats, mean: float, weights: TextWeights) -> Floats:
    """Return the length normalisation of BM25: 1 for the mean length."""
    return (1 - weights.length + weights.length * lengths / max(mean, 1e-9)).astype(np.float32)


def normalised(values: Floats) -> Floats:
    """Return values divided by the highest, so that the best has 1."""
    highest = float(values.max(initial=0.0))
    return values / highest if highest > 0 else values
