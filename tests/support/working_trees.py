"""Folders and git repositories written for a test."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.repo_text import split_files

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed; install it to run this test")


def write_tree(root: Path, text: str) -> Path:
    """Write the files of a text whose files start with `#- path`, and return the root."""
    for path, source in split_files(text).items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(source.encode())
    return root


def git(folder: Path, *arguments: str) -> bytes:
    """Return the output of git, run with only these settings."""
    names = ("user.name=t", "user.email=t@example.invalid", "init.defaultBranch=main", "protocol.file.allow=always")
    settings = [part for name in names for part in ("-c", name)]
    return subprocess.run(
        ["git", *settings, *arguments], cwd=folder, env=git_environment(), check=True, capture_output=True
    ).stdout


def git_environment() -> dict[str, str]:
    """Return the environment without any of the user's git settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def commit_all(folder: Path) -> None:
    """Make the folder a repository with one commit of all files that are not ignored."""
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "start")


def git_files(folder: Path) -> set[str]:
    """Return the files that git lists: tracked, and untracked but not ignored."""
    output = git(folder, "ls-files", "-z", "-co", "--exclude-standard")
    return {os.fsdecode(path) for path in output.split(b"\0") if path}
