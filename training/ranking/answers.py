"""Measures how early the product answers each task, by file and by definition."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.metrics import NARROW_LINES
from codecards.config import Settings
from codecards.engine import Engine
from codecards.indexer.cards.card import Card
from training.ranking.commit_tasks import index_of
from training.ranking.function_tasks import FunctionTask, TaskTarget
from training.ranking.learn import SMALL_PART

DEPTH = 10


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """The reciprocal ranks of one task's answer."""

    task: FunctionTask
    file: float
    """1 / rank of the first right file among the files of the first ten cards, 0 if there is none."""
    definition: float
    """1 / rank of the first right card among the first ten, 0 if there is none."""


def answer_tasks(trees: Path, tasks: Sequence[FunctionTask], *, embedder: str = "static") -> Iterator[TaskAnswer]:
    """Yield the answer of each task, tree by tree.

    Args:
        trees: Folder of the trees, by `FunctionTask.tree`.
        tasks: Tasks on these trees.
        embedder: A value of `--embedder`; "none" for no vectors.
    """
    for tree in sorted({task.tree for task in tasks}):
        settings = Settings(index=index_of(trees, tree), embedder=embedder)
        with Engine.open(trees / tree, settings=settings, build=False) as engine:
            engine.refresh()
            for task in tasks:
                if task.tree == tree:
                    cards = [hit.card for hit in engine.recall(task.text, limit=DEPTH).hits]
                    yield TaskAnswer(task, _by_file(cards, task.targets), _by_definition(cards, task.targets))


def _by_file(cards: Sequence[Card], targets: Sequence[TaskTarget]) -> float:
    files = list(dict.fromkeys(card.path for card in cards))
    right = {target.path for target in targets}
    return next((1 / (place + 1) for place, path in enumerate(files) if path in right), 0.0)


def _by_definition(cards: Sequence[Card], targets: Sequence[TaskTarget]) -> float:
    return next((1 / (place + 1) for place, card in enumerate(cards) if any(_shows(card, one) for one in targets)), 0.0)


def _shows(card: Card, target: TaskTarget) -> bool:
    """Return whether a card shows a target, by the same rule as `learn.right_cards`."""
    n_card, n_target = card.last_line - card.first_line + 1, target.last_line - target.first_line + 1
    is_there = card.path == target.path and card.first_line <= target.last_line and card.last_line >= target.first_line
    return is_there and n_card <= max(NARROW_LINES, 2 * n_target) and SMALL_PART * n_card >= n_target
