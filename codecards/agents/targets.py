"""The parts that `install` adds to files: marked blocks of text, and values in JSON; and the agents that need them."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A marked block in a text file."""

    paths: tuple[str, ...]
    """The first existing file is used, else the last."""
    body: str
    comment: str = "markdown"
    """Comment syntax of the marks: "markdown" or "hash"."""
    head: str = ""
    """The start of a new file, such as front matter."""
    toml: bool = False
    """Whether the file must be valid TOML before and after."""


@dataclass(frozen=True, slots=True)
class JsonEntry:
    """A value in a JSON file."""

    keys: tuple[str, ...]
    """Path from the root; the last key is that of the value, or of the array to append to."""
    value: object
    kind: str = "member"
    """"member": a key of codecards; "element": an element of an array; "needed": a key that is added only if missing."""


@dataclass(frozen=True, slots=True)
class JsonEntries:
    """Values in a JSON file, with or without comments."""

    paths: tuple[str, ...]
    """The first existing file is used, else the last."""
    entries: tuple[JsonEntry, ...]


InstallTarget = TextBlock | JsonEntries


@dataclass(frozen=True, slots=True)
class Agent:
    """A coding agent."""

    name: str
    title: str
    project: tuple[InstallTarget, ...]
    user: tuple[InstallTarget, ...]
    signs: tuple[str, ...]
    """Files and folders of a project that use the agent."""
    home_signs: tuple[str, ...]
    programs: tuple[str, ...]
    """Commands of the agent on the search path."""
    notes: Mapping[str, str]
    """Scope -> a note on what the user has to know or do."""

    def targets(self, scope: str) -> tuple[InstallTarget, ...]:
        """Return the targets in a scope, "project" or "user"."""
        return self.project if scope == "project" else self.user
