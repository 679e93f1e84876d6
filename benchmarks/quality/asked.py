"""Measures the asked set: how often an answering function is first or among the first three, and what the verdicts are worth."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report.tables import markdown
from benchmarks.result_files import DEFAULT_CACHE, new_result, write_result
from benchmarks.sets.asked import HALVES, AskedQuestion, lay_out_asked, read_asked
from codecards.config import DEFAULT_EMBEDDER, Settings
from codecards.engine import Engine

DEPTH = 10
WITHIN = 3
"""`found` claims that one of so many first hits answers."""


@dataclass(frozen=True, slots=True)
class AskedResult:
    """What was answered to one question."""

    question: AskedQuestion
    rank: int | None
    """Of the first answering hit; None if none of `DEPTH` answers."""
    verdict: str
    shown: tuple[str, ...]
    """Symbol ids of the first hits."""


def ask(questions: Sequence[AskedQuestion], trees: Path, state: Path, embedder: str) -> list[AskedResult]:
    """Return the results of questions, tree by tree; those whose tree is missing are left out."""
    results = []
    for name in dict.fromkeys(question.tree for question in questions):
        if not (trees / name).is_dir():
            continue
        with Engine(trees / name, Settings(index=state / name, embedder=embedder)) as engine:
            engine.refresh()
            for question in (one for one in questions if one.tree == name):
                answer = engine.recall(question.text, limit=DEPTH)
                cards = [hit.card for hit in answer.hits]
                places = [(card.path, card.name_line, card.last_line) for card in cards]
                shown = tuple(card.symbol_id for card in cards[:WITHIN])
                results.append(AskedResult(question, rank_of(question, places), answer.verdict, shown))
    return results


def rank_of(question: AskedQuestion, places: Iterable[tuple[str, int, int]]) -> int | None:
    """Return the rank of the first place (path, first and last line) that lies inside an answer.

    A type that only contains the answering function does not answer.
    """
    for rank, (path, first, last) in enumerate(places, 1):
        for span in (answer.span for answer in question.answers):
            if path == span.path and (span.first_line or 0) <= first and last <= (span.last_line or 0):
                return rank
    return None


def figures(results: Sequence[AskedResult]) -> dict[str, float]:
    """Return the figures of some results: shares of the questions, and precision of the verdicts.

    `found` is right where one of the first `WITHIN` hits answers. `none` shows no hit, and every question here has an answer,
    so each `none` is wrong; its share is given.
    """
    n = len(results)
    found = [one for one in results if one.verdict == "found"]
    values = {
        "questions": float(n),
        "first": sum(one.rank == 1 for one in results) / n,
        "within_three": sum(one.rank is not None and one.rank <= WITHIN for one in results) / n,
        "within_ten": sum(one.rank is not None for one in results) / n,
        "mrr": sum(1 / one.rank for one in results if one.rank) / n,
        "found": len(found) / n,
        "none": sum(one.verdict == "none" for one in results) / n,
    }
    right = sum(one.rank is not None and one.rank <= WITHIN for one in found)
    return {**values, "precision_of_found": right / len(found) if found else 1.0}


def grouped(results: Sequence[AskedResult]) -> dict[str, dict[str, float]]:
    """Return the figures of all results, of each half, and of each half's languages and trees."""
    groups: dict[str, list[AskedResult]] = {}
    for half in HALVES:
        mine = [one for one in results if one.question.half == half]
        for one in mine:
            groups.setdefault(half, []).append(one)
        for one in mine:
            groups.setdefault(f"{half}: {one.question.language}", []).append(one)
        for one in mine:
            groups.setdefault(f"{half}: {one.question.tree}", []).append(one)
    return {name: figures(members) for name, members in groups.items()}


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and write a result file; return the exit code, 3 if no tree can be had."""
    given = _read_arguments(arguments)
    questions = [one for one in read_asked() if given.half in ("", one.half)]
    trees = given.trees
    if trees is None:
        trees, complaints = lay_out_asked(given.cache, given.half)
        for complaint in complaints:
            print(f"left out: {complaint}", file=sys.stderr)
    results = ask(questions, trees, given.cache / "state" / f"asked-{given.embedder}", given.embedder)
    if not results:
        print("There is no tree to ask: name their folder with --trees, or see the messages above.", file=sys.stderr)
        return 3
    found = grouped(results)
    print(markdown(_table(found)))
    if given.list:
        given.list.write_text("".join(map(_line, results)), encoding="utf-8")
    if not given.no_save:
        settings = {"half": given.half or "both", "n_queries": len(results), "embedder": given.embedder, "depth": DEPTH}
        print(write_result(new_result(f"asked-{given.embedder}", settings, found)))
    return 0


def _table(found: dict[str, dict[str, float]]) -> list[list[str]]:
    columns = list(next(iter(found.values())))
    rows = [
        [name, f"{one['questions']:.0f}", *(f"{one[key]:.3f}" for key in columns[1:])] for name, one in found.items()
    ]
    return [["group", *(column.replace("_", " ") for column in columns)], *rows]


def _line(one: AskedResult) -> str:
    answers = ", ".join(answer.name for answer in one.question.answers if answer.is_primary)
    return f"{one.question.id}\t{one.rank}\t{one.verdict}\t{one.question.text}\t{answers}\t{' | '.join(one.shown)}\n"


def _read_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks asked", description=__doc__)
    parser.add_argument("--half", choices=HALVES, default="", help="Only this half: choose by one, report the other.")
    parser.add_argument("--trees", type=Path, help="Folder of the trees (default: downloaded by hash).")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="Trees and indexes, kept between runs.")
    parser.add_argument("--embedder", default=DEFAULT_EMBEDDER)
    parser.add_argument(
        "--list", type=Path, help="Write a line for each question here: id, rank, verdict, what was shown."
    )
    parser.add_argument("--no-save", action="store_true", help="Write no result file.")
    return parser.parse_args(arguments)
