"""Questions come from a file, from git's history or from a session."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codecards.errors import UsageError
from codecards.router.memory.operations import Operation
from codecards.router.memory.state import SessionState
from codecards.router.memory.working_memory import TaskState, WorkingMemory
from codecards.savings.questions import SavingsQuestion, questions_of_file, questions_of_history, questions_of_session


def test_a_file_has_queries_with_paths_or_targets(tmp_path: Path) -> None:
    rows = [
        {"query": "one", "files": ["a.py", "gone.py"]},
        {"query": "two", "targets": [{"path": "b.py", "start_line": 3}]},
        {"query": "three", "files": ["gone.py"]},
    ]
    path = tmp_path / "queries.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n", encoding="utf-8")
    questions, n_left_out = questions_of_file(path, {"a.py", "b.py"})
    assert questions == [SavingsQuestion("one", ("a.py",), "file"), SavingsQuestion("two", ("b.py",), "file")]
    assert n_left_out == 1


@pytest.mark.parametrize(
    "line",
    ["{", "[]", '{"query": ""}', '{"query": "x"}', '{"query": "x", "files": [3]}', '{"query": "x", "targets": [{}]}'],
)
def test_a_malformed_line_is_an_error_with_its_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text(f'{{"query": "x", "files": []}}\n{line}\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"queries\.jsonl:2 is not a question"):
        questions_of_file(path, set())


def git(root: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(root), *arguments],
        check=True,
        capture_output=True,
    )


def test_a_commit_subject_is_a_question_answered_by_the_changed_files(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    for subject, names in [
        ("fix(auth): purge expired tokens at startup (#12)", ["auth.py", "auth_test.py"]),
        ("Short one", ["auth.py"]),
        ("Rename a great many things at once", [f"f{n}.py" for n in range(12)]),
        ("Take the discount off the price", ["\u4ef7\u683c.py"]),
        ("Write more about it in the docs", ["README.md"]),
    ]:
        for name in names:
            (tmp_path / name).write_text(subject, encoding="utf-8")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", subject)
    known = {"auth.py", "\u4ef7\u683c.py", *(f"f{n}.py" for n in range(12))}
    found = questions_of_history(tmp_path, known, 10)
    assert [(one.query, one.targets) for one in found] == [
        ("Take the discount off the price", ("\u4ef7\u683c.py",)),
        ("purge expired tokens at startup", ("auth.py",)),
    ]
    assert len(questions_of_history(tmp_path, known, 1)) == 1


def test_a_folder_without_git_has_no_history(tmp_path: Path) -> None:
    assert questions_of_history(tmp_path, {"a.py"}, 10) == []


def test_a_recall_is_answered_by_the_next_file_read_or_by_its_best_hit() -> None:
    operations = (
        Operation(1, 1, "recall", ("a.py", "b.py"), "where is it"),
        Operation(2, 1, "search", ("c.py",), "it"),
        Operation(3, 1, "read", ("b.py",)),
        Operation(4, 1, "recall", ("d.py", "e.py"), "and the other"),
        Operation(5, 1, "recall", (), "nothing found"),
    )
    state = SessionState("mcp", WorkingMemory(TaskState("x")), 1000, "", "")
    found = list(questions_of_session(replace(state, operations=operations)))
    assert found == [
        SavingsQuestion("where is it", ("b.py",), "mcp"),
        SavingsQuestion("and the other", ("d.py",), "mcp"),
    ]
