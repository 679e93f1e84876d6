"""Turns mined pairs into (query, document) texts, and deals them into batches."""

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from codecards.retrieval.embedded_text import card_text, split_identifiers
from training.mining import Pair
from training.query_styles import make_query

SHARE_WITH_REST = 0.4
"""Share of documents that keep what their documentation says after the first sentence, as most real cards do."""
SHARE_WITHOUT_PATH = 0.1
"""Share of documents without a path, so that the text itself is learned too."""
SHARE_OF_ONE_PACKAGE = 0.5
"""Share of batches from a single package: there the wrong answers look like the right one, as in a real repository."""


def read_pairs(path: Path) -> list[Pair]:
    """Return the pairs of a file with one JSON object a line."""
    with path.open(encoding="utf-8") as lines:
        return [Pair(**json.loads(line)) for line in lines]


def document(pair: Pair, *, with_rest: bool = False, with_path: bool = True) -> str:
    """Return a pair's code as the index embeds it, without the sentence that asks for it."""
    rest = pair.rest if with_rest else ""
    return card_text(pair.path if with_path else "", pair.name, pair.signature, rest, pair.body)


def example(pair: Pair, rng: random.Random) -> tuple[str, str]:
    """Return one (query, document) of a pair, its style drawn by chance."""
    query = make_query(pair, rng)
    rest_is_query = query[:30] == pair.rest[:30]
    with_rest = rng.random() < SHARE_WITH_REST and not rest_is_query
    return split_identifiers(query), document(pair, with_rest=with_rest, with_path=rng.random() >= SHARE_WITHOUT_PATH)


def batches(pairs: Sequence[Pair], size: int, rng: random.Random) -> Iterator[list[int]]:
    """Yield positions of one pass over `pairs`: batches of one package, and mixed ones, in random order.

    What is left of a package after its last full batch goes into the mixed ones.
    """
    by_package: dict[str, list[int]] = {}
    for index, pair in enumerate(pairs):
        by_package.setdefault(pair.package, []).append(index)
    mixed: list[int] = []
    dealt: list[list[int]] = []
    for members in by_package.values():
        rng.shuffle(members)
        n_own = int(len(members) * SHARE_OF_ONE_PACKAGE) // size * size
        dealt.extend(members[start : start + size] for start in range(0, n_own, size))
        mixed.extend(members[n_own:])
    rng.shuffle(mixed)
    dealt.extend(mixed[start : start + size] for start in range(0, len(mixed) - size + 1, size))
    rng.shuffle(dealt)
    yield from dealt


def split_roles(pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    """Return pairs by role; what is measured on is not trained on, neither its code (up to spaces) nor its sentence."""
    measured = {key for pair in pairs if pair.role != "train" for key in _keys(pair)}
    roles: dict[str, list[Pair]] = {"train": []}
    for pair in pairs:
        if pair.role != "train" or measured.isdisjoint(_keys(pair)):
            roles.setdefault(pair.role, []).append(pair)
    return roles


def _keys(pair: Pair) -> tuple[str, str]:
    return "".join(pair.body.split()), pair.sentence.lower()
