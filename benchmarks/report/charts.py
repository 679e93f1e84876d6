"""Draws the newest results as SVG charts, written beside the result files."""

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.quality.run import TOKEN_BUDGETS
from benchmarks.report.svg import Axis, Series, chart, fitting_axis
from benchmarks.result_files import RESULTS, Result, newest, read_results
from benchmarks.speed.run import overall
from benchmarks.systems.registry import SYSTEMS

QUALITY_SET = "semble_dev"
"""The query set with the same repositories as the speed figures."""
GOVERNANCE_FIGURES = ("mean tokens", "again in view")
DRAWN_SYSTEMS = (*SYSTEMS, "bm25")
"""Systems in the order of their colours, which are the same in every chart."""


def draw_all(results: Iterable[Result]) -> dict[str, str]:
    """Return file name → SVG document of every chart for which there are results."""
    latest = newest(list(results))
    sets = {name.removeprefix("quality-"): one for name, one in latest.items() if name.startswith("quality-")}
    drawn: dict[str, str] = {}
    main, speed = sets.get(QUALITY_SET), latest.get("speed")
    if main is not None and speed is not None:
        points = _points(main, _index_times(speed))
        drawn["quality-by-index-time.svg"] = _against_time(
            f"Quality against the time of a cold index ({QUALITY_SET}, {len(speed.settings['trees'])} repositories)",
            "CPU seconds for all of them",
            points,
        )
    if main is not None:
        times = {name: figures["all"].get("query_ms") for name, figures in main.figures.items()}
        points = _points(main, {name: value for name, value in times.items() if value})
        drawn["quality-by-query-time.svg"] = _against_time(
            f"Quality against the time of a query ({QUALITY_SET})",
            "ms a query in one process, with an open index",
            points,
        )
    for name, result in sets.items():
        lines = list(_token_lines(result))
        if lines:
            drawn[f"recall-by-tokens-{name}.svg"] = _by_tokens(name, lines)
    for name in ("governance", "governance-history"):
        replayed = latest.get(f"{name}-all")
        if replayed is not None:
            drawn[f"{name}.svg"] = governance_chart(replayed.figures, replayed.settings["n_sessions"])
    return {name: text for name, text in drawn.items() if text}


def _index_times(speed: Result) -> dict[str, float]:
    """Return system → CPU seconds, by the names of the command line, which speed results do not use."""
    by_name = {make().name: system for system, make in SYSTEMS.items()}
    figures = speed.figures["cold_index_cpu_s"]
    times = {by_name.get(name, name): overall("cold_index_cpu_s", by_tree) for name, by_tree in figures.items()}
    if "semble" in times:
        times.setdefault("semble-words", times["semble"])  # the same index, without use of its vectors
    return times


def _points(quality: Result, times: Mapping[str, float]) -> list[Series]:
    return [
        Series(name, ((times[name], figures["all"]["ndcg@10"]),), _colour(name))
        for name, figures in quality.figures.items()
        if name in times
    ]


def _against_time(title: str, across: str, points: Sequence[Series]) -> str:
    if not points:
        return ""
    places = [place for one in points for place in one.points]
    return chart(
        title,
        points,
        fitting_axis(f"{across} (log)", (x for x, _ in places), is_log=True),
        fitting_axis("NDCG@10", (y for _, y in places)),
    )


def _token_lines(quality: Result) -> Iterator[Series]:
    for name, figures in quality.figures.items():
        values = [(budget, figures["all"].get(f"recall@{budget}tokens")) for budget in TOKEN_BUDGETS]
        if all(value is not None for _, value in values):
            yield Series(name, tuple((float(budget), value) for budget, value in values), _colour(name))


def _colour(system: str) -> int:
    return DRAWN_SYSTEMS.index(system) if system in DRAWN_SYSTEMS else len(DRAWN_SYSTEMS)


def _by_tokens(name: str, lines: Sequence[Series]) -> str:
    heights = [y for line in lines for _, y in line.points]
    across = Axis("tokens of output that are read (log)", TOKEN_BUDGETS[0] * 0.9, TOKEN_BUDGETS[-1] * 2.2, is_log=True)
    return chart(f"Right files within a number of tokens ({name})", lines, across, fitting_axis("recall", heights))


def governance_chart(figures: Mapping[str, Mapping[str, float]], n_sessions: int) -> str:
    """Return a chart of the in-view rate against mean tokens per turn: a line for each policy, a dot for each budget.

    Args:
        figures: "ours 2000", "full" … → figure → value; rows without these two figures are skipped.
        n_sessions: Number of replayed sessions.
    """
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, row in figures.items():
        if all(figure in row for figure in GOVERNANCE_FIGURES):
            policy = name.rstrip("0123456789").strip()
            lines.setdefault(policy, []).append((row[GOVERNANCE_FIGURES[0]], row[GOVERNANCE_FIGURES[1]]))
    series = [Series(name, tuple(sorted(points)), place) for place, (name, points) in enumerate(lines.items())]
    if not series:
        return ""
    places = [place for one in series for place in one.points]
    across = fitting_axis("mean tokens a turn", (x for x, _ in places), from_zero=True)
    up = fitting_axis("in view when used again", (y for _, y in places))
    return chart(f"Working memory: what is in view, at what price ({n_sessions} sessions)", series, across, up)


def main(arguments: list[str] | None = None) -> int:
    """Draw the charts and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks plots", description=__doc__)
    parser.add_argument(
        "--results", type=Path, default=RESULTS, help="folder of the result files, to which the charts are written"
    )
    folder = parser.parse_args(arguments).results
    for name, text in draw_all(read_results(folder)).items():
        (folder / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"{folder / name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
