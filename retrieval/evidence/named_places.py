"""Named places: files and cards that a query names by path, stack frame or diff."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.diff_hunks import Hunk
from codecards.retrieval.query.query import Query
from codecards.retrieval.query.stack_frames import Frame
from codecards.retrieval.store.columns import Int64s
from codecards.retrieval.store.names import name_hash

MAX_FILES_OF_A_PATH = 5
"""A path of a stack frame or a diff that fits more files is ignored."""
MAX_NAMED_FILES = 50
"""Files that one path of the query may mean."""
BARE_NAME = 0.4
"""How surely a file name without a folder means a file, if the query has other words too; a path counts 1."""
FRAME_DECAY = 0.75
BY_LINE, BY_WORDS, BY_NAME = 1.0, 0.9, 0.7
"""How surely a hunk means a card: by its lines, if the card has the words of the hunk; as the card with most of these words, if
the file has changed since; by a name in the head of the hunk or in its changed lines."""
SAME_WORDS = 0.7
"""Share of the best card's words that the card at the lines of a hunk must have to be the one that is meant."""
MIN_WORDS = 0.4
"""Share of a hunk's words that a card must have to be meant by its words."""


@dataclass(frozen=True, slots=True)
class NamedPlaces:
    """Files and cards that a query names by where they are."""

    by_path: Mapping[int, float]
    """File row → how surely a path in the query means it, 0 to 1."""
    by_frame: Mapping[int, float]
    """File row → how surely a stack frame or a diff means it, 0 to 1."""
    cards: Mapping[int, float]
    """Card row → how surely a stack frame or a diff means it, 0 to 1."""


def hunk_cards(index: DerivedIndex, hunks: Sequence[Hunk]) -> tuple[dict[int, float], dict[int, float]]:
    """Return file row → weight and card row → weight of the places that a diff changes."""
    columns = index.columns
    files: dict[int, float] = {}
    cards: dict[int, float] = {}
    for hunk in hunks:
        rows = index.files_ending(hunk.path, loosely=True)
        if not rows or len(rows) > MAX_FILES_OF_A_PATH:
            continue
        hashes = np.array([name_hash(name) for name in hunk.names], np.uint64)
        for row in rows:
            files[row] = 1.0
            mine = np.arange(columns.card_offset[row], columns.card_offset[row + 1])
            for card in mine[np.isin(columns.exact_name[mine], hashes)].tolist():
                cards[card] = max(cards.get(card, 0.0), BY_NAME)
            meant = _by_words(index, mine, hunk)
            at_lines = _at_lines(index, mine, hunk)
            best = max(meant.values(), default=0.0)
            at_hunk = [card for card in at_lines if meant.get(card, 0.0) >= SAME_WORDS * best]
            for card in at_hunk:
                cards[card] = BY_LINE
            if not at_hunk and best >= MIN_WORDS:
                card = max(meant, key=lambda one: meant[one])
                cards[card] = max(cards.get(card, 0.0), BY_WORDS)
    return files, cards


def _at_lines(index: DerivedIndex, mine: Int64s, hunk: Hunk) -> list[int]:
    """Return the innermost of some cards at each changed line."""
    columns = index.columns
    found: dict[int, None] = {}
    for line in hunk.lines:
        around = mine[(columns.first_line[mine] <= line) & (columns.last_line[mine] >= line)]
        if len(around):
            found[int(around[np.argmin(columns.last_line[around] - columns.first_line[around])])] = None
    return list(found)


def _by_words(index: DerivedIndex, mine: Int64s, hunk: Hunk) -> dict[int, float]:
    """Return card → share of the hunk's words in the card."""
    columns = index.columns
    known = [word_id for word in hunk.words if (word_id := index.vocabulary.find(word)) >= 0]
    if not known or not len(mine):
        return {}
    first, last = int(columns.entry_offset[mine[0]]), int(columns.entry_offset[mine[-1] + 1])
    entries = first + np.flatnonzero(np.isin(columns.entry_word[first:last], np.array(known, np.uint32)))
    cards, counts = np.unique(np.searchsorted(columns.entry_offset, entries, "right") - 1, return_counts=True)
    return dict(zip(cards.tolist(), (counts / len(hunk.words)).tolist(), strict=True))


def frame_cards(index: DerivedIndex, frames: Sequence[Frame]) -> tuple[dict[int, float], dict[int, float]]:
    """Return file row → weight and card row → weight of the places that stack frames name.

    The frame next to the error weighs 1, each further one `FRAME_DECAY` times the one before.
    """
    columns = index.columns
    files: dict[int, float] = {}
    cards: dict[int, float] = {}
    weight = 1.0
    for frame in _from_innermost(frames):
        rows = index.files_ending(frame.path, loosely=True)
        if not rows or len(rows) > MAX_FILES_OF_A_PATH:
            continue
        for row in rows:
            files[row] = max(files.get(row, 0.0), weight)
            mine = np.arange(columns.card_offset[row], columns.card_offset[row + 1])
            around = mine[(columns.first_line[mine] <= frame.line) & (columns.last_line[mine] >= frame.line)]
            if len(around):
                innermost = int(around[np.argmin(columns.last_line[around] - columns.first_line[around])])
                cards[innermost] = max(cards.get(innermost, 0.0), weight)
        weight *= FRAME_DECAY
    return files, cards


def _from_innermost(frames: Sequence[Frame]) -> Sequence[Frame]:
    """Return frames with the one next to the error first: Python writes it last, other languages first."""
    is_python = bool(frames) and frames[0].path.endswith((".py", ".pyx", ".pyi"))
    return frames[::-1] if is_python else frames


def named_places(index: DerivedIndex, query: Query) -> NamedPlaces:
    """Return the files and cards that a query names by path, stack frame or diff."""
    files, cards = frame_cards(index, query.frames)
    changed_files, changed_cards = hunk_cards(index, query.hunks)
    files, cards = files | changed_files, cards | changed_cards
    places: dict[int, float] = {}
    for named in query.paths:
        rows = index.files_ending(named.path)
        n_parts = named.path.count("/") + 1
        value = 1.0 if n_parts > 1 or query.kind == "path" else BARE_NAME
        for row in rows[:MAX_NAMED_FILES]:
            places[row] = max(places.get(row, 0.0), value)
    return NamedPlaces(places, files, cards)
