"""Finds the project that holds a folder, and refuses folders that are too wide to be one.

**Invariant:** the search never takes the home folder, a folder above it, a folder of the system or a whole disk.
"""

import logging
import os
from collections.abc import Callable
from pathlib import Path

from codecards.environment import ceiling_folders, crosses_file_systems
from codecards.errors import ProjectNotFoundError
from codecards.indexer.index_folder import FOLDER_NAME
from codecards.indexer.walk.files import check_root

logger = logging.getLogger(__name__)

SYSTEM_FOLDERS = frozenset(
    map(
        Path,
        "/bin /boot /dev /etc /lib /media /mnt /opt /proc /run /sbin /srv /sys /tmp /usr /usr/local /var /var/tmp"
        " /Applications /Library /System /Users /Volumes /private /private/tmp".split(),
    )
)
"""Folders that hold many projects or none; one that is a repository itself is a project all the same."""


def project_root(start: Path) -> Path:
    """Return the project that holds a folder: the nearest with an index or a `.git`, else the folder itself.

    As in git, the search does not climb to a folder of `GIT_CEILING_DIRECTORIES` nor, unless
    `GIT_DISCOVERY_ACROSS_FILESYSTEM` is set, to another file system. It stops below a folder that is too wide.
    """
    start, ceilings = start.absolute(), ceiling_folders()
    device = None if crosses_file_systems() else _device(start)
    for folder in (start, *start.parents):
        if folder != start and (folder in ceilings or is_too_wide(folder)):
            break
        if device is not None and _device(folder) != device:
            break
        if (folder / FOLDER_NAME).is_dir() or (folder / ".git").exists():
            return folder
    return start


def is_too_wide(folder: Path) -> bool:
    """Return whether a folder is a whole disk, the home folder, one above it, or one of the system without a `.git`."""
    folder = folder.resolve()
    if folder == Path(folder.anchor):
        return True
    home = _home()
    if home is not None and (folder == home or folder in home.parents):
        return True
    return folder in SYSTEM_FOLDERS and not (folder / ".git").exists()


def check_width(root: Path, *, is_named: bool = False) -> None:
    """Raise if a folder is too wide to be indexed.

    Args:
        root: The folder.
        is_named: The user named this very folder: only a whole disk is refused then.

    Raises:
        ProjectNotFoundError: It is too wide.
    """
    resolved = root.resolve()
    if resolved == Path(resolved.anchor):
        raise ProjectNotFoundError(f"{root} is a whole disk, not a project; name the project's folder with -C FOLDER")
    if not is_named and is_too_wide(root):
        what = "the home folder" if resolved == _home() else "a folder of many projects"
        raise ProjectNotFoundError(
            f"{root} is {what}, not a project; go into the project's folder or name it with -C FOLDER"
            f" (-C {root} if you do mean all of it)"
        )


def find_project(start: Path, say: Callable[[str], object] = logger.warning) -> Path:
    """Return the absolute path of the project that holds a folder.

    Args:
        start: The folder.
        say: Told if only the index of a folder above makes the folder part of a project, which nobody may expect.

    Raises:
        ProjectNotFoundError: The folder does not exist or is a file, or the project would be too wide.
        ProjectUnreadableError: The folder can't be listed.
    """
    check_root(start)
    start = start.resolve()
    root = project_root(start)
    check_width(root)
    if root != start and not (root / ".git").exists():
        say(f"{start} belongs to the project {root}, whose index is used")
    return root


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except (RuntimeError, OSError):
        return None


def _device(folder: Path) -> int | None:
    try:
        return os.stat(folder).st_dev
    except OSError:
        return None
