"""Mines tasks (commit message, changed definitions) from git repositories, with the miner of `codecards tune`."""

import subprocess
from pathlib import Path

from codecards.config import Settings
from codecards.engine import Engine
from codecards.indexer.build.worker_pool import Workers
from codecards.indexer.store.snapshot import Snapshot
from codecards.tuning.commit_tasks import mine_tasks
from training.ranking.function_tasks import FunctionTask, TaskTarget, drawn

MOST_COMMITS = 2_000
"""Number of newest commits that are mined."""
MOST_SYMBOLS = 8
"""Most definitions changed by one commit; a message can't describe more."""


def mine_history(git_folder: Path, trees: Path, *, limit: int, embedder: str = "static") -> list[FunctionTask]:
    """Check out the HEAD of a git repository, index it, and return up to `limit` tasks from its newest commits.

    Args:
        git_folder: A repository, bare or not; it is only read.
        trees: Folder for the checked out tree; the index is written beside that folder.
        limit: Maximum number of tasks.
        embedder: Embedder of the index, a value of `--embedder`.

    Raises:
        ValueError: The folder is not a git repository, or the repository is damaged.
        UsageError: The repository has no history.
    """
    tree = f"commits/{repository_name(git_folder)}"
    folder = trees / tree
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        command = ["git", "clone", "--quiet", "--shared", str(git_folder.resolve()), str(folder)]
        run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
        if run.returncode:
            raise ValueError(
                f"git can't check out {git_folder} ({run.stderr.strip()[-300:]}); remove it from --history"
            )
    with Engine.open(folder, settings=Settings(index=index_of(trees, tree), embedder=embedder), build=False) as engine:
        engine.refresh()
        database = engine.folder.database
    snapshot = Snapshot(database)
    try:
        with Workers() as workers:
            mined = mine_tasks(folder, snapshot, workers, MOST_COMMITS)
        paths = {path for task in mined.tasks for path in task.paths}
        cards = {card.symbol_id: card for path in paths for card in snapshot.cards_in(path)}
    finally:
        snapshot.close()
    tasks = []
    for task in mined.tasks:
        changed = [cards[one] for one in dict.fromkeys(task.symbol_ids)]
        if 1 <= len(changed) <= MOST_SYMBOLS:
            targets = tuple(sorted(TaskTarget(card.path, card.first_line, card.last_line) for card in changed))
            tasks.append(FunctionTask(tree, changed[0].language, "commit", task.text, targets))
    return drawn(tasks, limit)


def repository_name(git_folder: Path) -> str:
    """Return the name of a repository: "project" for project.git and project/.git."""
    folder = git_folder.absolute()
    return (folder.parent if folder.name == ".git" else folder).name.removesuffix(".git")


def index_of(trees: Path, tree: str) -> Path:
    """Return the index folder of a tree, beside the folder of the trees."""
    return trees.with_name(f"{trees.name}-indexes") / tree
