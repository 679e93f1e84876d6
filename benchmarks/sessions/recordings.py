"""Reads recorded agent sessions: lists of events, with the file texts at the commit where the session started."""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.sessions.policies import Event
from codecards.router.compress.entities import find_entities

SUFFIXES = (".py", ".java", ".c", ".h", ".js", ".ts", ".go", ".rs", ".rst", ".md", ".txt", ".toml", ".cfg", ".ini")
PARTS = ("tuning", "held-out")


@dataclass(frozen=True, slots=True)
class Recording:
    """One session."""

    name: str
    """The part after the last slash names the task: "mini-swe-agent/astropy__astropy-12907"."""
    task: str
    events: tuple[Event, ...]
    read: Callable[[str], str | None]
    """Returns a file's text at the start of the session, None if the file did not exist."""

    @property
    def task_name(self) -> str:
        """Name of the task, which several sessions may share."""
        return self.name.rpartition("/")[2]

    def texts(self) -> dict[str, str]:
        """Return path → text of the files that the session touches or that its task names."""
        named = {entity.text for entity in find_entities(self.task) if entity.kind == "path"}
        paths = sorted({event.path for event in self.events if event.path} | named)
        return {path: text for path in paths if (text := self.read(path)) is not None}


def read_recordings(path: Path, trees: Path) -> Iterator[Recording]:
    """Yield the recorded sessions whose tree exists; each line is a JSON object with `id`, `task` and `events`."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            tree = trees / row["id"].rpartition("/")[2]
            if tree.is_dir():
                yield Recording(row["id"], row["task"], tuple(_event(event) for event in row["events"]), _reader(tree))


def in_part(recording: Recording, part: str) -> bool:
    """Return whether a session belongs to a part: "all", "tuning" or "held-out".

    The halves are chosen by a hash of the task's name, so all sessions of a task are in the same half. Only the tuning half was
    looked at while the policy was developed.
    """
    is_tuning = zlib.crc32(recording.task_name.encode()) % 2 == 0
    return part == "all" or is_tuning == (part == "tuning")


def turns(events: Iterable[Event]) -> Iterator[list[Event]]:
    """Yield the events of each turn."""
    turn: list[Event] = []
    for event in events:
        if turn and event.turn != turn[0].turn:
            yield turn
            turn = []
        turn.append(event)
    if turn:
        yield turn


def _reader(tree: Path) -> Callable[[str], str | None]:
    def read(path: str) -> str | None:
        file = tree / path
        if not path.endswith(SUFFIXES) or ".." in Path(path).parts or not file.is_file():
            return None
        return file.read_text(encoding="utf-8", errors="replace")

    return read


def _event(row: dict[str, object]) -> Event:
    def number(key: str) -> int:
        value = row[key]
        return value if isinstance(value, int) else 0

    path = row["path"] if isinstance(row["path"], str) else ""
    return Event(
        number("turn"),
        str(row["kind"]),
        path.removeprefix("./"),
        number("start"),
        number("end"),
        number("in_chars"),
        number("out_chars"),
        bool(row["error"]),
    )
