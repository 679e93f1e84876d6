"""Learns how the cards of an action are weighed: `retrieval.weights.ACTION` and `ACTION_WORDS`.

A listwise softmax over the candidates' cards, linear in the features of `retrieval.card_evidence`, with the sign of each
weight given, so that what was learned on documentation can't turn sensible evidence round. The file's own score takes
part with a weight of its own; the others are told as multiples of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.metrics import NARROW_LINES
from benchmarks.open_indexes import open_index
from codecards.retrieval.card_evidence import card_features
from codecards.retrieval.derived_index import DerivedIndex
from codecards.retrieval.filters import Filters
from codecards.retrieval.query import read_query
from codecards.retrieval.query_intent import intent_of
from codecards.retrieval.ranking import query_similarity, rank
from codecards.retrieval.weights import ACTION, ACTION_WORDS
from training.card_tasks import Task

FILE = "file"
MOST_CARDS = 400
"""Cards of one question that are learned from: those that rank first by now."""
SURE = 0.5
"""How surely a question must be after one function to be learned from."""
BY_HAND = frozenset({"prose", "part", "message"})
"""Terms that documentation of functions says nothing about."""
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


def learn_weights(trees: Path, tasks: Sequence[Task]) -> dict[str, dict[str, float]]:
    """Return "ACTION" and "ACTION_WORDS" → name → weight.

    Args:
        trees: Folder of the stripped trees, by `Task.tree`; each gets an index of its own inside.
        tasks: On these trees; those that do not ask for an action are left out.
    """
    asked = [task for task in tasks if intent_of(task.text).function >= SURE]
    learned = {}
    for table, weights, embedder in (("ACTION", ACTION, "static"), ("ACTION_WORDS", ACTION_WORDS, "none")):
        names = tuple(name for name in weights if name not in BY_HAND)
        questions: list[tuple[Floats, NDArray[np.bool_]]] = []
        for tree in sorted({task.tree for task in asked}):
            mine = [task for task in asked if task.tree == tree]
            questions += _questions(trees / tree, mine, names, embedder)
        learned[table] = learn(joined(questions, names), weights)
    return learned


def joined(questions: Sequence[tuple[Floats, NDArray[np.bool_]]], names: Sequence[str]) -> Examples:
    """Return the questions that have a right card as one set.

    Args:
        questions: (cards, 1 + names) features, the file's score first, and which cards are right.
        names: Of the features after the file's.
    """
    kept = [(values, right) for values, right in questions if right.any() and not right.all()]
    lengths = np.array([len(right) for _, right in kept], np.int64)
    return Examples(
        values=np.concatenate([values for values, _ in kept]),
        is_right=np.concatenate([right for _, right in kept]),
        first=np.cumsum(lengths) - lengths,
        names=(FILE, *names),
    )


def learn(examples: Examples, signs: Mapping[str, float]) -> dict[str, float]:
    """Return each feature's weight as a multiple of the file's, without the file's own.

    Args:
        examples: At least one question.
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
    found = {name: round(float(weight) / scale, 2) for name, weight in zip(examples.names, weights, strict=True)}
    del found[FILE]
    return found


def _questions(
    tree: Path, tasks: Sequence[Task], names: Sequence[str], embedder: str
) -> Iterator[tuple[Floats, NDArray[np.bool_]]]:
    """Yield the features of each task's cards, and which of them are right."""
    index = open_index(tree, tree.parent / f"{tree.name}.index-{embedder}", embedder)
    for task in tasks:
        found = _cards_of(index, task, names)
        if found is not None:
            yield found


def _cards_of(index: DerivedIndex, task: Task, names: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]] | None:
    query = read_query(task.text)
    similarity = query_similarity(index, query)
    ranked = rank(index, query, similarity, Filters())
    if ranked is None:
        return None
    scores, columns = ranked.cards, index.columns
    features = card_features(
        index, ranked.evidence, scores.cards, scores.card_file, ranked.named, {}, similarity, frozenset(names)
    )
    values = np.array([ranked.file_scores[scores.card_file], *(features[name] for name in names)], np.float32).T
    totals = scores.with_files(ranked.file_scores)
    kept = np.argsort(-totals, kind="stable")[:MOST_CARDS]
    kept = kept[np.isfinite(totals[kept])]
    values[:, 0] -= values[kept, 0].max(initial=0.0)
    files = ranked.evidence.matches.files[scores.card_file]
    rows = index.files_ending(task.path)
    first, last = columns.first_line[scores.cards], columns.last_line[scores.cards]
    is_right = np.isin(files, rows) & (first <= task.last_line) & (last >= task.first_line)
    is_right &= last - first < np.maximum(NARROW_LINES, 2 * (task.last_line - task.first_line + 1))
    return values[kept], is_right[kept]
