"""Archive: the project's notes, one Markdown file each, safe against crashes and concurrent processes."""

import re
import secrets
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from codecards.errors import AmbiguousTargetError, StateFileError, TargetNotFoundError, UsageError
from codecards.indexer.atomic_files import locked, write_atomic
from codecards.indexer.text.secrets import mask_secrets
from codecards.router.notes.markdown import read_note, write_note
from codecards.router.notes.note import AnchorResolver, AnchorState, Note, NoteDraft, Revision, note_state, with_states
from codecards.router.notes.search import NoteHit, says_the_same, search_notes

MAX_NOTE_CHARACTERS = 100_000
MAX_TITLE_CHARACTERS = 120
MAX_REVIEW_NOTES = 12
"""So many can be reviewed in half a minute."""
LOW_CONFIDENCE = 0.5

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


def time_stamp(clock: Clock) -> str:
    """Return the clock's time as ISO 8601 in UTC."""
    return clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class DamagedNote:
    """A file of the archive that can't be read as a note; it is never changed."""

    name: str
    detail: str


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A note to review, with the reason."""

    note: Note
    reason: str


class Archive:
    """The notes of one project."""

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock = utc_now,
        new_id: Callable[[], str] = lambda: secrets.token_hex(4),
        mask: Callable[[str], str] = mask_secrets,
        prepare: Callable[[], None] = lambda: None,
    ) -> None:
        """Take the folder, usually `<root>/.codecards/archive`; it is created with the first note.

        Args:
            folder: Folder of the note files.
            clock: Returns the time.
            new_id: Returns ids of letters, digits and `-` that are unique across processes.
            mask: Removes keys and passwords from a text.
            prepare: Called before a note is added.
        """
        self.folder = folder
        self._clock, self._new_id, self._mask, self._prepare = clock, new_id, mask, prepare
        self._read: dict[str, tuple[tuple[int, int], Note]] = {}
        self.damaged: tuple[DamagedNote, ...] = ()
        """Files that the last listing could not read."""

    def add(self, draft: NoteDraft) -> Note:
        """Write a new note and return it.

        Raises:
            UsageError: The text is empty or too long.
            StateFileError: The file can't be written.
        """
        text = self._mask(draft.text)
        if not text.strip():
            raise UsageError("A note needs a text.")
        if len(text) > MAX_NOTE_CHARACTERS:
            raise UsageError(f"A note can have at most {MAX_NOTE_CHARACTERS} characters; this one has {len(text)}.")
        note = Note(
            self._new_id(),
            _one_line(self._mask(draft.title))[:MAX_TITLE_CHARACTERS],
            text,
            self._now(),
            draft.anchors,
            draft.files,
            tuple(self._mask(one) for one in draft.rejected if one.strip()),
            self._mask(draft.verification),
            self._mask(draft.leftovers),
            draft.outcome,
            min(1.0, max(0.0, draft.confidence)),
            draft.source,
        )
        path = self.folder / f"{note.created[:10]}-{_slug(note.title or note.text)}-{note.note_id}.md"
        if path.exists():
            raise StateFileError(f"{path} already exists; add the note again.")
        self._prepare()
        write_atomic(path, write_note(note))
        return note

    def notes(self, *, archived: bool | None = None) -> list[Note]:
        """Return the notes, oldest first; with `archived`, only the archived ones or only the others."""
        found, damaged, seen = [], [], set()
        for path in sorted(self.folder.glob("*.md")) if self.folder.is_dir() else []:
            seen.add(path.name)
            try:
                found.append(self._load(path))
            except FileNotFoundError:
                continue
            except (StateFileError, OSError) as error:
                damaged.append(DamagedNote(path.name, str(error)))
        self._read = {name: kept for name, kept in self._read.items() if name in seen}
        self.damaged = tuple(damaged)
        found.sort(key=lambda note: (note.created, note.note_id))
        return [note for note in found if archived is None or note.archived is archived]

    def show(self, note_id: str) -> Note:
        """Return a note by its id, a prefix of the id, or its file name.

        Raises:
            TargetNotFoundError: No note matches.
            AmbiguousTargetError: Several notes match.
        """
        return self._load(self._path(note_id))

    def search(self, query: str, limit: int = 10) -> list[NoteHit]:
        """Return the notes that match a query, best first, without near-duplicates.

        Raises:
            UsageError: The query is empty.
        """
        if not query.strip():
            raise UsageError("A search needs a query.")
        return search_notes(self.notes(), query, limit)

    def correct(self, note_id: str, text: str) -> Note:
        """Replace the text of a note, and return the note; the old text stays in its history."""
        masked = self._mask(text)
        if not masked.strip():
            raise UsageError("A correction needs a text; to delete the note, remove it.")

        def corrected(note: Note) -> Note:
            now = self._now()
            return replace(note, text=masked, updated=now, history=(*note.history, Revision(note.text, now)))

        return self._change(note_id, corrected)

    def set_archived(self, note_id: str, archived: bool = True) -> Note:
        """Mark a note as archived or active, and return it; archived notes stay searchable."""
        return self._change(note_id, lambda note: replace(note, archived=archived, updated=self._now()))

    def remove(self, note_id: str) -> Note:
        """Delete a note's file, and return the note.

        Raises:
            TargetNotFoundError: No note matches.
            StateFileError: The file can't be deleted.
        """
        with locked(self._lock_path):
            path = self._path(note_id)
            note = self._load(path)
            try:
                path.unlink()
            except OSError as error:
                raise StateFileError(f"{path} can't be deleted: {error.strerror or error}.") from error
        return note

    def review(self, resolver: AnchorResolver | None = None) -> list[ReviewItem]:
        """Return the notes that most need a review: changed code, then low confidence and duplicates, then new notes."""
        notes = [with_states(note, resolver) if resolver else note for note in self.notes(archived=False)]
        items: dict[str, ReviewItem] = {}
        for note in notes:
            state = note_state(note)
            if state is not AnchorState.FRESH:
                items[note.note_id] = ReviewItem(note, f"its code is {state.value}")
        for index, note in enumerate(notes):
            if note.note_id not in items and note.confidence < LOW_CONFIDENCE:
                items[note.note_id] = ReviewItem(note, f"confidence {note.confidence:.2f}")
            twin = next((other for other in notes[:index] if says_the_same(note, other)), None)
            if twin is not None:
                items.setdefault(note.note_id, ReviewItem(note, f"says the same as {twin.note_id}"))
        for note in reversed(notes):
            items.setdefault(note.note_id, ReviewItem(note, "new"))
        return list(items.values())[:MAX_REVIEW_NOTES]

    @property
    def _lock_path(self) -> Path:
        # Beside the archive, since the archive itself may be committed.
        return self.folder.parent / "archive.lock"

    def _now(self) -> str:
        return time_stamp(self._clock)

    def _load(self, path: Path) -> Note:
        status = path.stat()
        stamp = (status.st_mtime_ns, status.st_size)
        kept = self._read.get(path.name)
        if kept is None or kept[0] != stamp:
            kept = self._read[path.name] = (stamp, read_note(path.read_bytes(), path.name))
        return kept[1]

    def _path(self, note_id: str) -> Path:
        wanted = note_id.strip().removesuffix(".md")
        if not re.fullmatch(r"[\w.-]+", wanted):
            raise TargetNotFoundError(note_id, what="note")
        paths = sorted(self.folder.glob("*.md")) if self.folder.is_dir() else []
        ids = {path: path.stem.rpartition("-")[2] for path in paths}
        exact = [path for path in paths if wanted in (ids[path], path.stem)]
        found = exact or [path for path in paths if ids[path].startswith(wanted) or path.stem.startswith(wanted)]
        if not found:  # a file that was renamed by hand still contains its id
            by_hand = {note.note_id: name for name, (_, note) in self._read.items()} if self.notes() else {}
            if wanted not in by_hand:
                raise TargetNotFoundError(note_id, what="note")
            return self.folder / by_hand[wanted]
        if len(found) > 1:
            raise AmbiguousTargetError(note_id, [ids[path] for path in found])
        return found[0]

    def _change(self, note_id: str, change: Callable[[Note], Note]) -> Note:
        with locked(self._lock_path):
            path = self._path(note_id)
            note = change(self._load(path))
            write_atomic(path, write_note(note))
        return note


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _slug(text: str) -> str:
    """Return a short, portable part of a file name; letters of all scripts are kept."""
    folded = unicodedata.normalize("NFC", text.casefold())
    return re.sub(r"[^\w]+", "-", folded[:60]).strip("-_")[:40].rstrip("-_") or "note"
