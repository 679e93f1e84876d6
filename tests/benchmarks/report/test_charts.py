"""Charts of results."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.report.charts import draw_all, governance_chart, main
from benchmarks.report.svg import Axis, Series, chart, fitting_axis
from benchmarks.result_files import Result, write_result

SVG = "{http://www.w3.org/2000/svg}"


def system(quality: float, query_ms: float) -> dict[str, object]:
    recalls = {f"recall@{budget}tokens": quality for budget in (500, 1000, 2000, 4000, 8000)}
    return {"all": {"ndcg@10": quality, "query_ms": query_ms, **recalls}}


QUALITY = Result(
    what="quality-semble_dev",
    commit="abc",
    measured="2026-01-01T00:00:00+00:00",
    settings={"n_queries": 2},
    figures={"codecards": system(0.9, 4.0), "semble": system(0.8, 2.0), "bm25": system(0.5, 0.2)},
    machine={},
    versions={},
)
SPEED = replace(
    QUALITY,
    what="speed",
    settings={"trees": ["a", "b"]},
    figures={"cold_index_cpu_s": {"codecards": {"a": 1.0, "b": 2.0}, "semble 0.7.0 + WordLlama": {"a": 1.0, "b": 4.0}}},
)


def labels(svg: str) -> list[str]:
    return ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_every_chart_with_results_is_drawn() -> None:
    drawn = draw_all([QUALITY, SPEED])
    assert sorted(drawn) == [
        "quality-by-index-time.svg",
        "quality-by-query-time.svg",
        "recall-by-tokens-semble_dev.svg",
    ]
    assert {"codecards", "semble"} <= set(labels(drawn["quality-by-index-time.svg"]))
    assert "bm25" not in labels(drawn["quality-by-index-time.svg"])
    assert "bm25" in labels(drawn["quality-by-query-time.svg"])
    assert draw_all([]) == {}


def test_the_newest_result_is_drawn() -> None:
    newer = replace(QUALITY, commit="b", measured="2026-02-01T00:00:00+00:00", figures={"semble": system(0.7, 3.0)})
    assert "codecards" not in labels(draw_all([QUALITY, newer])["quality-by-query-time.svg"])


def test_a_better_and_slower_system_is_drawn_higher_and_further_right() -> None:
    tree = ElementTree.fromstring(draw_all([QUALITY])["quality-by-query-time.svg"])
    ours, theirs, _ = [(float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in tree.iter(f"{SVG}circle")]
    assert ours[0] > theirs[0]
    assert ours[1] < theirs[1]


def test_the_budgets_of_a_policy_form_one_line() -> None:
    rows = {f"ours {budget}": {"mean tokens": budget / 2, "again in view": 0.9} for budget in (2000, 4000)} | {
        "full": {"mean tokens": 9000.0, "again in view": 0.9},
        "ours: entity survival": {"250": 1.0},
    }
    svg = governance_chart(rows, 50)
    assert svg.count("<polyline") == 1
    assert {"ours", "full"} <= set(labels(svg))


def test_labels_of_points_at_one_position_do_not_overlap() -> None:
    series = [Series(name, ((1.0, 1.0),), 0) for name in ("one", "two", "three")]
    svg = chart("<&>", series, Axis("x", 0, 2), Axis("y", 0, 2))
    texts = ElementTree.fromstring(svg).iter(f"{SVG}text")
    heights = sorted(float(text.attrib["y"]) for text in texts if text.text in {"one", "two", "three"})
    assert heights[1] - heights[0] >= 14
    assert heights[2] - heights[1] >= 14


@pytest.mark.parametrize(
    ("axis", "ticks"),
    [
        (Axis("", 0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (Axis("", 0.55, 0.92), [0.6, 0.7, 0.8, 0.9]),
        (Axis("", 1, 100, is_log=True), [1, 2, 5, 10, 20, 50, 100]),
    ],
)
def test_ticks_are_round(axis: Axis, ticks: list[float]) -> None:
    assert axis.ticks() == pytest.approx(ticks)


def test_an_axis_with_one_value_has_a_length() -> None:
    axis = fitting_axis("", [3.0])
    assert axis.low < 3.0 < axis.high


def test_the_command_writes_beside_the_results(tmp_path: Path) -> None:
    write_result(QUALITY, tmp_path)
    assert main(["--results", str(tmp_path)]) == 0
    assert (tmp_path / "recall-by-tokens-semble_dev.svg").read_text(encoding="utf-8").startswith("<svg")
