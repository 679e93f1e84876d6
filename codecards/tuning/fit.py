"""Measures how well questions from a project's own history are answered, and fits weights to them.

**Invariant:** weights are kept only if they help, beyond chance, on tasks that the fit did not see.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata

import numpy as np
from numpy.typing import NDArray

from codecards.indexer.walk.git import git_state
from codecards.project.lifecycle import ProjectIndex
from codecards.project.tuned_weights import TunedWeightsFile
from codecards.retrieval.hits import Ranking
from codecards.retrieval.rank.tuned_weights import GROUPS, MAX_FACTOR, MIN_FACTOR, TunedWeights, group_of
from codecards.retrieval.search import search
from codecards.tuning.commit_tasks import CommitTask, MinedTasks, mine_tasks

DEPTH = 10
FIT_DEPTH = 60
"""Hits of a question whose order the fit may change."""
MIN_TASKS = 40
"""Fewer can't show a difference of a few hundredths."""
N_FOLDS = 5
N_RESAMPLES = 2_000
MIN_GAIN = 0.005
"""Gain of NDCG@10 that justifies tuned weights."""
RIDGE = 0.02
"""Penalty on the squared logarithm of each factor."""
STEPS, STEP = 200, 0.5
LEAK_NOTE = (
    "the index holds today's files, so the code that a commit wrote, and names that its message introduced, are already"
    " in it: the figures compare weights; they don't predict how well the next change will be found"
)

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over tasks, with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Fit:
    """The result of a fit."""

    accepted: bool
    reason: str
    factors: Mapping[str, float]
    """Group → factor, fitted to all tasks; empty if there were too few."""
    before: float
    """NDCG@10 with the default weights."""
    after: float
    """NDCG@10 on each task with weights fitted without it (cross-validation)."""
    gain: Figure
    """Mean of the difference per task."""


@dataclass(frozen=True, slots=True)
class TuneReport:
    """Figures from a project's own history."""

    commit: str
    n_commits: int
    left_out: Mapping[str, int]
    n_tasks: int
    n_symbol_tasks: int
    """Tasks that changed a symbol that still exists."""
    figures: Mapping[str, Figure]
    """Metric → figure, with the default weights."""
    fit: Fit | None
    note: str = LEAK_NOTE


@dataclass(frozen=True, slots=True)
class TaskRanking:
    """The hits of one task, prepared for reordering: F files."""

    parts: Matrix
    """(F, groups + 1): the score by group of weights; the last column is not scaled by any factor."""
    gold: NDArray[np.bool_]
    """(F,): whether the file is relevant."""
    n_gold: int
    """Number of relevant files, including those that were not found."""


def tune_project(index: ProjectIndex, *, fits: bool, n_commits: int) -> TuneReport:
    """Measure a project on its own history; if asked, fit weights and keep them if they help.

    Args:
        index: The project's index; the tuned weights are written into its folder.
        fits: Whether to fit.
        n_commits: How many commits to read.

    Raises:
        UsageError: There is no git history.
        IndexWriteError: The weights can't be written.
    """
    reader = index.readers.newest_with_derived()
    mined = mine_tasks(index.root, reader.snapshot, index.workers, n_commits)

    def rank(text: str, limit: int) -> Ranking:
        return search(reader.derived, reader.snapshot, text, limit=limit)

    commit = git_state(index.root).commit or ""
    report = measure(mined, rank, commit, fits=fits)
    if report.fit is not None and report.fit.accepted:
        created = datetime.now(UTC).date().isoformat()
        fit = report.fit
        tuned = TunedWeights(fit.factors, _version(), commit, created, report.n_tasks, fit.before, fit.after)
        TunedWeightsFile(index.folder.path).write(tuned)
    return report


def _version() -> str:
    try:
        return metadata.version("codecards")
    except metadata.PackageNotFoundError:  # run from a source folder
        return "unknown"


def measure(mined: MinedTasks, rank: Callable[[str, int], Ranking], commit: str, *, fits: bool) -> TuneReport:
    """Return how well the tasks are answered and, if asked, whether other weights would answer them better.

    Args:
        mined: The project's tasks, oldest first.
        rank: Returns the given number of hits of a question, with the default weights.
        commit: The commit that is checked out.
        fits: Whether to fit weights.
    """
    rows: list[dict[str, float]] = []
    ranked: list[TaskRanking] = []
    for task in mined.tasks:
        ranking = rank(task.text, FIT_DEPTH)
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

    The folds are contiguous stretches of history, so that a fit does not see both neighbours in time of a scored task.

    Args:
        ranked: Rankings with the default weights, oldest first.
    """
    before = np.array([_ndcg(one, _order(one, np.ones(len(GROUPS)))) for one in ranked])
    if len(ranked) < MIN_TASKS:
        reason = f"{len(ranked)} tasks are too few to tell a better weight from chance; {MIN_TASKS} are needed"
        mean = float(before.mean()) if len(before) else 0.0
        return Fit(False, reason, {}, mean, mean, Figure(0.0, 0.0, 0.0))
    after = np.zeros(len(ranked))
    for fold in np.array_split(np.arange(len(ranked)), N_FOLDS):
        held = set(fold.tolist())
        factors = _fitted([one for place, one in enumerate(ranked) if place not in held])
        after[fold] = [_ndcg(ranked[place], _order(ranked[place], factors)) for place in fold]
    gain = _figure(after - before)
    accepted = gain.low > 0 and gain.mean >= MIN_GAIN
    verdict = "the gain is more than chance" if accepted else "the gain is too small, so the default weights stay"
    reason = f"{verdict}: {gain.mean:+.3f} NDCG@10 on tasks not fitted to (95 %: {gain.low:+.3f} to {gain.high:+.3f})"
    found = dict(zip(GROUPS, (round(float(value), 3) for value in _fitted(ranked)), strict=True))
    return Fit(accepted, reason, found, float(before.mean()), float(after.mean()), gain)


def _fitted(ranked: Sequence[TaskRanking]) -> Matrix:
    """Return the factors that rank relevant files first: listwise softmax likelihood, by gradient ascent."""
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
    """Return the discounted gain of relevant files at these places; the first place is 0."""
    return float(sum(1 / np.log2(place + 2) for place in places if place < DEPTH))


def _figure(values: Matrix) -> Figure:
    """Return the mean with its bootstrap interval, the same in every run."""
    if not len(values):
        return Figure(0.0, 0.0, 0.0)
    picks = np.random.default_rng(0).integers(0, len(values), (N_RESAMPLES, len(values)))
    low, high = np.percentile(values[picks].mean(axis=1), [2.5, 97.5])
    return Figure(float(values.mean()), float(low), float(high))
