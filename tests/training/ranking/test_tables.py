"""The whole way from packages to the weights of cards, without network."""

import json
import logging
import tarfile
import zipfile
from pathlib import Path

import pytest

from codecards.retrieval.rank.weights import function_weights
from tests.support.working_trees import git, needs_git, write_tree
from training.corpus.registries import Source
from training.ranking.learn import SIGNS
from training.ranking.tables import (
    VECTOR_SETS,
    damped,
    mine_histories,
    mine_tasks,
    report_answers,
    tables_of,
    write_tables,
)

DOCUMENT = """\
# Getting rid of what nobody wants

Call `remove_hedge()`.

# How much room there is

Call `measure_pond()`.
"""
VERBS = ("remove", "open", "close", "rename", "measure", "print")


def package(name: str, things: tuple[str, ...]) -> str:
    """Return source whose functions do each of `VERBS` to each thing."""
    functions = [
        f'def {verb}_{thing}({thing}, path):\n    """{verb.title()} the {thing} of a {name}."""\n'
        f"    found = {thing}.{verb}(path)\n    log(found)\n    return found\n"
        for verb in VERBS
        for thing in things
    ]
    return f"class {things[0].title()}:\n    size = 1\n\n\n" + "\n\n".join(functions)


def test_packages_become_weights_that_the_product_can_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    sources = [Source("pypi", name, "MIT", "cards") for name in ("garden", "harbour")]
    for source, things in zip(sources, (("hedge", "pond"), ("crane", "quay")), strict=True):
        folder = tmp_path / "packages" / "pypi" / source.name
        folder.mkdir(parents=True)
        with zipfile.ZipFile(folder / f"{source.name}-1-py3-none-any.whl", "w") as wheel:
            for thing in things:
                wheel.writestr(f"{source.name}/{thing}.py", package(source.name, (thing,)))
    documented = Source("pypi-source", "garden", "MIT", "headings")
    place = tmp_path / "packages" / "pypi-source" / "garden"
    place.mkdir(parents=True)
    tree = write_tree(tmp_path / "garden-1", f"#- README.md\n{DOCUMENT}")
    (tree / "garden.py").write_text(package("garden", ("hedge", "pond")), encoding="utf-8")
    with tarfile.open(place / "garden-1.tar.gz", "w:gz") as archive:
        archive.add(tree, "garden-1")

    trees = tmp_path / "card-trees"
    tasks = mine_tasks([*sources, documented], tmp_path / "packages", trees)
    assert {task.tree for task in tasks} == {"documentation/garden", "documentation/harbour", "headings/garden"}
    with caplog.at_level(logging.INFO):
        tables = tables_of(trees, tasks)
    assert "of documentation" in caplog.text
    assert "of heading" in caplog.text
    assert set(tables) == set(VECTOR_SETS)
    assert "transformer_cosine" not in tables["static"]
    assert all(weights[name] * SIGNS[name] > 0 for weights in tables.values() for name in weights)
    assert tables["static"].get("name_precision", 0) + tables["static"].get("name", 0) > 0
    write_tables(tables, tmp_path / "card_weights.json")
    assert json.loads((tmp_path / "card_weights.json").read_text(encoding="utf-8")) == tables


@needs_git
def test_a_history_gives_commits_and_headings_and_the_product_is_measured_by_both(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = write_tree(tmp_path / "garden", f"#- README.md\n{DOCUMENT}")
    (root / "hedge.py").write_text(package("garden", ("hedge", "pond")), encoding="utf-8")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Start")
    text = (root / "hedge.py").read_text(encoding="utf-8")
    (root / "hedge.py").write_text(text.replace("hedge.print(path)", "hedge.print(path, 1)"), encoding="utf-8")
    git(root, "commit", "-q", "-am", "Print the hedge with its height")
    trees = tmp_path / "trees"
    tasks = mine_histories([root], trees)
    assert sorted((task.tree, task.text) for task in tasks) == [
        ("commits/garden", "Print the hedge with its height"),
        ("headings/garden", "Getting rid of what nobody wants"),
        ("headings/garden", "How much room there is"),
    ]
    with caplog.at_level(logging.INFO):
        report_answers(trees, tasks)
    assert "commit: 1 tasks, MRR 1.000 by file, 1.000 by definition" in caplog.text
    assert "heading: 2 tasks" in caplog.text


def test_damping_leaves_the_weights_of_kinds_as_they_are() -> None:
    assert damped({"coverage": 2.0, "type": -12.0}, 0.6) == {"coverage": 1.2, "type": -12.0}


def test_the_weights_of_the_product_are_of_features_that_are_learned() -> None:
    for vectors in VECTOR_SETS:
        weights = function_weights(vectors)
        assert all(weights[name] * sign > 0 for name, sign in SIGNS.items() if name in weights)
        assert set(weights) - set(SIGNS) == {"body", "boilerplate", "docs", "message", "of_tests"}
