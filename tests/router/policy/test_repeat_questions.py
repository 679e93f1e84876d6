"""Repeated questions are refused."""

from pathlib import Path

import pytest

from codecards.router.memory.state import PastQuestion
from codecards.router.policy.repeat_questions import check_repeat
from tests.support.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.seed("S1-41", "S1-44")
def test_the_same_question_is_refused_with_other_words(desk: Desk) -> None:
    session = desk.start()
    assert session.recall("excel export").refusal is None
    refusal = session.recall("export excel").refusal
    assert refusal is not None
    assert refusal.try_instead == ("stream_rows",)
    assert "Try other words: stream_rows" in refusal.message()


@pytest.mark.parametrize(
    ("query", "turn", "generation", "refused"),
    [
        ("login timeout", 3, "7", True),
        ("the login timeout", 3, "7", True),
        ("login timeout", 30, "7", False),
        ("login timeout", 3, "8", False),
        ("logout", 3, "7", False),
    ],
)
def test_a_question_may_be_asked_again_later_or_on_a_newer_index(
    query: str, turn: int, generation: str, refused: bool
) -> None:
    asked = [PastQuestion("login timeout", 2, (), "7")]
    assert (check_repeat(query, turn, asked, (), generation=generation) is not None) is refused
