"""Runs the command line as a process of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def default_signals() -> None:
    """Give a child the default disposition of SIGINT, which a shell lets background jobs ignore."""
    if os.name == "posix":
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def codecards(
    folder: Path, *arguments: str, given: str = "", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run codecards in a folder and wait for its end.

    Args:
        folder: The current folder of the process.
        arguments: The words after `codecards`.
        given: The text on stdin.
        environment: Variables to change.
    """
    return subprocess.run(
        [sys.executable, "-m", "codecards", *arguments],
        cwd=folder,
        input=given,
        env=os.environ | (environment or {}),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def codecards_json(folder: Path, *arguments: str, given: str = "") -> dict[str, Any]:
    """Run codecards with `--json` and return the object that it printed."""
    done = codecards(folder, *arguments, "--json", given=given)
    assert done.returncode == 0, done.stderr
    value: dict[str, Any] = json.loads(done.stdout)
    return value
