"""Deep filling: cards without a deep vector get one, those first that questions are most often about.

**Invariant:** what was computed stays, wherever filling is broken off.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codecards.indexer.facts import CALLABLE_KINDS, TYPE_KINDS
from codecards.retrieval.embed.card_text import text_key
from codecards.retrieval.embed.embedder import Embedder
from codecards.retrieval.store.columns import ROLES, Columns, Int64s, kinds_of
from codecards.retrieval.store.paths import PathFlag
from codecards.retrieval.vectors.transformer_store import TransformerStore

MAX_CARDS = 50_000
"""Cards of one generation that get a vector: some five minutes of one core, and 10 ms of a question."""
BATCH = 16
"""Texts between two looks at whether to go on: a tenth of a second."""
SPARE_SHARE, SPARE_LEAST = 2, 5_000
"""Vectors of texts that are gone stay up to so many times as many as are needed, and up to so many in any case."""

ReadCardTexts = Callable[[Sequence[int]], Iterable[tuple[int, str]]]
"""Returns (row, text) of the cards of one file, as far as its text is as it was indexed; rows are ascending."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What filling did."""

    n_new: int
    """Vectors computed now."""
    n_left: int
    """Cards that should have one and have none yet."""


def wanted_rows(columns: Columns, most: int = MAX_CARDS) -> Int64s:
    """Return the rows of the cards that are to get a vector, in the order of work.

    Functions of the sources come first, then their types, then the rest of them; then tests and examples, documents, and
    what is generated or of others. Within one of these, files that others use most come first.

    Args:
        columns: Of the generation.
        most: How many.
    """
    lengths = np.diff(columns.card_offset)
    role, side = columns.role, (columns.flags & PathFlag.SIDE) > 0
    is_source = (role == ROLES.index("source")) & ~side
    foreign = np.isin(role, (ROLES.index("generated"), ROLES.index("vendored")))
    prose = np.isin(role, (ROLES.index("docs"), ROLES.index("config")))
    # (n_files,): where a file's cards stand; 0 for sources, whose kinds of card are told apart.
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
    columns: Columns,
    keys: NDArray[np.uint64],
    store: TransformerStore,
    embedder: Callable[[], Embedder],
    texts: ReadCardTexts,
    progress: Callable[[int, int], None],
    *,
    limit: int | None = None,
    most: int = MAX_CARDS,
    n_threads: int = 1,
) -> Filled:
    """Compute vectors of cards that have none, and keep them batch by batch.

    Args:
        columns: Of the generation.
        keys: (n_cards, 2): of the cards' texts.
        store: Gets them.
        embedder: Gives the model; asked where there is something to embed.
        texts: Reads what is embedded.
        progress: Is told (how many of the wanted cards are done, how many are wanted) before each batch; what it raises
            ends the filling.
        limit: Most vectors to compute now; None for all.
        most: Cards that are to have a vector in all.
        n_threads: Texts that are embedded at a time.

    Raises:
        IndexWriteError: Vectors can't be written.
    """
    wanted = wanted_rows(columns, most)
    known = store.keys()
    key_of = {row: keys[row].tobytes() for row in wanted.tolist()}
    first_of = {key: row for row, key in reversed(key_of.items()) if key not in known}  # copies are embedded once
    missing = [row for row in key_of if first_of.get(key_of[row]) == row]
    n_new, step = 0, BATCH * n_threads
    missing_now = missing if limit is None else missing[:limit]
    n_before = len(wanted) - sum(key in first_of for key in key_of.values())
    file_of_card = np.repeat(np.arange(columns.n_files), np.diff(columns.card_offset))
    with ThreadPoolExecutor(n_threads) as pool:
        for start in range(0, len(missing_now), step):
            progress(n_before + n_new, len(wanted))
            rows = _by_file(missing_now[start : start + step], file_of_card)
            found = {key_of[row]: text for some in rows for row, text in texts(some)}
            # A text that is not the one of the index any more gets its vector with the next generation.
            found = {key: text for key, text in found.items() if text_key(text) == key}
            if found:
                parts = [list(found.values())[first : first + BATCH] for first in range(0, len(found), BATCH)]
                store.put(list(found), np.concatenate(list(pool.map(embedder().embed_documents, parts))))
            known.update(found)
            n_new += len(found)
    left = sum(key not in known for key in key_of.values())
    if not left:
        store.prune(key_of.values(), max(SPARE_LEAST, SPARE_SHARE * len(wanted)))
    progress(len(wanted) - left, len(wanted))
    return Filled(n_new, left)


def _by_file(rows: Iterable[int], file_of_card: Int64s) -> Iterator[list[int]]:
    """Yield rows of one file together."""
    files: dict[int, list[int]] = {}
    for row in rows:
        files.setdefault(int(file_of_card[row]), []).append(row)
    yield from (sorted(some) for some in files.values())
