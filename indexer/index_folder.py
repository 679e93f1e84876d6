"""The layout of the index folder, its manifest, and the lock of its only writer.

.codecards/
    .gitignore              ignores all, itself too, but archive/
    index/
        manifest.json       format, extractor version, embedder; checked before anything else is read
        snapshot.db         SQLite, the source of truth; its meta table names the generation
        derived/7/          columns, word index and vectors of generation 7
        write.lock          held by the writer; writer.json names its process
"""

import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from codecards.errors import (
    IndexWriteError,
    SnapshotDamagedError,
    SnapshotFormatError,
    TooManyFilesError,
    WriterBusyError,
)
from codecards.indexer.atomic_files import replace_file

FORMAT = 3
"""Version of the layout on disk; an index of another version is rebuilt."""
FOLDER_NAME = ".codecards"
OWN_FILES = frozenset({"snapshot.db", "write.lock"})
"""Files that mark an index folder, also one that `--index` puts inside the project."""
IGNORE_TEXT = """\
# Git ignores this folder whole, this file included, but for the notes in archive/, which can be committed.
*
!archive/
!archive/**
"""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an index was built with; whatever depends on a value that differs from ours is rebuilt."""

    format: int
    extractor: int
    """`record.EXTRACTOR_VERSION`."""
    derived: str
    """Identity of the deriver of the word and vector indexes, the embedder included."""
    database: str
    """Size and time of the SQLite file when it was last written; if they differ, the file is checked."""


class IndexFolder:
    """The files of one project's index; folders are created only when something is written."""

    def __init__(self, path: Path) -> None:
        """Use a folder, usually `<root>/.codecards/index`."""
        self.path = path
        self.database = path / "snapshot.db"
        self.manifest_path = path / "manifest.json"
        self.derived_root = path / "derived"
        self._owner_path = path / "writer.json"

    def derived(self, generation: int) -> Path:
        """Return the folder of a generation's derived files."""
        return self.derived_root / str(generation)

    def exists(self) -> bool:
        """Return whether an index may exist."""
        return self.manifest_path.exists() or self.database.exists()

    def database_stamp(self) -> str:
        """Return size and time of the SQLite file, "" if it does not exist."""
        try:
            status = self.database.stat()
        except OSError:
            return ""
        return f"{status.st_size}:{status.st_mtime_ns}"

    def has_open_log(self) -> bool:
        """Return whether the SQLite file has a write-ahead log: it is being written, or was not closed."""
        try:
            return self.database.with_name(self.database.name + "-wal").stat().st_size > 0
        except OSError:
            return False

    def read_manifest(self) -> Manifest:
        """Return the manifest.

        Raises:
            SnapshotFormatError: It has another format.
            SnapshotDamagedError: It can't be read.
        """
        try:
            values = json.loads(self.manifest_path.read_text(encoding="utf-8"))
            found = int(values["format"])
            if found == FORMAT:
                return Manifest(found, int(values["extractor"]), str(values["derived"]), str(values["database"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            message = f"the manifest {self.manifest_path} can't be read ({error}); run `codecards index` to rebuild"
            raise SnapshotDamagedError(message) from error
        raise SnapshotFormatError(
            f"the index in {self.path} has format {found}, this version reads {FORMAT};"
            " run `codecards index` to rebuild"
        )

    def write_manifest(self, manifest: Manifest) -> None:
        """Write the manifest atomically."""
        replace_file(self.manifest_path, json.dumps(asdict(manifest), indent=1).encode())

    def prepare(self) -> None:
        """Create the folder and, in a project's `.codecards`, the ignore file.

        Raises:
            IndexWriteError: The folder can't be created.
        """
        with explained_write_errors(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            self.keep_out_of_commits()

    def keep_out_of_commits(self) -> None:
        """Write the ignore file of a project's `.codecards` if it is gone."""
        if self.path.parent.name == FOLDER_NAME:
            keep_out_of_commits(self.path.parent)

    def remove(self) -> None:
        """Remove the index only; notes and sessions stay.

        Raises:
            WriterBusyError: Another process is writing the index.
            IndexWriteError: The index can't be removed.
        """
        if not self.path.exists():
            return
        with self.writing(), explained_write_errors(self.path):
            self.discard()
        with explained_write_errors(self.path):
            shutil.rmtree(self.path)  # the lock file, which could not be removed while it was held

    def discard(self) -> None:
        """Remove the snapshot and all derived files; the caller holds the lock."""
        logs = self.database.parent.glob(self.database.name + "-*")
        for path in (self.manifest_path, self.database, *logs):
            _remove(path)
        self.prune(-1)

    def links(self) -> list[Path]:
        """Return the links among the index's own files: codecards creates none, so their targets are not ours."""
        own = (self.manifest_path, self.database, self.derived_root, self._owner_path)
        logs = (self.database.with_name(self.database.name + end) for end in ("-wal", "-shm", "-journal"))
        derived = [] if self.derived_root.is_symlink() else self.derived_root.glob("*")
        return [path for path in (*own, *logs, *derived) if path.is_symlink()]

    def prune(self, keep: int) -> None:
        """Remove the derived files of all generations but `keep`; files that a reader holds open are removed later."""
        for folder in self.derived_root.glob("*"):
            if folder.name != str(keep):
                _remove(folder)

    @contextmanager
    def writing(self, wait_s: float = 0.0) -> Iterator[None]:
        """Hold the write lock; the operating system releases the lock of a dead process.

        Raises:
            WriterBusyError: Another process still holds the lock after `wait_s` seconds.
            IndexWriteError: The lock can't be created.
        """
        self.prepare()
        with explained_write_errors(self.path):
            lock = FileLock(self.path / "write.lock", timeout=wait_s)
            try:
                lock.acquire()
            except Timeout:
                pid, started = self._owner()
                age_s = max(0.0, time.time() - started) if started else 0.0
                raise WriterBusyError(self.path, owner_pid=pid, age_s=age_s) from None
        try:
            with explained_write_errors(self.path):
                for link in self.links():
                    link.unlink()
                replace_file(self._owner_path, json.dumps({"pid": os.getpid(), "started": time.time()}).encode())
            yield
        finally:
            with suppress(OSError):
                self._owner_path.unlink(missing_ok=True)
            lock.release()

    def _owner(self) -> tuple[int | None, float | None]:
        """Return the process id and start time of the writer; None if they are unknown."""
        try:
            owner: Mapping[str, object] = json.loads(self._owner_path.read_text(encoding="utf-8"))
            return int(str(owner["pid"])), float(str(owner["started"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None, None


def _remove(path: Path) -> None:
    """Remove a file, a link or a folder, as far as possible; the target of a link stays."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def explained_write_errors(path: Path) -> Iterator[None]:
    """Translate write errors of the operating system into `IndexWriteError`."""
    try:
        yield
    except OSError as error:
        if (too_many := TooManyFilesError.of(error, path)) is not None:
            raise too_many from error
        what = error.strerror or str(error)
        raise IndexWriteError(
            f"the index in {path} can't be written: {what}; free some disk space or name another folder with --index. "
            "What was indexed before is unharmed."
        ) from error


def keep_out_of_commits(folder: Path) -> None:
    """Write the file that makes git ignore a `.codecards` folder but for its notes, unless it is there.

    It never fails: a folder that can't be written is reported by whoever writes into it next.
    """
    ignore = folder / ".gitignore"
    if not os.path.lexists(ignore):
        with suppress(OSError):
            replace_file(ignore, IGNORE_TEXT.encode(), mode=0o644)
