"""Files that are written whole or not at all, set aside when damaged, and locked against a second process."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from codecards.errors import StateFileError

LOCK_TIMEOUT_S = 30.0
N_REPLACE_TRIES = 8
"""On Windows a reader can block the replacement of a file for a moment."""


def replace_file(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Write a file so that a reader sees the old content or the new one, also after a crash.

    Args:
        path: The file; its folders are created.
        data: The new content.
        mode: The file's permissions; None for those of a private file, the owner's alone.

    Raises:
        OSError: The folder can't be written, or the disk is full; the old file is unharmed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=".writing-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            Path(temporary).chmod(mode)
        _replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


def write_atomic(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Write a state file as `replace_file` does.

    Raises:
        StateFileError: The folder can't be written, or the disk is full; the old file is unharmed.
    """
    try:
        replace_file(path, data, mode=mode)
    except OSError as error:
        raise StateFileError(f"{path} can't be written: {error.strerror or error}. Nothing was changed.") from error


def _replace(temporary: str, path: Path) -> None:
    for attempt in range(N_REPLACE_TRIES):
        try:
            Path(temporary).replace(path)
        except PermissionError:
            if attempt == N_REPLACE_TRIES - 1:
                raise
            time.sleep(0.01 * 2**attempt)
        else:
            return


def append_line(path: Path, line: bytes) -> None:
    """Append one line; the caller holds a lock.

    Raises:
        StateFileError: The file can't be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(line + b"\n")
    except OSError as error:
        raise StateFileError(f"{path} can't be written: {error.strerror or error}.") from error


def set_aside(path: Path) -> Path:
    """Rename a damaged file to a free name in the same folder, and return the new path."""
    number = 1
    while True:
        other = path.with_name(f"{path.stem}.damaged-{number}{path.suffix}")
        if not other.exists():
            path.replace(other)
            return other
        number += 1


@contextmanager
def locked(path: Path, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Hold a lock file while the body runs.

    Raises:
        StateFileError: Another process held the lock for longer than `timeout_s`, or the file can't be created.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path)
        lock.acquire(timeout=timeout_s)
    except Timeout as error:
        raise StateFileError(f"Another process has held {path} for {timeout_s:.0f} s; wait until it ends.") from error
    except OSError as error:
        raise StateFileError(f"{path} can't be locked: {error.strerror or error}.") from error
    try:
        yield
    finally:
        lock.release()
