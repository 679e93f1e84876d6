"""Supply log: what codecards put into an agent's window, and what the agent read itself, as hooks saw it.

One line of JSON each in `<session>/supplied.jsonl`; `codecards savings` counts it. It holds numbers, questions and paths of the
project, no text of files.
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
    """One text that went into the agent's window."""

    kind: str
    """"start" of an agent's session, "answer" of a tool of codecards, "brief" of a hook, or the agent's own "read"."""
    tokens: int
    query: str = ""
    """What was asked for; masked."""
    paths: tuple[str, ...] = ()
    """Files of the project that it shows or names."""


def log_window_entry(folder: Path, supply: WindowEntry) -> None:
    """Append one line to a session's log.

    Raises:
        StateFileError: It can't be written, or is a link, which might lead anywhere.
    """
    if (folder / LOG_NAME).is_symlink():
        raise StateFileError(f"{folder / LOG_NAME} is a link; it was not written to.")
    with locked(folder / "supplied.lock"):
        append_line(folder / LOG_NAME, msgspec.json.encode(supply))


def read_supplies(folder: Path) -> Iterator[WindowEntry]:
    """Yield the lines of a session's log, oldest first; a broken one, such as a crash leaves, is passed over."""
    try:
        lines = (folder / LOG_NAME).read_bytes().split(b"\n")
    except OSError:
        return
    for line in lines:
        try:
            yield msgspec.json.decode(line, type=WindowEntry)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
