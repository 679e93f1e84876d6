"""Learns the weights of cards in seconds, on the code and documents of this repository."""

import tarfile
from pathlib import Path

from training.corpus.registries import FOLDER, Source
from training.ranking.heading_tasks import mine_texts, read_folder
from training.ranking.tables import mine_tasks, report_answers, tables_of

PARTS = ("training", "router")
"""Folders that serve as packages."""
MOST_TASKS = 20


def run(work: Path) -> dict[str, dict[str, float]]:
    """Mine tasks of two kinds, report the ranks of their answers, and return vector set → feature → weight.

    Args:
        work: An empty folder for the results.
    """
    sources = [Source("pypi", name, "MIT", "cards") for name in PARTS]
    for source in sources:
        place = work / "packages" / source.registry / source.name
        place.mkdir(parents=True)
        with tarfile.open(place / "package.tar", "w") as archive:
            archive.add(FOLDER.parent / source.name, source.name)
    trees = work / "card-trees"
    tasks = [task for source in sources for task in mine_tasks([source], work / "packages", trees)[:MOST_TASKS]]
    texts = {path: text for name in (*PARTS, "docs") for path, text in read_folder(FOLDER.parent / name).items()}
    tasks += mine_texts(texts, trees, "codecards", limit=MOST_TASKS)
    report_answers(trees, tasks)
    return tables_of(trees, tasks)
