"""Recollection: when the archive is read back into a context: in three cases, and in no other."""

from collections.abc import Iterable, Sequence

from codecards.router.assemble.context import MemorySegment
from codecards.router.notes.note import Note, note_state
from codecards.router.notes.search import COMMON, note_tokens

LEAST_SIMILARITY = 0.5
"""Share of the goal's words, by rarity alike, that an earlier task must have."""
MAX_SEGMENTS = 5


def relevant_notes(
    notes: Sequence[Note],
    *,
    goal: str,
    files: Iterable[str] = (),
    about_to_change: Iterable[str] = (),
    limit: int = MAX_SEGMENTS,
) -> tuple[MemorySegment, ...]:
    """Return the notes that bear on a task, with the case that called each, strongest case first.

    The cases, from the Context Mode article §3.3: code that was changed before is about to be changed; the task has the
    same files; the task is much like an earlier one. All other notes stay outside, however many there are.
    """
    changing, present = frozenset(about_to_change), frozenset(files)
    wanted = frozenset(note_tokens(goal)) - COMMON
    found: list[tuple[int, float, Note, str]] = []
    for note in notes:
        if note.archived:
            continue
        paths, likeness = note.all_paths(), similarity(wanted, note)
        if changing & paths:
            found.append((0, -likeness, note, "about to change formerly changed code"))
        elif present & paths:
            found.append((1, -likeness, note, "same files"))
        elif likeness >= LEAST_SIMILARITY:
            found.append((2, -likeness, note, "like an earlier task"))
    found.sort(key=lambda row: (row[0], row[1], row[2].note_id))
    return tuple(note_segment(note, why) for _, _, note, why in found[:limit])


def similarity(wanted: frozenset[str], note: Note) -> float:
    """Return the share of the wanted words that the note has, 0 where fewer than two are wanted."""
    if len(wanted) < 2:
        return 0.0
    return len(wanted & frozenset(note_tokens(f"{note.title} {note.text}"))) / len(wanted)


def note_segment(note: Note, why: str) -> MemorySegment:
    """Return a note as a part of a context: text, what was rejected, where it is from and whether it still holds."""
    rows = [f"{note.title}: {note.text}" if note.title else note.text]
    rows += [f"rejected: {option}" for option in note.rejected]
    rows += [f"left over: {note.leftovers}"] if note.leftovers else []
    rows += [f"verified: {note.verification}"] if note.verification else []
    return MemorySegment(
        "\n".join(rows), f"note {note.note_id}", note.created, note_state(note).value, note.confidence, why
    )
