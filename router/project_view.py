"""What the router must know of a project, as protocols: the engine plugs its index in, tests plug a dictionary in."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from codecards.router.routing import Signal


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's text as it is now."""

    text: str
    text_hash: str
    """Equal for equal texts."""


@dataclass(frozen=True, slots=True)
class Reference:
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

    def recall(self, query: str, limit: int) -> Sequence[Reference]:
        """Return the best hits, folded (no text)."""
        ...


class Vocabulary(Protocol):
    """Knows the words of the project."""

    def near_words(self, query: str) -> Sequence[str]:
        """Return words of the project that could take the place of the query's, best first."""
        ...


class TextsOf:
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

    def recall(self, query: str, limit: int) -> Sequence[Reference]:
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
