"""The measurement of speed: figures, order of the systems, totals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from benchmarks.processes import Usage
from benchmarks.report.tables import speed_rows
from benchmarks.sets.queries import LabelledQuery
from benchmarks.speed.run import FIGURES, QUERIES, RunFailedError, Sample, measure_speed, medians, overall
from benchmarks.systems.answers import RecordedAnswer


@dataclass
class FakeRival:
    """Counts its calls; indexing a file costs one CPU second unless the state has its text."""

    name: str
    calls: list[str] = field(default_factory=list)
    return_code: int = 0

    def prepare(self, cache: Path) -> None:
        """Need nothing."""

    def index(self, tree: Path, state: Path) -> Usage:
        """Note the call, and take in what is new."""
        self.calls.append(f"{self.name} index")
        n_read = 0
        for path in tree.rglob("*.py"):
            kept = state / path.name
            if not kept.exists() or kept.read_text(encoding="utf-8") != path.read_text(encoding="utf-8"):
                kept.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
                n_read += 1
        return Usage(n_read, 2.0, 3_000_000, self.return_code, "", "it broke")

    def recall(self, tree: Path, state: Path, query: str) -> Usage:
        """Cost a quarter of a second."""
        assert query in QUERIES
        return Usage(0.25, 0.5, 1, 0, "", "")

    def disk_bytes(self, tree: Path, state: Path) -> int:
        """Take five megabytes."""
        return 5_000_000

    def answers(
        self, trees: Mapping[Path, Sequence[LabelledQuery]], state: Path, depth: int, repeat: int
    ) -> Iterator[RecordedAnswer]:
        """Take four milliseconds each."""
        for queries in trees.values():
            yield from (RecordedAnswer(query.id, (), query_ms=4.0) for query in queries)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree of three files."""
    folder = tmp_path / "given" / "tree"
    folder.mkdir(parents=True)
    for name in ("a.py", "b.py", "c.py"):
        (folder / name).write_text(f"{name}\n", encoding="utf-8")
    return folder


def test_every_figure_is_measured_and_the_given_tree_is_unchanged(tree: Path, tmp_path: Path) -> None:
    samples = measure_speed([FakeRival("one")], [tree], tmp_path / "work", repetitions=1)
    assert {sample.figure: sample.value for sample in samples} == {
        "cold_index_cpu_s": 3,
        "unchanged_refresh_cpu_s": 0,
        "one_file_refresh_cpu_s": 1,
        "one_shot_cpu_s": 0.25,
        "warm_query_ms": 4.0,
        "disk_mb": 5.0,
        "peak_mb": 3.0,
        "cold_index_wall_s": 2.0,
    }
    assert {sample.figure for sample in samples} == set(FIGURES)
    assert (tree / "b.py").read_text(encoding="utf-8") == "b.py\n"


def test_rivals_take_turns_in_alternating_order(tree: Path, tmp_path: Path) -> None:
    calls: list[str] = []
    measure_speed([FakeRival("one", calls), FakeRival("two", calls)], [tree], tmp_path / "work", repetitions=2)
    assert calls == ["one index"] * 3 + ["two index"] * 6 + ["one index"] * 3


def test_a_failing_rival_ends_the_run_with_its_message(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(RunFailedError, match="one ended with 3: it broke"):
        measure_speed([FakeRival("one", return_code=3)], [tree], tmp_path / "work", repetitions=1)


def test_ratios_compare_medians_with_the_first_system() -> None:
    values = {"ours": [4.0, 1.0, 2.0], "theirs": [3.0, 9.0, 5.0]}
    samples = [
        Sample(rival, tree, "cold_index_cpu_s", value)
        for tree in ("x", "y")
        for rival, measured in values.items()
        for value in measured
    ]
    assert speed_rows(medians(samples)) == [["", "ours", "theirs"], ["cold index, CPU s", "4", "10 (2.50x)"]]


def test_trees_are_summed_except_for_peaks_and_single_queries() -> None:
    by_tree = {"x": 1.0, "y": 2.0, "z": 6.0}
    assert overall("cold_index_cpu_s", by_tree) == 9.0
    assert overall("peak_mb", by_tree) == 6.0
    assert overall("warm_query_ms", by_tree) == 2.0
