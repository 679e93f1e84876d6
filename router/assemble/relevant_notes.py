"""Selects the notes for a context: same code about to change, same files, similar task."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from codecards.errors import SnapshotError
from codecards.router.assemble.context import MemorySegment
from codecards.router.memory.working_memory import Mode, WorkingMemory
from codecards.router.notes.note import AnchorResolver, Note, note_state, with_states
from codecards.router.notes.search import COMMON, note_tokens

MIN_SIMILARITY = 0.5
"""Share of the goal's words that the note of an earlier task must contain; every word counts the same."""
MAX_SEGMENTS = 5


def notes_for_memory(
    notes: Sequence[Note], memory: WorkingMemory, resolver: AnchorResolver | None
) -> tuple[MemorySegment, ...]:
    """Return the notes that are relevant to the task, with the states of their anchors.

    Args:
        notes: The notes of the archive that are not archived.
        memory: The working memory. In the stages "implementing" and "testing" its full files are about to change.
        resolver: Compares anchors with the code; None leaves their states as they are.
    """
    files = [entry.path for entry in memory.files]
    is_changing = memory.task.status in ("implementing", "testing")
    changing = [entry.path for entry in memory.files if entry.mode is Mode.FULL] if is_changing else []
    is_checked = True
    if resolver is not None:
        paths = frozenset(files)
        try:
            notes = [with_states(note, resolver) if note.all_paths() & paths else note for note in notes]
        except SnapshotError:  # without an index the notes are shown as they were written
            is_checked = False
    found = relevant_notes(notes, goal=memory.task.goal, files=files, about_to_change=changing)
    return found if is_checked else tuple(replace(segment, state="not checked") for segment in found)


def relevant_notes(
    notes: Sequence[Note],
    *,
    goal: str,
    files: Iterable[str] = (),
    about_to_change: Iterable[str] = (),
    limit: int = MAX_SEGMENTS,
) -> tuple[MemorySegment, ...]:
    """Return the notes that are relevant to a task, each with the reason, strongest reason first.

    There are three reasons: the note is about code that is about to change, it is about a file of the task, or its task
    is similar. No other note enters, however many there are.

    Source: "Context Mode" (see `codecards.router`), §3.3.
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
        elif likeness >= MIN_SIMILARITY:
            found.append((2, -likeness, note, "like an earlier task"))
    found.sort(key=lambda row: (row[0], row[1], row[2].note_id))
    return tuple(note_segment(note, why) for _, _, note, why in found[:limit])


def similarity(wanted: frozenset[str], note: Note) -> float:
    """Return the share of the wanted words that the note contains, 0 if fewer than two are wanted."""
    if len(wanted) < 2:
        return 0.0
    return len(wanted & frozenset(note_tokens(f"{note.title} {note.text}"))) / len(wanted)


def note_segment(note: Note, why: str) -> MemorySegment:
    """Return a note as a part of a context: its text, its rejected options, its source and the state of its anchors."""
    rows = [f"{note.title}: {note.text}" if note.title else note.text]
    rows += [f"rejected: {option}" for option in note.rejected]
    rows += [f"left over: {note.leftovers}"] if note.leftovers else []
    rows += [f"verified: {note.verification}"] if note.verification else []
    return MemorySegment(
        "\n".join(rows), f"note {note.note_id}", note.created, note_state(note).value, note.confidence, why
    )
