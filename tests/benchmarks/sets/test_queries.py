"""Query files of every format, and run files."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.sets.queries import LabelledQuery, QuerySource, Span, query_of_row, read_queries, row_of_query
from benchmarks.systems.answers import RecordedAnswer, read_run, write_run

WHOLE = {"path": "pkg/a.py", "start_line": None, "end_line": None}
COMMON = {"id": "x-1", "query": "where is it", "language": "python", "targets": [WHOLE]}


@pytest.mark.parametrize(
    ("row", "tree", "source"),
    [
        (
            {"repo": "aiohttp", "url": "https://github.com/aio-libs/aiohttp.git", "commit": "fc67", "root": "aiohttp"},
            "aiohttp",
            QuerySource("aio-libs/aiohttp", "fc67", "aiohttp"),
        ),
        (
            {"repo": "django/django", "tree": "django__django", "base_commit": "d16b", "subset": ["lite"]},
            "x-1",
            QuerySource("django/django", "d16b", code_only=True),
        ),
        (
            {"repo": "pallets/flask", "tree": "flask", "commit": "85c5"},
            "flask",
            QuerySource("pallets/flask", "85c5", code_only=True),
        ),
        (
            {
                "repo": "aiohttp",
                "url": "https://github.com/aio-libs/aiohttp.git",
                "commit": None,
                "root": "aiohttp",
                "pypi": "aiohttp==3.13.5",
                "tree": "aiohttp-3.13.5",
            },
            "aiohttp-3.13.5",
            QuerySource(requirement="aiohttp==3.13.5"),
        ),
    ],
)
def test_each_row_format_names_its_tree_and_source(row: dict[str, Any], tree: str, source: QuerySource) -> None:
    query = query_of_row(COMMON | row)
    assert (query.tree, query.source) == (tree, source)


def test_functions_are_those_symbols_that_are_functions() -> None:
    symbols = [
        {"name": "f", "kind": "function", "start_line": 3, "end_line": 9},
        {"name": "C", "kind": "class", "start_line": 1, "end_line": 20},
    ]
    query = query_of_row(COMMON | {"repo": "o/n", "base_commit": "c", "targets": [WHOLE | {"symbols": symbols}]})
    assert query.functions == (Span("pkg/a.py", 3, 9),)


def test_a_written_row_is_read_as_the_same_query(tmp_path: Path) -> None:
    span = Span("pkg/a.py", 3, 9)
    query = LabelledQuery(
        "pkg-1", "pkg", "où ?", "python", "docstring", (span,), (span,), source=QuerySource(requirement="pkg==1")
    )
    (tmp_path / "q.jsonl").write_text(json.dumps(row_of_query(query)) + "\n\n", encoding="utf-8")
    assert read_queries(tmp_path / "q.jsonl") == [query]


def test_a_run_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    answers = [RecordedAnswer("1", (Span("a.py", 1, 2), Span("b.py")), (10, 20), 1.5, "found"), RecordedAnswer("2", ())]
    write_run(tmp_path / "runs" / "r.jsonl", answers, "ours")
    assert read_run(tmp_path / "runs" / "r.jsonl") == answers


def test_results_of_a_run_may_be_plain_paths(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"id": "1", "results": ["a.py"]}\n', encoding="utf-8")
    assert read_run(tmp_path / "r.jsonl") == [RecordedAnswer("1", (Span("a.py"),))]
