"""Logs each text that enters an agent's window: answers of codecards, and files that the agent reads itself.

Hooks append one line of JSON each to `<session>/supplied.jsonl`, and `codecards savings` reads it. The log holds numbers,
questions and paths of the project, but no text of files.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from codecards.errors import StateFileError
from codecards.indexer.atomic_files import append_line, locked

LOG_NAME = "supplied.jsonl"


@dataclass(frozen=True, slots=True)
class WindowEntry:
    """One text that entered the agent's window."""

    kind: str
    """"start" of an agent's session, "answer" of a codecards tool, "brief" of a hook, or "read" by the agent itself."""
    tokens: int
    query: str = ""
    """The question, with secrets masked."""
    paths: tuple[str, ...] = ()
    """Files of the project that the text shows or names."""


def log_window_entry(folder: Path, entry: WindowEntry) -> None:
    """Append one line to a session's log.

    Raises:
        StateFileError: The log can't be written, or is a link, which could lead anywhere.
    """
    if (folder / LOG_NAME).is_symlink():
        raise StateFileError(f"{folder / LOG_NAME} is a link; nothing was written.")
    with locked(folder / "supplied.lock"):
        append_line(folder / LOG_NAME, msgspec.json.encode(entry))


def read_window_entries(folder: Path) -> Iterator[WindowEntry]:
    """Yield the entries of a session's log, oldest first; a broken line, as a crash leaves it, is skipped."""
    try:
        lines = (folder / LOG_NAME).read_bytes().split(b"\n")
    except OSError:
        return
    for line in lines:
        try:
            yield msgspec.json.decode(line, type=WindowEntry)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
