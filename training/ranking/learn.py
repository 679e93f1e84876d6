"""Learns the weights of cards for questions that describe one function: `retrieval/rank/card_weights.json`.

A listwise softmax over the candidates' cards, linear in the signals of `retrieval.rank.card_signals`. The sign of each
weight is given, so that what is learned on documentation can't reverse a signal. The score of the file has a weight too,
and the others are multiples of it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.metrics import NARROW_LINES
from benchmarks.systems.codecards_index import open_index, open_transformer_index
from codecards.retrieval.evidence.cards import CardEvidence
from codecards.retrieval.evidence.similarity import query_similarity
from codecards.retrieval.evidence.transformer import transformer_scores
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.query import read_query
from codecards.retrieval.rank.card_ranking import signal_values
from codecards.retrieval.rank.card_signals import CARD_SIGNALS
from codecards.retrieval.rank.filters import Filters
from codecards.retrieval.rank.ranking import rank
from codecards.retrieval.rank.signals import VectorSet
from codecards.retrieval.store.columns import Int64s
from codecards.retrieval.vectors.transformer_vectors import TransformerLookup
from training.ranking.commit_tasks import index_of
from training.ranking.function_tasks import FunctionTask, TaskTarget

FILE = "file"
LEARNED = tuple(row for row in CARD_SIGNALS if row.weights.learned)
SIGNS: Mapping[str, float] = {row.name: row.weights.learned for row in LEARNED}
"""Signal → the sign that its weight must have."""
KINDS = frozenset(row.name for row in LEARNED if row.is_kind)
MAX_KIND_WEIGHT = 12.0
"""Bound of the weights of kinds: documentation of functions never asks for a type, so that no weight is too large for it."""
MAX_CARDS = 400
"""Cards of one question that are learned from: those that the shipped weights rank first."""
MIN_FUNCTION_SHARE = 0.7
"""How surely a text must describe one function for its question to be learned from."""
NOT_LEARNED_FROM = frozenset({"symbol", "message"})
"""Kinds of tasks that are not learned from: names and errors are weighted by hand."""
LEARNING_RATE, N_STEPS, SHRINKAGE = 0.08, 300, 2e-3
N_FOLDS = 5
SMALL_PART = 4
"""A card with less than one part in so many of the target, such as one method of the class, does not show it."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LearnedQuestion:
    """The cards that may answer one task; N cards, D signals."""

    package: str
    kind: str
    """Kind of the task: "documentation", "heading", "commit"."""
    is_within: bool
    """Whether they are the cards of one right file, as the product compares cards for a subject."""
    values: Floats
    """(N, 1 + D): the file's score, then the signals in the order of `SIGNS`, without those that need more vectors."""
    is_right: NDArray[np.bool_]
    """(N,): at least one, and not all."""


@dataclass(frozen=True, slots=True)
class Examples:
    """The cards of several questions; N cards, Q questions, D columns."""

    values: Floats
    """(N, D)."""
    is_right: NDArray[np.bool_]
    """(N,)."""
    first: NDArray[np.int64]
    """(Q,): where each question's cards begin."""
    names: tuple[str, ...]
    """(D,): the file's score first."""


def read_questions(
    trees: Path, tasks: Sequence[FunctionTask], names: Sequence[str], vectors: VectorSet
) -> Iterator[LearnedQuestion]:
    """Yield the cards of each task that has a right card among its candidates.

    A task that describes one function gives one question, over all cards; any other task gives one question for each right
    file, over the cards of that file.

    Args:
        trees: Folder of the trees, by `FunctionTask.tree`; each gets an index beside it.
        tasks: On these trees.
        names: Of the signals.
        vectors: Vectors that are used; computing those of the transformer takes minutes.
    """
    asked = [task for task in tasks if task.kind not in NOT_LEARNED_FROM]
    for tree in sorted({task.tree for task in asked}):
        opened = _opened(trees / tree, index_of(trees, tree), vectors)
        for task in asked:
            if task.tree == tree:
                yield from _questions_of(opened, task, names)


def signal_names(vectors: VectorSet) -> tuple[str, ...]:
    """Return the signals that can be computed with some vectors, in the order of `SIGNS`."""
    sets = get_args(VectorSet)
    return tuple(row.name for row in LEARNED if sets.index(row.needs) <= sets.index(vectors))


def join_questions(questions: Sequence[LearnedQuestion], names: Sequence[str]) -> Examples:
    """Return questions as one set of examples.

    Args:
        questions: At least one.
        names: Of the signals, after the file's score.
    """
    lengths = np.array([len(question.is_right) for question in questions], np.int64)
    return Examples(
        values=np.concatenate([question.values for question in questions]),
        is_right=np.concatenate([question.is_right for question in questions]),
        first=np.cumsum(lengths) - lengths,
        names=(FILE, *names),
    )


def mean_reciprocal_rank(
    questions: Sequence[LearnedQuestion], names: Sequence[str], weights: Mapping[str, float]
) -> float:
    """Return the mean of 1 / rank of the right card among the cards of each question.

    Args:
        questions: At least one.
        names: Of their signals, after the file's score.
        weights: As returned by `learn`; a signal without a weight has 0.
    """
    row = np.array([1.0, *(weights.get(name, 0.0) for name in names)], np.float32)
    total = 0.0
    for question in questions:
        scores = question.values @ row
        total += 1 / (1 + np.count_nonzero(scores > scores[question.is_right].max()))
    return total / len(questions)


def cross_validate(
    questions: Sequence[LearnedQuestion], names: Sequence[str], taught: Collection[str], n_folds: int = N_FOLDS
) -> dict[str, float]:
    """Return kind → mean reciprocal rank with weights that were learned on other packages only.

    Args:
        questions: Of at least two packages.
        names: Of their signals, after the file's score.
        taught: Kinds that are learned from; all are measured.
        n_folds: Most folds of packages.
    """
    packages = sorted({one.package for one in questions})
    n_folds = min(n_folds, len(packages))
    fold_of = {package: number % n_folds for number, package in enumerate(packages)}
    found: dict[str, list[float]] = {}
    for fold in range(n_folds):
        outside = [one for one in questions if fold_of[one.package] != fold and one.kind in taught]
        if not outside:
            continue
        weights = learn(join_questions(outside, names), SIGNS)
        for question in questions:
            if fold_of[question.package] == fold:
                found.setdefault(question.kind, []).append(mean_reciprocal_rank([question], names, weights))
    return {kind: fmean(values) for kind, values in found.items()}


def learn(examples: Examples, signs: Mapping[str, float]) -> dict[str, float]:
    """Return the weight of each signal as a multiple of the file score's.

    Args:
        examples: At least one question.
        signs: Signal → a number whose sign the weight must have.
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
    # All cards of one file have its score; then only the proportions of the other weights matter.
    scale = max(float(weights[0]), 1e-6) if np.any(examples.values[:, 0]) else 1.0
    found = {name: round(float(weight) / scale, 2) for name, weight in zip(examples.names, weights, strict=True)}
    del found[FILE]
    return {name: max(weight, -MAX_KIND_WEIGHT) if name in KINDS else weight for name, weight in found.items()}


@dataclass(frozen=True, slots=True)
class _Opened:
    """An open index with the vectors that are used."""

    index: DerivedIndex
    has_meaning: bool
    transformer: TransformerLookup | None


def _opened(tree: Path, state: Path, vectors: VectorSet) -> _Opened:
    if vectors == "transformer":
        index, lookup = open_transformer_index(tree, state)
        return _Opened(index, has_meaning=True, transformer=lookup)
    return _Opened(open_index(tree, state, "static"), has_meaning=vectors == "static", transformer=None)


def _questions_of(opened: _Opened, task: FunctionTask, names: Sequence[str]) -> Iterator[LearnedQuestion]:
    index, query = opened.index, read_query(task.text)
    similarity = query_similarity(index, query, opened.transformer) if opened.has_meaning else None
    ranked = rank(index, query, similarity, Filters())
    if ranked is None or query.kind != "question" or query.is_issue:
        return
    scores = ranked.cards
    by_transformer = transformer_scores(index, similarity, scores.cards)
    of_cards = signal_values(CardEvidence(ranked.evidence, scores.cards, scores.card_file, by_transformer), names)
    nothing = np.zeros(len(scores.cards), np.float32)
    columns_of_values = [ranked.file_scores[scores.card_file], *(of_cards.get(name, nothing) for name in names)]
    values = np.array(columns_of_values, np.float32).T
    totals = scores.with_files(ranked.file_scores)
    is_right = right_cards(index, scores.cards, ranked.evidence.matches.files[scores.card_file], task.targets)
    is_within = query.intent.function < MIN_FUNCTION_SHARE
    if is_within:
        groups = [np.flatnonzero(scores.card_file == one) for one in np.unique(scores.card_file[is_right])]
    else:
        best = np.argsort(-totals, kind="stable")[:MAX_CARDS]
        groups = [best[np.isfinite(totals[best])]]
    for kept in groups:
        if is_right[kept].any() and not is_right[kept].all():
            chosen = values[kept]
            chosen[:, 0] = 0.0 if is_within else chosen[:, 0] - chosen[:, 0].max()
            yield LearnedQuestion(task.package, task.kind, is_within, chosen, is_right[kept])


def right_cards(index: DerivedIndex, cards: Int64s, files: Int64s, targets: Sequence[TaskTarget]) -> NDArray[np.bool_]:
    """Return (K,): which cards show one of the targets, neither much more nor only a small part of it.

    Args:
        index: Has the cards.
        cards: (K,): rows.
        files: (K,): rows of their files.
        targets: The right answers.
    """
    first, last = index.columns.first_line[cards].astype(np.int64), index.columns.last_line[cards].astype(np.int64)
    is_right = np.zeros(len(cards), np.bool_)
    for target in targets:
        n_lines = target.last_line - target.first_line + 1
        shows = np.isin(files, index.files_ending(target.path))
        shows &= (first <= target.last_line) & (last >= target.first_line)
        shows &= (last - first < np.maximum(NARROW_LINES, 2 * n_lines)) & (SMALL_PART * (last - first + 1) >= n_lines)
        is_right |= shows
    return is_right
