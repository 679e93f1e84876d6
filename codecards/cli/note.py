"""Note commands: `codecards note …`, the archive of conclusions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from codecards.cli.run import CommandGroup, make_ready, open_engine, print_state
from codecards.engine import Engine

if TYPE_CHECKING:
    from codecards.router.notes.note import Note

note_app = typer.Typer(cls=CommandGroup, no_args_is_help=True, help="Keep conclusions, tied to the code they speak of.")

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
NoteId = Annotated[str, typer.Argument(metavar="ID", help="The note's id, or the beginning of it.")]


@note_app.command("add")
def add(
    text: Annotated[str, typer.Option("--text", help="What was concluded.")],
    title: Annotated[str, typer.Option("--title", help="In a few words.")] = "",
    anchor: Annotated[
        list[str] | None, typer.Option("--anchor", metavar="SYMBOL|PATH", help="The code that it speaks of.")
    ] = None,
    rejected: Annotated[
        list[str] | None, typer.Option("--rejected", help="An option that was not taken, with its reason.")
    ] = None,
    outcome: Annotated[str, typer.Option("--outcome", help='How the work ended: "done", "failed".')] = "",
    confidence: Annotated[float, typer.Option("--confidence", min=0.0, max=1.0)] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Add a note."""
    from codecards.router.notes.note import NoteDraft

    with open_engine() as engine:
        if anchor:
            make_ready(engine)
        anchors = tuple(engine.anchors.resolve(one) for one in anchor or ())
        note = engine.archive.add(
            NoteDraft(title, text, anchors, rejected=tuple(rejected or ()), outcome=outcome, confidence=confidence)
        )
        _print_note(note, as_json=as_json)


@note_app.command("list")
def list_notes(
    state: Annotated[
        str | None, typer.Option("--state", metavar="S", help="Only fresh, changed, gone or archived ones.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the notes, oldest first; those that were archived only if asked for."""
    from codecards.router.notes.note import AnchorState, note_state
    from codecards.wire.sessions import note_json

    known = (*(one.value for one in AnchorState), "archived")
    if state is not None and state not in known:
        raise typer.BadParameter(f"{state!r} is no state; take one of {', '.join(known)}")
    with open_engine() as engine:
        notes = _with_states(engine, engine.archive.notes(archived=state == "archived"))
        if state is not None and state != "archived":
            notes = [note for note in notes if note_state(note).value == state]
        damaged = engine.archive.damaged
        print_state(
            as_json,
            lambda: {"notes": [note_json(note) for note in notes],
                     "damaged": [{"file": one.name, "detail": one.detail} for one in damaged]},
            lambda readable: readable.show_notes(notes, damaged),
        )  # fmt: skip


@note_app.command("show")
def show(note_id: NoteId, as_json: AsJson = False) -> None:
    """Show a note whole, with what it replaced."""
    with open_engine() as engine:
        _print_note(_with_states(engine, [engine.archive.show(note_id)])[0], as_json=as_json)


@note_app.command("search")
def search(
    query: str,
    limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="Most notes.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Find notes, best first; what is said several times counts once."""
    from codecards.wire.sessions import note_hits_json

    with open_engine() as engine:
        hits = engine.archive.search(query, limit)
        notes = _with_states(engine, [hit.note for hit in hits])
        print_state(
            as_json,
            lambda: note_hits_json(query, zip(hits, notes, strict=True)),
            lambda readable: readable.show_notes(notes),
        )


@note_app.command("correct")
def correct(
    note_id: NoteId, text: Annotated[str, typer.Option("--text", help="What is right.")], as_json: AsJson = False
) -> None:
    """Put another text in the place of a note's; the old one stays in its history."""
    with open_engine() as engine:
        _print_note(engine.archive.correct(note_id, text), as_json=as_json)


@note_app.command("remove")
def remove(note_id: NoteId, as_json: AsJson = False) -> None:
    """Remove a note for good."""
    with open_engine() as engine:
        _print_note(engine.archive.remove(note_id), as_json=as_json, what="removed")


@note_app.command("archive")
def archive(
    note_id: NoteId,
    undo: Annotated[bool, typer.Option("--undo", help="Take it out again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Mark a note as settled: it stays searchable, and is no longer offered by itself."""
    with open_engine() as engine:
        _print_note(engine.archive.set_archived(note_id, not undo), as_json=as_json)


@note_app.command("review")
def review(as_json: AsJson = False) -> None:
    """List the few notes that most need a look: broken ties, doubts, repeats, news."""
    from codecards.wire.sessions import review_json

    with open_engine() as engine:
        has_anchors = any(note.anchors for note in engine.archive.notes(archived=False))
        if has_anchors:
            make_ready(engine)
        items = engine.archive.review(engine.anchors if has_anchors else None)
        print_state(as_json, lambda: review_json(items), lambda readable: readable.show_review(items))


def _with_states(engine: Engine, notes: Sequence["Note"]) -> list["Note"]:
    """Return the notes with the states of their anchors now; the index is only needed where there are anchors."""
    from codecards.router.notes.note import with_states

    if not any(note.anchors for note in notes):
        return list(notes)
    make_ready(engine)
    return [with_states(note, engine.anchors) for note in notes]


def _print_note(note: "Note", *, as_json: bool, what: str = "") -> None:
    from codecards.wire.sessions import note_json

    print_state(as_json, lambda: note_json(note), lambda readable: readable.show_note(note, what))
