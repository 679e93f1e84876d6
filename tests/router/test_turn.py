"""Turns: situations in which agents often fail, and what the context shows in them."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from codecards.router.assemble.context import OutcomeKind
from codecards.router.memory.operations import ToolCall
from codecards.router.memory.state import TaskSpec
from codecards.router.memory.store import SessionStore
from codecards.router.notes.archive import Archive
from codecards.router.ports import FoldedHit, InMemoryTexts, Project
from codecards.router.session import Session

FILES = {
    "api/users.py": "def list_users():\n    return []\n",
    "rules.md": "All exports are streamed.\n",
    "notes.md": "users\n",
}


class Words:
    """A project that finds hits only for its own words."""

    def __init__(self) -> None:
        self.queries: list[str] = []

    def recall(self, query: str, limit: int) -> Sequence[FoldedHit]:
        """Return the users' API if the query names it."""
        self.queries.append(query)
        hit = FoldedHit("api/users.py::list_users", "api/users.py", "def list_users()", score=1.0)
        return [hit][:limit] if "list_users" in query else []

    def near_words(self, query: str) -> Sequence[str]:
        """Return words of the project."""
        del query
        return ("list_users", "export")


@pytest.fixture
def words() -> Words:
    return Words()


@pytest.fixture
def session(tmp_path: Path, words: Words) -> Session:
    project = Project(InMemoryTexts(dict(FILES)), recaller=words, vocabulary=words)
    return Session.start(
        SessionStore(tmp_path / "sessions"),
        "task",
        project,
        Archive(tmp_path / "archive"),
        TaskSpec("export the users"),
    )


@pytest.mark.seed("S2-5")
def test_a_constraint_said_in_passing_is_still_there_after_many_turns(session: Session) -> None:
    session.before_generation("The endpoint must not load all rows at once. How do we begin?")
    for number in range(30):
        session.record(ToolCall("run", text=f"pytest {number}", result="ok\n" * 400))
        text = session.before_generation("go on").text
    assert "constraint (must hold): The endpoint must not load all rows at once" in text


@pytest.mark.seed("S2-5")
def test_an_old_requirement_does_not_come_back_as_the_new_one(session: Session) -> None:
    session.before_generation("Write CSV.")
    session.set_goal("export the users as Excel", constraints=["keep the column order"])
    text = session.before_generation("go on").text
    assert text.count("goal: ") == 1
    assert "goal: export the users as Excel" in text


@pytest.mark.seed("S2-5")
def test_goal_and_constraints_come_before_all_long_blocks(session: Session) -> None:
    session.add_constraint("stream the rows")
    session.open_file("rules.md", "follow them")
    session.record(ToolCall("run", text="pytest", result="x = 1\n" * 3000))
    text = session.before_generation("go on").text
    assert text.index("stream the rows") < text.index("All exports are streamed.") < text.index("pytest")


@pytest.mark.seed("S2-5")
def test_a_rule_that_was_opened_stays_in_view_as_it_is_on_disk(session: Session) -> None:
    session.open_file("rules.md", "follow them")
    session.pin("rules.md")
    for _ in range(12):
        context = session.before_generation("go on")
    assert "All exports are streamed." in context.text


@pytest.mark.seed("S2-5")
def test_where_new_logic_belongs_is_shown_with_the_task(session: Session) -> None:
    assert "api/users.py::list_users" in session.before_generation("where does list_users live?").text


@pytest.mark.seed("S2-28")
def test_a_miss_is_followed_by_one_question_in_the_projects_own_words(session: Session, words: Words) -> None:
    context = session.before_generation("where are people written to a table?")
    assert words.queries == ["where are people written to a table? export the users", "list_users export"]
    assert "api/users.py::list_users" in context.text


@pytest.mark.seed("S1-2")
def test_each_item_has_exactly_one_outcome_and_a_reason(session: Session) -> None:
    session.open_file("rules.md", "follow them")
    hits = ["api/users.py", "a.py", "b.py", "notes.md"]
    session.record(ToolCall("search", paths=hits, text="grep users", result="api/users.py:1"))
    session.record(ToolCall("read", paths=["rules.md"], text="cat rules.md", result="All exports are streamed."))
    context = session.before_generation("where does list_users live?")
    kinds = {outcome.what: outcome.kind for outcome in context.outcomes}
    assert len(kinds) == len(context.outcomes)
    assert all(outcome.reason for outcome in context.outcomes)
    assert kinds["file rules.md"] is OutcomeKind.INCLUDED
    assert kinds["file api/users.py"] is OutcomeKind.COMPRESSED
    assert kinds["file notes.md"] is OutcomeKind.OMITTED
    assert kinds["hit api/users.py::list_users"] is OutcomeKind.COMPRESSED


@pytest.mark.seed("S1-23")
def test_the_users_input_is_never_changed(session: Session) -> None:
    asked = "  Please  keep\tmy spacing.  "
    context = session.before_generation(asked)
    assert context.messages[-1] == {"role": "user", "content": asked}
    assert [message["role"] for message in context.messages] == ["system", "user"]
