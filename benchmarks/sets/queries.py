"""Reads and writes query files: questions about source trees, with the files, lines and functions that answer them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Span:
    """A run of lines in a file."""

    path: str
    """From the tree's root, with slashes: "src/auth/token.py"."""
    first_line: int | None = None
    """1-based, inclusive; None for the whole file."""
    last_line: int | None = None


@dataclass(frozen=True, slots=True)
class QuerySource:
    """Origin of a tree: a git commit, or a package on PyPI."""

    repository: str = ""
    """"owner/name"; "" for a package."""
    commit: str = ""
    root: str = ""
    """Folder of the repository that is indexed; "" for all of it."""
    requirement: str = ""
    """"flask==3.1.2"; "" for a commit."""
    code_only: bool = False
    """Whether the tree has code files only, as in sets with one tree per instance, to keep them small."""


@dataclass(frozen=True, slots=True)
class LabelledQuery:
    """One question and its right answers."""

    id: str
    tree: str
    """Folder name of the tree: "aiohttp", "astropy__astropy-12907"."""
    text: str
    language: str
    category: str
    """"architecture", "semantic", "symbol", "issue", "docstring" …"""
    targets: tuple[Span, ...]
    functions: tuple[Span, ...] = ()
    """The right functions, if the set has them."""
    subsets: tuple[str, ...] = ()
    """Named subsets that contain the row: ("lite", "verified")."""
    source: QuerySource = QuerySource()

    @property
    def project(self) -> str:
        """The project of which the tree is a version: "astropy/astropy", "Django", or the tree's name."""
        requirement = self.source.requirement.removeprefix("sdist:").partition("==")[0]
        return self.source.repository or requirement or self.tree


def read_queries(path: Path) -> list[LabelledQuery]:
    """Return the rows of a JSONL query file, in its order.

    Args:
        path: A file in the format described in `benchmarks/README.md`.

    Raises:
        OSError: The file can't be read.
        ValueError: A line is not a JSON object.
        KeyError: A row lacks a field.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    return [query_of_row(json.loads(line)) for line in lines if line.strip()]


def query_of_row(row: dict[str, Any]) -> LabelledQuery:
    """Return the query of one row of a query file."""
    targets = tuple(Span(t["path"], t.get("start_line"), t.get("end_line")) for t in row["targets"])
    return LabelledQuery(
        id=row["id"],
        tree=_tree_name(row),
        text=row["query"],
        language=row["language"],
        category=row.get("category") or "",
        targets=targets,
        functions=tuple(_functions(row)),
        subsets=tuple(row.get("subset", ())),
        source=_source(row),
    )


def row_of_query(query: LabelledQuery) -> dict[str, Any]:
    """Return the row of a query file that `query_of_row` reads back."""
    spans_of_path: dict[str, list[dict[str, Any]]] = {}
    for span in query.functions:
        symbol = {"kind": "function", "start_line": span.first_line, "end_line": span.last_line}
        spans_of_path.setdefault(span.path, []).append(symbol)
    return {
        "id": query.id,
        "repo": query.tree,
        "tree": query.tree,
        "pypi": query.source.requirement,
        "language": query.language,
        "category": query.category,
        "query": query.text,
        "targets": [
            {
                "path": target.path,
                "start_line": target.first_line,
                "end_line": target.last_line,
                "symbols": spans_of_path.get(target.path, []),
            }
            for target in query.targets
        ],
    }


def _tree_name(row: dict[str, Any]) -> str:
    if "pypi" in row:
        return str(row["tree"])
    if "url" in row:
        return str(row["repo"])
    return str(row["id"] if "base_commit" in row else row["tree"])


def _source(row: dict[str, Any]) -> QuerySource:
    if row.get("pypi"):
        return QuerySource(requirement=row["pypi"])
    repository = str(row["url"]).removesuffix(".git").split("github.com/")[-1] if "url" in row else row["repo"]
    commit = row.get("base_commit") or row.get("commit") or ""
    return QuerySource(repository, commit, row.get("root") or "", code_only="base_commit" in row or "url" not in row)


def _functions(row: dict[str, Any]) -> Iterator[Span]:
    for target in row["targets"]:
        for symbol in target.get("symbols", ()):
            if symbol["kind"] == "function":
                yield Span(target["path"], symbol["start_line"], symbol["end_line"])
