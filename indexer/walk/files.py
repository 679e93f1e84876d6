"""Reads source files safely.

**Invariant:** no link is followed, and nothing outside the root and no special file is opened.
"""

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from codecards.errors import OutsideProjectError, ProjectNotFoundError, ProjectUnreadableError, TooManyFilesError
from codecards.indexer.problems import Coverage, Problem, Reason
from codecards.indexer.walk.secret_names import is_private_key


@dataclass(frozen=True, slots=True)
class DiscoverySettings:
    """Which files are indexed."""

    max_file_bytes: int = 4 << 20
    """Larger files are reported and not read. 50,000 lines of code are about 2 MB."""
    index_secrets: bool = False
    """Whether files whose name or first line suggests keys or passwords are read."""


LEAST_READ_BYTES = 4096
"""Smallest number of bytes to request in one read, also from a file whose size is given as 0."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One regular file below the root, before it is read."""

    path: str
    """Relative to the root, with slashes; bytes that are not UTF-8 are surrogates (PEP 383)."""
    size_bytes: int
    mtime_ns: int
    inode: int
    """0 if the system has none."""
    ctime_ns: int = 0
    """When the file or its attributes last changed, which programs can't set (Windows: when it was created)."""


def check_root(root: Path) -> None:
    """Raise unless the root is a folder that can be listed.

    Raises:
        ProjectNotFoundError: It does not exist or is not a folder.
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
    """Return the bytes of a file, or the problem that prevented reading it.

    Each folder on the way and the file itself are opened without following links, and the file is checked to be
    regular, so that a file replaced by a link or a pipe since it was listed is not read.
    """
    read = read_stamped(root, file, settings or DiscoverySettings())
    return read if isinstance(read, Problem) else read[0]


def read_stamped(root: Path, file: SourceFile, settings: DiscoverySettings) -> tuple[bytes, SourceFile] | Problem:
    """Read a file as `read_file` does; return the bytes with size and times of the file as it was opened."""
    limit = settings.max_file_bytes
    if file.size_bytes > limit:
        return too_large(file.path, file.size_bytes, limit)
    try:
        descriptor = _open_below(root, file.path)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return Problem(file.path, Reason.SPECIAL_FILE, "is not a regular file", Coverage.NONE)
            data = _read_up_to(descriptor, limit + 1, max(status.st_size + 1, LEAST_READ_BYTES))
        finally:
            os.close(descriptor)
    except (OSError, ValueError, OutsideProjectError) as error:
        too_many = TooManyFilesError.of(error, root / file.path) if isinstance(error, OSError) else None
        if too_many is not None:
            raise too_many from error
        return _not_read(file.path, error)
    if not settings.index_secrets and is_private_key(data):
        return Problem(file.path, Reason.SECRET, "starts like a private key; it is not indexed", Coverage.NONE)
    if len(data) > limit:
        return too_large(file.path, len(data), limit)
    return data, SourceFile(file.path, status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns)


def resolve_inside(root: Path, path: str) -> Path:
    """Return the absolute path with all links resolved.

    Raises:
        OutsideProjectError: It is not inside the root.
    """
    real_root = root.resolve()
    try:
        place = (real_root / path).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise OutsideProjectError(f"{path!r} is not a usable path: {error}") from error
    if not place.is_relative_to(real_root):
        raise OutsideProjectError(f"{path!r} leads out of the project {root}")
    return place


def _open_below(root: Path, path: str) -> int:
    """Open a path below the root without following links, and return the descriptor.

    Raises:
        OSError: The path can't be opened.
        OutsideProjectError: The path leads out of the root.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    *folders, name = path.split("/")
    if ".." in folders or name == ".." or path.startswith("/"):
        raise OutsideProjectError(f"{path!r} leads out of the project {root}")
    if os.open not in os.supports_dir_fd or not hasattr(os, "O_NOFOLLOW"):
        resolve_inside(root, path)  # a folder may have become a link since it was listed
        return os.open(root / path, flags)
    search = os.O_DIRECTORY | getattr(os, "O_PATH", os.O_RDONLY)
    folder = os.open(root, search)
    try:
        for part in folders:
            try:
                below = os.open(part, search | os.O_NOFOLLOW, dir_fd=folder)
            except NotADirectoryError:  # Linux raises this for a link too
                if stat.S_ISLNK(os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode):
                    raise OutsideProjectError(f"{path!r} leads through a link") from None
                raise
            os.close(folder)
            folder = below
        return os.open(name, flags, dir_fd=folder)
    finally:
        os.close(folder)


def _read_up_to(descriptor: int, n_bytes: int, expected: int) -> bytes:
    """Return the first bytes of a file, read `expected` at a time: larger buffers take longer to allocate than to fill."""
    parts: list[bytes] = []
    while n_bytes > 0 and (data := os.read(descriptor, min(n_bytes, expected))):
        parts.append(data)
        n_bytes -= len(data)
    return b"".join(parts)


def _not_read(path: str, error: Exception) -> Problem:
    """Return the problem that prevented reading a listed file."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return Problem(path, Reason.VANISHED, "was listed, but did not exist when it was read", Coverage.NONE)
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, OutsideProjectError) or number == errno.ELOOP:
        return Problem(path, Reason.LINK, "has become a link since it was listed", Coverage.NONE)
    if number == errno.ENXIO:
        return Problem(path, Reason.SPECIAL_FILE, "is not a regular file", Coverage.NONE)
    return Problem(path, Reason.UNREADABLE, getattr(error, "strerror", None) or str(error), Coverage.NONE)


def too_large(path: str, size_bytes: int, limit: int) -> Problem:
    """Return the problem of a file over the size limit."""
    detail = f"{size_bytes:,} bytes, over the limit of {limit:,} (setting max_file_bytes)"
    return Problem(path, Reason.TOO_LARGE, detail, Coverage.NONE)
