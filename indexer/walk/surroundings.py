"""Tells without git and without a walk whether a folder can list as it did: all that a listing depends on is stamped.

A listing depends on the names in each folder that was visited, on the rules in `.gitignore` and `.codecardsignore`, on
git's own files, and on entries that were left out for what they are. A folder's time changes with the names in it, and a
file's with its content, so equal stamps mean an equal listing. What git's configuration includes from other files is not
stamped; a change there is seen with the next change of any folder.
"""

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from codecards.environment import process_environment
from codecards.indexer.walk.files import DiscoverySettings
from codecards.indexer.walk.git import git_folder
from codecards.indexer.walk.ignore_files import GIT_RULES

RACY_MARGIN_NS = 2_000_000_000
"""A change so shortly before a stamp was taken may be followed by one with the same time."""
Stamp = tuple[bytes, int, int, int, int]
"""Path, mtime_ns, ctime_ns, inode and size; zeros for a path where nothing is."""
MAX_UNLISTED = 2_000
"""Folders without listed files that are stamped, such as caches; with more of them every look walks."""


class Surroundings(msgspec.Struct, frozen=True, array_like=True):
    """The stamps of everything that a listing depends on, besides the listed files themselves."""

    settings: tuple[int, bool]
    """`DiscoverySettings` of the listing."""
    git: str
    """The `.git` that holds the root, "" without one."""
    inside: tuple[Stamp, ...]
    """Folders, rule files and left-out entries, relative to the root; a folder's size is left out."""
    outside: tuple[Stamp, ...]
    """Git's files and rule files elsewhere."""

    def is_current(self, root: Path, settings: DiscoverySettings) -> bool:
        """Return whether nothing has changed since the stamps were taken."""
        if self.settings != _settings(settings) or self.git != _git(root):
            return False
        base = os.fsencode(root) + b"/"
        is_inside_current = all(stamp_of(base + one[0], one[0]) == one for one in self.inside)
        return is_inside_current and all(stamp_of(one[0], one[0]) == one for one in self.outside)


def take_surroundings(
    root: Path, settings: DiscoverySettings, inside: Sequence[Stamp], outside: Iterable[Path], now_ns: int
) -> Surroundings | None:
    """Return the stamps of a listing, None if a change could have gone unseen.

    Args:
        root: The project.
        settings: Those of the listing.
        inside: Stamps of folders, rule files and left-out entries, taken before they were read.
        outside: Further files that the listing depends on.
        now_ns: The time before the listing, in nanoseconds since 1970.
    """
    paths = dict.fromkeys(os.fsencode(path) for path in (*_outer_files(root), *outside))
    around = tuple(stamp_of(path, path) for path in paths)
    if any(one[1] > now_ns - RACY_MARGIN_NS for one in (*inside, *around)):
        return None
    return Surroundings(_settings(settings), _git(root), tuple(inside), around)


def stamps_below(root: Path, folders: Iterable[str]) -> list[Stamp] | None:
    """Return the stamps of folders without listed files, and of the rule files in them; None if there are too many."""
    found: list[Stamp] = []
    base = os.fsencode(root) + b"/"
    pending = [os.fsencode(folder) for folder in folders]
    while pending:
        folder = pending.pop()
        found.append(stamp_of(base + folder, folder))
        if len(found) > MAX_UNLISTED:
            return None
        try:
            with os.scandir(base + folder) as listing:
                entries = list(listing)
        except OSError:
            continue
        for entry in entries:
            path = folder + b"/" + entry.name
            if entry.name == GIT_RULES.encode():
                found.append(stamp_of(base + path, path))
            elif entry.is_dir(follow_symlinks=False):
                pending.append(path)
    return found


def stamp_of(place: bytes, path: bytes) -> Stamp:
    """Return the stamp of a file or folder."""
    try:
        status = os.lstat(place)
    except OSError:
        return path, 0, 0, 0, 0
    size = 0 if stat.S_ISDIR(status.st_mode) else status.st_size
    return path, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, size


def changed_stamps(root: Path, stamps: Iterable[tuple[bytes, int, int, int, int, int]]) -> dict[int, os.stat_result]:
    """Return number of a row of `store.rows.STAMPS` → status now, for files that differ or were changed too recently.

    A file that is gone has an empty status, which is that of no regular file.
    """
    base = os.fsencode(root) + b"/"
    lstat = os.lstat
    changed: dict[int, os.stat_result] = {}
    for number, (path, size_bytes, mtime_ns, ctime_ns, inode, is_racy) in enumerate(stamps):
        try:
            status = lstat(base + path)
        except OSError:
            status = os.stat_result([0] * 10)
        if (
            status.st_mtime_ns != mtime_ns
            or status.st_ctime_ns != ctime_ns
            or status.st_size != size_bytes
            or status.st_ino != inode
            or is_racy
        ):
            changed[number] = status
    return changed


def pack_surroundings(surroundings: Surroundings | None) -> bytes:
    """Return the stored form; of None, an empty one."""
    return msgspec.msgpack.encode(surroundings) if surroundings is not None else b""


def unpack_surroundings(data: bytes | None) -> Surroundings | None:
    """Return the stamps of a stored form, None if it holds none."""
    return msgspec.msgpack.decode(data, type=Surroundings) if data else None


def _settings(settings: DiscoverySettings) -> tuple[int, bool]:
    return settings.max_file_bytes, settings.index_secrets


def _git(root: Path) -> str:
    git = git_folder(root)
    return os.fsencode(git).decode("utf-8", "backslashreplace") if git is not None else ""


def _outer_files(root: Path) -> list[Path]:
    """Return the paths of the files outside the listing that decide what git lists, and which commit it is at."""
    git = git_folder(root)
    if git is None:
        return []
    own = _git_directory(git)
    common = _common_directory(own)
    values = process_environment()
    home = values.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    names = [own / "HEAD", own / "index", own / "config.worktree", common / "config", common / "info" / "exclude"]
    names += [common / "packed-refs", common / "reftable" / "tables.list", *_reference(own, common)]
    names += [Path(home, "git", "ignore"), Path(home, "git", "config"), Path(os.path.expanduser("~"), ".gitconfig")]
    names += [Path(value) for name in _CONFIG_VARIABLES if (value := values.get(name))]
    names += [Path("/etc/gitconfig")]
    names += [folder / GIT_RULES for folder in root.parents if folder == git.parent or git.parent in folder.parents]
    return names


_CONFIG_VARIABLES = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")


def _git_directory(git: Path) -> Path:
    """Return the git directory of a `.git`, which in a linked worktree is a file that names it."""
    try:
        written = git.read_bytes() if git.is_file() else b""
    except OSError:
        written = b""
    named = os.fsdecode(written.removeprefix(b"gitdir: ").strip())
    return git.parent / named if named else git


def _common_directory(own: Path) -> Path:
    try:
        return own / (own / "commondir").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return own


def _reference(own: Path, common: Path) -> list[Path]:
    """Return the file of the branch that is checked out."""
    try:
        head = (own / "HEAD").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return []
    return [common / head.removeprefix("ref: ")] if head.startswith("ref: ") else []
