"""Builds the columns of links between files, and each file's centrality in that graph."""

from collections.abc import Sequence

import numpy as np

from codecards.retrieval.store.columns import Bytes, Floats, Int64s, Uint32s

DAMPING = 0.85
N_ROUNDS = 15
TEST_WEIGHT = 0.1
"""Weight of a link from a test, which says little about what the program is built on."""


def link_columns(links: Sequence[tuple[int, int, int]], file_id: Int64s) -> tuple[Int64s, Uint32s, Floats]:
    """Return the start of each file's links, the links' target rows, and their weights.

    Args:
        links: (source file id, target file id, number of uses); links of unknown files are dropped.
        file_id: (n_files,): file id of each row.
    """
    n_files = len(file_id)
    order = np.argsort(file_id)
    known = file_id[order]
    table = np.array(links, np.int64).reshape(-1, 3)
    if not n_files or not len(table):
        return np.zeros(n_files + 1, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.float32)
    places = np.minimum(np.searchsorted(known, table[:, :2]), n_files - 1)
    table = table[(known[places] == table[:, :2]).all(axis=1)]
    rows = order[np.searchsorted(known, table[:, :2])]
    sorting = np.lexsort((rows[:, 1], rows[:, 0]))
    rows, counts = rows[sorting], table[sorting, 2]
    offset = np.zeros(n_files + 1, np.int64)
    np.cumsum(np.bincount(rows[:, 0], minlength=n_files), out=offset[1:])
    return offset, rows[:, 1].astype(np.uint32), np.log1p(counts).astype(np.float32)


def centrality(offset: Int64s, target: Uint32s, weight: Floats, is_test: Bytes) -> Floats:
    """Return (n_files,): PageRank times the number of files; 1 is average.

    Source: Page et al. 1998; a file without links spreads its rank evenly over all files.
    """
    n_files = len(offset) - 1
    if not n_files:
        return np.zeros(0, np.float32)
    source = np.repeat(np.arange(n_files), np.diff(offset))
    strength = weight * np.where(is_test[source] > 0, TEST_WEIGHT, 1.0)
    out = np.bincount(source, strength, n_files)
    share = strength / np.maximum(out[source], 1e-12)
    rank = np.full(n_files, 1.0)
    for _ in range(N_ROUNDS):
        flow = np.bincount(target, rank[source] * share, n_files)
        rank = 1 - DAMPING + DAMPING * (flow + rank[out == 0].sum() / n_files)
    return rank.astype(np.float32)
