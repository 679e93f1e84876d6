"""Git calls: the few questions asked of git, so that nothing the repository configures is ever run.

A repository's own configuration can name programs that harmless looking commands start: `ls-files` and `status` run
core.fsmonitor, `status` runs the clean filter of every changed file, and both may fetch missing objects. All of these
are set to nothing for each call, from outside the repository, where they outrank its files.
"""

import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

TIME_LIMIT_S = 20.0
SAFE_SETTINGS = (
    ("core.fsmonitor", "false"), ("core.hooksPath", os.devnull), ("core.quotePath", "false"), ("core.pager", "cat"),
    ("core.sshCommand", "false"), ("core.askPass", ""), ("credential.helper", ""), ("diff.external", ""),
    ("log.showSignature", "false"), ("gpg.program", "false"), ("gpg.ssh.program", "false"), ("gpg.x509.program", "false"),
    ("submodule.recurse", "false"), ("status.submoduleSummary", "false"), ("maintenance.auto", "false"),
)  # fmt: skip
KEPT_VARIABLES = frozenset({"GIT_CEILING_DIRECTORIES", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"})
SUBMODULE_MODE = b"160000"
_COMMIT = b"# branch.oid "


@dataclass(frozen=True, slots=True)
class GitState:
    """What git says of a working tree."""

    commit: str | None
    """Full hash of HEAD; None without git or before the first commit."""
    dirty: bool | None
    """Whether a tracked file differs from HEAD or an untracked one is there; None without git."""


@dataclass(frozen=True, slots=True)
class Tracked:
    """The paths that git tracks below a folder, from that folder, with slashes."""

    files: frozenset[str]
    submodules: frozenset[str]
    """Folders, whether they were fetched or not."""


def run_git(
    folder: Path,
    *arguments: str,
    settings: Iterable[tuple[str, str]] = (),
    time_limit_s: float = TIME_LIMIT_S,
    given: bytes = b"",
) -> bytes | None:
    """Return what git prints on stdout, None if there is no git or it refuses.

    Args:
        folder: Where it is run; git looks no further up than the working tree that `git_folder` finds.
        arguments: Subcommand and its options.
        settings: Names and values that outrank the repository's, beside `SAFE_SETTINGS`.
        time_limit_s: After so long it is ended.
        given: What it reads on stdin.
    """
    command = ["git", "--no-pager", *arguments]
    try:
        run = subprocess.run(
            command, cwd=folder, env=_environment(folder, (*SAFE_SETTINGS, *settings)), input=given,
            capture_output=True, timeout=time_limit_s, check=True,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return run.stdout


def tracked_files(root: Path) -> Tracked | None:
    """Return what git tracks below the root, None if it can't tell."""
    output = run_git(root, "ls-files", "-z", "--stage")
    if output is None:
        return None
    files: list[bytes] = []
    submodules: list[bytes] = []
    for line in output.split(b"\0"):
        described, _, path = line.partition(b"\t")
        (submodules if described.startswith(SUBMODULE_MODE) else files).append(path)
    decode = os.fsdecode
    return Tracked(frozenset(map(decode, files)) - {""}, frozenset(map(decode, submodules)))


def excludes_file(root: Path) -> Path | None:
    """Return the user's own file of ignore rules for all repositories, None if there is none.

    What the repository itself sets is not asked: it could name any file of the machine.
    """
    output = run_git(Path(root.anchor), "config", "--path", "--get", "core.excludesFile")
    if output is not None:
        name = os.fsdecode(output.rstrip(b"\r\n"))
        return Path(name) if os.path.isabs(name) else None
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    default = Path(home, "git", "ignore")
    return default if default.is_file() else None


def folds_case(root: Path) -> bool:
    """Return whether git takes upper and lower case for the same here (`git init` finds that out)."""
    return run_git(root, "config", "--bool", "--get", "core.ignoreCase") == b"true\n"


def exclude_file(root: Path) -> Path | None:
    """Return the place of `info/exclude` of the repository that holds the root, None without one.

    A linked worktree shares the one of its main repository.
    """
    git = git_folder(root)
    if git is None:
        return None
    if git.is_dir():
        return git / "info" / "exclude"
    output = run_git(root, "rev-parse", "--git-path", "info/exclude")
    return None if output is None else root / os.fsdecode(output.rstrip(b"\r\n"))


def git_state(root: Path) -> GitState:
    """Return the commit of a working tree and whether it is changed."""
    if git_folder(root) is None:
        return GitState(None, None)
    status = run_git(
        root, "status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z", "--ignore-submodules=all",
        "--", ".", ":(exclude).codecards",
        settings=no_filters(root),
    )  # fmt: skip
    if status is None:  # too large a tree for the time there is
        commit = run_git(root, "rev-parse", "--verify", "--quiet", "HEAD")
        return GitState(commit.decode("ascii", "replace").strip() if commit else None, None)
    headers = [line for line in status.split(b"\0") if line.startswith(b"# ")]
    names = [line.rpartition(b" ")[2].decode("ascii", "replace") for line in headers if line.startswith(_COMMIT)]
    is_dirty = status.count(b"\0") > len(headers)
    return GitState(names[0] if names and names[0] != "(initial)" else None, is_dirty)


def commits_by_path(
    root: Path, *, n_commits: int = 400, min_paths: int = 2, max_paths: int = 30
) -> list[frozenset[str]]:
    """Return the paths, from the root, that each of the latest commits changed, newest first; none without git.

    Args:
        root: The project.
        n_commits: How many commits are looked at; merges are left out.
        min_paths: A commit that changed fewer is left out.
        max_paths: A commit that changed more says nothing of what belongs together, and is left out.
    """
    output = run_git(
        root, "log", f"-n{n_commits}", "--no-merges", "--no-renames", "--no-ext-diff", "--no-textconv", "--name-only",
        "--relative", "--format=%x00", "-z", "--", ".",
    )  # fmt: skip
    commits: list[frozenset[str]] = []
    for chunk in (output or b"").split(b"\0\0"):
        paths = frozenset(os.fsdecode(name.strip(b"\n")) for name in chunk.split(b"\0")) - {""}
        if min_paths <= len(paths) <= max_paths:
            commits.append(paths)
    return commits


def git_folder(root: Path) -> Path | None:
    """Return the `.git` (a folder, or a file that names one) of the working tree that holds the root, None without."""
    for folder in (root, *root.parents):
        if (folder / ".git").exists():
            return folder / ".git"
    return None


def is_repository(folder: Path) -> bool:
    """Return whether a folder is the top of a working tree of its own: a clone, a submodule, a linked worktree.

    Source: git's setup.c; a folder `.git` that lacks HEAD, objects or refs is none. A `.git` file counts even if what
    it names is gone, for what lies beside it is a copy all the same.
    """
    git = folder / ".git"
    try:
        if git.is_dir():
            return os.path.lexists(git / "HEAD") and (git / "objects").is_dir() and (git / "refs").is_dir()
        if not git.is_file():
            return False
        with git.open("rb") as stream:
            return stream.read(8) == b"gitdir: "
    except OSError:
        return True


def _environment(folder: Path, settings: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return the variables that git is run with: none that points it elsewhere, and settings that outrank all files."""
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in KEPT_VARIABLES
    }
    variables |= {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",  # unlike protocol.allow, it outranks what the repository allows
        "GIT_CONFIG_COUNT": str(len(settings)),
        "LC_ALL": "C",
    }
    for number, (name, value) in enumerate(settings):
        variables[f"GIT_CONFIG_KEY_{number}"] = name
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    git = git_folder(folder)
    if git is not None:
        variables["GIT_WORK_TREE"] = str(git.parent)  # core.worktree could name any folder of the machine
        variables["GIT_CEILING_DIRECTORIES"] = str(git.parent.parent)
    return variables


def no_filters(root: Path) -> list[tuple[str, str]]:
    """Return settings that switch off each filter program that any configuration names."""
    output = run_git(
        root, "config", "--name-only", "-z", "--get-regexp", r"^filter\..*\.(clean|smudge|process|required)$"
    )
    names = [os.fsdecode(name) for name in (output or b"").split(b"\0") if name]
    return [(name, "false" if name.endswith(".required") else "") for name in dict.fromkeys(names)]
