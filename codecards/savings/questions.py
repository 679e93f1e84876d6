"""Collects the questions of a savings report from a file, the project's history, or its sessions."""

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from codecards.errors import UsageError
from codecards.indexer.walk.git import run_git
from codecards.router.memory.state import SessionState

MAX_COMMITS = 400
MAX_CHANGED_FILES = 3
MIN_WORDS = 4
_prefix = re.compile(r"^\s*(?:\w+(?:\([^)]*\))?!?:\s+|\[[^\]]*\]\s*)")
_reference = re.compile(r"(?<!\s)\s*\(?#\d+\)?\s*")


@dataclass(frozen=True, slots=True)
class SavingsQuestion:
    """A question, and the files that answer it."""

    query: str
    targets: tuple[str, ...]
    """Paths from the root; any of them counts."""
    source: str
    """"file", a commit, or a session's name."""


def questions_of_file(path: Path, known: Collection[str]) -> tuple[list[SavingsQuestion], int]:
    """Return the questions of a JSON Lines file, and how many were left out because none of their files is indexed.

    Args:
        path: The file; each line has `query`, and `files` (paths) or `targets` (objects with `path`).
        known: The indexed paths.

    Raises:
        UsageError: The file can't be read, or a line is malformed.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} can't be read: {error}") from error
    questions: list[SavingsQuestion] = []
    n_left_out = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            query, files = _row(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}:{number} is not a question with its files: {error}") from error
        targets = tuple(one for one in files if one in known)
        if targets:
            questions.append(SavingsQuestion(query, targets, "file"))
        else:
            n_left_out += 1
    return questions, n_left_out


def _row(row: object) -> tuple[str, list[str]]:
    """Return the query and the paths of one line.

    Raises:
        ValueError: The line is malformed.
    """
    if not isinstance(row, dict) or not isinstance(row.get("query"), str) or not row["query"].strip():
        raise ValueError("`query` must be a text")
    named = row.get("files", row.get("targets"))
    if not isinstance(named, list):
        raise ValueError("`files` or `targets` must be a list")
    paths = [one.get("path") if isinstance(one, Mapping) else one for one in named]
    if not all(isinstance(one, str) for one in paths):
        raise ValueError("each file must be a path, or an object with `path`")
    return row["query"], [str(one) for one in paths]


def questions_of_history(root: Path, known: Collection[str], limit: int) -> list[SavingsQuestion]:
    """Return the newest commits as questions: the subject is the question, the few source files it changed the answer.

    Args:
        root: The project.
        known: The indexed code files; commits that changed none of them, or many, are skipped.
        limit: Most questions.
    """
    log = run_git(
        root, "log", f"-{MAX_COMMITS}", "--no-merges", "--name-only", "--relative", "-z", "--format=%x01%h%x02%s%x02"
    )
    questions: list[SavingsQuestion] = []
    for entry in (log or b"").split(b"\x01")[1:]:
        if len(questions) == limit:
            break
        commit, subject, names = entry.split(b"\x02", 2)
        query = _reference.sub(" ", _prefix.sub("", subject.decode("utf-8", "replace"))).strip()
        changed = [os.fsdecode(name) for name in re.split(rb"[\0\n]+", names) if name]
        targets = tuple(one for one in changed if one in known)
        if (
            len(query.split()) >= MIN_WORDS
            and 1 <= len(targets) <= MAX_CHANGED_FILES
            and len(changed) <= 3 * MAX_CHANGED_FILES
        ):
            questions.append(SavingsQuestion(query, targets, f"commit {commit.decode()}"))
    return questions


def questions_of_session(state: SessionState) -> Iterator[SavingsQuestion]:
    """Yield the recalls of a session; the next file that the agent read or changed is the answer, else the best hit."""
    for number, operation in enumerate(state.operations):
        if operation.kind != "recall" or not operation.query:
            continue
        after = next(
            (
                one.paths
                for one in state.operations[number + 1 :]
                if one.paths and one.kind not in ("recall", "search", "list")
            ),
            operation.paths[:1],
        )
        if after:
            yield SavingsQuestion(operation.query, tuple(after), state.name)
