"""Results on disk, and the tables generated from them."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.report.tables import REPORTS, UnknownTableError, check_report, filled, rewrite_report
from benchmarks.result_files import Result, newest, read_results, write_result

QUALITY = Result(
    what="quality-tiny",
    commit="abc",
    measured="2026-01-01T00:00:00+00:00",
    settings={"n_queries": 2},
    figures={"ours": {"all": {"ndcg@10": 0.98765, "recall@10": 1.0, "mrr": None}}},
    machine={"cores": 2},
    versions={"codecards": "1"},
)
GRAPH = replace(
    QUALITY, what="call-graph", figures={"python": {"precision": 0.99}, "go": {"precision": 1.0, "recall": 0.5}}
)


def test_a_result_is_read_as_it_was_written_but_rounded(tmp_path: Path) -> None:
    assert write_result(QUALITY, tmp_path).name == "quality-tiny-abc.json"
    figures = {"ours": {"all": {"ndcg@10": 0.9877, "recall@10": 1.0, "mrr": None}}}
    assert read_results(tmp_path) == [replace(QUALITY, figures=figures)]


def test_systems_measured_one_by_one_on_the_same_thing_stand_together(tmp_path: Path) -> None:
    write_result(QUALITY, tmp_path)
    write_result(replace(QUALITY, figures={"theirs": {"all": {}}}), tmp_path)
    assert list(read_results(tmp_path)[0].figures) == ["ours", "theirs"]
    write_result(replace(QUALITY, settings={"n_queries": 3}, figures={"theirs": {"all": {}}}), tmp_path)
    assert list(read_results(tmp_path)[0].figures) == ["theirs"]


def test_the_newest_result_counts(tmp_path: Path) -> None:
    newer = replace(QUALITY, commit="aaa", measured="2026-02-01T00:00:00+00:00")
    write_result(newer, tmp_path)
    write_result(QUALITY, tmp_path)
    assert newest(read_results(tmp_path))["quality-tiny"].commit == "aaa"


def test_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "old-1.json").write_text('{"format": 0}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"old-1\.json has format 0"):
        read_results(tmp_path)


def test_tables_stand_between_their_markers_and_the_rest_stays() -> None:
    text = "a\n<!-- bench:call-graph -->\nold\n<!-- /bench:call-graph -->\nb\n"
    table = "| | precision | recall |\n| --- | --- | --- |\n| python | 0.990 | - |\n| go | 1.000 | 0.500 |\n"
    table = table.replace("| | precision", "|  | precision")
    assert filled(text, [GRAPH]) == f"a\n<!-- bench:call-graph -->\n{table}<!-- /bench:call-graph -->\nb\n"


def test_a_quality_table_has_a_row_for_each_set_and_system() -> None:
    text = filled("<!-- bench:quality -->\n<!-- /bench:quality -->\n", [QUALITY])
    assert "| tiny (2) | ours | 0.988 | 1.000 | - |" in text


def test_a_file_is_current_once_it_was_rewritten(tmp_path: Path) -> None:
    write_result(GRAPH, tmp_path / "results")
    readme = tmp_path / "README.md"
    readme.write_text("<!-- bench:call-graph -->\n<!-- /bench:call-graph -->\n", encoding="utf-8")
    assert not check_report(readme, tmp_path / "results")
    rewrite_report(readme, tmp_path / "results")
    assert check_report(readme, tmp_path / "results")


def test_a_marker_without_a_result_is_an_error() -> None:
    with pytest.raises(UnknownTableError, match="there is no result of speed"):
        filled("<!-- bench:speed -->\n<!-- /bench:speed -->\n", [])


def test_families_of_nonsense_are_told_with_all_of_them_and_real_questions_by_set() -> None:
    shares = {"queries": 200, "found": 0.005, "weak": 0.2, "none": 0.795}
    figures = {
        "family": {"gibberish": shares, "all": shares},
        "tree": {"a": shares},
        "real": {"dev": shares, "all": shares},
    }
    table = filled(
        "<!-- bench:nonsense -->\n<!-- /bench:nonsense -->", [replace(QUALITY, what="nonsense", figures=figures)]
    )
    assert [line.split(" | ")[0] for line in table.splitlines()[3:-1]] == ["| gibberish", "| all", "| real: dev"]
    assert "| gibberish | 200 | 0.5 % | 20.0 % | 79.5 % |" in table


def test_sets_and_systems_stand_in_their_order_and_unknown_ones_at_the_end() -> None:
    figures = {name: {"all": {"ndcg@10": 0.5}} for name in ("semble", "another", "codecards")}
    results = [
        replace(QUALITY, what=f"quality-{name}", figures=figures)
        for name in ("chinese", "a_users_own", "swebench_dev_verified", "semble_dev")
    ]
    lines = filled("<!-- bench:quality -->\n<!-- /bench:quality -->", results).splitlines()[3:-1]
    names = ["semble_dev", "swebench_dev_verified", "chinese", "a_users_own"]
    assert [line.split(" | ")[0] for line in lines[::3]] == [f"| {name} (2)" for name in names]
    assert [line.split(" | ")[1] for line in lines[:3]] == ["codecards", "semble", "another"]


@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.name)
def test_the_committed_tables_are_current(report: Path) -> None:
    assert check_report(report), "run: python -m benchmarks report"


def test_headline_figures_need_every_measurement() -> None:
    with pytest.raises(UnknownTableError, match="there is no result of quality-semble_dev, quality-default-set-1"):
        filled("<!-- bench:headlines -->\n<!-- /bench:headlines -->\n", [GRAPH])
