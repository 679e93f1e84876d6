"""Measures how often a query that no repository answers is called found, and how real questions are called.

Each nonsense query is asked of every tree. The verdict `found` is a false positive. Real questions pay for a strict
verdict: `none` shows them nothing, and `weak` shows hits with a warning.
"""

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.nonsense.queries import Nonsense, nonsense_queries
from benchmarks.quality.run import by_tree
from benchmarks.report.tables import markdown, verdict_rows
from benchmarks.result_files import DEFAULT_CACHE, new_result, write_result
from benchmarks.sets.packages import Package, fetch, read_packages, read_tree
from benchmarks.sets.queries import LabelledQuery, read_queries
from benchmarks.sets.trees import TreeError, unpack_archive
from codecards.config import DEFAULT_EMBEDDER, Settings
from codecards.engine import Engine

NONSENSE_SET = "nonsense-set-1"
"""Name of the trees' folder; its number changes with the packages."""
PACKAGES = read_packages(Path(__file__).parent / "packages.toml")
"""The trees that are asked by default."""
DEPTH = 10
VERDICTS = ("found", "weak", "none")
ALL = "all"

Answered = tuple[str, str]
"""Group, verdict."""


@dataclass(frozen=True, slots=True)
class RealSet:
    """A set of real questions by tree."""

    name: str
    by_tree: Mapping[Path, Sequence[LabelledQuery]]


def shares(answered: Iterable[Answered]) -> dict[str, dict[str, float]]:
    """Return group → number of queries and share of each verdict; groups in order of appearance, "all" last."""
    counts: dict[str, Counter[str]] = {}
    for group, verdict in answered:
        for name in (group, ALL):
            counts.setdefault(name, Counter())[verdict] += 1
    order = [*(name for name in counts if name != ALL), *(name for name in counts if name == ALL)]
    return {
        name: {"queries": counts[name].total()}
        | {verdict: counts[name][verdict] / counts[name].total() for verdict in VERDICTS}
        for name in order
    }


def ask_nonsense(
    trees: Sequence[Path], queries: Sequence[Nonsense], state: Path, embedder: str
) -> tuple[list[Answered], list[Answered], list[str]]:
    """Return the verdicts of every query on every tree, by family and by tree, and a line for each verdict "found"."""
    families, of_trees, found = [], [], []
    for tree in trees:
        with open_engine(tree, state / tree.name, embedder) as engine:
            for query in queries:
                verdict = engine.recall(query.text, limit=DEPTH).verdict
                families.append((query.family, verdict))
                of_trees.append((tree.name, verdict))
                if verdict == "found":
                    found.append(f"{tree.name}\t{query.family}\t{query.text}")
    return families, of_trees, found


def ask_real(real: RealSet, state: Path, embedder: str) -> list[Answered]:
    """Return the verdicts of real questions by set."""
    answered = []
    for tree, queries in real.by_tree.items():
        with open_engine(tree, state / real.name / tree.name, embedder) as engine:
            answered += [(real.name, engine.recall(query.text, limit=DEPTH).verdict) for query in queries]
    return answered


def open_engine(tree: Path, state: Path, embedder: str) -> Engine:
    """Return the engine of a tree with an up-to-date index."""
    engine = Engine.open(tree, settings=Settings(index=state, embedder=embedder), build=False)
    engine.refresh()
    return engine


def default_trees(cache: Path) -> list[Path]:
    """Return the trees of the packages, fetched where they are missing; report each package that can't be had."""
    trees = []
    for package in PACKAGES:
        name = package.requirement.rpartition("@")[0] or package.name
        tree = cache / NONSENSE_SET / re.sub(r"\W+", "-", name).strip("-")
        try:
            if not tree.exists():
                _lay_out(package, tree)
            trees.append(tree)
        except TreeError as error:
            print(f"left out: {error}", file=sys.stderr)
    return trees


def _lay_out(package: Package, tree: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        unpack_archive(fetch(package, Path(folder)), Path(folder) / "tree")
        for path, text in read_tree(Path(folder) / "tree", package.kept).items():
            target = tree / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="")


def read_real(given: Sequence[Sequence[str]]) -> list[RealSet]:
    """Return a set for each pair (query file, folder of its trees); queries whose tree is missing are left out."""
    sets = []
    for file, trees in given:
        rows = [query for query in read_queries(Path(file)) if (Path(trees) / query.tree).is_dir()]
        sets.append(RealSet(Path(file).stem, by_tree(rows, Path(trees))))
    return sets


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and write a result file; return the exit code, 3 if no tree can be had."""
    given = _read_arguments(arguments)
    if given.trees:
        trees = sorted(path for path in given.trees.iterdir() if path.is_dir())
    else:
        trees = default_trees(given.cache)
    if not trees:
        print(
            "There is no tree to ask: name a folder of trees with --trees, or see the messages above.", file=sys.stderr
        )
        return 3
    queries, state = nonsense_queries(), given.cache / "state" / f"nonsense-{given.embedder}"
    families, of_trees, found = ask_nonsense(trees, queries, state, given.embedder)
    real = [row for one in read_real(given.real) for row in ask_real(one, state, given.embedder)]
    figures = {"family": shares(families), "tree": shares(of_trees), "real": shares(real)}
    print(f"{markdown(verdict_rows(figures))}\n\n{markdown(verdict_rows({'family': figures['tree']}))}")
    if given.list:
        given.list.write_text("\n".join(found) + "\n", encoding="utf-8")
    if not given.no_save:
        settings = {"trees": [tree.name for tree in trees], "n_queries": len(queries), "embedder": given.embedder}
        what = "nonsense" if given.embedder == DEFAULT_EMBEDDER else f"nonsense-{given.embedder}"
        print(write_result(new_result(what, settings, figures)))
    return 0


def _read_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks nonsense", description=__doc__)
    parser.add_argument("--trees", type=Path, help="ask the folders in this one instead of packages from registries")
    real_help = "a file of real questions and the folder of its trees, to report their verdicts too"
    parser.add_argument("--real", nargs=2, action="append", default=[], metavar=("QUERIES", "TREES"), help=real_help)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="trees and indexes, kept between runs")
    parser.add_argument("--embedder", default=DEFAULT_EMBEDDER)
    parser.add_argument("--list", type=Path, help="write the queries that were called found here, one a line")
    parser.add_argument("--no-save", action="store_true", help="write no result file")
    return parser.parse_args(arguments)
