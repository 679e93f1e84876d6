"""Notes: conclusions for later tasks, anchored to the code that they are about."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol


class AnchorState(StrEnum):
    """Whether the code of an anchor is the same as when the note was written."""

    FRESH = "fresh"
    CHANGED = "changed"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Anchor:
    """The code that a note is about."""

    symbol: str
    """Qualified name, "" for the whole file."""
    path: str
    syntax_hash: str
    """Hash of the normalised syntax when the note was written; reformatting keeps it, a change does not."""
    state: AnchorState = AnchorState.FRESH
    """Determined when the note is shown; not stored."""
    moved_from: str = ""
    """Place of the code when the note was written, if it has moved since."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A text that a correction replaced."""

    text: str
    replaced: str
    """Time of the correction, ISO 8601 in UTC."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note of the archive."""

    note_id: str
    title: str
    text: str
    created: str
    """ISO 8601 in UTC, like all times here."""
    anchors: tuple[Anchor, ...] = ()
    files: tuple[str, ...] = ()
    """Files that were changed in the task."""
    rejected: tuple[str, ...] = ()
    """Options that were rejected, each with the reason."""
    verification: str = ""
    leftovers: str = ""
    outcome: str = ""
    """How the task ended: "done", "failed"; "" if unknown."""
    confidence: float = 1.0
    """0 to 1."""
    source: str = "user"
    """Author of the note: "user", "session NAME turn 4"."""
    updated: str = ""
    archived: bool = False
    history: tuple[Revision, ...] = ()
    """Oldest first."""

    def all_paths(self) -> frozenset[str]:
        """Return the files that the note is about."""
        return frozenset(self.files) | {anchor.path for anchor in self.anchors}


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """A note before it is written."""

    title: str
    text: str
    anchors: tuple[Anchor, ...] = ()
    files: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    verification: str = ""
    leftovers: str = ""
    outcome: str = ""
    confidence: float = 1.0
    source: str = "user"


class AnchorResolver(Protocol):
    """Finds code by name and by syntax."""

    def resolve(self, target: str) -> Anchor:
        """Return the anchor for a symbol, a path, or `path:symbol`.

        Raises:
            TargetNotFoundError: Nothing matches.
            AmbiguousTargetError: Several things match.
        """
        ...

    def now(self, symbol: str, path: str) -> Anchor | None:
        """Return the anchor of the current code, None if the path does not have the symbol."""
        ...

    def with_syntax(self, syntax_hash: str) -> Sequence[Anchor]:
        """Return the anchors of all current code with this normalised syntax, whatever its name."""
        ...


def with_states(note: Note, resolver: AnchorResolver) -> Note:
    """Return the note with the state of each anchor; moved code is followed if its new place is unique."""
    return replace(note, anchors=tuple(current_anchor(anchor, resolver) for anchor in note.anchors))


def current_anchor(anchor: Anchor, resolver: AnchorResolver) -> Anchor:
    """Return the anchor with its current state and place.

    The same code under the same name in another file is fresh. Under another name it counts as changed, since the note
    may not apply any more.
    """
    now = resolver.now(anchor.symbol, anchor.path)
    if now is not None:
        state = AnchorState.FRESH if now.syntax_hash == anchor.syntax_hash else AnchorState.CHANGED
        return replace(anchor, state=state)
    places = list(resolver.with_syntax(anchor.syntax_hash)) if anchor.syntax_hash else []
    places = [place for place in places if bool(place.symbol) == bool(anchor.symbol)]  # a file moves to a file
    same_name = [place for place in places if _last(place.symbol) == _last(anchor.symbol)]
    found = same_name if len(same_name) == 1 else places
    if len(found) != 1:
        return replace(anchor, state=AnchorState.GONE)
    before = f"{anchor.path}::{anchor.symbol}" if anchor.symbol else anchor.path
    state = AnchorState.FRESH if same_name else AnchorState.CHANGED
    return Anchor(found[0].symbol, found[0].path, anchor.syntax_hash, state, before)


def note_state(note: Note) -> AnchorState:
    """Return the worst state of the note's anchors, fresh if there are none."""
    order = (AnchorState.GONE, AnchorState.CHANGED)
    states = {anchor.state for anchor in note.anchors}
    return next((state for state in order if state in states), AnchorState.FRESH)


def _last(symbol: str) -> str:
    return symbol.rpartition(".")[2]
