"""Profiles: named policies of a session."""

from pathlib import Path

import pytest

from codecards.config import settings_from_environment
from codecards.errors import UsageError
from codecards.router.memory.operations import ToolCall
from codecards.router.memory.state import TaskSpec
from codecards.router.memory.store import SessionStore
from codecards.router.notes.archive import Archive
from codecards.router.policy.hysteresis import HysteresisSettings
from codecards.router.ports import InMemoryTexts, Project
from codecards.router.profiles import PROFILES, profile_named
from codecards.router.session import Session

FILES = {"a.py": "def a():\n    return 1\n", "b.py": "def b():\n    return 2\n"}


def start(folder: Path, name: str, profile: str) -> Session:
    store, archive = SessionStore(folder / "sessions"), Archive(folder / "archive")
    return Session.start(
        store, name, Project(InMemoryTexts(FILES)), archive, TaskSpec("make a return 3", profile=profile)
    )


def work(session: Session) -> str:
    session.open_file("a.py", "change it")
    session.record(ToolCall("read", paths=["a.py"], text="read a.py", result="first result"))
    session.record(ToolCall("run", text="pytest", result="second result"))
    return session.before_generation().text


@pytest.mark.seed("S1-35", "S1-24")
def test_the_minimal_profile_shows_the_task_the_last_operation_and_its_result(tmp_path: Path) -> None:
    text = work(start(tmp_path, "small", "minimal"))
    assert "goal: make a return 3" in text
    assert "second result" in text
    assert "first result" not in text
    assert "def a()" not in text
    assert "def a()" in work(start(tmp_path, "usual", "coding-agent"))


@pytest.mark.seed("S0-36", "S2-1")
def test_each_profile_has_its_own_version_and_a_session_keeps_its_profile(tmp_path: Path) -> None:
    versions = {name: start(tmp_path, name, name).before_generation().version for name in PROFILES}
    assert len(set(versions.values())) == len(PROFILES)
    again = Session(
        SessionStore(tmp_path / "sessions"), "minimal", Project(InMemoryTexts(FILES)), Archive(tmp_path / "archive")
    )
    assert again.before_generation().version == versions["minimal"]


def test_the_article_profile_has_the_published_thresholds() -> None:
    thresholds = profile_named("article").turn.routing.hysteresis
    assert (thresholds.promote_after_hits, thresholds.demote_after_turns) == (2, 6)
    assert thresholds.cooldown_turns < HysteresisSettings().cooldown_turns


def test_an_unknown_profile_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="coding-agent, article, minimal, chat"):
        start(tmp_path, "odd", "nonsense")
    assert SessionStore(tmp_path / "sessions").names() == []


@pytest.mark.seed("S1-22")
@pytest.mark.parametrize(
    ("environment", "profile"),
    [
        ({}, "coding-agent"),
        ({"CONTEXT_MODE_PROFILE": "minimal"}, "minimal"),
        ({"CONTEXT_MODE_PROFILE": "minimal", "CODECARDS_PROFILE": "chat"}, "chat"),
    ],
)
def test_the_environment_names_the_profile(environment: dict[str, str], profile: str) -> None:
    assert settings_from_environment(environment).profile == profile
