"""Queries: what is asked of which tree, and which files, lines and functions are right."""

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
    """Where a tree's files come from: a git commit, or a package of the Python index."""

    repository: str = ""
    """"owner/name"; "" for a package."""
    commit: str = ""
    root: str = ""
    """The folder of the repository that is indexed; "" for all of it."""
    requirement: str = ""
    """"flask==3.1.2"; "" for a commit."""
    code_only: bool = False
    """Whether files that are not code are left out (sets with a tree an instance, to keep them small)."""


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
    """The functions that are right, where the set knows them."""
    subsets: tuple[str, ...] = ()
    """Named parts of the set that the row belongs to: ("lite", "verified")."""
    source: QuerySource = QuerySource()

    @property
    def project(self) -> str:
        """What the tree is a version of: "astropy/astropy", "Django", or the tree's own name."""
        requirement = self.source.requirement.removeprefix("sdist:").partition("==")[0]
        return self.source.repository or requirement or self.tree


def read_queries(path: Path) -> list[LabelledQuery]:
    """Return the rows of a JSONL query file, in its order.

    Args:
        path: A file in the format of the sets named in `benchmarks/README.md`.

    Raises:
        OSError: The file can't be read.
        ValueError: A line is no JSON object.
        KeyError: A row lacks a field.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    return [query_of_row(json.loads(line)) for line in lines if line.strip()]


def query_of_row(row: dict[str, Any]) -> LabelledQuery:
    """Return the query that one row of a query file holds."""
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
    """Return the row of a query file that `query_of_row` reads as this query."""
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
