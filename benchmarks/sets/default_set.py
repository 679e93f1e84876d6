"""Builds the default set: questions mined by rule from packages on PyPI.

A function's documentation asks for the function without it, among all functions of its package. None of the packages is in this
repository. Everybody gets the same set, because the packages are pinned by hash and the rows are chosen by a hash of their text.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from benchmarks.sets.function_queries import Mined, mine
from benchmarks.sets.queries import LabelledQuery, QuerySource, Span, row_of_query
from benchmarks.sets.trees import PIP_TIMEOUT_S, TreeError, unpack_archive

PACKAGES = Path(__file__).parent / "default_packages.txt"
DEFAULT_SET = "default-set-1"
"""Name of the trees' folder; its number changes with the rules."""
ROWS_PER_PACKAGE = {"docstring": 200, "symbol": 25, "message": 25}


def build_default_set(cache: Path) -> Path:
    """Download the packages, lay them out without the documentation that asks, and return the query file.

    Args:
        cache: Folder for the trees and the query file; existing ones are used again.

    Raises:
        TreeError: pip can't download a package.
    """
    trees, queries = cache / DEFAULT_SET, cache / f"{DEFAULT_SET}.jsonl"
    if queries.exists():
        return queries
    with tempfile.TemporaryDirectory() as folder:
        rows: list[LabelledQuery] = []
        for wheel in download(PACKAGES, Path(folder)):
            name, version = wheel.name.split("-")[:2]
            unpack_archive(wheel, trees / name)
            rows += write_stripped(trees / name, f"{name}=={version}")
    lines = [json.dumps(row_of_query(row), ensure_ascii=False) for row in rows]
    queries.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return queries


def download(requirements: Path, folder: Path) -> list[Path]:
    """Download pure Python wheels, the same on every machine; return them ordered by name.

    Raises:
        TreeError: pip can't download a wheel, or its hash differs.
    """
    platform = ["--platform", "any", "--implementation", "py", "--abi", "none", "--python-version", "3.11"]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", *platform]
    command += ["--require-hashes", "--requirement", str(requirements), "--dest", str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=PIP_TIMEOUT_S, check=False)
    if run.returncode:
        raise TreeError(f"pip can't download the default set: {run.stderr.strip()[-500:]}")
    return sorted(folder.glob("*.whl"))


def write_stripped(tree: Path, requirement: str) -> list[LabelledQuery]:
    """Remove the documentation of all functions from a tree's Python files; return the queries made from it."""
    mined: list[Mined] = []
    for path in sorted(tree.rglob("*.py")):
        found, stripped = mine(path.read_bytes(), path.relative_to(tree).as_posix())
        if stripped is not None:
            path.write_bytes(stripped)
            mined += found
    queries = []
    for category, n_rows in ROWS_PER_PACKAGE.items():
        for number, item in enumerate(_chosen((one for one in mined if one.category == category), n_rows)):
            span = Span(item.path, item.first_line, item.last_line)
            row_id = f"{tree.name}-{category}-{number:03d}"
            source = QuerySource(requirement=requirement)
            queries.append(
                LabelledQuery(row_id, tree.name, item.text, "python", category, (span,), (span,), source=source)
            )
    return queries


def _chosen(mined: Iterable[Mined], n_rows: int) -> list[Mined]:
    """Return at most `n_rows` with a unique text, in pseudo-random but fixed order."""
    by_text: dict[str, list[Mined]] = {}
    for item in mined:
        by_text.setdefault(item.text.casefold(), []).append(item)
    unique = [items[0] for items in by_text.values() if len(items) == 1]
    return sorted(unique, key=lambda item: item.digest)[:n_rows]
