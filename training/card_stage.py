"""Learns how the cards of an action are weighed: `retrieval.weights.ACTION` and `ACTION_WORDS`.

A listwise softmax over the candidates' cards, linear in the features of `retrieval.card_evidence`, with the sign of each
weight given, so that what was learned on documentation can't turn sensible evidence round. The file's own score takes
part with a weight of its own; the others are told as multiples of it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codecards.retrieval.card_choice import score_cards
from codecards.retrieval.derived_index import DerivedIndex
from codecards.retrieval.filters import Filters
from codecards.retrieval.query import read_query
from codecards.retrieval.query_intent import intent_of
from codecards.retrieval.ranking import rank_files
from codecards.retrieval.weights import ACTION, ACTION_WORDS
from training.card_tasks import Task

FILE = "file"
MOST_CARDS = 400
"""Cards of one question that are learned from: those that rank first by now."""
LEARNING_RATE, N_STEPS, SHRINKAGE = 0.08, 250, 2e-3

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Examples:
    """The cards of several questions; N cards, Q questions, D features."""

    values: Floats
    """(N, D)."""
    is_right: NDArray[np.bool_]
    """(N,)."""
    first: NDArray[np.int64]
    """(Q,): where each question's cards begin."""
    names: tuple[str, ...]
    """(D,): the file's score first."""


def learn(examples: Examples, signs: Mapping[str, float]) -> dict[str, float]:
    """Return each feature's weight as a multiple of the file's.

    Args:
        examples: At least one question, each with a right card.
        signs: Name → a number whose sign the weight must have.
    """
    lengths = np.diff(np.append(examples.first, len(examples.values)))
    spread = np.sqrt((examples.values**2).mean(axis=0)) + 1e-6
    values = examples.values / spread
    sign = np.array([1.0 if name == FILE else np.sign(signs[name]) for name in examples.names])
    weights, mean, square = (np.zeros(len(sign)) for _ in range(3))
    for step in range(1, N_STEPS + 1):
        scores = values @ weights.astype(np.float32)
        odds = np.exp(scores - np.repeat(np.maximum.reduceat(scores, examples.first), lengths))
        believed = odds / np.repeat(np.add.reduceat(odds, examples.first), lengths)
        right = odds * examples.is_right
        wanted = right / np.repeat(np.maximum(np.add.reduceat(right, examples.first), 1e-12), lengths)
        gradient = values.T @ (believed - wanted) / len(examples.first) + SHRINKAGE * weights
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        weights -= LEARNING_RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-9)
        weights = np.where(weights * sign < 0, 0.0, weights)
    weights /= spread
    scale = max(float(weights[0]), 1e-6)
    return {name: round(float(weight) / scale, 2) for name, weight in zip(examples.names, weights, strict=True)}
