"""Commits ask for the definitions that they changed."""

from pathlib import Path

import pytest

from tests.support.working_trees import git, needs_git, write_tree
from training.ranking.answers import answer_tasks
from training.ranking.commit_tasks import mine_history, repository_name
from training.ranking.function_tasks import TaskTarget

pytestmark = needs_git

STORE = """\
#- store.py
class Store:
    def purge(self, now):
        kept = [one for one in self.values if one.expires > now]
        return kept

    def read(self, key):
        return self.values[key]
#- README.md
# A store
"""


def history(root: Path) -> Path:
    """Return a repository whose second commit changes one method."""
    git(write_tree(root, STORE), "init", "-q")
    for message, text in (
        ("Add a store for session values", STORE),
        ("fix(store): purge values that have expired (#123)", STORE.replace("> now", ">= now")),
        ("Bump version to 2.0", STORE + "two\n"),
    ):
        git(write_tree(root, text), "add", "-A")
        git(root, "commit", "-q", "-m", message)
    return root


def test_a_message_asks_for_what_its_commit_changed(tmp_path: Path) -> None:
    folder = history(tmp_path / "shop")
    trees = tmp_path / "trees"
    tasks = mine_history(folder / ".git", trees, limit=9, embedder="none")
    asked = {task.text: task for task in tasks}
    assert set(asked) == {"Add a store for session values", "store purge values that have expired"}
    purge = asked["store purge values that have expired"]
    assert (purge.tree, purge.kind, purge.language) == ("commits/shop", "commit", "python")
    assert purge.targets == (TaskTarget("store.py", 2, 4),)
    assert {path.name for path in tmp_path.iterdir()} == {"shop", "trees", "trees-indexes"}

    (answer,) = answer_tasks(trees, [purge], embedder="none")
    assert (answer.file, answer.definition) == (1.0, 1.0)
    assert mine_history(folder, trees, limit=9, embedder="none") == tasks


def test_a_folder_without_git_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="git can't check out"):
        mine_history(tmp_path / "nothing", tmp_path / "trees", limit=9)


@pytest.mark.parametrize("path", ["shop", "shop.git", "shop/.git", "shop.git/"])
def test_a_repository_is_named_by_its_folder(path: str) -> None:
    assert repository_name(Path(path)) == "shop"
