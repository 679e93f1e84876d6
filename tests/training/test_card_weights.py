"""The whole way from packages to the weights of cards, without network."""

import json
import zipfile
from pathlib import Path

from codecards.retrieval.weights import function_weights
from training.card_stage import SIGNS
from training.card_weights import mine_tasks, tables_of, write_tables
from training.registries import Source

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


def test_packages_become_weights_that_the_product_can_read(tmp_path: Path) -> None:
    sources = [Source("pypi", name, "MIT", "cards") for name in ("garden", "harbour")]
    for source, things in zip(sources, (("hedge", "pond"), ("crane", "quay")), strict=True):
        folder = tmp_path / "packages" / "pypi" / source.name
        folder.mkdir(parents=True)
        with zipfile.ZipFile(folder / f"{source.name}-1-py3-none-any.whl", "w") as wheel:
            for thing in things:
                wheel.writestr(f"{source.name}/{thing}.py", package(source.name, (thing,)))
    tasks = mine_tasks(sources, tmp_path / "packages", tmp_path / "card-trees")
    assert {task.tree for task in tasks} == {"garden", "harbour"}
    tables = tables_of(tmp_path / "card-trees", tasks)
    assert set(tables) == {"static", "none"}
    assert all(weights[name] * SIGNS[name] > 0 for weights in tables.values() for name in weights)
    assert tables["static"].get("name_precision", 0) + tables["static"].get("name", 0) > 0
    write_tables(tables, tmp_path / "card_weights.json")
    assert json.loads((tmp_path / "card_weights.json").read_text(encoding="utf-8")) == tables


def test_the_weights_of_the_product_are_of_features_that_are_learned() -> None:
    for has_meaning in (True, False):
        weights = function_weights(has_meaning=has_meaning)
        assert all(weights[name] * sign > 0 for name, sign in SIGNS.items() if name in weights)
        assert set(weights) - set(SIGNS) == {"prose", "obligatory", "message"}
