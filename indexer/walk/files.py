"""Source files: which files of a repository there are to index, and their bytes.

**Invariant:** no link is followed, nothing outside the root is opened, no special file is opened.
"""

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from codecards.errors import OutsideProjectError, ProjectNotFoundError, ProjectUnreadableError
from codecards.indexer.problems import Coverage, Problem, Reason
from codecards.indexer.walk.secret_names import is_private_key


@dataclass(frozen=True, slots=True)
class DiscoverySettings:
    """What is taken in."""

    max_file_bytes: int = 4 << 20
    """Larger files are reported, not read. 50,000 lines of code are about 2 MB."""
    index_secrets: bool = False
    """Whether files that hold keys or passwords by their name are read."""


LEAST_READ_BYTES = 4096
"""Asked for at a time, also of a file that says it is empty."""


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
        return too_large(file.path, file.size_bytes, limit)
    try:
        descriptor = _open_below(root, file.path)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return Problem(file.path, Reason.SPECIAL_FILE, "is no regular file", Coverage.NONE)
            data = _read_up_to(descriptor, limit + 1, max(status.st_size + 1, LEAST_READ_BYTES))
        finally:
            os.close(descriptor)
    except (OSError, ValueError, OutsideProjectError) as error:
        return _not_read(file.path, error)
    if not settings.index_secrets and is_private_key(data):
        return Problem(file.path, Reason.SECRET, "is a private key by its first line; it is not indexed", Coverage.NONE)
    if len(data) > limit:
        return too_large(file.path, len(data), limit)
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
        return Problem(path, Reason.VANISHED, "was listed, and gone when it was read", Coverage.NONE)
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, OutsideProjectError) or number == errno.ELOOP:
        return Problem(path, Reason.LINK, "has become a link since it was listed", Coverage.NONE)
    if number == errno.ENXIO:
        return Problem(path, Reason.SPECIAL_FILE, "is no regular file", Coverage.NONE)
    return Problem(path, Reason.UNREADABLE, getattr(error, "strerror", None) or str(error), Coverage.NONE)


def too_large(path: str, size_bytes: int, limit: int) -> Problem:
    """Return the problem of a file that is larger than the limit."""
    detail = f"{size_bytes:,} bytes, over the limit of {limit:,} (setting max_file_bytes)"
    return Problem(path, Reason.TOO_LARGE, detail, Coverage.NONE)
