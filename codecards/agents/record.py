"""Install record: what was put into which file, so that it can be taken out byte for byte.

It lies in `<root>/.codecards/installed.json`, or for the user's own files in the user's folder for programs' state. It
holds places, lengths and hashes, never the text of a user's file.
"""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from codecards.errors import ConfigurationError
from codecards.indexer.atomic_files import write_atomic
from codecards.indexer.index_folder import FOLDER_NAME, IGNORE_TEXT
from codecards.indexer.walk.files import resolve_inside

FORMAT = 1
RECORD_NAME = "installed.json"


@dataclass(frozen=True, slots=True)
class InstalledFile:
    """What was put into one file."""

    path: str
    """From the base with "/", or absolute if a link leads out of it."""
    agents: tuple[str, ...]
    """For whom; the last to go takes it out."""
    created: bool
    """Whether there was no such file."""
    folders: tuple[str, ...]
    """Those that were made for it, the deepest first."""
    after: str
    """SHA-256 of the file as it was written, in hexadecimal."""
    spans: tuple[tuple[int, int], ...]
    """(first byte, length) of what was put in, by place."""
    made: tuple[tuple[str, ...], ...] = ()
    """Keys in a JSON file that were not there."""
    notes: tuple[str, ...] = ()
    """What the user should know of it."""


@dataclass(frozen=True, slots=True)
class Record:
    """All that was put into the files of one scope."""

    command: str = "codecards"
    files: tuple[InstalledFile, ...] = ()
    n_folders: int = 0
    """How many of the folders that the record lies in were made for it."""
    format: int = FORMAT


def record_path(scope: str, base: Path) -> Path:
    """Return where the record of a scope lies.

    Raises:
        OutsideProjectError: The project's own folder is a link that leads out of it.
    """
    if scope == "project":
        return resolve_inside(base, f"{FOLDER_NAME}/{RECORD_NAME}")
    from platformdirs import user_state_path

    return user_state_path("codecards", appauthor=False) / RECORD_NAME


def read_record(path: Path) -> Record:
    """Return the record; an empty one if there is none.

    Raises:
        ConfigurationError: It is damaged, or of another format.
    """
    try:
        record = msgspec.json.decode(path.read_bytes(), type=Record)
    except FileNotFoundError:
        return Record(n_folders=sum(not folder.exists() for folder in path.parents))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{path} can't be read: {error}. It says what `codecards install` wrote. Move it away: then `uninstall` takes "
            "our marked blocks and entries out without it."
        ) from error
    if record.format != FORMAT:
        raise ConfigurationError(f"{path} has format {record.format}; this version reads {FORMAT}.")
    return record


def save_record(path: Path, record: Record) -> None:
    """Write the record; an empty one is removed, with the folders that were made for it.

    Raises:
        StateFileError: It can't be written.
    """
    if record.files:
        write_atomic(path, msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
        ignore = path.parent / ".gitignore"
        if path.parent.name == FOLDER_NAME and not ignore.exists():
            write_atomic(ignore, IGNORE_TEXT.encode(), mode=0o644)
        return
    path.unlink(missing_ok=True)
    # A project's record may have come with the project; of its folders only `.codecards` can be ours.
    most = 1 if path.parent.name == FOLDER_NAME else len(path.parents)
    for folder in path.parents[: max(0, min(record.n_folders, most))]:
        _remove_if_bare(folder)


def _remove_if_bare(folder: Path) -> None:
    """Remove a folder with nothing in it but our own `.gitignore`."""
    if not folder.is_dir():
        return
    ignore = folder / ".gitignore"
    names = {one.name for one in folder.iterdir()}
    if names == {".gitignore"} and folder.name == FOLDER_NAME and ignore.read_bytes() == IGNORE_TEXT.encode():
        ignore.unlink()
        names = set()
    if not names:
        folder.rmdir()
