"""Hashes of names, and the names of boilerplate methods (`__eq__`, `toString`), which say nothing about a type's purpose."""

import hashlib
import re
from functools import lru_cache

import numpy as np


@lru_cache(maxsize=100_000)
def name_hash(name: str) -> int:
    """Return the 64-bit hash by which a name is stored; 0 for no name."""
    if not name:
        return 0
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()) or 1


def normalised_name(name: str) -> str:
    """Return the letters and digits of a name, case-folded: `rate_limit` → ratelimit."""
    return re.sub(r"[\W_]+", "", name).casefold()


BOILERPLATE_NAMES = np.array(
    [
        name_hash(name)
        for name in (
            "equals hashcode tostring compareto clone finalize gethashcode dispose __eq__ __ne__ __lt__ __hash__ __repr__"
            " __str__ __copy__ __deepcopy__ __getstate__ __setstate__ inspect to_s description debugdescription deepcopy"
        ).split()
    ],
    np.uint64,
)
"""Hashes of the boilerplate names, as in the column `folded_name`."""
