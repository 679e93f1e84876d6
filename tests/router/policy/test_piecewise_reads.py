"""Hints about files that are read in pieces."""

from pathlib import Path

import pytest

from codecards.router.memory.ledger import LineUse
from codecards.router.memory.operations import ToolCall
from codecards.router.memory.state import TaskSpec
from codecards.router.memory.store import SessionStore
from codecards.router.notes.archive import Archive
from codecards.router.policy.piecewise_reads import piecewise_hint
from codecards.router.ports import InMemoryTexts, Project
from codecards.router.session import Session

TEXT = "".join(f"line {number}\n" for number in range(1, 11))


def count(text: str) -> int:
    return text.count("\n")


@pytest.mark.seed("S0-13")
@pytest.mark.parametrize(
    ("pieces", "hint"),
    [
        ([(1, 10)], ""),
        ([(1, 2), (5, 6)], ""),
        ([(1, 3), (3, 4), (8, 99)], "70% of a.py was read in 3 pieces, 8 tokens; the whole file takes 10: open_file"),
    ],
)
def test_the_hint_is_given_once_half_of_a_file_was_read_in_pieces(pieces: list[tuple[int, int]], hint: str) -> None:
    uses = [LineUse("a.py", 1, first, last) for first, last in pieces]
    assert (
        piecewise_hint([LineUse("b.py", 1, 1, 9), LineUse("a.py", 1), *uses], "a.py", TEXT, count)[: len(hint) or 1]
        == hint
    )


@pytest.mark.seed("S0-13")
def test_a_session_gives_the_hint_unless_the_file_is_open(tmp_path: Path) -> None:
    session = Session.start(
        SessionStore(tmp_path),
        "s",
        Project(InMemoryTexts({"a.py": TEXT})),
        Archive(tmp_path / "archive"),
        TaskSpec("look"),
    )
    assert session.record(ToolCall("read", paths=["a.py"], lines=(1, 3))) == "recorded read"
    assert session.record(ToolCall("read", paths=["a.py"], lines=(4, 8))).startswith("recorded read; 80% of a.py")
    session.open_file("a.py", "see it whole")
    assert session.record(ToolCall("read", paths=["a.py"], lines=(9, 10))) == "recorded read"
