"""Only one module touches the environment of the process, and only one parses settings from it."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRODUCT = ("codecards", "indexer", "retrieval", "router")
READERS = {"codecards/environment.py"}
"""Code that needs variables asks this module; programs that we start get theirs from `child_environment`."""
GIT = "indexer/walk/git.py"
"""Builds the environment that git runs in: without the variables that would change what git prints."""


def sources() -> dict[str, str]:
    """Return path -> text of the product's modules; the links inside codecards are not followed."""
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for folder in PRODUCT
        for path in (ROOT / folder).rglob("*.py")
        if path.relative_to(ROOT).parts[:2] not in [("codecards", one) for one in PRODUCT]
    }


def test_only_one_module_touches_the_environment() -> None:
    pattern = re.compile(r"\bos\.(environ|environb|getenv|putenv|unsetenv)\b|from os import .*\benviron\b")
    assert {path for path, text in sources().items() if pattern.search(text)} - {GIT} == READERS


def test_only_the_configuration_parses_settings_from_the_environment() -> None:
    pattern = re.compile(r"\.get\(\s*[\"']CODECARDS_|\[[\"']CODECARDS_")
    assert {path for path, text in sources().items() if pattern.search(text)} == {"codecards/config.py"}
