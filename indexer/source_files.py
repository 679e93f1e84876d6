"""Source files: which files of a repository there are to index, and their bytes.

**Invariant:** no link is followed, nothing outside the root is opened, no special file is opened.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from codecards.errors import OutsideProjectError, ProjectNotFoundError, ProjectUnreadableError
from codecards.indexer.git_calls import excludes_file, git_folder, tracked_files
from codecards.indexer.ignore_rules import GIT_RULES, IgnoreRules, read_rules
from codecards.indexer.index_folder import FOLDER_NAME
from codecards.indexer.problems import Kept, Problem, Reason
from codecards.indexer.secret_files import is_secret_file


@dataclass(frozen=True, slots=True)
class DiscoverySettings:
    """What is taken in."""

    max_file_bytes: int = 4 << 20
    """Larger files are reported, not read. 50,000 lines of code are about 2 MB."""
    index_secrets: bool = False
    """Whether files that hold keys or passwords by their name are read."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One regular file below the root, not read yet."""

    path: str
    """From the root, with slashes; bytes that are not UTF-8 are surrogates (PEP 383)."""
    size_bytes: int
    mtime_ns: int
    inode: int
    """0 where the system has none."""


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
    tracked: set[str]
    tracked_folders: set[str]
    files: list[SourceFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    n_ignored: int = 0

    def report(self, path: str, reason: Reason, detail: str) -> None:
        self.problems.append(Problem(path, reason, detail, Kept.NONE))


def discover(root: Path, settings: DiscoverySettings | None = None) -> Discovery:
    """Return the files that git would list (tracked, and untracked but not ignored), minus what can't be source.

    Works without git too: ignore files hold all the same.

    Raises:
        ProjectNotFoundError: The root does not exist or is no folder.
        ProjectUnreadableError: It can't be listed.
    """
    check_root(root)
    tracked = tracked_files(root) if git_folder(root) is not None else None
    walk = _Walk(root, settings or DiscoverySettings(), tracked or set(), _folders_of(tracked or set()))
    pending: list[tuple[str, IgnoreRules, bool]] = [("", _outer_rules(root), False)]
    while pending:
        folder, rules, ignored = pending.pop()
        pending += _list_folder(walk, folder, rules, ignored=ignored)
    walk.files.sort(key=lambda file: os.fsencode(file.path))
    walk.problems.sort(key=lambda problem: os.fsencode(problem.path))
    return Discovery(tuple(walk.files), tuple(walk.problems), walk.n_ignored)


def check_root(root: Path) -> None:
    """Raise unless the root is a folder that can be listed.

    Raises:
        ProjectNotFoundError: It does not exist or is no folder.
        ProjectUnreadableError: It can't be listed.
    """
    try:
        if not stat.S_ISDIR(os.stat(root).st_mode):
            raise ProjectNotFoundError(f"{root} is a file, not a folder; name the folder that holds the project")
        with os.scandir(root):
            pass
    except FileNotFoundError:
        raise ProjectNotFoundError(f"{root} does not exist; name the folder that holds the project") from None
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or error
        raise ProjectUnreadableError(f"{root} can't be listed: {what}") from error
    if (root / "HEAD").is_file() and (root / "objects").is_dir() and (root / "refs").is_dir():
        raise ProjectNotFoundError(f"{root} is a bare git repository: it has no files to index; clone it first")


def read_file(root: Path, file: SourceFile, settings: DiscoverySettings | None = None) -> bytes | Problem:
    """Return the file's bytes, or why there are none.

    The file is opened without following a link and checked to be regular, so that one that was swapped for a link or
    a pipe since it was listed is not read.
    """
    limit = (settings or DiscoverySettings()).max_file_bytes
    if file.size_bytes > limit:
        return _too_large(file.path, file.size_bytes, limit)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        resolve_inside(root, file.path)  # a folder may have become a link since
        descriptor = os.open(root / file.path, flags)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return Problem(file.path, Reason.SPECIAL_FILE, "is no regular file", Kept.NONE)
            data = stream.read(limit + 1)
    except FileNotFoundError:
        return Problem(file.path, Reason.VANISHED, "was listed, and gone when it was read", Kept.NONE)
    except OutsideProjectError:
        return Problem(file.path, Reason.LINK, "leads out of the project", Kept.NONE)
    except OSError as error:
        return Problem(file.path, Reason.UNREADABLE, error.strerror or str(error), Kept.NONE)
    return data if len(data) <= limit else _too_large(file.path, len(data), limit)


def resolve_inside(root: Path, path: str) -> Path:
    """Return the absolute place of a path, all links followed.

    Raises:
        OutsideProjectError: It does not lie inside the root.
    """
    real_root = root.resolve()
    try:
        place = (real_root / path).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise OutsideProjectError(f"{path!r} is no usable path: {error}") from error
    if not place.is_relative_to(real_root):
        raise OutsideProjectError(f"{path!r} leads out of the project {root}")
    return place


def project_root(start: Path) -> Path:
    """Return the project that holds a folder: the nearest with an index or a `.git`, else the folder itself."""
    start = start.absolute()
    for folder in (start, *start.parents):
        if (folder / FOLDER_NAME).is_dir() or (folder / ".git").exists():
            return folder
    return start


def _list_folder(walk: _Walk, folder: str, rules: IgnoreRules, *, ignored: bool) -> Iterator[tuple[str, IgnoreRules, bool]]:
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
    if folder and ".git" in names:
        walk.report(folder.rstrip("/"), Reason.NESTED_REPOSITORY, "a repository of its own; index it separately")
        return
    rules = rules.below(folder, names, walk.root)
    for entry in entries:
        path = folder + entry.name
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
        except OSError as error:
            walk.report(path, Reason.UNREADABLE, error.strerror or str(error))
            continue
        if is_folder:
            if entry.name not in (".git", FOLDER_NAME):
                yield from _descend(walk, path, rules, ignored=ignored)
        elif entry.name != ".git" and not _is_left_out(walk, path, rules, ignored=ignored):
            _take(walk, entry, path)


def _descend(walk: _Walk, path: str, rules: IgnoreRules, *, ignored: bool) -> Iterator[tuple[str, IgnoreRules, bool]]:
    """Yield the folder if it is to be visited."""
    wanted = rules.own_verdict(path, is_folder=True)
    ignored = wanted is None and (ignored or rules.git_ignores(path, is_folder=True))
    if wanted or (wanted is None and (not ignored or path in walk.tracked_folders)):
        yield path + "/", rules, ignored
    else:
        walk.n_ignored += 1


def _is_left_out(walk: _Walk, path: str, rules: IgnoreRules, *, ignored: bool) -> bool:
    wanted = rules.own_verdict(path, is_folder=False)
    left_out = wanted if wanted is not None else (
        (ignored or rules.git_ignores(path, is_folder=False)) and path not in walk.tracked
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
        walk.problems.append(_too_large(path, status.st_size, walk.settings.max_file_bytes))
    else:
        walk.files.append(SourceFile(path, status.st_size, status.st_mtime_ns, status.st_ino))


def _too_large(path: str, size_bytes: int, limit: int) -> Problem:
    detail = f"{size_bytes:,} bytes, over the limit of {limit:,} (setting max_file_bytes)"
    return Problem(path, Reason.TOO_LARGE, detail, Kept.NONE)


def _outer_rules(root: Path) -> IgnoreRules:
    """Return the rules that come from outside the root's own files: info/exclude, the user's file, folders above."""
    git = git_folder(root)
    if git is None:
        return IgnoreRules()
    top = git.parent
    folders = [top, *reversed([folder for folder in root.parents if top in folder.parents])] if top != root else []
    files = [read_rules(folder / GIT_RULES, above=_way_down(folder, root)) for folder in reversed(folders)]
    if git.is_dir():
        files.append(read_rules(git / "info" / "exclude", above=_way_down(top, root)))
    if (user_file := excludes_file(root)) is not None:
        files.append(read_rules(user_file, above=_way_down(top, root)))
    return IgnoreRules(git=tuple(rules for rules in files if rules is not None))


def _way_down(folder: Path, root: Path) -> str:
    return "" if folder == root else root.relative_to(folder).as_posix() + "/"


def _folders_of(paths: set[str]) -> set[str]:
    """Return every folder that holds one of the paths, at any depth."""
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders
