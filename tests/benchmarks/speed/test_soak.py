"""The judgement of answers: a text is stale only if no version of its file in that time contained it."""

import time
from pathlib import Path

from benchmarks.speed.mcp import generated_project
from benchmarks.speed.soak import EditedProject, Tally, growth, summary
from benchmarks.systems.mcp_client import Reply


def reply(sent_s: float, received_s: float) -> Reply:
    return Reply({}, sent_s, received_s)


def test_a_text_is_compared_with_every_version_between_question_and_answer(tmp_path: Path) -> None:
    project = EditedProject(tmp_path, 1, seed=1)
    path = tmp_path / "part0/module0.py"
    old = path.read_text(encoding="utf-8")
    asked = time.time()
    time.sleep(0.1)
    project.edit()
    new = path.read_text(encoding="utf-8")
    now = time.time()
    n_old, n_new = old.count("\n") + 1, new.count("\n") + 1
    assert old != new
    assert project.was_there("part0/module0.py", 1, n_old, old, reply(asked, now))
    assert project.was_there("part0/module0.py", 1, n_new, new, reply(asked, now))
    assert not project.was_there("part0/module0.py", 1, n_old, old, reply(now + 1, now + 2))
    assert not project.was_there("part0/module0.py", 2, n_new, new, reply(now + 1, now + 2))
    assert not project.was_there("other.py", 1, 1, "x", reply(asked, now))


def test_the_summary_separates_early_and_late_memory() -> None:
    tally = Tally(calls=3, times_ms=[1.0, 2.0, 3.0])
    memory = [(float(second), [100.0 if second < 10 else 110.0]) for second in range(20)]
    found = summary(tally, memory)
    assert (found["MiB of all servers, second quarter"], found["MiB of all servers, last quarter"]) == (100.0, 110.0)


def test_growth_after_half_of_the_run_is_reported() -> None:
    memory = [(60.0 * minute, [50.0 + minute, min(50.0 + minute, 60.0)]) for minute in range(40)]
    assert growth(memory) == [1.0, 0.0]


def test_a_generated_project_has_the_requested_number_of_files(tmp_path: Path) -> None:
    root = generated_project(tmp_path, 3)
    assert len(list(root.rglob("*.py"))) == 3
    compile((root / "part0/module2.py").read_text(encoding="utf-8"), "module2", "exec")
