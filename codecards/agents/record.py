"""The record of `install`: the spans added to each file, so that `uninstall` can remove them byte for byte.

The record is `<root>/.codecards/installed.json`, or for the user's files a file in the user's state folder. It holds
positions, lengths and hashes, never the text of a file.
"""

from dataclasses import dataclass
from pathlib import Path

import msgspec
from platformdirs import user_state_path

from codecards.errors import ConfigurationError
from codecards.indexer.atomic_files import write_atomic
from codecards.indexer.index_folder import FOLDER_NAME, IGNORE_TEXT, keep_out_of_commits
from codecards.indexer.walk.files import resolve_inside

FORMAT = 1
RECORD_NAME = "installed.json"


@dataclass(frozen=True, slots=True)
class InstalledFile:
    """The parts added to a file."""

    path: str
    """Relative to the base with "/", or absolute if a link leads out of the base."""
    agents: tuple[str, ...]
    """Agents that use the file; the parts are removed with the last agent."""
    created: bool
    """Whether `install` created the file."""
    folders: tuple[str, ...]
    """Folders created for the file, deepest first."""
    after: str
    """SHA-256 of the written file, in hexadecimal."""
    spans: tuple[tuple[int, int], ...]
    """(first byte, length) of the added parts, in order."""
    made: tuple[tuple[str, ...], ...] = ()
    """Key paths added to a JSON file."""
    notes: tuple[str, ...] = ()
    """Notes for the user."""


@dataclass(frozen=True, slots=True)
class Record:
    """The files of a scope with added parts."""

    command: str = "codecards"
    files: tuple[InstalledFile, ...] = ()
    n_folders: int = 0
    """How many of the record's parent folders were created for it."""
    format: int = FORMAT


def record_path(scope: str, base: Path) -> Path:
    """Return the path of a scope's record.

    Raises:
        OutsideProjectError: The project's `.codecards` folder is a link out of the project.
    """
    if scope == "project":
        return resolve_inside(base, f"{FOLDER_NAME}/{RECORD_NAME}")
    return user_state_path("codecards", appauthor=False) / RECORD_NAME


def read_record(path: Path) -> Record:
    """Return the record, or an empty one if there is no file.

    Raises:
        ConfigurationError: The file is damaged, or has another format.
    """
    try:
        record = msgspec.json.decode(path.read_bytes(), type=Record)
    except FileNotFoundError:
        return Record(n_folders=sum(not folder.exists() for folder in path.parents))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{path}, the record of `codecards install`, can't be read: {error}. Move it away: then `uninstall` removes the "
            "marked blocks and entries without it."
        ) from error
    if record.format != FORMAT:
        raise ConfigurationError(f"{path} has format {record.format}; this version reads format {FORMAT}.")
    return record


def save_record(path: Path, record: Record) -> None:
    """Write the record; delete an empty one with the folders that were created for it.

    Raises:
        StateFileError: The record can't be written.
    """
    if record.files:
        write_atomic(path, msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
        if path.parent.name == FOLDER_NAME:
            keep_out_of_commits(path.parent)
        return
    path.unlink(missing_ok=True)
    # The record may come with a foreign project, where codecards creates only the folder `.codecards`.
    most = 1 if path.parent.name == FOLDER_NAME else len(path.parents)
    for folder in path.parents[: max(0, min(record.n_folders, most))]:
        _remove_if_empty(folder)


def _remove_if_empty(folder: Path) -> None:
    """Remove a folder that is empty but for the `.gitignore` of codecards."""
    if not folder.is_dir():
        return
    ignore = folder / ".gitignore"
    names = {one.name for one in folder.iterdir()}
    if names == {".gitignore"} and folder.name == FOLDER_NAME and ignore.read_bytes() == IGNORE_TEXT.encode():
        ignore.unlink()
        names = set()
    if not names:
        folder.rmdir()
