"""Builds the columns of files, from scratch or merged with those of the previous generation.

**Invariant:** merged columns equal columns built from scratch from the same files, apart from the snapshot's ids.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codecards.indexer.cards.card import Card
from codecards.indexer.cards.words import FIELDS
from codecards.indexer.store.derived import ChangedFile
from codecards.retrieval.store.columns import KIND_NUMBERS, ROLES, Columns, Int64s, runs, starts
from codecards.retrieval.store.names import name_hash
from codecards.retrieval.store.paths import path_words
from codecards.retrieval.store.vocabulary import Vocabulary

_ROLE_NUMBERS = {role: number for number, role in enumerate(ROLES)}


@dataclass(frozen=True, slots=True)
class Rows:
    """Columns of some files that do not depend on other files; words are ids of one vocabulary."""

    paths: list[bytes]
    """Encoded by `os.fsencode`."""
    languages: list[str]
    files: dict[str, NDArray[Any]]
    """Columns with one row per file."""
    places: dict[str, NDArray[Any]]
    """Columns with one row per word of a path."""
    n_places: Int64s
    """Number of words in each file's path."""
    cards: dict[str, NDArray[Any]]
    """Columns with one row per card."""
    n_cards: Int64s
    """Number of cards in each file."""
    entries: dict[str, NDArray[Any]]
    """Columns with one row per word of a card."""
    n_entries: Int64s
    """Number of words in each card."""


_FILE_COLUMNS = ("file_id", "role", "n_lines", "stem_hash", "depth")
_CARD_COLUMNS = (
    *("card_id", "kind", "folded_name", "exact_name", "parent_name"),
    *("nesting", "first_line", "last_line", "field_length"),
)


def rows_of_files(files: Sequence[ChangedFile], word_ids: Mapping[str, int]) -> Rows:
    """Return the columns of files.

    Args:
        files: In any order; the rows keep it.
        word_ids: Word -> id, for every word of their paths and cards.
    """
    placed = [path_words(one.entry.path) for one in files]
    place_words: list[int] = []
    place_kinds: list[int] = []
    n_places: list[int] = []
    for place in placed:
        found = [
            (word_ids[token], kind)
            for kind, tokens in enumerate((place.stem, place.folder, place.outer))
            for token in tokens
        ]
        place_words += [word for word, _ in found]
        place_kinds += [kind for _, kind in found]
        n_places.append(len(found))
    cards = [card for one in files for card in one.cards]
    entry_words, entry_counts, n_entries = _entries(files, word_ids)
    return Rows(
        paths=[os.fsencode(one.entry.path) for one in files],
        languages=[one.entry.language for one in files],
        files={
            "file_id": np.array([one.entry.file_id for one in files], np.int64),
            "role": np.array([_ROLE_NUMBERS.get(one.entry.role, 0) for one in files], np.uint8),
            "n_lines": np.array([one.entry.n_lines for one in files], np.uint32),
            "stem_hash": np.array(
                [(one.whole, one.whole_stemmed, one.with_folder) for one in placed], np.uint64
            ).reshape(-1, 3),
            "depth": np.array([one.depth for one in placed], np.uint8),
        },
        places={"place_word": np.array(place_words, np.uint32), "place_kind": np.array(place_kinds, np.uint8)},
        n_places=np.array(n_places, np.int64),
        cards=_card_columns(cards) | {"field_length": _field_lengths(entry_counts, n_entries)},
        n_cards=np.array([len(one.cards) for one in files], np.int64),
        entries={"entry_word": entry_words, "entry_counts": entry_counts},
        n_entries=n_entries,
    )


def rows_of_columns(columns: Columns, languages: Sequence[str], kept: Int64s, word_ids: NDArray[np.uint32]) -> Rows:
    """Return the columns of some files of an older generation.

    Args:
        columns: Columns of the older generation.
        languages: Languages by the numbers that those columns store.
        kept: Rows of the files, ascending.
        word_ids: Old word id -> new word id.
    """
    n_places = np.diff(columns.place_offset)[kept]
    n_cards = np.diff(columns.card_offset)[kept]
    cards = runs(columns.card_offset[kept], n_cards)
    n_entries = np.diff(columns.entry_offset)[cards]
    places = runs(columns.place_offset[kept], n_places)
    entries = runs(columns.entry_offset[cards], n_entries)
    path_bytes = columns.path_bytes.tobytes()
    bounds = columns.path_offset.tolist()
    return Rows(
        paths=[path_bytes[bounds[row] : bounds[row + 1]] for row in kept.tolist()],
        languages=[languages[number] for number in columns.language[kept].tolist()],
        files={name: getattr(columns, name)[kept] for name in _FILE_COLUMNS},
        places={"place_word": word_ids[columns.place_word[places]], "place_kind": columns.place_kind[places]},
        n_places=n_places,
        cards={name: getattr(columns, name)[cards] for name in _CARD_COLUMNS},
        n_cards=n_cards,
        entries={"entry_word": word_ids[columns.entry_word[entries]], "entry_counts": columns.entry_counts[entries]},
        n_entries=n_entries,
    )


def merge_rows(first: Rows, second: Rows) -> Rows:
    """Return the rows of both, ordered by path."""
    paths = first.paths + second.paths
    order = np.array(sorted(range(len(paths)), key=paths.__getitem__), np.int64)
    n_places, n_cards = (
        np.concatenate([first.n_places, second.n_places]),
        np.concatenate([first.n_cards, second.n_cards]),
    )
    n_entries = np.concatenate([first.n_entries, second.n_entries])
    card_order = runs(starts(n_cards)[:-1][order], n_cards[order])
    place_order = runs(starts(n_places)[:-1][order], n_places[order])
    entry_order = runs(starts(n_entries)[:-1][card_order], n_entries[card_order])
    languages = first.languages + second.languages
    return Rows(
        paths=[paths[row] for row in order.tolist()],
        languages=[languages[row] for row in order.tolist()],
        files=_concatenated(first.files, second.files, order),
        places=_concatenated(first.places, second.places, place_order),
        n_places=n_places[order],
        cards=_concatenated(first.cards, second.cards, card_order),
        n_cards=n_cards[order],
        entries=_concatenated(first.entries, second.entries, entry_order),
        n_entries=n_entries[card_order],
    )


def distinct_words(columns: Columns, row: int) -> NDArray[np.uint32]:
    """Return the ids of the distinct words in a file's cards."""
    first, last = columns.card_offset[row], columns.card_offset[row + 1]
    return np.unique(columns.entry_word[columns.entry_offset[first] : columns.entry_offset[last]])


def merge_vocabularies(old_words: Sequence[str], new_words: set[str]) -> tuple[Vocabulary, dict[str, int]]:
    """Return the vocabulary of old and new words, and word -> id."""
    vocabulary = Vocabulary.of(new_words.union(old_words))
    return vocabulary, {word: word_id for word_id, word in enumerate(vocabulary.all_words())}


def _entries(
    files: Sequence[ChangedFile], word_ids: Mapping[str, int]
) -> tuple[NDArray[np.uint32], NDArray[np.uint8], Int64s]:
    """Return the word id and the counts of each entry, and the number of entries in each card."""
    words: list[NDArray[np.uint32]] = [np.zeros(0, np.uint32)]
    counts: list[NDArray[np.uint8]] = [np.zeros((0, len(FIELDS)), np.uint8)]
    lengths: list[Int64s] = [np.zeros(0, np.int64)]
    for one in files:
        if not one.cards:
            continue
        tokens = one.tokens
        ids = np.fromiter(map(word_ids.__getitem__, tokens.vocabulary), np.uint32, len(tokens.vocabulary))
        words.append(ids[np.frombuffer(tokens.token_index, np.uint32)])
        counts.append(np.frombuffer(tokens.counts, np.uint8).reshape(-1, len(FIELDS)))
        offsets = np.frombuffer(tokens.card_offsets, np.uint32).astype(np.int64)
        lengths.append(offsets[1:] - offsets[:-1])
    return np.concatenate(words), np.concatenate(counts), np.concatenate(lengths)


def _field_lengths(entry_counts: NDArray[np.uint8], n_entries: Int64s) -> NDArray[np.uint16]:
    """Return (n_cards, 6): sum of each card's counts in each field."""
    ends = starts(n_entries)
    lengths = np.zeros((len(n_entries), len(FIELDS)), np.uint16)
    for field in range(len(FIELDS)):  # field by field: the sums take eight times the memory of the counts
        sums = starts(entry_counts[:, field])
        lengths[:, field] = np.minimum(sums[ends[1:]] - sums[ends[:-1]], 65535)
    return lengths


def _card_columns(cards: Sequence[Card]) -> dict[str, NDArray[Any]]:
    return {
        "card_id": np.array([card.card_id for card in cards], np.int64),
        "kind": np.array([KIND_NUMBERS[card.kind] for card in cards], np.uint8),
        "folded_name": np.array([name_hash(card.name.casefold()) for card in cards], np.uint64),
        "exact_name": np.array([name_hash(card.name) for card in cards], np.uint64),
        "parent_name": np.array([name_hash(card.parent.rpartition(".")[2].casefold()) for card in cards], np.uint64),
        "nesting": np.array([min(255, card.parent.count(".") + 1 if card.parent else 0) for card in cards], np.uint8),
        "first_line": np.array([card.first_line for card in cards], np.uint32),
        "last_line": np.array([card.last_line for card in cards], np.uint32),
    }


def _concatenated(
    first: Mapping[str, NDArray[Any]], second: Mapping[str, NDArray[Any]], order: Int64s
) -> dict[str, NDArray[Any]]:
    return {name: np.concatenate([first[name], second[name]])[order] for name in first}
