"""Obligatory names: methods that types have whatever they are about."""

import numpy as np

from codecards.retrieval.path_words import name_hash

OBLIGATORY_NAMES = np.array(
    [
        name_hash(name)
        for name in (
            "equals hashcode tostring compareto clone finalize gethashcode dispose __eq__ __ne__ __lt__ __hash__ __repr__"
            " __str__ __copy__ __deepcopy__ __getstate__ __setstate__ inspect to_s description debugdescription deepcopy"
        ).split()
    ],
    np.uint64,
)
"""Their hashes, as in the column `folded_name`."""
