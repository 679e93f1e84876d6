"""Prints notes and sessions for people."""

from collections.abc import Iterable, Sequence

import typer
from rich.markup import escape
from rich.table import Table

from codecards.cli.print_answers import console
from codecards.router.memory.bundle import Conflict
from codecards.router.memory.ledger import LedgerSummary
from codecards.router.memory.state import SessionState
from codecards.router.notes.archive import DamagedNote, ReviewItem
from codecards.router.notes.note import Note, note_state
from codecards.untrusted_text import terminal_safe


def show_note(note: Note, done: str = "") -> None:
    """Print a whole note, after what was done with it."""
    head = f"{done} {note.note_id}".strip() + (f"  {terminal_safe(note.title)}" if note.title else "")
    typer.echo(f"{head}  ({note.created}, {note_state(note).value}{', archived' if note.archived else ''})")
    typer.echo(terminal_safe(note.text, keeps_lines=True))
    for anchor in note.anchors:
        moved = f", moved from {terminal_safe(anchor.moved_from)}" if anchor.moved_from else ""
        typer.echo(f"  at {terminal_safe(anchor.path)} {terminal_safe(anchor.symbol)} ({anchor.state.value}{moved})")
    for option in note.rejected:
        typer.echo(f"  rejected: {terminal_safe(option)}")
    for old in note.history:
        typer.echo(f"  before {old.replaced}: {terminal_safe(old.text)}")


def show_notes(notes: Sequence[Note], damaged: Iterable[DamagedNote] = ()) -> None:
    """Print notes, a row each."""
    for one in damaged:
        typer.echo(f"unreadable: {terminal_safe(one.name)}: {terminal_safe(one.detail)}")
    if not notes:
        typer.echo("no notes")
        return
    table = Table("id", "state", "created", "note", box=None, pad_edge=False)
    for note in notes:
        first = " ".join((note.title or note.text).split())[:100]
        table.add_row(note.note_id, note_state(note).value, note.created[:10], _cell(first), style=_style(note))
    console().print(table)


def show_review(items: Iterable[ReviewItem]) -> None:
    """Print the notes to review, with the reasons."""
    for item in items:
        first = " ".join((item.note.title or item.note.text).split())[:100]
        typer.echo(f"{item.note.note_id}  {item.reason}: {terminal_safe(first)}")


def show_sessions(states: Sequence[SessionState]) -> None:
    """Print sessions, a row each."""
    if not states:
        typer.echo("no sessions")
        return
    table = Table("name", "turn", "updated", "outcome", "goal", box=None, pad_edge=False)
    for one in states:
        goal = _cell(one.memory.task.goal[:80])
        table.add_row(_cell(one.name), str(one.memory.turn), one.updated, _cell(one.outcome or "running"), goal)
    console().print(table)


def show_session(state: SessionState, summary: LedgerSummary, ratio: float | None, alarms: Iterable[str]) -> None:
    """Print a working memory and its token use."""
    out, memory = console(), state.memory
    out.print(f"goal: {terminal_safe(memory.task.goal)}", markup=False)
    out.print(f"status: {memory.task.status}, turn {memory.turn}, budget {state.budget_tokens:,} tokens", markup=False)
    for constraint in memory.task.constraints:
        out.print(f"constraint: {terminal_safe(constraint)}", markup=False)
    if memory.files:
        table = Table("file", "mode", "last used", "purpose", "why", box=None, pad_edge=False)
        for entry in memory.files:
            table.add_row(
                _cell(entry.path),
                entry.mode.value + (" (pinned)" if entry.pinned else ""),
                f"turn {entry.last_access_turn}",
                _cell(entry.purpose),
                _cell(entry.why),
            )
        out.print(table)
    for change in memory.changes:
        out.print(f"changed {terminal_safe(change.path)}: {change.action} {terminal_safe(change.reason)}", markup=False)
    if summary.n_turns:
        shares = ", ".join(f"{name} {share:.0%}" for name, share in summary.shares.items())
        used = "" if ratio is None else f"; {ratio:.0%} of the shown lines were used"
        out.print(
            f"{summary.n_turns} turns, {summary.mean_tokens:,.0f} tokens a turn, peak {summary.peak_tokens:,}: {shares}{used}",
            markup=False,
        )
    for alarm in alarms:
        out.print(f"alarm: {alarm}", style="yellow", markup=False)


def show_conflicts(conflicts: Sequence[Conflict]) -> None:
    """Print the conflicts of a merge."""
    for one in conflicts:
        typer.echo(f"{terminal_safe(one.what)}: kept: {terminal_safe(one.ours)}; theirs: {terminal_safe(one.theirs)}")
    typer.echo(f"merged, {len(conflicts)} conflicts")


def _style(note: Note) -> str:
    return {"gone": "red", "changed": "yellow"}.get(note_state(note).value, "")


def _cell(text: str) -> str:
    """Return text for a cell of a table, safe for the terminal and free of rich's markup."""
    return escape(terminal_safe(text))
