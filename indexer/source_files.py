"""Source files: which files of a repository there are to index, and their bytes.

**Invariant:** no link is followed, nothing outside the root is opened, no special file is opened.
"""

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from codecards.errors import OutsideProjectError, ProjectNotFoundError, ProjectUnreadableError
from codecards.indexer.git_calls import (
    Tracked,
    exclude_file,
    excludes_file,
    folds_case,
    git_folder,
    is_repository,
    tracked_files,
)
from codecards.indexer.ignore_rules import GIT_RULES, IgnoreRules, read_rules, rules_without_git
from codecards.indexer.index_folder import FOLDER_NAME, OWN_FILES
from codecards.indexer.problems import Kept, Problem, Reason
from codecards.indexer.secret_files import is_private_key, is_secret_file

LEAST_READ_BYTES = 4096
"""Asked for at a time, also of a file that says it is empty."""


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
    ctime_ns: int = 0
    """When the file or its attributes last changed, which nobody can set back (Windows: when it was made)."""


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
        self.problems.append(Problem(path, reason, detail, Kept.NONE))


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

    Each folder on the way and the file itself are opened without following a link, and the file is checked to be
    regular, so that one that was swapped for a link or a pipe since it was listed is not read.
    """
    read = read_stamped(root, file, settings or DiscoverySettings())
    return read if isinstance(read, Problem) else read[0]


def read_stamped(root: Path, file: SourceFile, settings: DiscoverySettings) -> tuple[bytes, SourceFile] | Problem:
    """Return what `read_file` does, with what the file system said of the file when it was opened."""
    limit = settings.max_file_bytes
    if file.size_bytes > limit:
        return _too_large(file.path, file.size_bytes, limit)
    try:
        descriptor = _open_below(root, file.path)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return Problem(file.path, Reason.SPECIAL_FILE, "is no regular file", Kept.NONE)
            data = _read_up_to(descriptor, limit + 1, max(status.st_size + 1, LEAST_READ_BYTES))
        finally:
            os.close(descriptor)
    except (OSError, ValueError, OutsideProjectError) as error:
        return _not_read(file.path, error)
    if not settings.index_secrets and is_private_key(data):
        return Problem(file.path, Reason.SECRET, "is a private key by its first line; it is not indexed", Kept.NONE)
    if len(data) > limit:
        return _too_large(file.path, len(data), limit)
    return data, SourceFile(file.path, status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns)


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


def _open_below(root: Path, path: str) -> int:
    """Return a descriptor of what lies at a path, no link followed on the way.

    Raises:
        OSError: It can't be opened.
        OutsideProjectError: The path leads out of the root.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    *folders, name = path.split("/")
    if ".." in folders or name == ".." or path.startswith("/"):
        raise OutsideProjectError(f"{path!r} leads out of the project {root}")
    if os.open not in os.supports_dir_fd or not hasattr(os, "O_NOFOLLOW"):
        resolve_inside(root, path)  # a folder may have become a link since
        return os.open(root / path, flags)
    search = os.O_DIRECTORY | getattr(os, "O_PATH", os.O_RDONLY)
    folder = os.open(root, search)
    try:
        for part in folders:
            try:
                below = os.open(part, search | os.O_NOFOLLOW, dir_fd=folder)
            except NotADirectoryError:  # what Linux says of a link too
                if stat.S_ISLNK(os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode):
                    raise OutsideProjectError(f"{path!r} leads through a link") from None
                raise
            os.close(folder)
            folder = below
        return os.open(name, flags, dir_fd=folder)
    finally:
        os.close(folder)


def _read_up_to(descriptor: int, n_bytes: int, expected: int) -> bytes:
    """Return a file's first bytes, `expected` at a time: making room for many more takes longer than reading."""
    parts: list[bytes] = []
    while n_bytes > 0 and (data := os.read(descriptor, min(n_bytes, expected))):
        parts.append(data)
        n_bytes -= len(data)
    return b"".join(parts)


def _not_read(path: str, error: Exception) -> Problem:
    """Return what kept a listed file from being read."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return Problem(path, Reason.VANISHED, "was listed, and gone when it was read", Kept.NONE)
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, OutsideProjectError) or number == errno.ELOOP:
        return Problem(path, Reason.LINK, "has become a link since it was listed", Kept.NONE)
    if number == errno.ENXIO:
        return Problem(path, Reason.SPECIAL_FILE, "is no regular file", Kept.NONE)
    return Problem(path, Reason.UNREADABLE, getattr(error, "strerror", None) or str(error), Kept.NONE)


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
        walk.problems.append(_too_large(path, status.st_size, walk.settings.max_file_bytes))
    else:
        walk.files.append(SourceFile(path, status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns))


def _too_large(path: str, size_bytes: int, limit: int) -> Problem:
    detail = f"{size_bytes:,} bytes, over the limit of {limit:,} (setting max_file_bytes)"
    return Problem(path, Reason.TOO_LARGE, detail, Kept.NONE)


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
