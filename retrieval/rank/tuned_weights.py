"""Tuned weights: a handful of factors by which one project's history would have the weights of questions changed."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from codecards.retrieval.rank.weights import LONG, SHORT

GROUPS: Mapping[str, tuple[str, ...]] = {
    "words": ("cards", "best_card", "file_words", "file_fields"),
    "file_name": (
        "file_name", "file_name_precision", "file_name_exact", "file_name_common", "file_name_head", "file_name_first",
    ),
    "folders": ("folders", "whole_path"),
    "names": ("action_name", "symbol_name", "symbol_names"),
    "symbols": ("symbol_in_text", "type_in_text", "first_symbol"),
    "graph": ("used_by_matches", "centrality", "users"),
    "documentation": ("documentation", "documentation_best"),
    "meaning": ("meaning_file", "transformer_card"),
    "standing": ("size", "depth", "entry", "header", "header_with_source"),
}  # fmt: skip
"""Factor → the weights that it scales. Few, since a history of some hundred commits can't tell forty weights apart; what
puts tests, documents and old versions down is not among them, for commits touch code and would only push it further."""
LEAST, MOST = 0.25, 4.0
"""Bounds of a factor."""


@dataclass(frozen=True, slots=True)
class TunedWeights:
    """Factors, and where they come from."""

    factors: Mapping[str, float]
    """Name of a group → factor; 1 changes nothing."""
    version: str
    """Of codecards."""
    commit: str
    """What was checked out."""
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
    """Return a digest of the default weights: factors that were fitted to others mean nothing any more."""
    text = json.dumps([dict(SHORT), dict(LONG), {name: list(names) for name, names in GROUPS.items()}], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
