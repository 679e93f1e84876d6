"""Makes (query, document) texts from mined pairs, and deals them into batches."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codecards.indexer.cards.embedded_text import embedded_text, split_identifiers
from training.corpus.pairs import TextPair
from training.corpus.query_styles import STYLES, make_query

SHARE_WITH_REST = 0.4
"""Share of documents that keep their documentation after the first sentence, as most real cards do."""
SHARE_WITHOUT_PATH = 0.1
"""Share of documents without a path, so that the model also learns from the text alone."""
SHARE_OF_ONE_PACKAGE = 0.5
"""Share of batches from a single package, where wrong answers resemble the right one, as in a real repository."""
NEIGHBOURS = 16
"""Number of similar functions of one package that are put together into a batch of neighbours."""


def read_pairs(path: Path) -> list[TextPair]:
    """Return the pairs of a file with one JSON object a line."""
    with path.open(encoding="utf-8") as lines:
        return [TextPair(**json.loads(line)) for line in lines]


def document(pair: TextPair, *, with_rest: bool = False, with_path: bool = True) -> str:
    """Return a pair's code as the index embeds it, without the sentence that asks for it."""
    rest = pair.rest if with_rest else ""
    return embedded_text(pair.path if with_path else "", pair.name, pair.signature, rest, pair.body)


def example(pair: TextPair, rng: random.Random, styles: Mapping[str, float] = STYLES) -> tuple[str, str]:
    """Return one (query, document) of a pair, in a randomly drawn style."""
    query = make_query(pair, rng, styles)
    rest_is_query = query[:30] == pair.rest[:30]
    with_rest = rng.random() < SHARE_WITH_REST and not rest_is_query
    return split_identifiers(query), document(pair, with_rest=with_rest, with_path=rng.random() >= SHARE_WITHOUT_PATH)


def batches(pairs: Sequence[TextPair], size: int, rng: random.Random) -> Iterator[list[int]]:
    """Yield positions of one pass over `pairs`: batches of one package and mixed batches, in random order.

    The remainder of a package after its last full batch goes into the mixed batches.
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


def neighbour_batches(
    pairs: Sequence[TextPair], rows: NDArray[np.float32], size: int, rng: random.Random
) -> Iterator[list[int]]:
    """Yield positions of one pass over `pairs`, with similar functions in the same batch.

    Each package is halved along its main direction until at most `NEIGHBOURS` pairs are left, which share a batch. Such hard
    negatives cost nothing, because every document of a batch is embedded anyway.

    Args:
        pairs: The pairs.
        rows: (n_pairs, d): vectors whose similarity groups the pairs, of any model.
        size: Pairs in a batch, a multiple of `NEIGHBOURS`; an incomplete last batch is dropped.
        rng: Shuffles the groups.
    """
    by_package: dict[str, list[int]] = {}
    for index, pair in enumerate(pairs):
        by_package.setdefault(pair.package, []).append(index)
    groups = [group for members in by_package.values() for group in _halved(np.array(members), rows)]
    rng.shuffle(groups)
    dealt = [index for group in groups for index in group]
    yield from (dealt[start : start + size] for start in range(0, len(dealt) - size + 1, size))


def _halved(members: NDArray[np.int64], rows: NDArray[np.float32]) -> list[list[int]]:
    if len(members) <= NEIGHBOURS:
        return [members.tolist()]
    centred = rows[members] - rows[members].mean(0)
    direction = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    order = members[np.argsort(centred @ direction, kind="stable")]
    # Cut between full groups, so that at most one group of a package is incomplete.
    n_groups = -(-len(order) // NEIGHBOURS)
    cut = (n_groups // 2) * NEIGHBOURS
    return _halved(order[:cut], rows) + _halved(order[cut:], rows)


def same_answers(pairs: Sequence[TextPair]) -> NDArray[np.bool_]:
    """Return (n, n): which other pairs are not wrong answers, because they have the same sentence or code."""
    sentences = np.array([pair.sentence.casefold() for pair in pairs], object)
    bodies = np.array(["".join(pair.body.split()) for pair in pairs], object)
    is_same = (sentences[:, None] == sentences) | (bodies[:, None] == bodies)
    return np.asarray(is_same & ~np.eye(len(pairs), dtype=np.bool_), np.bool_)


def split_roles(pairs: Sequence[TextPair]) -> dict[str, list[TextPair]]:
    """Return pairs by role, without training pairs whose code (up to spaces) or sentence is also measured on."""
    measured = {key for pair in pairs if pair.role != "train" for key in _keys(pair)}
    roles: dict[str, list[TextPair]] = {"train": []}
    for pair in pairs:
        if pair.role != "train" or measured.isdisjoint(_keys(pair)):
            roles.setdefault(pair.role, []).append(pair)
    return roles


def _keys(pair: TextPair) -> tuple[str, str]:
    return "".join(pair.body.split()), pair.sentence.lower()
