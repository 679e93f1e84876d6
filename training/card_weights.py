"""From packages to the weights of cards: `retrieval/card_weights.json`, with what cross-validation says of them."""

import json
import logging
from collections.abc import Sequence
from pathlib import Path

from codecards.retrieval.weights import function_weights
from training.card_stage import SIGNS, cross_validate, joined, learn, mean_reciprocal_rank, read_questions
from training.card_tasks import Task, mine_tree
from training.registries import FOLDER, Source, archives, download, read_sources

_log = logging.getLogger(__name__)
TARGET = FOLDER.parent / "retrieval" / "card_weights.json"
ROLES = frozenset({"cards", "valid"})
"""Roles of the packages that are learned from: no embedder has seen them."""
GENERATED = frozenset({"plotly", "kubernetes-asyncio", "tencentcloud-sdk-python-vpc"})
"""Packages whose functions a program wrote, thousands alike."""
MOST_TASKS = 150
"""Of one package."""
LANES = {"static": True, "none": False}
"""Name of the weights → whether vectors take part."""


def learn_tables(work: Path) -> dict[str, dict[str, float]]:
    """Download packages, mine tasks, and return lanes → feature → weight.

    Args:
        work: Gets `packages`, `card-trees` and their indexes; what is there is used again.
    """
    sources = [one for one in read_sources() if one.role in ROLES and one.name not in GENERATED]
    download(sources, work / "packages")
    return tables_of(work / "card-trees", mine_tasks(sources, work / "packages", work / "card-trees"))


def mine_tasks(sources: Sequence[Source], downloads: Path, trees: Path) -> list[Task]:
    """Write the stripped trees of those packages that could be had, and return the tasks on them."""
    tasks: list[Task] = []
    for source in sources:
        if archives(source, downloads):
            found = mine_tree(source, downloads, trees / source.name.replace("/", "+"), limit=MOST_TASKS)
            _log.info("%s/%s: %d tasks", source.registry, source.name, len(found))
            tasks += found
    return tasks


def tables_of(trees: Path, tasks: Sequence[Task]) -> dict[str, dict[str, float]]:
    """Return lanes → feature → weight, and report what cross-validation by package says of each."""
    tables = {}
    for lanes, has_meaning in LANES.items():
        names = tuple(name for name in SIGNS if has_meaning or name != "meaning")
        questions = list(read_questions(trees, tasks, names, has_meaning=has_meaning))
        shipped = mean_reciprocal_rank(questions, names, function_weights(has_meaning=has_meaning))
        held_out = cross_validate(questions, names)
        _log.info(
            "%s: %d questions, MRR %.3f as shipped, %.3f learned on other packages",
            lanes, len(questions), shipped, held_out,
        )  # fmt: skip
        found = learn(joined(questions, names), SIGNS)
        tables[lanes] = {name: weight for name, weight in found.items() if weight}
    return tables


def write_tables(tables: dict[str, dict[str, float]], target: Path = TARGET) -> None:
    """Write the weights to where the product reads them."""
    target.write_text(json.dumps(tables, indent=1) + "\n", encoding="utf-8")
