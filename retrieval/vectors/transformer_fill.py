"""Computes the missing transformer vectors, those of the most frequently asked kinds of cards first.

**Invariant:** vectors that were computed are kept, wherever the computation is interrupted.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codecards.indexer.cards.embedded_text import text_key
from codecards.indexer.facts import CALLABLE_KINDS, TYPE_KINDS
from codecards.retrieval.embed.embedder import Embedder
from codecards.retrieval.store.columns import ROLES, Columns, Int64s, kinds_of
from codecards.retrieval.store.paths import PathFlag
from codecards.retrieval.vectors.transformer_store import TransformerStore

MAX_CARDS = 50_000
"""Cards of one generation that get a vector: about five minutes of one core, and 10 ms per question."""
BATCH = 16
"""Texts that are embedded between two calls of `progress`: a tenth of a second."""
SPARE_SHARE, SPARE_MIN = 2, 5_000
"""Vectors of texts that are gone are pruned beyond max(SPARE_MIN, SPARE_SHARE * number of wanted cards)."""

ReadCardTexts = Callable[[Sequence[int]], Iterable[tuple[int, str]]]
"""Returns (row, embedded text) of some cards of one file, given by ascending rows."""


@dataclass(frozen=True, slots=True)
class EmbeddableCards:
    """The cards of one generation, with what embedding needs of them."""

    columns: Columns
    keys: NDArray[np.uint64]
    """(n_cards, 2): keys of the embedded texts."""
    read_texts: ReadCardTexts


@dataclass(frozen=True, slots=True)
class Filled:
    """The result of a computation."""

    n_new: int
    """Number of vectors computed now."""
    n_left: int
    """Number of wanted cards that still have no vector."""


def wanted_rows(columns: Columns, most: int = MAX_CARDS) -> Int64s:
    """Return the rows of the cards that should have a vector, in the order of computation.

    Functions of source files come first, then their types, then their other cards; then tests and examples, documents, and
    generated or vendored code. Within each group, cards of central files come first.

    Args:
        columns: Columns of the generation.
        most: Maximum number of cards.
    """
    lengths = np.diff(columns.card_offset)
    role, side = columns.role, (columns.flags & PathFlag.SIDE) > 0
    is_source = (role == ROLES.index("source")) & ~side
    foreign = np.isin(role, (ROLES.index("generated"), ROLES.index("vendored")))
    prose = np.isin(role, (ROLES.index("docs"), ROLES.index("config")))
    # (n_files,): group of a file's cards; 0 for source files, whose cards are ordered by kind.
    of_file = np.select([is_source, foreign, prose], [0, 5, 4], 3)
    kind = np.select([kinds_of(columns.kind, CALLABLE_KINDS), kinds_of(columns.kind, TYPE_KINDS)], [0, 1], 2)
    of_card = np.repeat(of_file, lengths)
    order = np.lexsort(
        (
            np.arange(columns.n_cards),
            np.repeat(-columns.centrality, lengths),
            kind + np.where(of_card > 0, 3 * of_card, 0),
        )
    )
    return order[:most].astype(np.int64)


def fill(
    cards: EmbeddableCards,
    store: TransformerStore,
    embedder: Callable[[], Embedder],
    progress: Callable[[int, int], None],
    *,
    limit: int | None = None,
    most: int = MAX_CARDS,
    n_threads: int = 1,
) -> Filled:
    """Compute the vectors of cards that have none, and store them batch by batch.

    Args:
        cards: Cards of the generation.
        store: Where the vectors are kept.
        embedder: Returns the model; called only if there is a text to embed.
        progress: Called with (wanted cards that have a vector, wanted cards) before each batch; an exception that it raises
            ends the computation.
        limit: Maximum number of vectors to compute now; None for all.
        most: Maximum number of cards that should have a vector.
        n_threads: Number of texts that are embedded at the same time.

    Raises:
        IndexWriteError: The vectors can't be written.
    """
    columns, wanted = cards.columns, wanted_rows(cards.columns, most)
    known = store.keys()
    key_of = {row: cards.keys[row].tobytes() for row in wanted.tolist()}
    first_of = {
        key: row for row, key in reversed(key_of.items()) if key not in known
    }  # copies of a card are embedded once
    missing = [row for row in key_of if first_of.get(key_of[row]) == row]
    n_new, step = 0, BATCH * n_threads
    missing_now = missing if limit is None else missing[:limit]
    n_before = len(wanted) - sum(key in first_of for key in key_of.values())
    file_of_card = np.repeat(np.arange(columns.n_files), np.diff(columns.card_offset))
    with ThreadPoolExecutor(n_threads) as pool:
        for start in range(0, len(missing_now), step):
            progress(n_before + n_new, len(wanted))
            rows = _by_file(missing_now[start : start + step], file_of_card)
            found = {key_of[row]: text for some in rows for row, text in cards.read_texts(some)}
            # A text with another key is not the one of this generation.
            found = {key: text for key, text in found.items() if text_key(text) == key}
            if found:
                parts = [list(found.values())[first : first + BATCH] for first in range(0, len(found), BATCH)]
                store.put(list(found), np.concatenate(list(pool.map(embedder().embed_documents, parts))))
            known.update(found)
            n_new += len(found)
    left = sum(key not in known for key in key_of.values())
    if not left:
        store.prune(key_of.values(), max(SPARE_MIN, SPARE_SHARE * len(wanted)))
    progress(len(wanted) - left, len(wanted))
    return Filled(n_new, left)


def _by_file(rows: Iterable[int], file_of_card: Int64s) -> Iterator[list[int]]:
    """Yield the rows of each file, ascending."""
    files: dict[int, list[int]] = {}
    for row in rows:
        files.setdefault(int(file_of_card[row]), []).append(row)
    yield from (sorted(some) for some in files.values())
