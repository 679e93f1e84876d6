"""Parallel copies: which of the first files define much the same as a better one of the same name beside them.

A second version of a module, one for another target, a facade with the signatures of what it leads to: three of them in
the first places say the same three times.
"""

import numpy as np

from codecards.retrieval.evidence.text import FIELD_NAME
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.store.columns import Floats, Int64s

N_COMPARED = 20
"""How many of the first files are compared."""
MOST_OF_A_NAME = 4
"""Files of one name that may be copies: where there are more, as in a folder for each plugin, each does a work of its own
by the same names."""
LEAST_SHARED, FEWEST_NAMES = 0.3, 3
"""Share of the names that makes a copy, and of how many: files of two definitions have half in common by chance."""


def near_duplicate_penalty(index: DerivedIndex, files: Int64s, scores: Floats) -> Floats:
    """Return (F,): the share of a file's names that a better file of the same name in another folder has, 0 to 1.

    Of the two the one with fewer names counts; less than `LEAST_SHARED` is 0, and so is a name of many files. That a prefix or sign is another
    (`$Parser`, `parser_`) makes no other name.

    Args:
        index: The index.
        files: Rows of the candidates.
        scores: (F,): the order in which they would be shown, the higher the better.
    """
    lost = np.zeros(len(files), np.float32)
    order = np.lexsort((files, -np.round(scores, 5)))[:N_COMPARED]
    order = order[index.n_named_alike[files[order]] <= MOST_OF_A_NAME]
    stems = index.columns.stem_hash[files[order], 0]
    values, counts = np.unique(stems, return_counts=True)
    for stem in values[(counts > 1) & (values != 0)]:
        alike = order[stems == stem].tolist()
        folders = [index.path(int(files[place])).rpartition("/")[0] for place in alike]
        names = [_names(index, int(files[place])) for place in alike]
        for worse, place in enumerate(alike):
            better = [one for one in range(worse) if folders[one] != folders[worse]]
            lost[place] = max((_shared(names[one], names[worse]) for one in better), default=0.0)
    return lost


def _names(index: DerivedIndex, file: int) -> tuple[Int64s, Int64s]:
    """Return what a file defines: the words of several parts in its names, and whole names."""
    columns, compounds = index.columns, index.compounds
    first, last = int(columns.card_offset[file]), int(columns.card_offset[file + 1])
    entries = slice(int(columns.entry_offset[first]), int(columns.entry_offset[last]))
    words = columns.entry_word[entries][columns.entry_counts[entries, FIELD_NAME] > 0]
    of_parts = np.unique(words[(words >= compounds.start) & (words < compounds.stop)])
    whole = np.unique(columns.folded_name[first:last])
    return of_parts.astype(np.int64), whole[whole != 0].view(np.int64)


def _shared(these: tuple[Int64s, Int64s], those: tuple[Int64s, Int64s]) -> float:
    share = 0.0
    for one, other in zip(these, those, strict=True):
        fewest = min(len(one), len(other))
        if fewest >= FEWEST_NAMES:
            share = max(share, len(np.intersect1d(one, other, assume_unique=True)) / fewest)
    return share if share >= LEAST_SHARED else 0.0
