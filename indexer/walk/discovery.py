"""Walks a folder as git sees it and lists the source files to index."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from codecards.indexer.index_folder import FOLDER_NAME, OWN_FILES
from codecards.indexer.problems import Coverage, Problem, Reason
from codecards.indexer.walk.built import built_files
from codecards.indexer.walk.files import DiscoverySettings, SourceFile, check_root, too_large
from codecards.indexer.walk.git import (
    Tracked,
    exclude_file,
    excludes_file,
    folds_case,
    git_folder,
    is_repository,
    tracked_files,
)
from codecards.indexer.walk.ignore_files import GIT_RULES, IgnoreRules, read_rules, rules_without_git
from codecards.indexer.walk.secret_names import is_secret_file


@dataclass(frozen=True, slots=True)
class Discovery:
    """All files to index, and what was left out."""

    files: tuple[SourceFile, ...]
    """By the bytes of their path."""
    problems: tuple[Problem, ...]
    n_ignored: int
    """Files and whole folders that ignore rules leave out."""


@dataclass(slots=True)
class _Walk:
    """What one walk carries along."""

    root: Path
    settings: DiscoverySettings
    tracked: Tracked
    tracked_folders: frozenset[str]
    git_tells: bool
    """Whether git said what is tracked."""
    files: list[SourceFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    n_ignored: int = 0

    def report(self, path: str, reason: Reason, detail: str) -> None:
        self.problems.append(Problem(path, reason, detail, Coverage.NONE))


def discover(root: Path, settings: DiscoverySettings | None = None) -> Discovery:
    """Return the files that git would list (tracked, and untracked but not ignored), minus what can't be source.

    Works without git too: ignore files hold all the same.

    Raises:
        ProjectNotFoundError: The root does not exist or is no folder.
        ProjectUnreadableError: It can't be listed.
    """
    check_root(root)
    has_git = git_folder(root) is not None
    told = tracked_files(root) if has_git else None
    tracked = told or Tracked(frozenset(), frozenset())
    walk = _Walk(root, settings or DiscoverySettings(), tracked, _folders_of(tracked.files), told is not None)
    if has_git and told is None:
        walk.report(
            ".git",
            Reason.UNREADABLE,
            "git can't read it, or is not there: tracked files that rules ignore are left out",
        )
    pending: list[tuple[str, IgnoreRules, bool]] = [("", _outer_rules(root, git_tells=walk.git_tells), False)]
    while pending:
        folder, rules, ignored = pending.pop()
        pending += _list_folder(walk, folder, rules, ignored=ignored)
    built = built_files({file.path: file.size_bytes for file in walk.files})
    for path, sources in built.items():
        walk.report(path, Reason.BUILT, f"a build wrote it from {sources}, which is indexed")
    walk.files = [file for file in walk.files if file.path not in built]
    walk.files.sort(key=lambda file: os.fsencode(file.path))
    walk.problems.sort(key=lambda problem: os.fsencode(problem.path))
    return Discovery(tuple(walk.files), tuple(walk.problems), walk.n_ignored)


def project_root(start: Path) -> Path:
    """Return the project that holds a folder: the nearest with an index or a `.git`, else the folder itself."""
    start = start.absolute()
    for folder in (start, *start.parents):
        if (folder / FOLDER_NAME).is_dir() or (folder / ".git").exists():
            return folder
    return start


def _list_folder(
    walk: _Walk, folder: str, rules: IgnoreRules, *, ignored: bool
) -> Iterator[tuple[str, IgnoreRules, bool]]:
    """Take in the files of one folder and yield the folders below that are to be visited.

    Args:
        walk: What is collected.
        folder: From the root, with a slash at the end, "" for the root.
        rules: Those that hold in the folder above.
        ignored: Whether git ignores the folder: then only tracked files count.
    """
    try:
        with os.scandir(walk.root / folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        walk.report(folder.rstrip("/") or ".", Reason.UNREADABLE, f"folder can't be listed: {error.strerror}")
        return
    names = [entry.name for entry in entries]
    if folder and OWN_FILES.issubset(names):
        return  # an index that --index put here
    if folder and not walk.git_tells and not _MADE_BY_TOOLS.isdisjoint(names):
        walk.n_ignored += 1
        return
    if folder and _is_nested(walk, folder.rstrip("/"), names):
        walk.report(folder.rstrip("/"), Reason.NESTED_REPOSITORY, _nested_detail(walk, folder.rstrip("/")))
        if folder.rstrip("/") not in walk.tracked_folders:
            return
        ignored = True  # the repository around it tracks files in it, and these alone are its own
    rules = rules.below(folder, names, walk.root)
    for entry in entries:
        if entry.name not in (".git", FOLDER_NAME):
            yield from _visit(walk, entry, folder + entry.name, rules, ignored=ignored)


def _visit(
    walk: _Walk, entry: "os.DirEntry[str]", path: str, rules: IgnoreRules, *, ignored: bool
) -> Iterator[tuple[str, IgnoreRules, bool]]:
    """Take in a file, or yield a folder that is to be visited."""
    try:
        is_folder, is_junction = entry.is_dir(follow_symlinks=False), _is_junction(entry)
    except OSError as error:
        walk.report(path, Reason.UNREADABLE, error.strerror or str(error))
        return
    if is_junction:
        walk.report(path, Reason.LINK, "a junction is not followed; its target is indexed at its own place")
    elif is_folder:
        yield from _descend(walk, path, rules, ignored=ignored)
    elif not _is_left_out(walk, path, rules, ignored=ignored):
        _take(walk, entry, path)


def _is_nested(walk: _Walk, folder: str, names: list[str]) -> bool:
    return folder in walk.tracked.submodules or (".git" in names and is_repository(walk.root / folder))


def _nested_detail(walk: _Walk, folder: str) -> str:
    if folder in walk.tracked.submodules:
        return "a submodule; index it separately"
    return "a repository of its own; index it separately"


def _is_junction(entry: "os.DirEntry[str]") -> bool:
    """Return whether an entry is a junction, which Windows alone has and Python 3.11 takes for a plain folder."""
    if os.name != "nt":
        return False
    return getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0) == _JUNCTION_TAG


def _descend(walk: _Walk, path: str, rules: IgnoreRules, *, ignored: bool) -> Iterator[tuple[str, IgnoreRules, bool]]:
    """Yield the folder if it is to be visited."""
    own = rules.own_verdict(path, is_folder=True)
    ignored = own is None and (ignored or rules.git_ignores(path, is_folder=True))
    holds_wanted = path in walk.tracked_folders or rules.own_takes_in_below(path)
    if own or (ignored and not holds_wanted):
        walk.n_ignored += 1
    else:
        yield path + "/", rules, ignored


def _is_left_out(walk: _Walk, path: str, rules: IgnoreRules, *, ignored: bool) -> bool:
    own = rules.own_verdict(path, is_folder=False)
    left_out = own if own is not None else (
        (ignored or rules.git_ignores(path, is_folder=False)) and path not in walk.tracked.files
    )  # fmt: skip
    walk.n_ignored += left_out
    return left_out


def _take(walk: _Walk, entry: "os.DirEntry[str]", path: str) -> None:
    """Note a file, or why it is left out."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        walk.report(path, Reason.UNREADABLE, error.strerror or str(error))
        return
    if stat.S_ISLNK(status.st_mode):
        walk.report(path, Reason.LINK, "a symbolic link is not followed; its target is indexed at its own place")
    elif not stat.S_ISREG(status.st_mode):
        walk.report(path, Reason.SPECIAL_FILE, "a pipe, socket or device is not opened")
    elif not walk.settings.index_secrets and is_secret_file(path):
        walk.report(path, Reason.SECRET, "may hold keys or passwords by its name; it is not read")
    elif status.st_size > walk.settings.max_file_bytes:
        walk.problems.append(too_large(path, status.st_size, walk.settings.max_file_bytes))
    else:
        walk.files.append(SourceFile(path, status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns))


def _outer_rules(root: Path, *, git_tells: bool) -> IgnoreRules:
    """Return the rules that come from outside the root's own files: info/exclude, the user's file, folders above."""
    built_in = () if git_tells else (rules_without_git(),)
    git = git_folder(root)
    if git is None:
        return IgnoreRules(git=built_in)
    top, folds = git.parent, folds_case(root)
    above = [folder for folder in root.parents if folder == top or top in folder.parents]  # the nearest first
    files = [read_rules(folder / GIT_RULES, above=_way_down(folder, root), folds_case=folds) for folder in above]
    for place in (exclude_file(root), excludes_file(root)):
        if place is not None:
            files.append(read_rules(place, above=_way_down(top, root), folds_case=folds, follows_links=True))
    return IgnoreRules(git=(*(rules for rules in files if rules is not None), *built_in), folds_case=folds)


_MADE_BY_TOOLS = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})
"""Files that mark a virtual environment, and a cache (bford.info/cachedir); asked only where git can't tell."""

_JUNCTION_TAG = 0xA0000003
"""IO_REPARSE_TAG_MOUNT_POINT of winnt.h."""


def _way_down(folder: Path, root: Path) -> str:
    return "" if folder == root else root.relative_to(folder).as_posix() + "/"


def _folders_of(paths: frozenset[str]) -> frozenset[str]:
    """Return every folder that holds one of the paths, at any depth."""
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(folders)
