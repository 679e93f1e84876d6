"""Tuning: how well questions of a project's own history are answered, and whether other weights would do better.

**Invariant:** weights are only kept where tasks that the fit did not see say that they help, beyond chance.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codecards.indexer.build.worker_pool import Workers
from codecards.indexer.index_folder import IndexFolder
from codecards.indexer.walk.git import git_state
from codecards.project.reader import IndexReader
from codecards.project.tuned_weights import TunedWeightsFile
from codecards.retrieval.hits import Ranking
from codecards.retrieval.rank.tuned_weights import GROUPS, MAX_FACTOR, MIN_FACTOR, TunedWeights, group_of
from codecards.retrieval.search import search
from codecards.tuning.commit_tasks import CommitTask, MinedTasks, mine_tasks

DEPTH = 10
LOOKED_AT = 60
"""Hits of a question whose order the fit may change."""
LEAST_TASKS = 40
"""Fewer can't show a difference of a few hundredths."""
N_FOLDS = 5
N_RESAMPLES = 2_000
LEAST_GAIN = 0.005
"""NDCG@10 that is worth weights of one's own."""
RIDGE = 0.02
"""Pull of the logarithm of each factor towards 0."""
STEPS, STEP = 200, 0.5
LEAK_NOTE = (
    "the index holds today's files: the code that a commit wrote is already there, and so are names that its message"
    " may have brought in; figures compare weights, they do not foretell how the next change will be found"
)

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over tasks, with the bounds between which it lies in 95 of 100 resamples."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Fit:
    """What fitting gave."""

    accepted: bool
    reason: str
    factors: Mapping[str, float]
    """Group → factor, fitted to all tasks; empty where there were too few."""
    before: float
    """NDCG@10 with the default weights."""
    after: float
    """NDCG@10 with weights fitted without the tasks that are scored."""
    gain: Figure
    """Of the difference, task by task."""


@dataclass(frozen=True, slots=True)
class TuneReport:
    """Figures of a project's own history."""

    commit: str
    n_commits: int
    left_out: Mapping[str, int]
    n_tasks: int
    n_symbol_tasks: int
    """Tasks that changed a symbol which is there now."""
    figures: Mapping[str, Figure]
    """Metric → figure, with the default weights."""
    fit: Fit | None
    note: str = LEAK_NOTE


@dataclass(frozen=True, slots=True)
class TaskRanking:
    """One task's hits, ready to be put in another order: F files."""

    parts: Matrix
    """(F, groups + 1): the score by group of weights; last what no factor scales."""
    gold: NDArray[np.bool_]
    """(F,): which files are right."""
    n_gold: int
    """Right files, those that were not found included."""


def tune_project(
    root: Path, reader: IndexReader, workers: Workers, folder: IndexFolder, *, fits: bool, n_commits: int
) -> TuneReport:
    """Measure a project by its own history; where asked, fit weights, and keep them if they help.

    Args:
        root: The project.
        reader: Its newest generation.
        workers: Read what files held after each commit.
        folder: Gets the tuned weights.
        fits: Whether to fit.
        n_commits: How many commits are looked at.

    Raises:
        UsageError: There is no git history.
        IndexWriteError: The weights can't be written.
    """
    mined = mine_tasks(root, reader.snapshot, workers, n_commits)

    def rank(text: str, limit: int) -> Ranking:
        return search(reader.derived, reader.snapshot, text, limit=limit)

    commit = git_state(root).commit or ""
    report = measure(mined, rank, commit, fits=fits)
    if report.fit is not None and report.fit.accepted:
        created = datetime.now(UTC).date().isoformat()
        fit = report.fit
        tuned = TunedWeights(fit.factors, _version(), commit, created, report.n_tasks, fit.before, fit.after)
        TunedWeightsFile(folder.path).write(tuned)
    return report


def _version() -> str:
    try:
        return metadata.version("codecards")
    except metadata.PackageNotFoundError:  # run from a folder of sources
        return "unknown"


def measure(mined: MinedTasks, rank: Callable[[str, int], Ranking], commit: str, *, fits: bool) -> TuneReport:
    """Return how well the tasks are answered and, where asked, whether other weights would answer them better.

    Args:
        mined: The project's questions, the oldest first.
        rank: Answers a question with so many hits, by the default weights.
        commit: What is checked out.
        fits: Whether to fit weights.
    """
    rows: list[dict[str, float]] = []
    ranked: list[TaskRanking] = []
    for task in mined.tasks:
        ranking = rank(task.text, LOOKED_AT)
        rows.append(_scores(task, ranking))
        ranked.append(_ranked(task, ranking))
    names = list(dict.fromkeys(name for row in rows for name in row))
    figures = {name: _figure(np.array([row[name] for row in rows if name in row])) for name in names}
    return TuneReport(
        commit=commit,
        n_commits=mined.n_commits,
        left_out=mined.left_out,
        n_tasks=len(rows),
        n_symbol_tasks=sum("symbol_recall@10" in row for row in rows),
        figures=figures,
        fit=fit_weights(ranked) if fits else None,
    )


def fit_weights(ranked: Sequence[TaskRanking]) -> Fit:
    """Return factors for the groups of weights, and whether they help on tasks that they were not fitted to.

    The folds are stretches of history, one after the other, so that a fit never sees a task's neighbours in time on both
    sides.

    Args:
        ranked: By the default weights; in order of time.
    """
    before = np.array([_ndcg(one, _order(one, np.ones(len(GROUPS)))) for one in ranked])
    if len(ranked) < LEAST_TASKS:
        reason = f"{len(ranked)} tasks are too few to tell a better weight from chance; it takes {LEAST_TASKS}"
        mean = float(before.mean()) if len(before) else 0.0
        return Fit(False, reason, {}, mean, mean, Figure(0.0, 0.0, 0.0))
    after = np.zeros(len(ranked))
    for fold in np.array_split(np.arange(len(ranked)), N_FOLDS):
        held = set(fold.tolist())
        factors = _fitted([one for place, one in enumerate(ranked) if place not in held])
        after[fold] = [_ndcg(ranked[place], _order(ranked[place], factors)) for place in fold]
    gain = _figure(after - before)
    accepted = gain.low > 0 and gain.mean >= LEAST_GAIN
    verdict = "the gain is more than chance" if accepted else "no gain worth it, so the default weights stay"
    reason = f"{verdict}: {gain.mean:+.3f} NDCG@10 on tasks not fitted to (95 %: {gain.low:+.3f} to {gain.high:+.3f})"
    found = dict(zip(GROUPS, (round(float(value), 3) for value in _fitted(ranked)), strict=True))
    return Fit(accepted, reason, found, float(before.mean()), float(after.mean()), gain)


def _fitted(ranked: Sequence[TaskRanking]) -> Matrix:
    """Return the factors under which right files most surely come first: listwise softmax, by gradient ascent."""
    tasks = [one for one in ranked if one.gold.any() and not one.gold.all()]
    logs = np.zeros(len(GROUPS))
    if not tasks:
        return np.ones(len(GROUPS))
    n_files = max(len(one.gold) for one in tasks)
    parts = np.zeros((len(tasks), n_files, len(GROUPS) + 1))
    gold = np.zeros((len(tasks), n_files), np.bool_)
    there = np.zeros((len(tasks), n_files), np.bool_)
    for place, one in enumerate(tasks):
        parts[place, : len(one.gold)], gold[place, : len(one.gold)] = one.parts, one.gold
        there[place, : len(one.gold)] = True
    share_of_gold = gold / gold.sum(axis=1, keepdims=True)
    for step in range(STEPS):
        factors = np.exp(logs)
        scores = np.where(there, parts[..., :-1] @ factors + parts[..., -1], -np.inf)
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        slope = ((share_of_gold - chances)[..., None] * parts[..., :-1]).sum(axis=1).mean(axis=0) * factors
        logs += STEP / (1 + step / 50) * (slope - 2 * RIDGE * logs)
        np.clip(logs, np.log(MIN_FACTOR), np.log(MAX_FACTOR), out=logs)
    return np.asarray(np.exp(logs))


def _ranked(task: CommitTask, ranking: Ranking) -> TaskRanking:
    column = {name: place for place, name in enumerate(GROUPS)}
    rows: dict[str, Matrix] = {}
    for hit in ranking.hits:
        if hit.card.path in rows:
            continue
        row = rows[hit.card.path] = np.zeros(len(GROUPS) + 1)
        for term in hit.terms:
            row[column.get(group_of(term.name) or "", len(GROUPS))] += term.value
    parts = np.array(list(rows.values())).reshape(-1, len(GROUPS) + 1)
    return TaskRanking(parts, np.array([path in task.paths for path in rows], np.bool_), len(task.paths))


def _scores(task: CommitTask, ranking: Ranking) -> dict[str, float]:
    """Return metric → value for one task."""
    files = list(dict.fromkeys(hit.card.path for hit in ranking.hits))
    places = [place for place, path in enumerate(files) if path in task.paths]
    scores = {
        f"recall@{depth}": sum(place < depth for place in places) / len(task.paths) for depth in (1, 5, DEPTH)
    } | {"mrr": 1 / (places[0] + 1) if places and places[0] < DEPTH else 0.0}
    scores["ndcg@10"] = _gain(places) / _gain(range(len(task.paths)))
    if task.symbol_ids:
        shown = {hit.card.symbol_id for hit in ranking.hits[:DEPTH]}
        scores["symbol_recall@10"] = len(shown.intersection(task.symbol_ids)) / min(DEPTH, len(task.symbol_ids))
    return scores


def _order(one: TaskRanking, factors: Matrix) -> NDArray[np.intp]:
    return np.argsort(-(one.parts[:, :-1] @ factors + one.parts[:, -1]), kind="stable")


def _ndcg(one: TaskRanking, order: NDArray[np.intp]) -> float:
    return _gain(np.flatnonzero(one.gold[order]).tolist()) / _gain(range(one.n_gold))


def _gain(places: Sequence[int] | range) -> float:
    """Return the discounted gain of right files at these places, the first being 0."""
    return float(sum(1 / np.log2(place + 2) for place in places if place < DEPTH))


def _figure(values: Matrix) -> Figure:
    """Return the mean with its bounds by resampling, the same at every run."""
    if not len(values):
        return Figure(0.0, 0.0, 0.0)
    picks = np.random.default_rng(0).integers(0, len(values), (N_RESAMPLES, len(values)))
    low, high = np.percentile(values[picks].mean(axis=1), [2.5, 97.5])
    return Figure(float(values.mean()), float(low), float(high))
