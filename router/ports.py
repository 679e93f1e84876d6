"""Ports: what a session needs from a project, as protocols.

The engine implements them over its index, tests over a dictionary.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from codecards.errors import AmbiguousTargetError, CodecardsError, TargetNotFoundError
from codecards.router.compress.digests import OutlineDigester
from codecards.router.compress.entities import find_entities
from codecards.router.memory.state import SessionState
from codecards.router.memory.working_memory import Mode, WorkingMemory
from codecards.router.notes.note import Anchor, AnchorResolver

MAX_SIGNALS = 12
MAX_NAMED_IN_GOAL = 4
MAX_FOUND_TEXTS = 12
"""Files outside the working memory that a turn reads because the latest operations found them."""
RECENT_OPERATIONS = 4
"""Number of operations whose files a turn reads."""
MAX_REFERENCES = 5
"""Hits that a turn asks for."""
MAX_FOLLOW_UP_WORDS = 3
NAMED_WEIGHT = 0.55
"""Weight of a file that an operation named: enough by itself to add the file as a digest. In recorded sessions, one in
four files that were opened for the first time had been named before by a search, a run, a listing or the task."""


@dataclass(frozen=True, slots=True)
class Signal:
    """Weak evidence that a file will be needed next."""

    path: str
    weight: float
    """0 to 1."""
    why: str
    """"called by src/a.py", "changed together with src/a.py in 4 commits", "needed in a similar task"."""


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file as it is now."""

    text: str
    text_hash: str
    """Equal for equal texts."""


@dataclass(frozen=True, slots=True)
class FoldedHit:
    """A hit of a recall without its text, unless the text was asked for."""

    anchor: str
    """Target that `show` accepts: "src/auth.py::TokenStore.purge"."""
    path: str
    summary: str
    first_line: int = 0
    """1-based; 0 if unknown."""
    last_line: int = 0
    score: float = 0.0
    text: str = ""
    source: str = "index"
    """"index", "archive", "tool" …"""
    valid_as_of: str = ""
    """Generation or time of the answer."""


class FileTexts(Protocol):
    """Reads files of the project."""

    def read(self, path: str) -> FileText | None:
        """Return the file's text on disk, None if the file does not exist or must not be shown."""
        ...


class Digester(Protocol):
    """Makes digests of files."""

    def digest(self, path: str, text: str) -> str:
        """Return signatures, exports, dependencies and important comments of a file."""
        ...


class Neighbours(Protocol):
    """Knows which files are related: by calls, by common changes, by similar tasks."""

    def near(self, paths: Sequence[str]) -> Sequence[Signal]:
        """Return signals for files that are related to those in use, strongest first."""
        ...


class Recaller(Protocol):
    """Answers questions about the project."""

    def recall(self, query: str, limit: int) -> Sequence[FoldedHit]:
        """Return the best hits, without text."""
        ...


class QuerySuggester(Protocol):
    """Knows the vocabulary of the project."""

    def near_words(self, query: str) -> Sequence[str]:
        """Return words of the project that could replace those of the query, best first."""
        ...


class InMemoryTexts:
    """A project in memory, for tests and replays."""

    def __init__(self, files: Mapping[str, str]) -> None:
        """Take a mapping from path to text; the mapping may change later."""
        self.files = files

    def read(self, path: str) -> FileText | None:
        """Return the file's text now."""
        text = self.files.get(path)
        return None if text is None else FileText(text, text_hash(text))


class NoNeighbours:
    """Knows no related files."""

    def near(self, paths: Sequence[str]) -> Sequence[Signal]:
        """Return no signals."""
        del paths
        return ()


class NoRecall:
    """Finds no hits and knows no words."""

    def recall(self, query: str, limit: int) -> Sequence[FoldedHit]:
        """Return no hits."""
        del query, limit
        return ()

    def near_words(self, query: str) -> Sequence[str]:
        """Return no words."""
        del query
        return ()


def text_hash(text: str) -> str:
    """Return a short hash of a text, equal for equal texts."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _same_path(path: str) -> str:
    return path


def _empty() -> str:
    return ""


def _no_paths() -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Project:
    """A project as a session sees it; only the texts are required."""

    texts: FileTexts
    digester: Digester = field(default_factory=OutlineDigester)
    neighbours: Neighbours = field(default_factory=NoNeighbours)
    recaller: Recaller = field(default_factory=NoRecall)
    vocabulary: QuerySuggester = field(default_factory=NoRecall)
    anchors: AnchorResolver | None = None
    resolve_path: Callable[[str], str] = _same_path
    """Returns the normalised path of what an agent wrote; raises TargetNotFoundError or AmbiguousTargetError."""
    generation: Callable[[], str] = _empty
    """Returns the name of the index's current generation."""
    refresh: Callable[[], str] = _empty
    """Indexes what changed on disk; called before each turn. Returns why the index is still outdated, or ""."""
    recent: Callable[[], Sequence[str]] = _no_paths
    """Returns the files that were changed recently, the latest first."""

    def signals(self, memory: WorkingMemory) -> tuple[Signal, ...]:
        """Return signals for files that may be needed next: files named in the goal, then neighbours of full files."""
        used = [entry.path for entry in memory.files if entry.mode is Mode.FULL]
        near = self.neighbours.near(used) if used else ()
        return (*self._named_in(memory.task.goal), *near)[:MAX_SIGNALS]

    def texts_for(self, state: SessionState, signals: Sequence[Signal]) -> dict[str, FileText | None]:
        """Return the current texts of the files in the working memory and of those that may enter it."""
        paths = dict.fromkeys(entry.path for entry in state.memory.files)
        recent = [path for operation in state.operations[-RECENT_OPERATIONS:] for path in operation.paths]
        paths |= dict.fromkeys([*dict.fromkeys(recent)][:MAX_FOUND_TEXTS])
        paths |= dict.fromkeys(signal.path for signal in signals)
        return {path: self.texts.read(path) for path in paths}

    def references_for(self, query: str) -> tuple[FoldedHit, ...]:
        """Return the hits of a query; if there are none, those of a second query in the project's own words."""
        found = self.recaller.recall(query, MAX_REFERENCES)
        if not found and (words := self.vocabulary.near_words(query)):
            found = self.recaller.recall(" ".join(words[:MAX_FOLLOW_UP_WORDS]), MAX_REFERENCES)
        return tuple(found)

    def anchors_of(self, targets: Sequence[str]) -> tuple[Anchor, ...]:
        """Return the anchors of symbols or files; targets that the index does not know are left out."""
        resolver, found = self.anchors, list[Anchor]()
        if resolver is None:
            return ()
        for target in targets:
            with suppress(CodecardsError):
                found.append(resolver.resolve(target))
        return tuple(found)

    def _named_in(self, goal: str) -> Iterator[Signal]:
        paths = [entity.text for entity in find_entities(goal) if entity.kind == "path"]
        for path in paths[:MAX_NAMED_IN_GOAL]:
            with suppress(TargetNotFoundError, AmbiguousTargetError):
                found = self.resolve_path(re.sub(r":\d+$", "", path))
                if self.texts.read(found) is not None:
                    yield Signal(found, NAMED_WEIGHT, "named in the goal")
