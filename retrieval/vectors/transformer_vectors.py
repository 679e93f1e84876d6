"""Computes the similarity of a question to the cards of one generation that have a transformer vector.

The index grows while it is used: vectors that were stored meanwhile are loaded before a question, never during one.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codecards.errors import SnapshotDamagedError
from codecards.retrieval.store.columns import Floats, Int64s, dot_rows
from codecards.retrieval.vectors.transformer_store import TransformerStore

TransformerLookup = Callable[[str], "TransformerSimilarity | None"]
"""Returns the similarities of an English text; None if there are none."""


class TransformerSimilarity:
    """The similarities of one question to the cards that have a transformer vector."""

    def __init__(self, state: "_State", query: Floats) -> None:
        """Take the state of the index and the question's (dimensions,) unit vector."""
        self._state = state
        self._cosines = dot_rows(state.matrix[: len(state.rows)], query)
        self._nearest = np.zeros(0, np.int64)

    @property
    def n_ready(self) -> int:
        """Number of cards with a vector."""
        return len(self._state.rows)

    def nearest(self, limit: int) -> Int64s:
        """Return the rows of the nearest cards, best first; ties are ordered by row."""
        if min(limit, self.n_ready) > len(self._nearest):
            rows, cosines = self._state.rows, self._cosines
            if limit < len(rows):
                best = np.argpartition(cosines, len(cosines) - limit)[-limit:]
                rows, cosines = rows[best], cosines[best]
            self._nearest = rows[np.lexsort((rows, -cosines))]
        return self._nearest[: max(0, limit)]

    def cards(self, rows: Int64s) -> Floats:
        """Return the cosines of some cards; NaN for those without a vector."""
        places = self._state.places[rows]
        found = np.full(len(rows), np.nan, np.float32)
        found[places >= 0] = self._cosines[places[places >= 0]]
        return found


@dataclass(frozen=True, slots=True)
class _State:
    """An immutable state of the index; only rows of the matrix that no state uses yet are written."""

    matrix: Floats
    """(n_cards, dimensions): the first `len(rows)` rows are ready."""
    rows: Int64s
    """Rows of the cards that are ready, in the order of the matrix."""
    places: NDArray[np.int32]
    """(n_cards,): position of each card in `matrix` and `rows`, -1 if it is not ready."""


class TransformerIndex:
    """The transformer vectors of one generation's cards that were computed so far. Safe for several threads.

    Args:
        keys: (n_cards, 2) uint64: key of each card's embedded text, in the order of the columns.
        store: Source of the vectors.
    """

    def __init__(self, keys: NDArray[np.uint64], store: TransformerStore) -> None:
        n_cards = len(keys)
        self._store = store
        self._order = np.argsort(keys[:, 0], kind="stable")
        self._sorted = keys[self._order]
        self._lock = threading.Lock()
        self._last = 0
        # The system allocates only the pages that are written.
        matrix = np.empty((n_cards, store.dimensions), np.float32)
        self._state = _State(matrix, np.zeros(0, np.int64), np.full(n_cards, -1, np.int32))

    @property
    def n_ready(self) -> int:
        """Number of cards with a vector."""
        return len(self._state.rows)

    def load_new(self) -> None:
        """Load the vectors that were stored since the last call; ignore a store that can no longer be read."""
        with self._lock, suppress(SnapshotDamagedError):
            if self._store.last_number() == self._last:
                return
            self._last, keys, vectors = self._store.after(self._last)
            cards, found = self._matching(keys)
            state = self._state
            fresh = state.places[cards] < 0
            cards, found = cards[fresh], found[fresh]
            first, last = len(state.rows), len(state.rows) + len(cards)
            state.matrix[first:last] = vectors[found]
            places = state.places.copy()
            places[cards] = np.arange(first, last)
            self._state = _State(state.matrix, np.concatenate([state.rows, cards]), places)

    def similarity(self, query: Floats) -> TransformerSimilarity:
        """Return the similarities of a query's (dimensions,) unit vector."""
        return TransformerSimilarity(self._state, query)

    def _matching(self, keys: NDArray[np.uint64]) -> tuple[Int64s, Int64s]:
        """Return (rows of the cards with one of the keys, position of the key); copies of a card share a key."""
        first = np.searchsorted(self._sorted[:, 0], keys[:, 0])
        length = np.searchsorted(self._sorted[:, 0], keys[:, 0], "right") - first
        places = np.repeat(np.arange(len(keys)), length)
        offsets = np.arange(len(places)) - np.repeat(np.cumsum(length) - length, length)
        at = first[places] + offsets
        same = self._sorted[at, 1] == keys[places, 1]
        return self._order[at[same]].astype(np.int64), places[same].astype(np.int64)


def card_keys(derived: Path) -> NDArray[np.uint64] | None:
    """Return the keys of the cards of a derived folder, in the order of its columns; None if nothing was embedded."""
    path = derived / "vectors" / "keys.npy"
    return np.load(path) if path.exists() else None
