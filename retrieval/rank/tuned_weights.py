"""Tuned weights: factors on groups of question weights, fitted to one project's git history."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from codecards.retrieval.rank.file_signals import FILE_SIGNALS, LONG, SHORT
from codecards.retrieval.rank.signals import Group

GROUPS: Mapping[str, tuple[str, ...]] = {
    group: tuple(row.name for row in FILE_SIGNALS if row.group == group) for group in get_args(Group)
}
"""Factor → the signals whose weights it scales. There are few, since a history of some hundred commits can't tell fifty
weights apart. Penalties for tests, documents and old versions are in no group: commits touch code, and would only raise
these penalties."""
MIN_FACTOR, MAX_FACTOR = 0.25, 4.0
"""Bounds of a factor."""


@dataclass(frozen=True, slots=True)
class TunedWeights:
    """Factors, and how they were fitted."""

    factors: Mapping[str, float]
    """Name of a group → factor; 1 changes nothing."""
    version: str
    """Version of codecards."""
    commit: str
    """The commit that was checked out."""
    created: str
    """ISO date."""
    n_tasks: int
    before: float
    """NDCG@10 of the default weights on the tasks."""
    after: float
    """NDCG@10 on tasks that the fit did not see."""


def apply_factors(weights: Mapping[str, float], factors: Mapping[str, float]) -> Mapping[str, float]:
    """Return weights times the factors of their groups."""
    of_weight = {name: factors[group] for group, names in GROUPS.items() if group in factors for name in names}
    return {name: value * of_weight.get(name, 1.0) for name, value in weights.items()}


def group_of(weight: str) -> str | None:
    """Return the group of a weight, None if no factor scales it."""
    return next((group for group, names in GROUPS.items() if weight in names), None)


def weights_digest() -> str:
    """Return a digest of weights and groups: factors that were fitted to others are not valid any more."""
    text = json.dumps([dict(SHORT), dict(LONG), {name: list(names) for name, names in GROUPS.items()}], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
