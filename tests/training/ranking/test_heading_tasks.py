"""Sections of documents ask for the few definitions that they name."""

import random
from pathlib import Path

import pytest

from training.ranking.function_tasks import TaskTarget
from training.ranking.heading_tasks import heading_tasks, mine_texts, read_folder

SHOP = """\
class Store:
    def purge(self, now):
        return [one for one in self.values if one.expires < now]


def open_store(path):
    return Store(path)


def update(values):
    return values
"""
TEXTS = {"shop/store.py": SHOP, "tests/test_store.py": "def old_values():\n    return 1\n"}


def asked(document: str, suffix: str = "md") -> list[tuple[str, tuple[TaskTarget, ...]]]:
    """Return text and targets of the tasks of a document beside the shop."""
    tasks = heading_tasks("headings/shop", TEXTS | {f"docs/guide.{suffix}": document}, random.Random(0))
    return [(task.text.partition(":")[0], task.targets) for task in tasks]


def test_a_heading_asks_for_what_its_code_names() -> None:
    found = asked("# Getting rid of expired values\n\nValues are kept.\n\n```python\nopen_store(path).purge()\n```\n")
    assert found == [("Getting rid of expired values", (TaskTarget("shop/store.py", 6, 7),))]
    found = asked("# Getting rid of expired values\n\nCall `Store.purge()`.\n")
    assert found == [("Getting rid of expired values", (TaskTarget("shop/store.py", 2, 3),))]


@pytest.mark.parametrize(
    ("rule", "document"),
    [
        ("it says the name itself", "# How a store is opened with open store\n\n`open_store()`\n"),
        ("it is code", "# Store.purge and its friends\n\n`open_store()`\n"),
        ("it says nothing", "# Basic usage\n\n`open_store()`\n"),
        ("it is about a version", "# Changed since release 2.1\n\n`open_store()`\n"),
        ("a method of anybody's has that name", "# Changing many values\n\n```python\nvalues.purge()\n```\n"),
        ("only a test defines it", "# Changing many values\n\n`old_values()`\n"),
        ("what it names is named everywhere", "# Changing many values\n\n`open_store()`\n" * 4),
    ],
)
def test_a_heading_does_not_ask(rule: str, document: str) -> None:
    assert asked(document) == [], rule


def test_changelogs_do_not_ask() -> None:
    document = "# Getting rid of expired values\n\n`open_store()`\n"
    assert heading_tasks("t", TEXTS | {"docs/changes/2.md": document, "NEWS.md": document}, random.Random(0)) == []


def test_documents_are_not_in_the_tree(tmp_path: Path) -> None:
    project = tmp_path / "project"
    for path, text in (TEXTS | {"README.md": "# Getting rid of expired values\n\n`Store.purge()`\n"}).items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text, encoding="utf-8")
    (task,) = mine_texts(read_folder(project), tmp_path / "trees", "shop", limit=5)
    assert (task.tree, task.kind, task.package) == ("headings/shop", "heading", "shop")
    written = {path.relative_to(tmp_path / "trees") for path in (tmp_path / "trees").rglob("*") if path.is_file()}
    assert written == {Path("headings/shop", path) for path in TEXTS}


def test_without_questions_no_tree_is_written(tmp_path: Path) -> None:
    assert mine_texts(TEXTS, tmp_path / "trees", "shop", limit=5) == []
    assert not (tmp_path / "trees").exists()
