"""Lists the source files of a folder, and reports what is left out.

Inside a git working tree git lists the files: the tracked ones, and the untracked ones that no rule ignores. Elsewhere,
or if git can't be asked, `ignore_files` reads the rules. Either way the folders are walked here, for their links,
special files and nested repositories, and for the project's own `.codecardsignore`.
"""

import os
import stat
import time
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from codecards.errors import TooManyFilesError
from codecards.indexer.index_folder import FOLDER_NAME, OWN_FILES
from codecards.indexer.problems import Coverage, Problem, Reason
from codecards.indexer.walk.built import built_files
from codecards.indexer.walk.files import DiscoverySettings, SourceFile, check_root, too_large
from codecards.indexer.walk.git import (
    ListedFiles,
    exclude_file,
    excludes_file,
    folds_case,
    git_folder,
    ignored_paths,
    is_repository,
    listed_files,
)
from codecards.indexer.walk.ignore_files import GIT_RULES, OWN_RULES, IgnoreRules, RuleFile, read_rules
from codecards.indexer.walk.secret_names import is_secret_file
from codecards.indexer.walk.surroundings import Stamp, Surroundings, stamp_of, stamps_below, take_surroundings

_TOOL_MARKS = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})
"""Files that mark a virtual environment, and a cache (bford.info/cachedir); checked only where git can't be asked."""
_JUNCTION_TAG = 0xA0000003
"""IO_REPARSE_TAG_MOUNT_POINT of winnt.h."""
_NOTHING_LISTED = ListedFiles(frozenset(), frozenset(), frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class Discovery:
    """All files to index, and what was left out."""

    files: tuple[SourceFile, ...]
    """By the bytes of their path."""
    problems: tuple[Problem, ...]
    n_ignored: int
    """Files and whole folders that ignore rules leave out."""
    surroundings: Surroundings | None = None
    """What the listing depends on besides its files; None if a change could have gone unseen."""


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to visit."""

    path: str
    """Relative to the root, with a slash at the end; "" for the root."""
    rules: IgnoreRules
    """The rules that apply in the folder above."""
    wanted: frozenset[str] | None
    """The only files that are indexed, unless `.codecardsignore` names them; None if ignore rules decide."""


@dataclass(slots=True)
class _Walk:
    """The state of one walk."""

    root: Path
    settings: DiscoverySettings
    tracked: frozenset[str]
    listed: frozenset[str] | None
    """Tracked files and untracked ones that git does not ignore; None if git did not list them."""
    folders: frozenset[str]
    """Folders that contain listed or tracked files or nested repositories."""
    submodules: frozenset[str]
    has_git: bool
    """Whether git says which files are tracked."""
    folds_case: bool
    files: list[SourceFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unlisted: list[Problem] = field(default_factory=list)
    """Special files and unreadable folders, which git does not list; they are reported unless git ignores them."""
    n_ignored: int = 0
    stamps: list[Stamp] = field(default_factory=list)
    """Of folders and rule files, taken before they were read."""

    excludes: Path | None = None
    """The user's own ignore file."""
    unvisited: list[str] = field(default_factory=list)
    """Folders in which git lists nothing."""

    def stamp(self, path: str) -> None:
        below = os.fsencode(path)
        self.stamps.append(stamp_of(os.fsencode(self.root) + b"/" + below, below))

    def report(self, path: str, reason: Reason, detail: str) -> None:
        self.problems.append(Problem(path, reason, detail, Coverage.NONE))

    def report_rules(self, path: str, detail: str) -> None:
        self.problems.append(Problem(path, Reason.UNREADABLE, detail, Coverage.WHOLE))

    def key(self, path: str) -> str:
        """Return a path as the sets of paths have it."""
        return _folded(path) if self.folds_case else path


def discover(root: Path, settings: DiscoverySettings | None = None) -> Discovery:
    """Return the files that git would list (tracked, and untracked but not ignored), except those that can't be source.

    Without git, ignore files apply all the same.

    Raises:
        ProjectNotFoundError: The root does not exist or is not a folder.
        ProjectUnreadableError: The root can't be listed.
    """
    check_root(root)
    now_ns = time.time_ns()
    walk = _new_walk(root, settings or DiscoverySettings())
    rules = IgnoreRules(has_defaults=not walk.has_git, folds_case=walk.folds_case, report=walk.report_rules)
    if walk.listed is None:
        rules = rules.with_git_files(_outer_files(walk))
    pending = [_Folder("", rules, walk.listed)]
    while pending:
        pending += _list_folder(walk, pending.pop())
    asked = [*(problem.path for problem in walk.unlisted), *walk.unvisited]
    ignored = ignored_paths(root, asked) if asked else frozenset()
    walk.problems += [problem for problem in walk.unlisted if problem.path not in ignored]
    built = built_files({file.path: file.size_bytes for file in walk.files})
    for path, sources in built.items():
        walk.report(path, Reason.BUILT, f"a build wrote it from {sources}, which is indexed")
    walk.files = [file for file in walk.files if file.path not in built]
    for path in {problem.path for problem in walk.problems}:
        walk.stamp(path)
    unlisted = stamps_below(root, [path for path in walk.unvisited if path not in ignored])
    walk.files.sort(key=lambda file: os.fsencode(file.path))
    walk.problems.sort(key=lambda problem: os.fsencode(problem.path))
    surroundings: Surroundings | None = None
    if unlisted is not None:
        around = [walk.excludes] if walk.excludes is not None else []
        surroundings = take_surroundings(root, walk.settings, [*walk.stamps, *unlisted], around, now_ns)
    return Discovery(tuple(walk.files), tuple(walk.problems), walk.n_ignored, surroundings)


def _new_walk(root: Path, settings: DiscoverySettings) -> _Walk:
    """Ask git for the files and return a walk that has not visited anything."""
    git = git_folder(root)
    excludes = excludes_file(root) if git is not None else None
    found = listed_files(root, excludes) if git is not None else None
    folds = git is not None and folds_case(root)
    given = found or _NOTHING_LISTED
    if folds:
        given = ListedFiles(*(frozenset(map(_folded, paths)) for paths in _groups(given)))
    listed: frozenset[str] | None = given.tracked | given.untracked
    if found is None or (git is not None and not any(_groups(given)) and _is_ignored_root(root, git)):
        listed = None
    nested = given.submodules | given.repositories
    folders = _folders_of([*(given.tracked if listed is None else listed), *(f"{path}/" for path in nested)])
    walk = _Walk(
        root, settings, given.tracked, listed, folders, given.submodules, found is not None, folds, excludes=excludes
    )
    if git is not None and found is None:
        detail = "git is missing or can't read it: tracked files that rules ignore are left out"
        walk.report(".git", Reason.UNREADABLE, detail)
    return walk


def _groups(given: ListedFiles) -> tuple[frozenset[str], ...]:
    return given.tracked, given.untracked, given.submodules, given.repositories


def _is_ignored_root(root: Path, git: Path) -> bool:
    """Return whether the working tree around the root ignores it: then git lists nothing in it."""
    return root != git.parent and bool(ignored_paths(root, ["."]))


def _list_folder(walk: _Walk, folder: _Folder) -> Iterator[_Folder]:
    """Add the files of one folder to the walk and yield the folders below that are to be visited."""
    path = folder.path.rstrip("/")
    walk.stamp(path)
    try:
        with os.scandir(walk.root / path) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        if (too_many := TooManyFilesError.of(error, walk.root / path)) is not None:
            raise too_many from error  # else all files of the folder would be taken for removed
        walk.report(path or ".", Reason.UNREADABLE, f"folder can't be listed: {error.strerror}")
        return
    names = [entry.name for entry in entries]
    for name in (GIT_RULES, OWN_RULES):
        if name in names:
            walk.stamp(folder.path + name)
    if path and OWN_FILES.issubset(names):
        walk.stamps.pop()  # it changes with every run
        return  # an index that --index put here
    if path and not walk.has_git and not _TOOL_MARKS.isdisjoint(names):
        walk.n_ignored += 1
        return
    if path and (detail := _nested_detail(walk, path, names)):
        walk.report(path, Reason.NESTED_REPOSITORY, detail)
        if walk.key(path) not in walk.folders:
            return
        folder = replace(folder, wanted=walk.tracked)  # files of it that the outer repository tracks
    rules = folder.rules.below(folder.path, names, walk.root, with_git=folder.wanted is None or not walk.has_git)
    folder = replace(folder, rules=rules)
    for entry in entries:
        if entry.name not in (".git", FOLDER_NAME):
            yield from _visit(walk, entry, folder)


def _visit(walk: _Walk, entry: "os.DirEntry[str]", folder: _Folder) -> Iterator[_Folder]:
    """Add a file to the walk, or yield a folder that is to be visited."""
    path = folder.path + entry.name
    try:
        is_folder, is_junction = entry.is_dir(follow_symlinks=False), _is_junction(entry)
    except OSError as error:
        walk.report(path, Reason.UNREADABLE, error.strerror or str(error))
        return
    if is_junction:
        walk.report(path, Reason.LINK, "a junction is not followed; its target is indexed at its own place")
    elif is_folder:
        yield from _descend(walk, path, folder)
    elif _is_wanted(walk, path, folder):
        _add_file(walk, entry, path)
    else:
        walk.n_ignored += 1
        if _is_special(entry) and folder.wanted is walk.listed:
            walk.unlisted.append(Problem(path, Reason.SPECIAL_FILE, _SPECIAL_DETAIL, Coverage.NONE))


def _descend(walk: _Walk, path: str, folder: _Folder) -> Iterator[_Folder]:
    """Yield the folder at a path if it is to be visited."""
    own = folder.rules.own_verdict(path, is_folder=True)
    if own:
        walk.n_ignored += 1
        return
    rules, wanted = folder.rules, folder.wanted
    if own is not None:
        if wanted is not None and walk.has_git:  # the rules of the folders above were not read
            rules = rules.with_git_files([*_files_above(walk, path), *_outer_files(walk)])
        wanted = None
    elif wanted is None and rules.git_ignores(path, is_folder=True):
        wanted = walk.tracked
    if wanted is None or walk.key(path) in walk.folders or rules.own_reincludes_below(path):
        yield _Folder(path + "/", rules, wanted)
        return
    walk.n_ignored += 1
    if wanted is not None and wanted is walk.listed:
        walk.unvisited.append(path)
    if wanted is walk.listed and not os.access(walk.root / path, os.R_OK | os.X_OK):
        detail = "folder can't be listed: Permission denied"
        walk.unlisted.append(Problem(path, Reason.UNREADABLE, detail, Coverage.NONE))


def _is_wanted(walk: _Walk, path: str, folder: _Folder) -> bool:
    own = folder.rules.own_verdict(path, is_folder=False)
    if own is not None:
        return not own
    if folder.wanted is not None:
        return walk.key(path) in folder.wanted
    return not folder.rules.git_ignores(path, is_folder=False) or walk.key(path) in walk.tracked


def _nested_detail(walk: _Walk, folder: str, names: list[str]) -> str:
    """Return the report on a repository inside this one, "" if the folder is not one."""
    if walk.key(folder) in walk.submodules:
        return "a submodule; index it separately"
    if ".git" in names and is_repository(walk.root / folder):
        return "another repository; index it separately"
    return ""


def _is_junction(entry: "os.DirEntry[str]") -> bool:
    """Return whether an entry is a junction, which exists on Windows only; Python 3.11 calls it a folder."""
    if os.name != "nt":
        return False
    return getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0) == _JUNCTION_TAG


def _is_special(entry: "os.DirEntry[str]") -> bool:
    try:
        return not entry.is_symlink() and not entry.is_file(follow_symlinks=False)
    except OSError:
        return False


def _add_file(walk: _Walk, entry: "os.DirEntry[str]", path: str) -> None:
    """Add a file, or report why it is left out."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        walk.report(path, Reason.UNREADABLE, error.strerror or str(error))
        return
    if stat.S_ISLNK(status.st_mode):
        walk.report(path, Reason.LINK, "a symbolic link is not followed; its target is indexed at its own place")
    elif not stat.S_ISREG(status.st_mode):
        walk.report(path, Reason.SPECIAL_FILE, _SPECIAL_DETAIL)
    elif not walk.settings.index_secrets and is_secret_file(path):
        walk.report(path, Reason.SECRET, "its name suggests keys or passwords; it is not read")
    elif status.st_size > walk.settings.max_file_bytes:
        walk.problems.append(too_large(path, status.st_size, walk.settings.max_file_bytes))
    else:
        walk.files.append(SourceFile(path, status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns))


_SPECIAL_DETAIL = "a pipe, socket or device is not opened"


def _outer_files(walk: _Walk) -> list[RuleFile]:
    """Return git's rule files outside the root: those of folders above, info/exclude, and the user's own."""
    git = git_folder(walk.root)
    if git is None:
        return []
    top = git.parent
    above = [folder for folder in walk.root.parents if folder == top or top in folder.parents]  # the nearest first
    places = [(folder / GIT_RULES, folder, False) for folder in above]
    places += [(path, top, True) for path in (exclude_file(walk.root), excludes_file(walk.root)) if path is not None]
    found: list[RuleFile] = []
    for path, base, follows_links in places:
        parsed = read_rules(path, folds_case=walk.folds_case, follows_links=follows_links)
        if parsed is not None:
            way_down = "" if base == walk.root else walk.root.relative_to(base).as_posix() + "/"
            found.append(RuleFile(parsed, above=way_down, folds_case=walk.folds_case))
    return found


def _files_above(walk: _Walk, path: str) -> list[RuleFile]:
    """Return the `.gitignore` files of the folders from the root down to the one that contains a path, nearest first."""
    found: list[RuleFile] = []
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        base = folder + "/" if folder else ""
        parsed = read_rules(walk.root / base / GIT_RULES, folds_case=walk.folds_case)
        if parsed is not None:
            found.append(RuleFile(parsed, base, folds_case=walk.folds_case))
    return found


def _folded(path: str) -> str:
    """Return a path as a file system that ignores case compares it."""
    return unicodedata.normalize("NFC", path).lower()


def _folders_of(paths: Iterable[str]) -> frozenset[str]:
    """Return every folder that contains one of the paths, at any depth."""
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(folders)
