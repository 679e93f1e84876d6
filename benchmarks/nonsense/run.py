"""Nonsense: how often a query that no repository answers is called answered; and, beside it, what real questions are called.

Each nonsense query is asked of every tree. A verdict of `found` is a false positive. The price of a strict verdict is
paid by real questions: how many of them are called `none` (nothing is shown) or `weak`.
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
from benchmarks.result_files import new_result, write_result
from benchmarks.sets.chinese_set import Package, fetch, read_tree
from benchmarks.sets.queries import LabelledQuery, read_queries
from benchmarks.sets.trees import unpack_archive
from codecards.config import DEFAULT_EMBEDDER, Settings
from codecards.engine import Engine

NONSENSE_SET = "nonsense-set-1"
"""Name of the trees' folder; its number changes with the packages."""
PACKAGES = (
    Package("litestar==2.25.0", "ff16470b6aa3031ea3210bbb474b00b24c636ddfe8e0ee3d09c85aff3058a93f", "python", ""),
    Package("networkx==3.6.1", "d47fbf302e7d9cbbb9e2555a0d267983d2aa476bac30e90dfbe5669bd57f3762", "python", ""),
    Package(
        "rxjs@7.8.2", "2312f8ffd9726ffd7bd53ea12c5f13663d09a3dc3326f448c70b88f5ef6fac82", "typescript", "", r"^src/"
    ),
    Package(
        "eslint@9.17.0", "1f5dfb1a392972604ee2b4dbcff6c7a9413e06804f130ac4025203fa7015dc2a", "javascript", "", r"^lib/"
    ),
    Package("@capacitor/android@7.0.0", "bac3f43ea88b30cade379610910855392172f89078d0997aeeb3b288da632173", "java", ""),
    Package("@capacitor/ios@7.0.0", "a540a855f99b55e39e3e2d5af9c89863fea0705b2ea6212504c89068cf6da3f4", "swift", ""),
    Package(
        "expo-modules-core@2.2.0",
        "e88d58ac12129d7e2784569e028d0cc40a0d439d243e27ac3ae06baa9c975cfe",
        "kotlin",
        "",
        r"^android/",
    ),
    Package(
        "leveldown@6.1.1",
        "fe534f13e475826331c9cd59f279f073c3238e4db2ff2c930e17a786ba0f4f01",
        "cpp",
        "",
        r"\.(cc|h|md)$",
    ),
    Package(
        "tree-sitter@0.25.0",
        "016448ee8e2c23aed7e1155c118cd66cd026e6436f7394b3f3606d30bf9aaa4a",
        "c",
        "",
        r"\.(c|h|cc|md)$",
    ),
)
"""The trees where none are given."""
DEPTH = 10
VERDICTS = ("found", "weak", "none")
ALL = "all"

Answered = tuple[str, str]
"""Group, verdict."""


@dataclass(frozen=True, slots=True)
class RealSet:
    """A set of real questions and where its trees are."""

    name: str
    by_tree: Mapping[Path, Sequence[LabelledQuery]]


def shares(answered: Iterable[Answered]) -> dict[str, dict[str, float]]:
    """Return group → "queries" and the share of each verdict; groups in the order in which they came, all at the end."""
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
    """Ask every query of every tree; returns the verdicts by family, by tree, and what was called found."""
    families, of_trees, found = [], [], []
    for tree in trees:
        with opened(tree, state / tree.name, embedder) as engine:
            for query in queries:
                verdict = engine.recall(query.text, limit=DEPTH).verdict
                families.append((query.family, verdict))
                of_trees.append((tree.name, verdict))
                if verdict == "found":
                    found.append(f"{tree.name}\t{query.family}\t{query.text}")
    return families, of_trees, found


def ask_real(real: RealSet, state: Path, embedder: str) -> list[Answered]:
    """Ask real questions; returns the verdicts by set."""
    answered = []
    for tree, queries in real.by_tree.items():
        with opened(tree, state / real.name / tree.name, embedder) as engine:
            answered += [(real.name, engine.recall(query.text, limit=DEPTH).verdict) for query in queries]
    return answered


def opened(tree: Path, state: Path, embedder: str) -> Engine:
    """Return the engine of a tree, its index up to date."""
    engine = Engine.open(tree, settings=Settings(index=state, embedder=embedder), build=False)
    engine.refresh()
    return engine


def default_trees(cache: Path) -> list[Path]:
    """Fetch the packages that are not there yet and return their trees.

    Raises:
        TreeError: One can't be had, or its hash is another.
    """
    trees = []
    for package in PACKAGES:
        tree = (
            cache
            / NONSENSE_SET
            / re.sub(r"\W+", "-", package.requirement.rpartition("@")[0] or package.name).strip("-")
        )
        trees.append(tree)
        if tree.exists():
            continue
        with tempfile.TemporaryDirectory() as folder:
            unpack_archive(fetch(package, Path(folder)), Path(folder) / "tree")
            for path, text in read_tree(Path(folder) / "tree", package.kept).items():
                target = tree / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8", newline="")
    return trees


def read_real(given: Sequence[Sequence[str]]) -> list[RealSet]:
    """Return the sets of real questions of pairs (query file, folder of its trees); rows without a tree are left out."""
    sets = []
    for file, trees in given:
        rows = [query for query in read_queries(Path(file)) if (Path(trees) / query.tree).is_dir()]
        sets.append(RealSet(Path(file).stem, by_tree(rows, Path(trees))))
    return sets


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, write a result file, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks nonsense", description=__doc__)
    parser.add_argument("--trees", type=Path, help="ask of the folders in this one, not of packages from registries")
    parser.add_argument("--real", nargs=2, action="append", default=[], metavar=("QUERIES", "TREES"),
                        help="a query file whose verdicts are told beside, and the folder of its trees")  # fmt: skip
    parser.add_argument("--cache", type=Path, required=True, help="for trees and indexes; kept between runs")
    parser.add_argument("--embedder", default=DEFAULT_EMBEDDER)
    parser.add_argument("--list", type=Path, help="write what was called found here, one query a line")
    parser.add_argument("--no-save", action="store_true", help="write no result file")
    given = parser.parse_args(arguments)
    trees = (
        sorted(path for path in given.trees.iterdir() if path.is_dir()) if given.trees else default_trees(given.cache)
    )
    queries, state = nonsense_queries(), given.cache / "state" / f"nonsense-{given.embedder}"
    families, of_trees, found = ask_nonsense(trees, queries, state, given.embedder)
    real = [row for one in read_real(given.real) for row in ask_real(one, state, given.embedder)]
    figures = {"family": shares(families), "tree": shares(of_trees), "real": shares(real)}
    sys.stdout.write(f"{markdown(verdict_rows(figures))}\n\n{markdown(verdict_rows({'family': figures['tree']}))}\n")
    if given.list:
        given.list.write_text("\n".join(found) + "\n", encoding="utf-8")
    if not given.no_save:
        settings = {"trees": [tree.name for tree in trees], "n_queries": len(queries), "embedder": given.embedder}
        what = "nonsense" if given.embedder == DEFAULT_EMBEDDER else f"nonsense-{given.embedder}"
        sys.stdout.write(f"{write_result(new_result(what, settings, figures))}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
