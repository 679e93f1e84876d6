"""The environment of the process. No other module touches `os.environ`.

`codecards/config.py` parses the variables that are settings. This module serves code that runs before settings exist
(`is_debug`), that starts other programs (`child_environment`), or that loads libraries with switches of their own
(`set_default_variables`).
"""

import os
from collections.abc import Mapping
from pathlib import Path

DEBUG_VARIABLE = "CODECARDS_DEBUG"
"""Shows tracebacks of internal errors and the warnings of libraries, unless it is empty or off."""
ON = frozenset(("1", "true", "yes", "on"))
OFF = frozenset(("0", "false", "no", "off"))


def process_environment() -> Mapping[str, str]:
    """Return the variables of this process."""
    return os.environ


def is_debug(environment: Mapping[str, str] | None = None) -> bool:
    """Return whether `CODECARDS_DEBUG` is on.

    Args:
        environment: The variables to read; by default those of this process.
    """
    values = os.environ if environment is None else environment
    return values.get(DEBUG_VARIABLE, "").strip().lower() not in OFF | {""}


def ceiling_folders() -> frozenset[Path]:
    """Return the folders of `GIT_CEILING_DIRECTORIES`: a search upwards for a project stops below them."""
    return frozenset(Path(name) for name in os.environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep) if name)


def crosses_file_systems() -> bool:
    """Return whether a search upwards may pass from one file system to another, as git's variable says."""
    return os.environ.get("GIT_DISCOVERY_ACROSS_FILESYSTEM", "").lower() in ON


def child_environment(**changes: str) -> dict[str, str]:
    """Return the variables for a child process: those of this process with some changes."""
    return os.environ | changes


def set_default_variables(**values: str) -> None:
    """Set variables that a library reads when it is imported, unless they are already set."""
    for name, value in values.items():
        os.environ.setdefault(name, value)
