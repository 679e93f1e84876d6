"""Writes docs/articles.md: each mechanism of the four articles, with the tests that show it and the code that they use.

`python -m benchmarks.checks.article_rows` joins the texts of article_rows.toml with the tests' marks
`@pytest.mark.seed("S2-38")`; with `--check` it only reports whether the page is current. A row without a test has a reason
in the data file, or is listed as missing.
"""

import argparse
import ast
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "articles.md"
DATA = Path(__file__).with_suffix(".toml")
INTRODUCTION = """\
# The four articles

codecards began as an implementation of four articles on the context of coding agents. This page lists every mechanism that
they describe, with the tests that show it here. Where the articles disagree, the default profile follows the third one
(Context Mode).

`python -m benchmarks.checks.article_rows` generates this page from benchmarks/checks/article_rows.toml and from the tests'
marks `@pytest.mark.seed("S2-38")`. Do not edit it by hand.
"""


@dataclass(frozen=True, slots=True)
class Article:
    """One article and the mechanisms that it describes."""

    id: str
    """"S0", "S1", "S2" or "S4"."""
    title: str
    rows: Mapping[str, str]
    """Row id ("S2-38") → its mechanism in one sentence, in order."""


@dataclass(frozen=True, slots=True)
class ShownBy:
    """A test that shows a row."""

    test: str
    """"tests/router/policy/test_routing.py::test_…"."""
    modules: tuple[str, ...]
    """The modules that the test uses: ("router/policy/routing.py",)."""


def read_articles(data: Path = DATA) -> tuple[list[Article], dict[str, str]]:
    """Return the articles in order, and row → the reason why no test can show it."""
    tables = tomllib.loads(data.read_text(encoding="utf-8"))
    reasons = tables.pop("reasons")
    articles = []
    for article, table in tables.items():
        title = table.pop("title")
        articles.append(Article(article, title, {f"{article}-{number}": text for number, text in table.items()}))
    return articles, reasons


def find_marks(tests: Path) -> dict[str, list[ShownBy]]:
    """Return row → the tests that are marked with it, in the order of their files."""
    found: dict[str, list[ShownBy]] = {}
    for path in sorted(tests.rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        modules = _imported(tree)
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            rows = [row for decorator in node.decorator_list for row in _rows_of(decorator)]
            used = {modules[name.id] for name in ast.walk(node) if isinstance(name, ast.Name) and name.id in modules}
            name = f"{path.relative_to(tests.parent).as_posix()}::{node.name}"
            for row in rows:
                found.setdefault(row, []).append(ShownBy(name, tuple(sorted(used))))
    return found


def write_page(articles: Sequence[Article], marks: Mapping[str, Sequence[ShownBy]], reasons: Mapping[str, str]) -> str:
    """Return the page as Markdown.

    Raises:
        ValueError: A mark or a reason names a row that does not exist.
    """
    rows = [row for article in articles for row in article.rows]
    if unknown := sorted((set(marks) | set(reasons)) - set(rows)):
        raise ValueError(f"No such rows: {', '.join(unknown)}.")
    missing = [row for row in rows if row not in marks and row not in reasons]
    n_shown = sum(row in marks for row in rows)
    parts = [
        INTRODUCTION,
        f"Of {len(rows)} rows tests show {n_shown}, {sum(row not in marks for row in reasons)} have a reason why no test "
        f"can, {len(missing)} are missing.",
    ]
    for article in articles:
        parts += [
            "",
            f"## {article.id}: {article.title}",
            "",
            "| row | mechanism | shown by | code |",
            "|---|---|---|---|",
        ]
        parts += [_line(row, text, marks.get(row, ()), reasons.get(row, "")) for row, text in article.rows.items()]
    parts += ["", "## Missing", "", ", ".join(missing) or "None."]
    return "\n".join(parts) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page, or check it; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checks.article_rows", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is not current")
    given = parser.parse_args(argv)
    articles, reasons = read_articles()
    text = write_page(articles, find_marks(ROOT / "tests"), reasons)
    if not given.check:
        PAGE.write_text(text, encoding="utf-8", newline="\n")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print("docs/articles.md is not current; run: python -m benchmarks.checks.article_rows", file=sys.stderr)
    return 1


def _line(row: str, text: str, shown: Sequence[ShownBy], reason: str) -> str:
    if not shown:
        return f"| {row} | {text} | {reason or '**missing**'} | |"
    modules = sorted({module for one in shown for module in one.modules})
    tests = "<br>".join(_link(one.test) for one in shown)
    return f"| {row} | {text} | {tests} | {', '.join(f'`{module}`' for module in modules)} |"


def _link(test: str) -> str:
    """Return a link to a test's file with the test's name as its text, read as a sentence."""
    path, name = test.split("::")
    return f"[{name.removeprefix('test_').replace('_', ' ')}](../{path})"


def _rows_of(decorator: ast.expr) -> list[str]:
    if not isinstance(decorator, ast.Call) or ast.unparse(decorator.func) != "pytest.mark.seed":
        return []
    return [str(argument.value) for argument in decorator.args if isinstance(argument, ast.Constant)]


def _imported(tree: ast.Module) -> dict[str, str]:
    """Return the project's names that a test file imports → the file that defines each."""
    names = {}
    for path, alias in _project_imports(tree):
        names[alias.asname or alias.name] = path
    return names


def _project_imports(tree: ast.Module) -> Iterator[tuple[str, ast.alias]]:
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("codecards.", "benchmarks.")):
            file = (node.module or "").replace(".", "/") + ".py"
            for folder in ("indexer", "retrieval", "router"):
                file = file.replace(f"codecards/{folder}/", f"{folder}/")
            for alias in node.names:
                yield file, alias


if __name__ == "__main__":
    sys.exit(main())
