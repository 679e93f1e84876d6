"""Panel views: a session turn by turn, read from its files on disk."""

from pathlib import Path

import pytest

from codecards.errors import TargetNotFoundError
from codecards.panel.views import SessionView, session_view
from codecards.router.memory.operations import ToolCall
from codecards.router.memory.state import TaskSpec
from codecards.router.memory.store import SessionStore
from codecards.router.notes.archive import Archive
from codecards.router.ports import InMemoryTexts, Project
from codecards.router.profiles import SessionSettings
from codecards.router.session import Session

FILES = {"a.py": "def one():\n    return 1\n", "b.py": "def two():\n    return 2\n"}


class Desk:
    """A session with its files in memory."""

    def __init__(self, folder: Path, *, traces: bool = False) -> None:
        self.files = dict(FILES)
        self.store = SessionStore(folder / "sessions")
        self.session = Session.start(
            self.store,
            "task",
            Project(InMemoryTexts(self.files)),
            Archive(folder / "archive"),
            TaskSpec("g"),
            SessionSettings(traces_turns=traces),
        )

    def view(self, turn: int | None = None) -> SessionView:
        """Return the panel's view of the session."""
        return session_view(self.store, "task", turn=turn)


@pytest.mark.seed("S4-24")
def test_each_block_has_its_share_source_and_position_on_the_bar(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.session.open_file("a.py", "see one")
    context = desk.session.before_generation("hello")
    shown = desk.view().shown
    assert shown is not None
    assert [(one.position, one.name, one.source) for one in shown.blocks] == [
        (place + 1, block.name, block.source) for place, block in enumerate(context.blocks)
    ]
    assert sum(one.share for one in shown.blocks) == pytest.approx(1)
    for one, after in zip(shown.blocks, shown.blocks[1:], strict=False):
        assert one.start + one.share == pytest.approx(after.start)
    assert sum(one.tokens for one in shown.categories) == sum(one.tokens for one in shown.blocks)
    assert (shown.version, shown.total_tokens) == (context.version, context.ledger.total_tokens)


def test_only_traced_turns_have_texts(tmp_path: Path) -> None:
    plain, traced = Desk(tmp_path / "plain"), Desk(tmp_path / "traced", traces=True)
    sent = [desk.session.before_generation("hello") for desk in (plain, traced)]
    views = [plain.view(), traced.view()]
    texts = [[block.text for block in view.shown.blocks] if view.shown else [] for view in views]
    assert set(texts[0]) == {None}
    assert texts[1] == [block.text for block in sent[1].blocks]
    assert [view.traced for view in views] == [False, True]


def test_an_earlier_turn_can_be_shown(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    first = desk.session.before_generation("first")
    desk.session.open_file("a.py", "see one")
    desk.session.before_generation("second")
    shown = desk.view(1).shown
    assert shown is not None
    assert [block.name for block in shown.blocks] == [block.name for block in first.blocks]
    with pytest.raises(TargetNotFoundError):
        desk.view(9)


@pytest.mark.seed("S2-1", "S4-24")
def test_every_change_of_mode_is_listed_with_its_reason(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.session.open_file("a.py", "see one")
    desk.session.before_generation()
    for _ in range(2):
        desk.session.record(ToolCall("recall", paths=["b.py"], query="two"))
    desk.session.before_generation()
    desk.session.close_file("a.py")
    view = desk.view().files
    assert view.turns == (1, 2, 2)  # the last is now, after the tool call that followed turn 2
    assert {row.path: [cell.mode for cell in row.cells] for row in view.rows} == {
        "b.py": ["out", "full", "full"],
        "a.py": ["full", "full", "out"],
    }
    assert [(one.turn, one.path, one.before, one.after, one.why) for one in view.switches] == [
        (2, "a.py", "full", "out", "closed"),
        (2, "b.py", "out", "full", "found by 2 retrievals in a row"),
        (1, "a.py", "out", "full", "opened"),
    ]


def test_files_are_shown_before_the_first_turn(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.session.open_file("a.py", "see one")
    view = desk.view()
    assert view.shown is None
    assert [[cell.mode for cell in row.cells] for row in view.files.rows] == [["full"]]
    assert view.ledger == ()


def test_the_ledger_has_a_row_per_turn_with_four_shares(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    totals = [desk.session.before_generation(f"turn {n}").ledger.total_tokens for n in range(3)]
    rows = desk.view().ledger
    assert [row.total_tokens for row in rows] == totals
    assert [row.kept for row in rows] == [True] * 3
    assert all(0 <= share.share <= 1 for row in rows for share in row.shares)
    assert desk.view().summary.peak_tokens == max(totals)


def test_successive_messages_are_listed_together(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for number in range(3):
        desk.session.record(ToolCall("run", text=f"make {number}", result=f"done {number}"))
    desk.session.before_generation("go on")
    shown = desk.view().shown
    assert shown is not None
    assert [block for run in shown.runs for block in run] == list(shown.blocks)
    assert [len(run) for run in shown.runs if run[0].name == "recent"] == [6]
    assert {len(run) for run in shown.runs if run[0].name != "recent"} == {1}
