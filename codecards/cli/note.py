"""Commands on notes: `codecards note …`, the archive of conclusions."""

from collections.abc import Sequence
from typing import Annotated

import typer

from codecards.cli.command_group import command_module
from codecards.cli.options import AsJson
from codecards.cli.run import make_ready, open_engine, print_session_answer
from codecards.engine import Engine
from codecards.router.notes.note import AnchorState, Note, NoteDraft, note_state, with_states
from codecards.wire.sessions import note_hits_json, note_json, review_json

app = command_module("note", "Keep conclusions, anchored to the code that they are about.")

NoteId = Annotated[str, typer.Argument(metavar="ID", help="The note's id, or a unique prefix of it.")]


@app.command("add")
def add(
    context: typer.Context,
    text: Annotated[str, typer.Option("--text", help="The conclusion.")],
    title: Annotated[str, typer.Option("--title", help="A short title.")] = "",
    anchor: Annotated[
        list[str] | None, typer.Option("--anchor", metavar="SYMBOL|PATH", help="Code that the note is about.")
    ] = None,
    rejected: Annotated[
        list[str] | None, typer.Option("--rejected", help="A rejected option, with the reason.")
    ] = None,
    outcome: Annotated[str, typer.Option("--outcome", help='How the task ended, such as "done" or "failed".')] = "",
    confidence: Annotated[float, typer.Option("--confidence", min=0.0, max=1.0)] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Add a note."""
    with open_engine(context.obj) as engine:
        if anchor:
            make_ready(engine)
        anchors = tuple(engine.anchors.resolve(one) for one in anchor or ())
        note = engine.archive.add(
            NoteDraft(title, text, anchors, rejected=tuple(rejected or ()), outcome=outcome, confidence=confidence)
        )
        _print_note(note, as_json=as_json)


@app.command("list")
def list_notes(
    context: typer.Context,
    state: Annotated[
        str | None, typer.Option("--state", metavar="S", help="Only fresh, changed, gone or archived notes.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the notes, oldest first.

    Archived notes are listed only with `--state archived`.
    """
    known = (*(one.value for one in AnchorState), "archived")
    if state is not None and state not in known:
        raise typer.BadParameter(f"{state!r} is not a state; use one of {', '.join(known)}")
    with open_engine(context.obj) as engine:
        notes = _with_states(engine, engine.archive.notes(archived=state == "archived"))
        if state is not None and state != "archived":
            notes = [note for note in notes if note_state(note).value == state]
        damaged = engine.archive.damaged
        print_session_answer(
            as_json,
            lambda: {
                "notes": [note_json(note) for note in notes],
                "damaged": [{"file": one.name, "detail": one.detail} for one in damaged],
            },
            lambda printer: printer.show_notes(notes, damaged),
        )


@app.command("show")
def show(context: typer.Context, note_id: NoteId, as_json: AsJson = False) -> None:
    """Show a note with its earlier texts."""
    with open_engine(context.obj) as engine:
        _print_note(_with_states(engine, [engine.archive.show(note_id)])[0], as_json=as_json)


@app.command("search")
def search(
    context: typer.Context,
    query: str,
    limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="Maximum number of notes.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Search the notes, best first; repeated notes count once."""
    with open_engine(context.obj) as engine:
        hits = engine.archive.search(query, limit)
        notes = _with_states(engine, [hit.note for hit in hits])
        print_session_answer(
            as_json,
            lambda: note_hits_json(query, zip(hits, notes, strict=True)),
            lambda printer: printer.show_notes(notes),
        )


@app.command("correct")
def correct(
    context: typer.Context,
    note_id: NoteId,
    text: Annotated[str, typer.Option("--text", help="The new text.")],
    as_json: AsJson = False,
) -> None:
    """Replace the text of a note; its history keeps the old one."""
    with open_engine(context.obj) as engine:
        _print_note(engine.archive.correct(note_id, text), as_json=as_json)


@app.command("remove")
def remove(context: typer.Context, note_id: NoteId, as_json: AsJson = False) -> None:
    """Remove a note for good."""
    with open_engine(context.obj) as engine:
        _print_note(engine.archive.remove(note_id), as_json=as_json, done="removed")


@app.command("archive")
def archive(
    context: typer.Context,
    note_id: NoteId,
    undo: Annotated[bool, typer.Option("--undo", help="Return the note from the archived ones.")] = False,
    as_json: AsJson = False,
) -> None:
    """Archive a note.

    Searches still find the note, but contexts no longer include it.
    """
    with open_engine(context.obj) as engine:
        _print_note(engine.archive.set_archived(note_id, not undo), as_json=as_json)


@app.command("review")
def review(context: typer.Context, as_json: AsJson = False) -> None:
    """List the notes that most need a review.

    These have lost anchors, low confidence or a duplicate, or are new.
    """
    with open_engine(context.obj) as engine:
        has_anchors = any(note.anchors for note in engine.archive.notes(archived=False))
        if has_anchors:
            make_ready(engine)
        items = engine.archive.review(engine.anchors if has_anchors else None)
        print_session_answer(as_json, lambda: review_json(items), lambda printer: printer.show_review(items))


def _with_states(engine: Engine, notes: Sequence[Note]) -> list[Note]:
    """Return the notes with the present states of their anchors; notes without anchors need no index."""
    if not any(note.anchors for note in notes):
        return list(notes)
    make_ready(engine)
    return [with_states(note, engine.anchors) for note in notes]


def _print_note(note: Note, *, as_json: bool, done: str = "") -> None:
    print_session_answer(as_json, lambda: note_json(note), lambda printer: printer.show_note(note, done))
