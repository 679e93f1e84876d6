"""Measures the same work of codecards and its rivals, in turns within one run."""

import shutil
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import Usage
from benchmarks.sets.queries import LabelledQuery
from benchmarks.systems.bm25 import SUFFIXES
from benchmarks.systems.rivals import Rival

FIGURES = {
    "cold_index_cpu_s": "cold index, CPU s",
    "unchanged_refresh_cpu_s": "refresh without a change, CPU s",
    "one_file_refresh_cpu_s": "refresh after one edit, CPU s",
    "one_shot_cpu_s": "one-shot command, CPU s",
    "warm_query_ms": "warm query in one process, ms",
    "disk_mb": "index on disk, MB",
    "peak_mb": "peak memory of the cold index, MB",
    "cold_index_wall_s": "cold index, wall s",
}
"""Figure -> its heading; lower is better for all figures."""

QUERIES = (
    "where is the configuration read",
    "how are errors reported to the user",
    "parse the options",
    "write the result to a file",
    "what happens when a connection is closed",
)
"""Queries of the one-shot and warm figures for trees without their own queries."""
N_OWN_QUERIES = 20
MEGABYTE = 1_000_000


class RunFailedError(Exception):
    """A measured command failed; the message has its name and the end of its output."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One figure, measured once."""

    rival: str
    tree: str
    figure: str
    """A key of `FIGURES`."""
    value: float


def measure_speed(
    rivals: Sequence[Rival],
    trees: Sequence[Path],
    folder: Path,
    *,
    repetitions: int,
    queries: Sequence[LabelledQuery] = (),
    say: Callable[[str], None] = lambda line: None,
) -> list[Sample]:
    """Measure every figure of each rival on each tree.

    Rivals take turns within each repetition, so that a busy spell of the machine affects all of them.

    Args:
        rivals: Prepared rivals.
        trees: Folders to index; they are copied first, because one figure edits a file.
        folder: Folder for the copies and the indexes; those of earlier runs are removed.
        repetitions: How often each figure is measured.
        queries: Queries about the trees, each asked once, because some products cache their answers.
        say: Called with one line of progress at a time.

    Raises:
        RunFailedError: A command failed.
    """
    samples: list[Sample] = []
    for tree in trees:
        copy = folder / "trees" / tree.name
        _replace_tree(tree, copy)
        own = [query for query in queries if query.tree == tree.name][:N_OWN_QUERIES]
        asked = own or [LabelledQuery(f"q{i}", tree.name, text, "", "", ()) for i, text in enumerate(QUERIES)]
        for repetition in range(repetitions):
            # Every second round is reversed, so that no rival always runs after a long pause.
            for rival in rivals if repetition % 2 == 0 else list(rivals)[::-1]:
                state = folder / "state" / rival.name.replace(" ", "_") / tree.name
                samples += [
                    Sample(rival.name, tree.name, figure, value)
                    for figure, value in _measure_once(rival, copy, state, asked).items()
                ]
            say(f"{tree.name}: {repetition + 1}/{repetitions}")
    return samples


def medians(samples: Iterable[Sample]) -> dict[str, dict[str, dict[str, float]]]:
    """Return figure -> rival -> tree -> median over the repetitions."""
    groups: dict[tuple[str, str, str], list[float]] = {}
    for sample in samples:
        groups.setdefault((sample.figure, sample.rival, sample.tree), []).append(sample.value)
    by_figure: dict[str, dict[str, dict[str, float]]] = {}
    for (figure, rival, tree), values in groups.items():
        by_figure.setdefault(figure, {}).setdefault(rival, {})[tree] = statistics.median(values)
    return by_figure


def overall(figure: str, by_tree: Mapping[str, float]) -> float:
    """Return one value for all trees: the median for times of one query, the maximum for peaks, else the sum."""
    if figure == "peak_mb":
        return max(by_tree.values())
    if figure in {"warm_query_ms", "one_shot_cpu_s"}:
        return statistics.median(by_tree.values())
    return sum(by_tree.values())


def _measure_once(rival: Rival, tree: Path, state: Path, queries: Sequence[LabelledQuery]) -> dict[str, float]:
    shutil.rmtree(state, ignore_errors=True)
    state.mkdir(parents=True)
    cold = _checked(rival.index(tree, state), rival)
    disk_bytes = rival.disk_bytes(tree, state)
    unchanged = _checked(rival.index(tree, state), rival)
    one_shots = [_checked(rival.recall(tree, state, query.text), rival).cpu_s for query in queries[:3]]
    _edit_one_file(tree)
    edited = _checked(rival.index(tree, state), rival)
    answers = list(rival.answers({tree: list(queries)}, state, depth=10, repeat=1))
    query_ms = [answer.query_ms for answer in answers if answer.query_ms]
    figures = {
        "cold_index_cpu_s": cold.cpu_s,
        "unchanged_refresh_cpu_s": unchanged.cpu_s,
        "one_file_refresh_cpu_s": edited.cpu_s,
        "one_shot_cpu_s": statistics.median(one_shots),
        "disk_mb": disk_bytes / MEGABYTE,
        "peak_mb": cold.peak_bytes / MEGABYTE,
        "cold_index_wall_s": cold.wall_s,
    }
    # A product with a command only has no warm process.
    return figures | ({"warm_query_ms": statistics.median(query_ms)} if query_ms else {})


def _checked(usage: Usage, rival: Rival) -> Usage:
    if usage.return_code:
        raise RunFailedError(f"{rival.name} ended with {usage.return_code}: {usage.errors.strip()[-500:]}")
    return usage


def _replace_tree(tree: Path, copy: Path) -> None:
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(tree, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".codecards"))


def _edit_one_file(tree: Path) -> None:
    """Append an empty line to the source file of median size."""
    files = sorted((path for path in tree.rglob("*") if path.is_file() and path.suffix in SUFFIXES), key=str)
    files.sort(key=lambda path: path.stat().st_size)
    with files[len(files) // 2].open("a", encoding="utf-8") as file:
        file.write("\n")
