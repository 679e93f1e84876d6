"""Text evidence: what the words in cards say for the candidate files and for each of their cards.

Source of the formulas: BM25 and BM25F (Robertson, Zaragoza 2009), with rarity over files also for cards.
"""

from dataclasses import dataclass

import numpy as np

from codecards.retrieval.columns import Bytes, Floats, Int64s
from codecards.retrieval.derived_index import DerivedIndex
from codecards.retrieval.term_groups import TermGroups

FIELD_NAME, FIELD_PARENT, FIELD_SIGNATURE, FIELD_DOC, FIELD_BODY = range(5)


@dataclass(frozen=True, slots=True)
class TextWeights:
    """How much a word counts by the field it stands in, and how length and repetition are dampened."""

    fields: tuple[float, float, float, float, float]
    """Name, parent, signature, doc, body (which has the text of signature and doc too)."""
    saturation: float = 1.2
    """k1."""
    length: float = 0.4
    """b: 0 for no account of length, 1 for full."""


CARD_WEIGHTS = TextWeights((6.0, 1.5, 2.0, 1.5, 0.4))
FILE_WEIGHTS = TextWeights((2.0, 0.3, 1.5, 1.2, 1.0))
PLAIN_FILE_WEIGHTS = TextWeights((0.0, 0.0, 0.0, 0.0, 1.0), saturation=1.5)
DOC_WEIGHTS = TextWeights((0.0, 0.0, 0.0, 1.0, 0.0), length=0.3)


@dataclass(frozen=True, slots=True)
class Matches:
    """Where the words of a query occur in the candidate files: F files, C cards with a match, T words."""

    files: Int64s
    """(F,): rows of the candidates."""
    cards: Int64s
    """(C,): rows of the cards, ascending."""
    card_file: Int64s
    """(C,): each card's place in `files`."""
    entry_card: Int64s
    """(E,): place in `cards` of each occurrence."""
    entry_term: Int64s
    """(E,): its word, as a place in `TermGroups.word_ids`."""
    counts: Bytes
    """(E, 5): how often, by field."""
    n_words: int

    def by_card(self, weights: tuple[float, ...]) -> Floats:
        """Return (C, T): weighted number of occurrences of each word in each card."""
        table = np.zeros((len(self.cards), self.n_words), np.float32)
        table[self.entry_card, self.entry_term] = self.counts @ np.array(weights, np.float32)
        return table

    def by_file(self, weights: tuple[float, ...]) -> Floats:
        """Return (F, T): the same for whole files."""
        values = self.counts @ np.array(weights, np.float32)
        cells = self.card_file[self.entry_card] * self.n_words + self.entry_term
        flat = np.bincount(cells, values, len(self.files) * self.n_words)
        return flat.reshape(len(self.files), self.n_words).astype(np.float32)


def find_matches(index: DerivedIndex, files: Int64s, groups: TermGroups) -> Matches:
    """Return where the words of the groups occur in some files.

    Args:
        index: The index.
        files: Rows of the files, ascending.
        groups: The query.
    """
    columns = index.columns
    word_place = np.zeros(len(columns.word_files), np.uint16)
    word_place[groups.word_ids] = np.arange(1, len(groups.word_ids) + 1)
    first = columns.entry_offset[columns.card_offset[files]]
    last = columns.entry_offset[columns.card_offset[files + 1]]
    parts = [columns.entry_word[low:high] for low, high in zip(first.tolist(), last.tolist(), strict=True)]
    places = word_place[np.concatenate(parts)] if parts else np.zeros(0, np.uint16)
    found = np.flatnonzero(places)
    before = np.zeros(len(files) + 1, np.int64)
    np.cumsum(last - first, out=before[1:])
    entry_file = np.searchsorted(before, found, "right") - 1
    entries = found - before[entry_file] + first[entry_file]
    rows = np.searchsorted(columns.entry_offset, entries, "right") - 1
    cards, entry_card = np.unique(rows, return_inverse=True)
    card_file = np.searchsorted(columns.card_offset[files], cards, "right") - 1
    return Matches(
        files=files,
        cards=cards,
        card_file=card_file,
        entry_card=entry_card,
        entry_term=places[found].astype(np.int64) - 1,
        counts=columns.entry_counts[entries],
        n_words=len(groups.word_ids),
    )


def card_scores(index: DerivedIndex, matches: Matches, groups: TermGroups, weights: TextWeights) -> Floats:
    """Return (C,): BM25F of each card with a match."""
    fields = np.array(weights.fields, np.float32)
    lengths = index.columns.field_length[matches.cards] @ fields
    mean = float(index.mean_lengths @ fields)
    return _bm25(matches.by_card(weights.fields) @ groups.strength, lengths, mean, groups.idf, weights)


def file_scores(index: DerivedIndex, matches: Matches, groups: TermGroups, weights: TextWeights) -> Floats:
    """Return (F,): BM25F of each candidate file."""
    fields = np.array(weights.fields, np.float32)
    lengths = index.file_lengths[matches.files] @ fields
    mean = float(index.file_lengths.mean(axis=0) @ fields) if len(index.file_lengths) else 1.0
    return _bm25(matches.by_file(weights.fields) @ groups.strength, lengths, mean, groups.idf, weights)


def placed_file_scores(
    index: DerivedIndex, matches: Matches, groups: TermGroups, weights: TextWeights, path_counts: Floats
) -> Floats:
    """Return (F,): BM25F of each candidate file, its path being a field of its own that no length dampens.

    Args:
        index: The index.
        matches: Where the words occur.
        groups: The query.
        weights: How words in cards count.
        path_counts: (F, G): weighted occurrences in the path.
    """
    fields = np.array(weights.fields, np.float32)
    lengths = index.file_lengths[matches.files] @ fields
    mean = max(1e-9, float(index.file_lengths.mean(axis=0) @ fields)) if len(index.file_lengths) else 1.0
    dampened = (matches.by_file(weights.fields) @ groups.strength) / (1 - weights.length + weights.length * lengths / mean)[:, None]
    counts = dampened + path_counts
    return np.asarray((counts * (weights.saturation + 1) / (counts + weights.saturation)) @ groups.idf)


def best_of_files(values: Floats, card_file: Int64s, n_files: int) -> Floats:
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
    """Return (F,): each file's best values, the second times `decay`, the third times its square, and so on."""
    if not len(values):
        return np.zeros(n_files, np.float32)
    order = np.lexsort((-values, card_file))
    ordered_files = card_file[order]
    first = np.searchsorted(ordered_files, np.arange(n_files))
    rank = np.arange(len(order)) - first[ordered_files]
    share = np.where(rank < n_best, decay**rank, 0.0)
    return np.bincount(ordered_files, values[order] * share, n_files).astype(np.float32)


def _bm25(counts: Floats, lengths: Floats, mean: float, idf: Floats, weights: TextWeights) -> Floats:
    dampening = weights.saturation * (1 - weights.length + weights.length * lengths / max(mean, 1e-9))
    return np.asarray((counts * (weights.saturation + 1) / (counts + dampening[:, None])) @ idf)


def share_of(values: Floats) -> Floats:
    """Return values over the highest of them, so that the best has 1."""
    highest = float(values.max(initial=0.0))
    return values / highest if highest > 0 else values


def covered(matches: Matches, groups: TermGroups) -> tuple[Floats, Floats]:
    """Return (C, G) and (F, G): how surely each card and each file holds each group's term, 0 to 1."""
    present = np.zeros((len(matches.cards), matches.n_words), np.float32)
    present[matches.entry_card, matches.entry_term] = 1.0
    in_files = np.zeros((len(matches.files), matches.n_words), np.float32)
    in_files[matches.card_file[matches.entry_card], matches.entry_term] = 1.0
    return np.minimum(1.0, present @ groups.strength), np.minimum(1.0, in_files @ groups.strength)
