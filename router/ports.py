"""What the router must know of a project, as protocols: the engine plugs its index in, tests plug a dictionary in."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from codecards.errors import AmbiguousTargetError, TargetNotFoundError
from codecards.router.compress.digests import OutlineDigester
from codecards.router.compress.entities import find_entities
from codecards.router.memory.state import SessionState
from codecards.router.memory.working_memory import Mode, WorkingMemory
from codecards.router.notes.note import AnchorResolver

MAX_SIGNALS = 12

MAX_NAMED_IN_GOAL = 4

MAX_FOUND_TEXTS = 12
"""How many files outside the working memory are read in a turn, for they may come in."""

NAMED_WEIGHT = 0.55
"""Of a file that an act named: enough to bring its digest in, by itself. In recorded sessions one in four of the files
that are opened for the first time was named before, by a search, a run, a listing or the task."""


@dataclass(frozen=True, slots=True)
class Signal:
    """A weak sign that a file will be needed next."""

    path: str
    weight: float
    """0 to 1."""
    why: str
    """"called by src/a.py", "changed together with src/a.py in 4 commits", "needed in a similar task"."""


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's text as it is now."""

    text: str
    text_hash: str
    """Equal for equal texts."""


@dataclass(frozen=True, slots=True)
class FoldedHit:
    """One thing that was recalled: anchor, summary and path; the text only where it was asked for."""

    anchor: str
    """What `show` takes: "src/auth.py::TokenStore.purge"."""
    path: str
    summary: str
    first_line: int = 0
    """1-based, 0 if there is none."""
    last_line: int = 0
    score: float = 0.0
    text: str = ""
    source: str = "index"
    """"index", "archive", "tool" …"""
    valid_as_of: str = ""
    """The generation or time at which it was true."""


class FileTexts(Protocol):
    """Reads files of the project."""

    def read(self, path: str) -> FileText | None:
        """Return the file's text on disk now, None if there is no such file that may be shown."""
        ...


class Digester(Protocol):
    """Makes code cards of files."""

    def digest(self, path: str, text: str) -> str:
        """Return signatures, exports, dependencies and important comments of a file."""
        ...


class Neighbours(Protocol):
    """Knows which files lie near others: calls, common changes, like tasks."""

    def near(self, paths: Sequence[str]) -> Sequence[Signal]:
        """Return signs that other files will be needed, given the files in use, strongest first."""
        ...


class Recaller(Protocol):
    """Answers questions over the project."""

    def recall(self, query: str, limit: int) -> Sequence[FoldedHit]:
        """Return the best hits, folded (no text)."""
        ...


class QuerySuggester(Protocol):
    """Knows the words of the project."""

    def near_words(self, query: str) -> Sequence[str]:
        """Return words of the project that could take the place of the query's, best first."""
        ...


class InMemoryTexts:
    """A project in memory, for tests and replays."""

    def __init__(self, files: Mapping[str, str]) -> None:
        """Take path → text; the mapping may change afterwards."""
        self.files = files

    def read(self, path: str) -> FileText | None:
        """Return the file's text now."""
        text = self.files.get(path)
        return None if text is None else FileText(text, text_hash(text))


class NoNeighbours:
    """Predicts nothing."""

    def near(self, paths: Sequence[str]) -> Sequence[Signal]:
        """Return no signal."""
        del paths
        return ()


class NoRecall:
    """Finds nothing, and knows no words."""

    def recall(self, query: str, limit: int) -> Sequence[FoldedHit]:
        """Return no hit."""
        del query, limit
        return ()

    def near_words(self, query: str) -> Sequence[str]:
        """Return no word."""
        del query
        return ()


def text_hash(text: str) -> str:
    """Return a short hash of a text, equal for equal texts."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _as_written(path: str) -> str:
    return path


def _nothing() -> str:
    return ""


def _none() -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Project:
    """All that a session asks of the project; only the texts are needed."""

    texts: FileTexts
    digester: Digester = field(default_factory=OutlineDigester)
    neighbours: Neighbours = field(default_factory=NoNeighbours)
    recaller: Recaller = field(default_factory=NoRecall)
    vocabulary: QuerySuggester = field(default_factory=NoRecall)
    anchors: AnchorResolver | None = None
    resolve_path: Callable[[str], str] = _as_written
    """Returns the normalised path of what an agent wrote; raises TargetNotFoundError or AmbiguousTargetError."""
    generation: Callable[[], str] = _nothing
    """Returns the name of the index's state."""
    refresh: Callable[[], str] = _nothing
    """Takes in what changed on disk; called before each turn. Returns what keeps the index behind, "" if nothing."""
    recent: Callable[[], Sequence[str]] = _none
    """Returns the files that were changed lately, the latest first."""

    def signals(self, memory: WorkingMemory) -> tuple[Signal, ...]:
        """Return the signs that other files will be needed, from the goal's own words and the files in use."""
        used = [entry.path for entry in memory.files if entry.mode is Mode.FULL]
        near = self.neighbours.near(used) if used else ()
        return (*self._named_in(memory.task.goal), *near)[:MAX_SIGNALS]

    def _named_in(self, goal: str) -> Iterator[Signal]:
        paths = [entity.text for entity in find_entities(goal) if entity.kind == "path"]
        for path in paths[:MAX_NAMED_IN_GOAL]:
            with suppress(TargetNotFoundError, AmbiguousTargetError):
                found = self.resolve_path(re.sub(r":\d+$", "", path))
                if self.texts.read(found) is not None:
                    yield Signal(found, NAMED_WEIGHT, "named in the goal")

    def texts_for(self, state: SessionState, signals: Sequence[Signal]) -> dict[str, FileText | None]:
        """Return the texts now of the files in the working memory and of those that may come in."""
        paths = dict.fromkeys(entry.path for entry in state.memory.files)
        recent = [path for operation in state.operations[-4:] for path in operation.paths]
        paths |= dict.fromkeys([*dict.fromkeys(recent)][:MAX_FOUND_TEXTS])
        paths |= dict.fromkeys(signal.path for signal in signals)
        return {path: self.texts.read(path) for path in paths}
