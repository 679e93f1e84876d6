"""The replay of sessions: content in view, stale lines, oscillations."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.sessions.figures import (
    Measured,
    SessionFigures,
    at_equal_rate,
    interval_of_lead,
    merge_figures,
    summary_lines,
)
from benchmarks.sessions.policies import Event, Fragment, View, Workspace, make_policy
from benchmarks.sessions.recordings import Recording, in_part
from benchmarks.sessions.run import main, replay

TEXT = "".join(f"line {number}\n" for number in range(1, 101))


def event(turn: int, kind: str = "read", path: str = "a.py", first: int = 0, last: int = 0, out: int = 400) -> Event:
    return Event(turn, kind, path, first, last, 40, out, False)


def nothing(path: str) -> None:
    """Stand for a tree without files."""
    del path


class Scripted:
    """A policy that shows a given view."""

    def __init__(self, views: Sequence[View]) -> None:
        """Take the view of each turn."""
        self.views = list(views)

    def begin(self, task: str, workspace: Workspace) -> None:
        """Do nothing."""

    def view(self) -> View:
        """Return the next view."""
        return self.views.pop(0)

    def take(self, event: Event) -> None:
        """Do nothing."""


def figures_of(events: Sequence[Event], views: Sequence[View]) -> SessionFigures:
    figures = SessionFigures()
    replay(Recording("x", "task", tuple(events), nothing), {"a.py": TEXT}, Scripted(views), figures)
    return figures


@pytest.mark.parametrize(
    ("view", "full", "digest"),
    [
        (View(0, [Fragment("a.py", 0, 1, 0)]), 1, 0),
        (View(0, [Fragment("a.py", 0, 10, 20)]), 1, 0),
        (View(0, [Fragment("a.py", 0, 10, 15), Fragment("a.py", 0, 16, 20)]), 1, 0),
        (View(0, [Fragment("a.py", 0, 10, 19)]), 0, 1),
        (View(0, [], frozenset({"a.py"})), 0, 1),
        (View(0, [Fragment("b.py", 0, 1, 0)]), 0, 0),
    ],
)
def test_lines_are_in_view_in_full_or_in_part(view: View, full: int, digest: int) -> None:
    figures = figures_of([event(1, first=10, last=20)], [view])
    assert (figures.n_accesses, figures.n_full, figures.n_digest) == (1, full, digest)


def test_the_tokens_at_full_injections_rate_are_interpolated_between_two_budgets() -> None:
    def measured(n_full: int, tokens: int) -> SessionFigures:
        return SessionFigures(n_accesses=10, n_full=n_full, tokens=[tokens])

    found = {
        ("full", 0): measured(6, 10_000),
        ("ours", 2_000): measured(4, 2_000),
        ("ours", 4_000): measured(8, 4_000),
        ("fifo", 2_000): measured(3, 2_000),
        ("fifo", 4_000): measured(5, 4_000),
    }
    cells = Measured(("t",), {cell: [figures] for cell, figures in found.items()})
    assert at_equal_rate(cells.rows(), "full") == {"ours": pytest.approx(0.3), "fifo": None}
    lead = "'full' at 4,000: ours 0.800 [0.800, 0.800]; best other of the budget 0.500 (fifo), lead +0.300 [+0.300, +0.300]"
    assert lead in summary_lines(cells)


def test_the_interval_of_a_lead_resamples_whole_tasks() -> None:
    def hits(*n_full: int) -> list[SessionFigures]:
        return [SessionFigures(n_accesses=10, n_full=number) for number in n_full]

    measured = Measured(("a", "a", "b", "b"), {("ours", 1): hits(9, 9, 5, 5), ("fifo", 1): hits(5, 5, 5, 5)})
    assert interval_of_lead(measured, ("ours", 1), ("fifo", 1), "full") == pytest.approx((0.0, 0.4))
    low, high = interval_of_lead(measured, ("ours", 1), None, "full")
    assert (low, high) == pytest.approx((0.5, 0.9))


def test_figures_of_two_halves_are_merged() -> None:
    one, other = (
        SessionFigures(n_accesses=3, n_full=1, tokens=[100]),
        SessionFigures(n_accesses=1, n_full=1, tokens=[200, 300]),
    )
    row = merge_figures([one, other]).row()
    assert (row["full"], row["mean tokens"], row["peak tokens"]) == (0.5, 200, 300)


def test_all_sessions_of_a_task_are_in_one_half() -> None:
    recordings = [Recording(f"{agent}/task-{n}", "", (), nothing) for n in range(20) for agent in ("a", "b")]
    halves = [[one for one in recordings if in_part(one, part)] for part in ("tuning", "held-out")]
    assert sorted([*halves[0], *halves[1]], key=lambda one: one.name) == sorted(recordings, key=lambda one: one.name)
    tasks = [{one.name.rpartition("/")[2] for one in half} for half in halves]
    assert tasks[0]
    assert tasks[1]
    assert not tasks[0] & tasks[1]


def test_stale_lines_are_not_in_view_and_are_counted() -> None:
    old = View(0, [Fragment("a.py", 0, 1, 50)])
    figures = figures_of(
        [event(1, "edit", first=10, last=12), event(2, first=10, last=12), event(3, first=30, last=31)],
        [View(0), old, old],
    )
    assert figures.n_stale_turns == 2
    assert figures.n_full == 0
    assert (figures.n_again, figures.n_again_digest) == (2, 0)


@pytest.mark.seed("S2-49")
def test_a_switch_that_is_soon_reversed_is_an_oscillation() -> None:
    turns = [event(number) for number in range(1, 12)]
    views = [View(0) for _ in turns]
    views[0] = View(0, switches=[("a.py", "promote")])
    views[3] = View(0, switches=[("a.py", "demote")])
    views[10] = View(0, switches=[("a.py", "promote")])
    assert (figures_of(turns, views).n_switches, figures_of(turns, list(views)).n_oscillations) == (3, 1)


@pytest.mark.seed("S2-6", "S0-46")
@pytest.mark.parametrize("name", ["full", "sliding", "summary", "fifo", "ours", "ours:demote=2,promote=1"])
def test_every_policy_runs_and_keeps_its_budget(name: str) -> None:
    events = [
        event(number, kind, first=number, last=number + 5, out=4_000)
        for number, kind in enumerate(["read", "edit", "run"] * 8, 1)
    ]
    figures = SessionFigures()
    replay(Recording("x", "task", tuple(events), nothing), {"a.py": TEXT}, make_policy(name, 3_000), figures)
    row = figures.row()
    assert row["again in view"] > 0
    if name != "full":
        assert row["peak tokens"] <= 3_000 + 1_300 + 1_050  # one act can be larger than what is left
    if name.startswith("ours"):
        assert row["peak tokens"] <= 3_000 + 1_300
        assert (row["stale turns"], row["goal kept"], row["oscillations"]) == (0, 1, 0)
    if name == "full":
        assert row["stale turns"] > 0


@pytest.mark.parametrize("name", ["", "best", "ours:speed=1"])
def test_an_unknown_policy_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="There is no"):
        make_policy(name, 100)


@pytest.mark.seed("S4-34")
def test_the_command_prints_a_table_and_writes_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "trees" / "one").mkdir(parents=True)
    (tmp_path / "trees" / "one" / "a.py").write_text(TEXT, encoding="utf-8")
    row = {
        "id": "agent/one",
        "task": "KeyError: x in a.py",
        "events": [
            {
                "turn": turn,
                "kind": "read",
                "path": "a.py",
                "start": 1,
                "end": 9,
                "in_chars": 9,
                "out_chars": 90,
                "error": False,
            }
            for turn in (1, 2)
        ],
    }
    (tmp_path / "s.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    arguments = ["--sessions", str(tmp_path / "s.jsonl"), "--trees", str(tmp_path / "trees"), "--budget", "4000"]
    assert main([*arguments, "--json", str(tmp_path / "o.json"), "--plot", str(tmp_path / "o.svg")]) == 0
    printed = capsys.readouterr().out
    assert "| ours | 4000 | 0.500 |" in printed
    assert "| mean tokens | peak tokens |" in printed
    assert "| ms/turn |" in printed
    assert len(json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))["rows"]) == 5
    assert "<circle" in (tmp_path / "o.svg").read_text(encoding="utf-8")
    assert main(["--sessions", str(tmp_path / "s.jsonl"), "--trees", str(tmp_path)]) == 3
