"""Project: all that a session asks of the project it is about, in one value."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from codecards.errors import AmbiguousTargetError, TargetNotFoundError
from codecards.router.digesting import OutlineDigester
from codecards.router.entities import find_entities
from codecards.router.notes import AnchorResolver
from codecards.router.project_view import (
    Digester,
    FileText,
    FileTexts,
    Neighbours,
    NoNeighbours,
    NoRecall,
    Recaller,
    Vocabulary,
)
from codecards.router.routing import NAMED_WEIGHT, Signal
from codecards.router.session_state import SessionState
from codecards.router.working_memory import Mode, WorkingMemory

MAX_SIGNALS = 12
MAX_NAMED_IN_GOAL = 4
MAX_FOUND_TEXTS = 12
"""How many files outside the working memory are read in a turn, for they may come in."""


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
    vocabulary: Vocabulary = field(default_factory=NoRecall)
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
