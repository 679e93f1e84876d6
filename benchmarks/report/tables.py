"""Prints results as tables, on the terminal and between the markers of README.md, README.zh-CN.md and docs/benchmarks.md."""

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
SETS = tuple(
    "semble_dev sweqa_dev default-set-1 swebench_dev_verified swebench_dev swebench_multi_dev pypi_dev "
    "chinese chinese_without_documents the_same_in_english".split()
)
"""Order of the query sets in tables; others follow by name."""
ROOT = Path(__file__).parents[2]
REPORTS = (ROOT / "README.md", ROOT / "README.zh-CN.md", ROOT / "docs" / "benchmarks.md")
"""The files whose tables are generated."""
MARKED = re.compile(r"(<!-- bench:([\w-]+) -->\n)(.*?)(<!-- /bench:\2 -->)", re.DOTALL)


HEADLINES = {
    "headlines": (
        "compared with",
        "the right file comes first (420 questions, 21 repositories, 19 languages)",
        "right files among the first ten results (the same questions)",
        "the right function among the first ten results (2,820 questions, 12 packages)",
        "nonsense that is called found (9,594 queries)",
        "time of a warm query",
        "what an agent opens or edits next is in view (6,701 turns, 4,000 tokens each)",
    ),
    "headlines-zh": (
        "对比",
        "正确的文件排在第一位（420 个问题，21 个仓库，19 种语言）",
        "正确的文件进入前十个结果（同一批问题）",
        "正确的函数进入前十个结果（2,820 个问题，12 个包）",
        "无意义的查询被误判为 found（9,594 个查询）",
        "一次热查询的耗时",
        "智能体下一步要打开或修改的内容已在视野中（6,701 个回合，每回合 4,000 token）",
    ),
}
"""Name of a table of headline figures → the heading of its last column, and the labels of its six rows."""
SEMBLE = "semble 0.7.0"


class UnknownTableError(Exception):
    """A marker names a table for which there is no result."""


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
        UnknownTableError: A marker names a table for which there is no result.
    """
    text = file.read_text(encoding="utf-8")
    file.write_text(filled(text, read_results(results_folder)), encoding="utf-8")


def check_report(file: Path, results_folder: Path = RESULTS) -> bool:
    """Return whether a file's tables are those of the newest results."""
    text = file.read_text(encoding="utf-8")
    return filled(text, read_results(results_folder)) == text


def filled(text: str, results: list[Result]) -> str:
    """Return text with the newest results between its markers.

    Names: `headlines` and `headlines-zh` for the six headline figures, `quality` for one table over all query sets, `speed`,
    `nonsense`, or the name of any result with figures of the form row → column → number.
    """
    latest = newest(results)

    def table(match: re.Match[str]) -> str:
        return f"{match[1]}{_table(match[2], latest)}\n{match[4]}"

    return MARKED.sub(table, text)


def _table(name: str, latest: Mapping[str, Result]) -> str:
    if name in HEADLINES:
        return markdown(headline_rows(HEADLINES[name], latest))
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


def headline_rows(labels: Sequence[str], latest: Mapping[str, Result]) -> list[list[str]]:
    """Return a heading row and the six headline figures, ours and the best other system's.

    Args:
        labels: The heading of the last column and the labels of the six rows, as in `HEADLINES`.
        latest: Name of a measurement → its newest result.

    Raises:
        UnknownTableError: A measurement is missing.
    """
    needed = ("quality-semble_dev", "quality-default-set-1", "nonsense", "speed", "governance-all")
    if missing := [name for name in needed if name not in latest]:
        raise UnknownTableError(f"there is no result of {', '.join(missing)}")
    files, functions, nonsense, speed, sessions = (latest[name].figures for name in needed)
    warm = {system: overall("warm_query_ms", by_tree) for system, by_tree in speed["warm_query_ms"].items()}
    others = sessions["summary 4000"]["in view"]  # the best of the other policies
    cells = [
        _in_percent(files, "hit@1"),
        _in_percent(files, "recall@10"),
        _in_percent(functions, "function_hit@10"),
        (f"{100 * nonsense['family']['all']['found']:.1f} %", "-"),
        (f"{warm.pop('codecards'):.1f} ms", f"{min(warm.values()):.1f} ms ({SEMBLE})"),
        (f"{100 * sessions['ours 4000']['in view']:.1f} %", f"{100 * others:.1f} % (layered summary)"),
    ]
    heading, *rows = labels
    return [["", "codecards", heading], *([label, *row] for label, row in zip(rows, cells, strict=True))]


def _in_percent(figures: Mapping[str, Mapping[str, Mapping[str, float]]], metric: str) -> tuple[str, str]:
    """Return a metric of codecards and of the better form of semble, in per cent."""
    semble = max(figures[system]["all"][metric] for system in ("semble", "semble-words"))
    return f"{100 * figures['codecards']['all'][metric]:.1f} %", f"{100 * semble:.1f} % ({SEMBLE})"


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
