"""Settings: every value is checked, and the error lists what there is."""

from pathlib import Path

import pytest

from codecards.config import Settings, settings_from_environment, unknown_variables
from codecards.environment import is_debug
from codecards.errors import UsageError
from codecards.router.profiles import PROFILES
from codecards.router.session_defaults import PROFILE_NAMES

SWITCHES = ("CODECARDS_TRANSFORMER", "CODECARDS_TUNED", "CODECARDS_TRACE")


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_is_on_or_off(name: str) -> None:
    values = [settings_from_environment({name: text}) for text in ("1", "yes", "ON", "true")]
    others = [settings_from_environment({name: text}) for text in ("0", "no", "Off", "false")]
    assert len({*values}) == len({*others}) == 1
    assert values[0] != others[0]
    assert settings_from_environment({name: " "}) == settings_from_environment({})
    with pytest.raises(UsageError, match=rf"{name}=maybe.*use 1 or 0"):
        settings_from_environment({name: "maybe"})


@pytest.mark.parametrize(
    ("name", "value", "listed"),
    [
        ("CODECARDS_PROFILE", "nosuch", "coding-agent, article, minimal, chat"),
        ("CONTEXT_MODE_PROFILE", "nosuch", "coding-agent"),
        ("CODECARDS_EMBEDDER", "klingon", "static, minilm, none"),
        ("CODECARDS_EMBEDDER", "sentence-transformers:", "sentence-transformers:FOLDER"),
        ("CODECARDS_EMBEDDER", f"sentence-transformers:{Path('nowhere').absolute()}", "sentence-transformers:FOLDER"),
        ("CODECARDS_RERANKER", "nowhere", "a folder with a cross-encoder"),
    ],
)
def test_a_name_that_nothing_has_is_refused(name: str, value: str, listed: str) -> None:
    with pytest.raises(UsageError, match=listed):
        settings_from_environment({name: value})


def test_settings_of_the_library_are_checked_too() -> None:
    with pytest.raises(UsageError, match="There is no embedder"):
        Settings(embedder="klingon")
    assert tuple(PROFILES) == PROFILE_NAMES


def test_a_variable_that_does_nothing_is_named() -> None:
    assert unknown_variables({"CODECARDS_INDEX": "x", "PATH": "y"}) == []
    said = unknown_variables({"CODECARDS_DEEP": "1", "CODECARDS_INDX": "x"})
    assert [one.split()[2] for one in said] == ["CODECARDS_DEEP", "CODECARDS_INDX"]
    assert "did you mean CODECARDS_INDEX?" in said[1]


def test_debugging_can_be_switched_off() -> None:
    assert [is_debug({"CODECARDS_DEBUG": text}) for text in ("", "0", "off", "1", "yes")] == [False] * 3 + [True] * 2
