"""Reads the asked set: questions in the words of somebody who does not know the names, and the functions that answer them.

They were written by reading the code of packages that serve in no other set and in no training. Each package belongs to one half:
`choose` is what a change is chosen by, `report` is what its figures are taken from.
"""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.sets.packages import Package, fetch, read_packages
from benchmarks.sets.queries import Span
from benchmarks.sets.trees import TreeError, unpack_archive

ASKED_SET = "asked-set-1"
"""Name of the trees' folder; its number changes with the packages."""
QUESTIONS = Path(__file__).parent / "asked.jsonl"
PACKAGES = read_packages(Path(__file__).parent / "asked_packages.toml")
HALVES = ("choose", "report")


@dataclass(frozen=True, slots=True)
class AskedAnswer:
    """One function or type that answers a question."""

    span: Span
    """All its lines, with the comment above."""
    name: str
    """Qualified."""
    is_primary: bool
    """Whether it is the best answer; the others answer too."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """One question and what answers it."""

    id: str
    tree: str
    half: str
    language: str
    """Of the best answer."""
    text: str
    answers: tuple[AskedAnswer, ...]


def read_asked(file: Path = QUESTIONS) -> list[AskedQuestion]:
    """Return the questions of a file, in its order.

    Raises:
        OSError: The file can't be read.
        ValueError: A line is not a JSON object.
        KeyError: A row lacks a field.
    """
    return [_question(json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def tree_name(package: Package) -> str:
    """Return the folder name of a package's tree, with its version: "query-core-5.108.4"."""
    wanted = package.requirement.rpartition(":")[2].lstrip("@").replace("==", "-").replace("@", "-")
    return wanted.rpartition("/")[2]


def lay_out_asked(cache: Path, half: str = "") -> tuple[Path, list[str]]:
    """Download the packages whose tree is missing; return the trees' folder, and a line for each package that can't be had."""
    folder, complaints = cache / ASKED_SET, list[str]()
    for package in PACKAGES:
        tree = folder / tree_name(package)
        if tree.exists() or (half and package.half != half):
            continue
        try:
            with tempfile.TemporaryDirectory() as downloads:
                unpack_archive(fetch(package, Path(downloads)), tree)
        except TreeError as error:
            complaints.append(str(error))
    return folder, complaints


def _question(row: dict[str, object]) -> AskedQuestion:
    answers = row["answers"]
    assert isinstance(answers, list)
    return AskedQuestion(
        id=str(row["id"]),
        tree=str(row["tree"]),
        half=str(row["half"]),
        language=str(row["language"]),
        text=str(row["query"]),
        answers=tuple(
            AskedAnswer(
                Span(one["path"], one["start_line"], one["end_line"]), one["name"], bool(one.get("primary", False))
            )
            for one in answers
        ),
    )
