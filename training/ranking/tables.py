"""Turns packages into the weights of cards, `retrieval/rank/card_weights.json`, and reports their cross-validation."""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from codecards.retrieval.rank.signals import VectorSet
from codecards.retrieval.rank.weights import function_weights
from training.corpus.registries import FOLDER, Source, archives, download, read_sources
from training.ranking.answers import answer_tasks
from training.ranking.commit_tasks import mine_history, repository_name
from training.ranking.function_tasks import FunctionTask, mine_tree, write_tasks
from training.ranking.heading_tasks import mine_headings, mine_texts, read_folder
from training.ranking.learn import (
    KINDS,
    SIGNS,
    LearnedQuestion,
    cross_validate,
    join_questions,
    learn,
    mean_reciprocal_rank,
    read_questions,
    signal_names,
)

_log = logging.getLogger(__name__)
TARGET = FOLDER.parent / "retrieval" / "rank" / "card_weights.json"
ROLES = frozenset({"cards", "valid"})
"""Roles of the packages that are learned from; no embedder was trained on them."""
GENERATED = frozenset({"plotly", "kubernetes-asyncio", "tencentcloud-sdk-python-vpc"})
"""Packages of generated code: thousands of functions alike."""
HEADINGS = "headings"
"""Role of the packages whose documents give tasks."""
MAX_TASKS = 150
"""Tasks of one package's functions."""
MAX_HEADINGS, MAX_COMMITS = 40, 60
"""Tasks of one package's documents, and of one history."""
LEARNED_FROM = frozenset({"documentation"})
"""Kinds of tasks that the shipped weights are learned from; the other kinds are measured."""
VECTOR_SETS: tuple[VectorSet, ...] = ("static", "none", "transformer")
"""Each set of vectors has its own weights."""
DAMPING: Mapping[VectorSet, float] = {"none": 1.0, "static": 1.0, "transformer": 0.6}
"""Factor on learned weights, except those of kinds. With transformer vectors all weights are larger relative to the file
score, and would outweigh those that are set by hand (quoted messages); .6 was chosen on the default set, .4 and 1 are worse."""


def learn_tables(work: Path, histories: Sequence[Path] = ()) -> dict[str, dict[str, float]]:
    """Download packages, mine tasks, and return vectors → signal → weight.

    Args:
        work: Gets `packages`, `card-trees`, their indexes and the tasks; existing ones are used again.
        histories: Git folders whose commits give tasks too; of no repository that a benchmark uses.
    """
    sources = [one for one in read_sources() if one.role in {*ROLES, HEADINGS} and one.name not in GENERATED]
    download(sources, work / "packages")
    trees = work / "card-trees"
    tasks = [*mine_tasks(sources, work / "packages", trees), *mine_histories(histories, trees)]
    write_tasks(tasks, work / "card-tasks.jsonl")
    report_answers(trees, tasks)
    return tables_of(trees, tasks)


def mine_tasks(sources: Sequence[Source], downloads: Path, trees: Path) -> list[FunctionTask]:
    """Write the trees of the packages that were downloaded, and return the tasks on them."""
    tasks: list[FunctionTask] = []
    for source in sources:
        if archives(source, downloads):
            if source.role == HEADINGS:
                found = mine_headings(source, downloads, trees, limit=MAX_HEADINGS)
            else:
                found = mine_tree(source, downloads, trees, limit=MAX_TASKS)
            _log.info("%s/%s: %d tasks", source.registry, source.name, len(found))
            tasks += found
    return tasks


def mine_histories(git_folders: Iterable[Path], trees: Path) -> list[FunctionTask]:
    """Return the tasks of some git folders, from commit messages and headings of documents."""
    tasks: list[FunctionTask] = []
    for git_folder in git_folders:
        commits = mine_history(git_folder, trees, limit=MAX_COMMITS)
        name = repository_name(git_folder)
        headings = []
        if not (trees / "headings" / name).exists():  # a package may have the same documents
            headings = mine_texts(read_folder(trees / "commits" / name), trees, name, limit=MAX_HEADINGS)
        _log.info("%s: %d commits, %d headings", git_folder, len(commits), len(headings))
        tasks += commits + headings
    return tasks


def report_answers(trees: Path, tasks: Sequence[FunctionTask]) -> None:
    """Report the mean reciprocal rank of the product on each kind of task, by file and by definition."""
    answers = list(answer_tasks(trees, tasks))
    for kind in dict.fromkeys(task.kind for task in tasks):
        mine = [answer for answer in answers if answer.task.kind == kind]
        by_file, by_definition = fmean(one.file for one in mine), fmean(one.definition for one in mine)
        _log.info("%s: %d tasks, MRR %.3f by file, %.3f by definition", kind, len(mine), by_file, by_definition)


def tables_of(trees: Path, tasks: Sequence[FunctionTask]) -> dict[str, dict[str, float]]:
    """Return vectors → signal → weight, and report the cross-validation by package."""
    tables: dict[str, dict[str, float]] = {}
    for vectors in VECTOR_SETS:
        names = signal_names(vectors)
        questions = list(read_questions(trees, tasks, names, vectors))
        report_fits(vectors, questions, names)
        taught = [one for one in questions if one.kind in LEARNED_FROM and not one.is_within]
        found = learn(join_questions(taught, names), SIGNS)
        tables[vectors] = damped({name: weight for name, weight in found.items() if weight}, DAMPING[vectors])
    return tables


def damped(weights: Mapping[str, float], damping: float) -> dict[str, float]:
    """Return weights multiplied by a number, except those of kinds, which have their own bound."""
    return {name: weight if name in KINDS else round(damping * weight, 2) for name, weight in weights.items()}


def report_fits(vectors: VectorSet, questions: Sequence[LearnedQuestion], names: Sequence[str]) -> None:
    """Report the mean reciprocal rank on each kind of task: as shipped, and learned from each kind and from all.

    Args:
        vectors: One of `VECTOR_SETS`.
        questions: Over all cards and over those of one file; the two are reported separately.
        names: Of their features after the file's.
    """
    shipped = function_weights(vectors)
    for is_within in (False, True):
        mine = [one for one in questions if one.is_within == is_within]
        of_kind = {kind: [one for one in mine if one.kind == kind] for kind in sorted({one.kind for one in mine})}
        place = f"{vectors}, {'cards of the right file' if is_within else 'all cards'}"
        figures = {kind: mean_reciprocal_rank(some, names, shipped) for kind, some in of_kind.items()}
        sizes = ", ".join(f"{len(some)} of {kind}" for kind, some in of_kind.items())
        _log.info("%s: questions: %s; MRR as shipped: %s", place, sizes, _figures_text(figures))
        for taught in (*((kind,) for kind in of_kind), tuple(of_kind)):
            found = cross_validate(mine, names, taught)
            _log.info("%s: learned on other packages from %s: %s", place, " and ".join(taught), _figures_text(found))


def _figures_text(figures: Mapping[str, float]) -> str:
    return ", ".join(f"{kind} {figure:.3f}" for kind, figure in figures.items())


def write_tables(tables: dict[str, dict[str, float]], target: Path = TARGET) -> None:
    """Write the weights to the file that the product reads."""
    target.write_text(json.dumps(tables, indent=1) + "\n", encoding="utf-8")
