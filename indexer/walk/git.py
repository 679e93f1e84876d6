"""Runs git so that no program that the repository configures is started.

A repository's configuration can name programs that harmless-looking commands start: `ls-files` and `status` run
core.fsmonitor, `status` runs the clean filter of every changed file, and both may fetch missing objects. Each call
disables all of them from outside the repository, where settings outrank the repository's files.
"""

import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from codecards.errors import TooManyFilesError

TIME_LIMIT_S = 20.0
SAFE_SETTINGS = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("core.quotePath", "false"),
    ("core.pager", "cat"),
    ("core.sshCommand", "false"),
    ("core.askPass", ""),
    ("credential.helper", ""),
    ("diff.external", ""),
    ("log.showSignature", "false"),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    ("submodule.recurse", "false"),
    ("status.submoduleSummary", "false"),
    ("maintenance.auto", "false"),
)
KEPT_VARIABLES = frozenset({"GIT_CEILING_DIRECTORIES", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"})
SUBMODULE_MODE = b"160000"
_UNTRACKED = b"? "
_COMMIT = b"# branch.oid "


@dataclass(frozen=True, slots=True)
class GitState:
    """The commit of a working tree, and whether the tree differs from it."""

    commit: str | None
    """Full hash of HEAD; None without git and before the first commit."""
    dirty: bool | None
    """Whether a tracked file differs from HEAD or an untracked file exists; None without git."""


@dataclass(frozen=True, slots=True)
class ListedFiles:
    """The paths that git lists below a folder, relative to it, with slashes."""

    tracked: frozenset[str]
    """Files in the git index; some may be missing on disk (deleted, or outside a sparse checkout)."""
    untracked: frozenset[str]
    """Files that are neither tracked nor ignored."""
    submodules: frozenset[str]
    """Folders of submodules, fetched or not."""
    repositories: frozenset[str]
    """Folders of untracked repositories inside this one."""


def run_git(
    folder: Path,
    *arguments: str,
    settings: Iterable[tuple[str, str]] = (),
    time_limit_s: float = TIME_LIMIT_S,
    given: bytes = b"",
) -> bytes | None:
    """Return git's standard output; None if git is missing, fails, or takes too long.

    Args:
        folder: The working directory; git does not look above the working tree that `git_folder` finds.
        arguments: Subcommand and its options.
        settings: Names and values that outrank the repository's configuration, besides `SAFE_SETTINGS`.
        time_limit_s: Git is ended after so many seconds.
        given: Git's standard input.

    Raises:
        TooManyFilesError: No pipe to git can be opened.
    """
    command = ["git", "--no-pager", *arguments]
    try:
        run = subprocess.run(
            command,
            cwd=folder,
            env=_environment(folder, (*SAFE_SETTINGS, *settings)),
            input=given,
            capture_output=True,
            timeout=time_limit_s,
            check=True,
        )
    except OSError as error:
        if (too_many := TooManyFilesError.of(error, folder)) is not None:
            raise too_many from error
        return None
    except (ValueError, subprocess.SubprocessError):
        return None
    return run.stdout


def listed_files(root: Path, excludes: Path | None) -> ListedFiles | None:
    """Return the tracked and the untracked, not ignored files below a folder; None if git can't tell.

    Args:
        root: A folder in a working tree.
        excludes: The user's own ignore file. The repository's `core.excludesFile` is not used: it could name a pipe.
    """
    output = run_git(
        root,
        *("ls-files", "-z", "-t", "--stage", "--cached", "--others", "--exclude-standard"),
        settings=(("core.excludesFile", str(excludes or os.devnull)),),
    )
    if output is None:
        return None
    tracked: list[bytes] = []
    untracked: list[bytes] = []
    submodules: list[bytes] = []
    repositories: list[bytes] = []
    for line in filter(None, output.split(b"\0")):  # "? path", or "H 100644 <object> 0\tpath"
        if line.startswith(_UNTRACKED):
            path = line[len(_UNTRACKED) :]
            if path.endswith(b"/"):
                repositories.append(path[:-1])
            else:
                untracked.append(path)
        else:
            described, _, path = line.partition(b"\t")
            (submodules if described[2:].startswith(SUBMODULE_MODE) else tracked).append(path)
    groups = (frozenset(map(os.fsdecode, group)) for group in (tracked, untracked, submodules, repositories))
    return ListedFiles(*groups)


def ignored_paths(root: Path, paths: Iterable[str]) -> frozenset[str]:
    """Return those of some paths below a folder that git ignores; none if git can't tell."""
    given = b"".join(os.fsencode(path) + b"\0" for path in paths)
    output = run_git(root, "check-ignore", "-z", "--stdin", given=given) if given else None
    return frozenset(map(os.fsdecode, (output or b"").split(b"\0"))) - {""}


def excludes_file(root: Path) -> Path | None:
    """Return the user's own ignore file for all repositories, None if there is none.

    The repository's configuration is not read: it could name any file of the machine.
    """
    output = run_git(Path(root.anchor), "config", "--path", "--get", "core.excludesFile")
    if output is not None:
        name = os.fsdecode(output.rstrip(b"\r\n"))
        return Path(name) if os.path.isabs(name) else None
    home = inherited_variables().get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    default = Path(home, "git", "ignore")
    return default if default.is_file() else None


def folds_case(root: Path) -> bool:
    """Return whether git ignores case in this working tree; `git init` sets that by the file system."""
    return run_git(root, "config", "--bool", "--get", "core.ignoreCase") == b"true\n"


def exclude_file(root: Path) -> Path | None:
    """Return the path of `info/exclude` of the repository that holds the root, None without one.

    A linked worktree uses the file of its main repository.
    """
    git = git_folder(root)
    if git is None:
        return None
    if git.is_dir():
        return git / "info" / "exclude"
    output = run_git(root, "rev-parse", "--git-path", "info/exclude")
    return None if output is None else root / os.fsdecode(output.rstrip(b"\r\n"))


def git_state(root: Path) -> GitState:
    """Return the commit of a working tree and whether the tree differs from it."""
    if git_folder(root) is None:
        return GitState(None, None)
    status = run_git(
        root,
        *("status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z", "--ignore-submodules=all"),
        *("--", ".", ":(exclude).codecards"),
        settings=no_filters(root),
    )
    if status is None:  # the tree is too large for the time limit
        commit = run_git(root, "rev-parse", "--verify", "--quiet", "HEAD")
        return GitState(commit.decode("ascii", "replace").strip() if commit else None, None)
    headers = [line for line in status.split(b"\0") if line.startswith(b"# ")]
    names = [line.rpartition(b" ")[2].decode("ascii", "replace") for line in headers if line.startswith(_COMMIT)]
    is_dirty = status.count(b"\0") > len(headers)
    return GitState(names[0] if names and names[0] != "(initial)" else None, is_dirty)


def commits_by_path(
    root: Path, *, n_commits: int = 400, min_paths: int = 2, max_paths: int = 30
) -> list[frozenset[str]]:
    """Return the paths, relative to the root, that each of the latest commits changed, newest first; none without git.

    Args:
        root: The project.
        n_commits: Number of commits to read; merges are left out.
        min_paths: Commits that changed fewer paths are left out.
        max_paths: Commits that changed more paths are left out: they say nothing about which files belong together.
    """
    output = run_git(
        root,
        *("log", f"-n{n_commits}", "--no-merges", "--no-renames", "--no-ext-diff", "--no-textconv"),
        *("--name-only", "--relative", "--format=%x00", "-z", "--", "."),
    )
    commits: list[frozenset[str]] = []
    for chunk in (output or b"").split(b"\0\0"):
        paths = frozenset(os.fsdecode(name.strip(b"\n")) for name in chunk.split(b"\0")) - {""}
        if min_paths <= len(paths) <= max_paths:
            commits.append(paths)
    return commits


def git_folder(root: Path) -> Path | None:
    """Return the `.git` folder or file of the working tree that holds the root, None outside of one."""
    for folder in (root, *root.parents):
        if (folder / ".git").exists():
            return folder / ".git"
    return None


def is_repository(folder: Path) -> bool:
    """Return whether a folder is the top of its own working tree: a clone, a submodule or a linked worktree.

    Source: git's setup.c; a `.git` folder without HEAD, objects or refs does not count. A `.git` file counts even if
    the folder that it names is gone, since the files beside it are a copy all the same.
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
    """Return git's environment: no variable that points it elsewhere, and settings that outrank all files."""
    inherited = inherited_variables().items()
    variables = {name: value for name, value in inherited if not name.startswith("GIT_") or name in KEPT_VARIABLES}
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
    """Return settings that disable every filter program that any configuration names."""
    output = run_git(
        root, "config", "--name-only", "-z", "--get-regexp", r"^filter\..*\.(clean|smudge|process|required)$"
    )
    names = [os.fsdecode(name) for name in (output or b"").split(b"\0") if name]
    return [(name, "false" if name.endswith(".required") else "") for name in dict.fromkeys(names)]


def inherited_variables() -> Mapping[str, str]:
    """Return this process's environment, which git inherits.

    Settings are read from the environment by `codecards.config` alone; this is the one other access. Git needs the
    user's PATH and HOME, and the names that must not reach it (GIT_DIR, GIT_WORK_TREE) are known here.
    """
    return os.environ
