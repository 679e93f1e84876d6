"""Commands on sessions: `codecards session …`, the working memory of an agent's task."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from codecards.cli.command_group import command_module
from codecards.cli.messages import print_json, print_message
from codecards.cli.options import AsJson
from codecards.cli.run import open_engine, print_session_answer, ready_engine
from codecards.cli.session_options import (
    Command,
    FilePath,
    Lines,
    Seconds,
    SessionName,
    parse_lines,
    read_file,
    read_text,
    summariser_config,
)
from codecards.engine import Engine
from codecards.errors import StateFileError, UsageError
from codecards.indexer.atomic_files import write_atomic
from codecards.router.assemble.context import Context
from codecards.router.memory.operations import ToolCall
from codecards.router.session import Session
from codecards.router.session_defaults import DEFAULT_BUDGET_TOKENS
from codecards.untrusted_text import terminal_safe
from codecards.wire.sessions import compaction_json, context_json, note_json, session_json

app = command_module("session", "Manage the working memory of an agent's task.")


@app.command("start")
def start(
    context: typer.Context,
    name: SessionName,
    goal: Annotated[str, typer.Option("--goal", help="The goal of the task.")],
    budget: Annotated[
        int, typer.Option("--budget", metavar="TOKENS", help="Maximum tokens of a context.")
    ] = DEFAULT_BUDGET_TOKENS,
    constraint: Annotated[list[str] | None, typer.Option("--constraint", help="A constraint on the task.")] = None,
    as_json: AsJson = False,
) -> None:
    """Start a session."""
    with _with_notices(open_engine(context.obj)) as engine:
        if engine.sessions.exists(name):
            raise UsageError(f"Session {name!r} already exists; continue it, or choose another name.")
        _print_session(
            engine.session(name, goal=goal, budget_tokens=budget, constraints=constraint or ()), as_json=as_json
        )


@app.command("list")
def list_sessions(context: typer.Context, as_json: AsJson = False) -> None:
    """List the sessions."""
    with _with_notices(open_engine(context.obj)) as engine:
        states = []
        for name in engine.sessions.names():
            try:
                states.append(engine.sessions.load(name))
            except StateFileError as error:  # list the other sessions all the same
                print_message(str(error))
        print_session_answer(
            as_json,
            lambda: {
                "sessions": [
                    {
                        "name": one.name,
                        "goal": one.memory.task.goal,
                        "turn": one.memory.turn,
                        "updated": one.updated,
                        "outcome": one.outcome,
                    }
                    for one in states
                ]
            },
            lambda printer: printer.show_sessions(states),
        )


@app.command("show")
def show(context: typer.Context, name: SessionName, as_json: AsJson = False) -> None:
    """Show the working memory and its token use."""
    with _with_notices(open_engine(context.obj)) as engine:
        _print_session(engine.session(name), as_json=as_json)


@app.command("context")
def context_command(context: typer.Context, name: SessionName, as_json: AsJson = False) -> None:
    """Preview the context of the next turn."""
    with _with_notices(ready_engine(context.obj, refresh=True)) as engine:
        _print_context(engine.session(name).preview(), as_json=as_json)


@app.command("turn")
def turn(
    context: typer.Context,
    name: SessionName,
    user_input: Annotated[str, typer.Option("--input", help="The user's message; - reads it from stdin.")] = "",
    as_json: AsJson = False,
) -> None:
    """Begin a turn and print the context for the model.

    Refreshes the files and routes them first.
    """
    with _with_notices(ready_engine(context.obj, refresh=False)) as engine:
        session = engine.session(name)
        found = session.before_generation(read_text(user_input))
        _print_context(found, session, as_json=as_json)


@app.command("rebuild")
def rebuild(
    context: typer.Context,
    name: SessionName,
    goal: Annotated[str, typer.Option("--goal", help="The goal of the new task.")],
    constraint: Annotated[
        list[str] | None, typer.Option("--constraint", help="A constraint; replaces those of the old task.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Begin another task.

    Evicts the old task's files and includes related modules, tests and recent files.
    """
    with _with_notices(ready_engine(context.obj, refresh=False)) as engine:
        session = engine.session(name)
        _print_context(session.rebuild(goal, constraint), session, as_json=as_json)


@app.command("inject", hidden=True)  # an alias of `open`
@app.command("open")
def open_file(
    context: typer.Context,
    name: SessionName,
    path: FilePath,
    purpose: Annotated[str, typer.Option("--purpose", help="What to learn or change in the file.")],
    lines: Lines = None,
    as_json: AsJson = False,
) -> None:
    """Show a file in full in the next contexts."""
    with _with_notices(ready_engine(context.obj, refresh=True)) as engine:
        _print_status(engine.session(name).open_file(path, purpose, lines=parse_lines(lines)), as_json=as_json)


@app.command("close")
def close_file(
    context: typer.Context,
    name: SessionName,
    path: FilePath,
    summariser: Command = None,
    summariser_timeout: Seconds = 20.0,
    as_json: AsJson = False,
) -> None:
    """Remove a file from the context; a summary stays."""
    config = summariser_config(summariser, summariser_timeout)
    with _with_notices(open_engine(context.obj)) as engine:
        _print_status(engine.session(name, summariser=config).close_file(path), as_json=as_json)


@app.command("forget")
def forget(context: typer.Context, name: SessionName, path: FilePath, as_json: AsJson = False) -> None:
    """Remove the summary of a closed file."""
    with _with_notices(open_engine(context.obj)) as engine:
        _print_status(engine.session(name).drop_memo(path), as_json=as_json)


@app.command("pin")
def pin(
    context: typer.Context,
    name: SessionName,
    path: FilePath,
    undo: Annotated[bool, typer.Option("--undo", help="Unpin the file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Pin a file: the router no longer changes its mode."""
    with _with_notices(open_engine(context.obj)) as engine:
        _print_status(engine.session(name).pin(path, pinned=not undo), as_json=as_json)


@app.command("record")
def record(
    context: typer.Context,
    name: SessionName,
    kind: Annotated[str, typer.Option("--kind", metavar="K", help="read, search, edit, run, reply or another word.")],
    path: Annotated[list[str] | None, typer.Option("--path", help="A file that the call touched or found.")] = None,
    query: Annotated[str, typer.Option("--query", help="The query of a search.")] = "",
    call: Annotated[str, typer.Option("--call", help="The call as written.")] = "",
    result: Annotated[str, typer.Option("--result", help="The result; - reads it from stdin.")] = "",
    failed: Annotated[bool, typer.Option("--error", help="The call failed.")] = False,
    reason: Annotated[str, typer.Option("--reason", help="Why a file was changed.")] = "",
    lines: Lines = None,
    as_json: AsJson = False,
) -> None:
    """Record a tool call of the agent."""
    with _with_notices(open_engine(context.obj)) as engine:
        session = engine.session(name)
        tool_call = ToolCall(
            kind,
            tuple(path or ()),
            query=query,
            text=call,
            result=read_text(result),
            failed=failed,
            reason=reason,
            lines=parse_lines(lines),
        )
        _print_status(session.record(tool_call), as_json=as_json)


@app.command("set")
def set_task(
    context: typer.Context,
    name: SessionName,
    goal: Annotated[str | None, typer.Option("--goal", help="The new goal.")] = None,
    status: Annotated[
        str | None, typer.Option("--status", help="The stage: exploring, implementing, testing or reviewing.")
    ] = None,
    constraint: Annotated[list[str] | None, typer.Option("--constraint", help="A further constraint.")] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", metavar="TOKENS", help="Maximum tokens of a context.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change goal, stage, constraints or budget."""
    if goal is None and status is None and budget is None and not constraint:
        raise typer.BadParameter("nothing to set: give --goal, --status, --constraint or --budget")
    with _with_notices(open_engine(context.obj)) as engine:
        session = engine.session(name, goal=goal)
        if budget is not None:
            session.set_budget(budget)
        if status is not None:
            session.set_status(status)
        for one in constraint or ():
            session.add_constraint(one)
        _print_session(session, as_json=as_json)


@app.command("compact")
def compact(
    context: typer.Context,
    name: SessionName,
    target: Annotated[
        int, typer.Option("--target", metavar="TOKENS", min=1, help="Maximum tokens of the result.")
    ] = 1_000,
    preserve: Annotated[
        list[str] | None, typer.Option("--preserve", metavar="WORD", help="Keep the lines that contain this word.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="FILE", help="Compact this file instead of the past turns; - is stdin."),
    ] = None,
    summariser: Command = None,
    summariser_timeout: Seconds = 20.0,
    as_json: AsJson = False,
) -> None:
    """Reduce the older turns, or a text, to a few structured fields.

    `codecards session restore` gives the full text back.
    """
    text = None if source is None else read_text("-") if source == "-" else read_file(source).decode("utf-8", "replace")
    config = summariser_config(summariser, summariser_timeout)
    with _with_notices(open_engine(context.obj)) as engine:
        found = engine.session(name, summariser=config).compact(text, target, tuple(preserve or ()))
        if found.notice:
            print_message(f"{found.notice}; using the extractive summary")
        print_session_answer(as_json, lambda: compaction_json(found), lambda _: typer.echo(found.as_text()))


@app.command("restore")
def restore(
    context: typer.Context, name: SessionName, handle: Annotated[str, typer.Argument(metavar="HANDLE", help="t-…")]
) -> None:
    """Print the full text of a handle, byte for byte."""
    with _with_notices(open_engine(context.obj)) as engine:
        sys.stdout.buffer.write(engine.session(name).restore(handle).encode("utf-8", "surrogatepass"))


@app.command("end")
def end(
    context: typer.Context,
    name: SessionName,
    outcome: Annotated[str, typer.Option("--outcome", help='Such as "done" or "failed".')] = "done",
    conclusion: Annotated[str, typer.Option("--conclusion", help="The text of a note for the archive.")] = "",
    as_json: AsJson = False,
) -> None:
    """End a session."""
    with _with_notices(open_engine(context.obj)) as engine:
        note = engine.session(name).end(outcome, conclusion=conclusion)
        print_session_answer(
            as_json,
            lambda: {"outcome": outcome, "note": note_json(note) if note else None},
            lambda _: typer.echo(f"ended: {outcome}" + (f"; note {note.note_id}" if note else "")),
        )


@app.command("export")
def export(
    context: typer.Context,
    name: SessionName,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file (default: stdout).")] = None,
) -> None:
    """Export a session as a bundle for another agent."""
    with _with_notices(open_engine(context.obj)) as engine:
        data = engine.session(name).export()
    if output is None:
        sys.stdout.buffer.write(data + b"\n")
    else:
        write_atomic(output.absolute(), data)


@app.command("import")
def import_bundle(
    context: typer.Context,
    name: SessionName,
    bundle: Annotated[str, typer.Argument(metavar="FILE", help="A bundle; - is stdin.")],
    as_json: AsJson = False,
) -> None:
    """Merge another agent's bundle into a session.

    On a conflict, the session's own value stays.
    """
    data = sys.stdin.buffer.read() if bundle == "-" else read_file(bundle)
    with _with_notices(open_engine(context.obj)) as engine:
        conflicts = engine.session(name).merge(data)
        print_session_answer(
            as_json,
            lambda: {"conflicts": [{"what": one.what, "ours": one.ours, "theirs": one.theirs} for one in conflicts]},
            lambda printer: printer.show_conflicts(conflicts),
        )


@contextmanager
def _with_notices(engine: Engine) -> Iterator[Engine]:
    """Yield an engine and close it; print a message for each session file that was repaired."""
    with engine:
        try:
            yield engine
        finally:
            for notice in engine.sessions.take_notices():
                print_message(notice)


def _print_status(status: str, *, as_json: bool) -> None:
    print_session_answer(as_json, lambda: {"status": status}, lambda _: typer.echo(status))


def _print_session(session: Session, *, as_json: bool) -> None:
    report = session.report()
    print_session_answer(
        as_json,
        lambda: session_json(session.state, *report),
        lambda printer: printer.show_session(session.state, *report),
    )


def _print_context(found: Context, session: Session | None = None, *, as_json: bool) -> None:
    actions = session.last_actions if session is not None else ()
    if as_json:
        print_json(context_json(found, actions))
        return
    # A pipe gets the exact text for the model; on a terminal, escapes in file contents must not take effect.
    sys.stdout.write((terminal_safe(found.text, keeps_lines=True) if sys.stdout.isatty() else found.text) + "\n")
    sys.stdout.flush()
    print_message(f"{found.ledger.total_tokens} of {found.ledger.budget_tokens} tokens")
    for action in actions:
        if action.reason and action.kind.value != "keep":
            print_message(f"{action.kind.value} {action.path}: {action.reason}")
