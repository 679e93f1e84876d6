"""Near duplicates: lowers files that define much the same as a better file of the same name in another folder.

Versions of a module, builds for other targets and facades define the same names; showing three of them on top repeats
one answer.
"""

import numpy as np

from codecards.retrieval.evidence.text import FIELD_NAME
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.rank.signals import SCORE_DECIMALS
from codecards.retrieval.store.columns import Floats, Int64s

N_COMPARED = 20
"""Number of first files that are compared."""
MAX_FILES_OF_A_NAME = 4
"""Most files of one name that may be duplicates: of more, as in a folder for each plugin, each does something else by the
same names."""
MIN_SHARED, MIN_NAMES = 0.3, 3
"""Share of names from which files are duplicates, and the fewest names: two of two definitions are shared by chance."""


def near_duplicate_penalty(index: DerivedIndex, files: Int64s, scores: Floats) -> Floats:
    """Return (F,): overlap of each file with a better file of the same name in another folder, 0 to 1.

    Overlap = shared names / names of the smaller file; 0 below `MIN_SHARED` or for file names that many files have.
    Prefixes and sigils (`$Parser`, `parser_`) are ignored.

    Args:
        index: The index.
        files: Rows of the candidates.
        scores: (F,): scores by which they would be shown, the higher the better.
    """
    lost = np.zeros(len(files), np.float32)
    order = np.lexsort((files, -np.round(scores, SCORE_DECIMALS)))[:N_COMPARED]
    order = order[index.n_named_alike[files[order]] <= MAX_FILES_OF_A_NAME]
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
    """Return the names that a file defines: compound words in its names, and whole names."""
    columns, compounds = index.columns, index.compounds
    first, last = int(columns.card_offset[file]), int(columns.card_offset[file + 1])
    entries = slice(int(columns.entry_offset[first]), int(columns.entry_offset[last]))
    words = columns.entry_word[entries][columns.entry_counts[entries, FIELD_NAME] > 0]
    of_parts = np.unique(words[(words >= compounds.start) & (words < compounds.stop)])
    whole = np.unique(columns.folded_name[first:last])
    return of_parts.astype(np.int64), whole[whole != 0].view(np.int64)


def _shared(these: tuple[Int64s, Int64s], those: tuple[Int64s, Int64s]) -> float:
    """Return the overlap of two files' names."""
    share = 0.0
    for one, other in zip(these, those, strict=True):
        fewest = min(len(one), len(other))
        if fewest >= MIN_NAMES:
            share = max(share, len(np.intersect1d(one, other, assume_unique=True)) / fewest)
    return share if share >= MIN_SHARED else 0.0
