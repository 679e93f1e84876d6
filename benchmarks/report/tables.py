"""Report: results as tables, on the terminal and between the markers of the README."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.result_files import RESULTS, Result, newest, read_results
from benchmarks.speed.run import FIGURES, overall
from benchmarks.systems.registry import SYSTEMS

COLUMNS = {
    "ndcg@10": "NDCG@10",
    "recall@10": "recall@10",
    "mrr": "MRR",
    "hit@1": "hit@1",
    "acc@1": "Acc@1",
    "acc@10": "Acc@10",
    "function_hit@10": "fn hit@10",
    "function_mrr": "fn MRR",
    "asked_mrr": "fn MRR among asked",
    "recall@2000tokens": "recall 2k tok",
}
"""Metrics of the tables, and their headings."""
SETS = (
    "semble_dev", "sweqa_dev", "default-set-1", "swebench_dev_verified", "swebench_dev", "swebench_multi_dev", "pypi_dev",
    "chinese", "chinese_without_documents", "the_same_in_english",
)  # fmt: skip
"""Order of the query sets in tables; others follow by name."""
MARKED = re.compile(r"(<!-- bench:([\w-]+) -->\n)(.*?)(<!-- /bench:\2 -->)", re.DOTALL)


class UnknownTableError(Exception):
    """A marker names a table that there is no result for."""


def print_quality(system: str, figures: Mapping[str, Any]) -> None:
    """Print a system's scores over all queries and by group."""
    parts = [part for part in ("category", "language", "repository") if part in figures]
    rows = [("all", figures["all"])] + [row for part in parts for row in figures[part].items()]
    headings = COLUMNS | {"acc@5": "Acc@5", "hit@10": "hit@10", "query_ms": "ms"}
    print(f"\n{system}\n{'':20s}" + "".join(f"{heading:>14s}" for heading in headings.values()))
    for name, scores in rows:
        print(f"{name:20s}" + "".join(f"{_number(scores.get(head)):>14s}" for head in headings))


def print_speed(figures: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    """Print each figure over all trees, and its ratio to the first system's."""
    for row in speed_rows(figures):
        print(f"{row[0]:40s}" + "".join(f"{cell:>28s}" for cell in row[1:]))


def speed_rows(figures: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[list[str]]:
    """Return a heading row and one row a figure; a rival's cell has its ratio to the first system."""
    systems = list(next(iter(figures.values()), {}))
    rows = [["", *systems]]
    for figure, heading in FIGURES.items():
        values = {system: overall(figure, by_tree) for system, by_tree in figures.get(figure, {}).items()}
        if values:
            rows.append([heading, *(_with_ratio(values, system, systems[0]) for system in systems)])
    return rows


def _with_ratio(values: Mapping[str, float], system: str, first: str) -> str:
    if system not in values:
        return "-"
    ratio = f" ({values[system] / values[first]:.2f}x)" if system != first and values.get(first) else ""
    return f"{values[system]:.3g}{ratio}"


def rewrite_report(file: Path, results_folder: Path = RESULTS) -> None:
    """Write the newest results between a file's markers `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`.

    Raises:
        UnknownTableError: A marker names what there is no result for.
    """
    text = file.read_text(encoding="utf-8")
    file.write_text(filled(text, read_results(results_folder)), encoding="utf-8")


def check_report(file: Path, results_folder: Path = RESULTS) -> bool:
    """Return whether a file's tables are those of the newest results."""
    text = file.read_text(encoding="utf-8")
    return filled(text, read_results(results_folder)) == text


def filled(text: str, results: list[Result]) -> str:
    """Return text with the newest results between its markers.

    Names: `quality` for one table over all query sets, `speed`, `nonsense`, or the name of any result
    with figures of the form row -> column -> number.
    """
    latest = newest(results)

    def table(match: re.Match[str]) -> str:
        return f"{match[1]}{_table(match[2], latest)}\n{match[4]}"

    return MARKED.sub(table, text)


def _table(name: str, latest: Mapping[str, Result]) -> str:
    if name == "quality":
        sets = {what.removeprefix("quality-"): result for what, result in latest.items() if what.startswith("quality-")}
        if not sets:
            raise UnknownTableError("there is no result of quality")
        return markdown(_quality_rows(sets))
    if name not in latest:
        raise UnknownTableError(f"there is no result of {name}")
    result = latest[name]
    if name == "speed":
        return markdown(speed_rows(result.figures))
    if name == "nonsense":
        return markdown(verdict_rows(result.figures))
    columns = list(dict.fromkeys(column for row in result.figures.values() for column in row))
    rows = [[row, *(_number(values.get(column)) for column in columns)] for row, values in result.figures.items()]
    return markdown([["", *columns], *rows])


def _quality_rows(sets: Mapping[str, Result]) -> list[list[str]]:
    rows = [["set", "system", *COLUMNS.values()]]
    for name, result in sorted(sets.items(), key=lambda item: _place(item[0], SETS)):
        for system, figures in sorted(result.figures.items(), key=lambda item: _place(item[0], tuple(SYSTEMS))):
            cells = [_number(figures["all"].get(column)) for column in COLUMNS]
            rows.append([f"{name} ({result.settings['n_queries']})", system, *cells])
    return rows


def verdict_rows(figures: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[list[str]]:
    """Return a heading row, a row for each family of nonsense, and one for each set of real questions, in per cent."""
    rows = [["", "queries", "found", "weak", "none"]]
    for part, label in (("family", "{}"), ("real", "real: {}")):
        for name, values in figures.get(part, {}).items():
            if part == "family" or name != "all":
                cells = (f"{100 * values[verdict]:.1f} %" for verdict in rows[0][2:])
                rows.append([label.format(name), f"{values['queries']:,.0f}", *cells])
    return rows


def _place(name: str, order: Sequence[str]) -> tuple[int, str]:
    """Return what sorts names by an order, unknown ones after all others."""
    return (order.index(name) if name in order else len(order)), name


def markdown(rows: Sequence[Iterable[str]]) -> str:
    """Return a Markdown table whose first row is its head."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    n_columns = len(list(rows[0]))
    return "\n".join([lines[0], "| --- " * n_columns + "|", *lines[1:]])


def _number(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float | int) else "-"
