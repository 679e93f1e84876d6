"""Git calls: the few questions asked of git, so that nothing the repository configures is ever run."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

TIME_LIMIT_S = 20.0
SAFE_SETTINGS = (
    # A repository's own configuration can name programs here that `ls-files` and `status` would run.
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=", "-c", "core.quotePath=false", "-c", "core.sshCommand=false",
    "-c", "diff.external=", "-c", "core.pager=cat", "-c", "submodule.recurse=false", "-c", "protocol.allow=never",
)  # fmt: skip
KEPT_VARIABLES = {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES"}


@dataclass(frozen=True, slots=True)
class GitState:
    """What git says of a working tree."""

    commit: str | None
    """Full hash of HEAD; None without git or before the first commit."""
    dirty: bool | None
    """Whether a tracked file differs from HEAD or an untracked one is there; None without git."""


def run_git(folder: Path, *arguments: str) -> bytes | None:
    """Return what git prints on stdout, None if there is no git or it refuses.

    Args:
        folder: Where it is run.
        arguments: Subcommand and its options.
    """
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in KEPT_VARIABLES
    }
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        run = subprocess.run(
            ["git", *SAFE_SETTINGS, *arguments],
            cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIME_LIMIT_S, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout


def tracked_files(root: Path) -> set[str] | None:
    """Return the tracked paths below the root (with slashes, from the root), None without git."""
    output = run_git(root, "ls-files", "-z", "--cached")
    return None if output is None else {os.fsdecode(path) for path in output.split(b"\0") if path}


def excludes_file(root: Path) -> Path | None:
    """Return the user's own file of ignore rules for all repositories, None if there is none.

    What the repository itself sets is not asked: it could name any file of the machine.
    """
    output = run_git(Path(root.anchor), "config", "--path", "--get", "core.excludesFile")
    if output and output.strip():
        return Path(os.fsdecode(output.rstrip(b"\r\n")))
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    default = Path(home, "git", "ignore")
    return default if default.is_file() else None


def git_state(root: Path) -> GitState:
    """Return the commit of a working tree and whether it is changed."""
    if git_folder(root) is None:
        return GitState(None, None)
    commit = run_git(root, "rev-parse", "--verify", "--quiet", "HEAD")
    status = run_git(root, "status", "--porcelain", "-z", "--ignore-submodules=all", "--", ".", ":(exclude).codecards")
    return GitState(commit.decode().strip() if commit else None, None if status is None else bool(status.strip(b"\0")))


def git_folder(root: Path) -> Path | None:
    """Return the `.git` of the working tree that holds the root, None if it is in none."""
    for folder in (root, *root.parents):
        if (folder / ".git").exists():
            return folder / ".git"
    return None
