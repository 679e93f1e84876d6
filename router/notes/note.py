"""Notes: conclusions that later work can recall, tied to the code that they speak of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol


class AnchorState(StrEnum):
    """Whether the code that a note is tied to is still what it was."""

    FRESH = "fresh"
    CHANGED = "changed"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Anchor:
    """The code that a note speaks of."""

    symbol: str
    """Qualified name, "" for the whole file."""
    path: str
    syntax_hash: str
    """Of the normalised syntax when the note was written: equal after reformatting, another after a change."""
    state: AnchorState = AnchorState.FRESH
    """As found when the note is shown; not stored."""
    moved_from: str = ""
    """Where it was when the note was written, if it has moved since."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A text that a correction has replaced."""

    text: str
    replaced: str
    """When, as ISO 8601 in UTC."""


@dataclass(frozen=True, slots=True)
class Note:
    """One note of the archive."""

    note_id: str
    title: str
    text: str
    created: str
    """ISO 8601 in UTC, like all times here."""
    anchors: tuple[Anchor, ...] = ()
    files: tuple[str, ...] = ()
    """Files that were changed in the work that it reports."""
    rejected: tuple[str, ...] = ()
    """Options that were not taken, each with its reason."""
    verification: str = ""
    leftovers: str = ""
    outcome: str = ""
    """How the work ended: "done", "failed", "" if unknown."""
    confidence: float = 1.0
    """0 to 1."""
    source: str = "user"
    """Who wrote it: "user", "session NAME turn 4"."""
    updated: str = ""
    archived: bool = False
    history: tuple[Revision, ...] = ()
    """Oldest first."""

    def all_paths(self) -> frozenset[str]:
        """Return the files that it speaks of."""
        return frozenset(self.files) | {anchor.path for anchor in self.anchors}


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """What is to become a note."""

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
            TargetNotFoundError: There is no such thing.
            AmbiguousTargetError: There are several.
        """
        ...

    def now(self, symbol: str, path: str) -> Anchor | None:
        """Return the anchor as the code is now, None if there is no such symbol at that path."""
        ...

    def with_syntax(self, syntax_hash: str) -> Sequence[Anchor]:
        """Return what has this normalised syntax now, anywhere in the project, names aside."""
        ...


def with_states(note: Note, resolver: AnchorResolver) -> Note:
    """Return the note with each anchor's state; what moved is followed if there is only one place it can be."""
    return replace(note, anchors=tuple(current_anchor(anchor, resolver) for anchor in note.anchors))


def current_anchor(anchor: Anchor, resolver: AnchorResolver) -> Anchor:
    """Return the anchor as it stands: fresh, changed, or gone.

    The same code under the same name in another file is fresh; under another name it is changed, for the note's words
    may not fit any more.
    """
    now = resolver.now(anchor.symbol, anchor.path)
    if now is not None:
        state = AnchorState.FRESH if now.syntax_hash == anchor.syntax_hash else AnchorState.CHANGED
        return replace(anchor, state=state)
    places = list(resolver.with_syntax(anchor.syntax_hash)) if anchor.syntax_hash else []
    same_name = [place for place in places if _last(place.symbol) == _last(anchor.symbol)]
    found = same_name if len(same_name) == 1 else places
    if len(found) != 1:
        return replace(anchor, state=AnchorState.GONE)
    before = f"{anchor.path}::{anchor.symbol}" if anchor.symbol else anchor.path
    state = AnchorState.FRESH if same_name else AnchorState.CHANGED
    return Anchor(found[0].symbol, found[0].path, anchor.syntax_hash, state, before)


def note_state(note: Note) -> AnchorState:
    """Return the worst state of the note's anchors, fresh if it has none."""
    order = (AnchorState.GONE, AnchorState.CHANGED)
    states = {anchor.state for anchor in note.anchors}
    return next((state for state in order if state in states), AnchorState.FRESH)


def _last(symbol: str) -> str:
    return symbol.rpartition(".")[2]
