"""Session commands: `codecards session …`, an agent's working memory from outside."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codecards.cli.run import CommandGroup, open_engine, print_state, ready_engine, say, write
from codecards.engine import Engine
from codecards.errors import ProjectUnreadableError, StateFileError, UsageError
from codecards.router.memory.operations import ToolCall
from codecards.router.session_defaults import DEFAULT_BUDGET_TOKENS
from codecards.wire.answers import terminal_safe

if TYPE_CHECKING:
    from codecards.router.assemble.context import Context
    from codecards.router.compress.summaries import SummariserConfig
    from codecards.router.session import Session

session_app = typer.Typer(
    cls=CommandGroup, no_args_is_help=True, help="Keep an agent's working memory small and right."
)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
SessionName = Annotated[str, typer.Argument(metavar="NAME", help="The session.")]
FilePath = Annotated[str, typer.Argument(metavar="PATH", help="As an agent writes it.")]
LINES_HELP = "Which lines matter: 10-40."
Command = Annotated[
    str | None,
    typer.Option(
        "--summariser", "--summarizer", metavar="COMMAND",
        help="A program that words it: text on stdin, most tokens in CODECARDS_TARGET_TOKENS, summary on stdout.",
    ),
]  # fmt: skip
Seconds = Annotated[
    float, typer.Option("--summariser-timeout", metavar="SECONDS", min=0.1, help="How long it may take.")
]


@session_app.command("start")
def start(
    name: SessionName,
    goal: Annotated[str, typer.Option("--goal", help="What is to be done.")],
    budget: Annotated[int, typer.Option("--budget", metavar="TOKENS", help="Most tokens of a context.")] = (
        DEFAULT_BUDGET_TOKENS
    ),
    constraint: Annotated[list[str] | None, typer.Option("--constraint", help="What must hold.")] = None,
    as_json: AsJson = False,
) -> None:
    """Start a session."""
    with _told(open_engine()) as engine:
        if engine.sessions.exists(name):
            raise UsageError(f"There is a session {name!r} already; go on with it, or choose another name.")
        _print_session(
            engine.session(name, goal=goal, budget_tokens=budget, constraints=constraint or ()), as_json=as_json
        )


@session_app.command("list")
def list_sessions(as_json: AsJson = False) -> None:
    """List the sessions."""
    with _told(open_engine()) as engine:
        states = []
        for name in engine.sessions.names():
            try:
                states.append(engine.sessions.load(name))
            except StateFileError as error:  # the others are there all the same
                say(f"codecards: {error}")
        print_state(
            as_json,
            lambda: {"sessions": [{"name": one.name, "goal": one.memory.task.goal, "turn": one.memory.turn,
                                   "updated": one.updated, "outcome": one.outcome} for one in states]},
            lambda readable: readable.show_sessions(states),
        )  # fmt: skip


@session_app.command("show")
def show(name: SessionName, as_json: AsJson = False) -> None:
    """Show the working memory, and where the tokens went."""
    with _told(open_engine()) as engine:
        _print_session(engine.session(name), as_json=as_json)


@session_app.command("context")
def context(name: SessionName, as_json: AsJson = False) -> None:
    """Show the context that a turn would give now; nothing is changed."""
    with _told(ready_engine(refresh=True)) as engine:
        _print_context(engine.session(name).preview(), as_json=as_json)


@session_app.command("turn")
def turn(
    name: SessionName,
    user_input: Annotated[str, typer.Option("--input", help="What the user says; - reads it from stdin.")] = "",
    as_json: AsJson = False,
) -> None:
    """Begin a turn: refresh, route, assemble; print what the model is to see now."""
    with _told(ready_engine(refresh=False)) as engine:
        session = engine.session(name)
        found = session.before_generation(_text(user_input))
        _print_context(found, session, as_json=as_json)


@session_app.command("rebuild")
def rebuild(
    name: SessionName,
    goal: Annotated[str, typer.Option("--goal", help="What is to be done now.")],
    constraint: Annotated[
        list[str] | None, typer.Option("--constraint", help="What must hold, instead of what did.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Begin another task: related modules, tests and recent files come in, the old task's files leave."""
    with _told(ready_engine(refresh=False)) as engine:
        session = engine.session(name)
        _print_context(session.rebuild(goal, constraint), session, as_json=as_json)


@session_app.command("inject", hidden=True)  # the article's name
@session_app.command("open")
def open_file(
    name: SessionName,
    path: FilePath,
    purpose: Annotated[str, typer.Option("--purpose", help="What is to be learnt or changed there.")],
    lines: Annotated[str | None, typer.Option("--lines", metavar="A-B", help=LINES_HELP)] = None,
    as_json: AsJson = False,
) -> None:
    """Show a file in full from the next context on."""
    with _told(ready_engine(refresh=True)) as engine:
        _done(engine.session(name).open_file(path, purpose, lines=_lines(lines)), as_json=as_json)


@session_app.command("close")
def close_file(
    name: SessionName,
    path: FilePath,
    summariser: Command = None,
    summariser_timeout: Seconds = 20.0,
    as_json: AsJson = False,
) -> None:
    """Take a file out of the context but for a memo for its purpose."""
    summarising = _summarising(summariser, summariser_timeout)
    with _told(open_engine()) as engine:
        _done(engine.session(name, summariser=summarising).close_file(path), as_json=as_json)


@session_app.command("forget")
def forget(name: SessionName, path: FilePath, as_json: AsJson = False) -> None:
    """Remove the memo of a file that was closed."""
    with _told(open_engine()) as engine:
        _done(engine.session(name).drop_memo(path), as_json=as_json)


@session_app.command("pin")
def pin(
    name: SessionName,
    path: FilePath,
    undo: Annotated[bool, typer.Option("--undo", help="Let it go again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Keep a file in its mode whatever the router finds."""
    with _told(open_engine()) as engine:
        _done(engine.session(name).pin(path, pinned=not undo), as_json=as_json)


@session_app.command("record")
def record(
    name: SessionName,
    kind: Annotated[str, typer.Option("--kind", metavar="K", help="read, search, edit, run, reply, or any word.")],
    path: Annotated[list[str] | None, typer.Option("--path", help="A file that it touched or found.")] = None,
    query: Annotated[str, typer.Option("--query", help="What was searched for.")] = "",
    call: Annotated[str, typer.Option("--call", help="The call as it was written.")] = "",
    result: Annotated[str, typer.Option("--result", help="What came back; - reads it from stdin.")] = "",
    failed: Annotated[bool, typer.Option("--error", help="It failed.")] = False,
    reason: Annotated[str, typer.Option("--reason", help="Why a file was changed.")] = "",
    lines: Annotated[str | None, typer.Option("--lines", metavar="A-B", help=LINES_HELP)] = None,
    as_json: AsJson = False,
) -> None:
    """Take note of something that the agent did."""
    with _told(open_engine()) as engine:
        session = engine.session(name)
        tool_call = ToolCall(
            kind,
            tuple(path or ()),
            query=query,
            text=call,
            result=_text(result),
            failed=failed,
            reason=reason,
            lines=_lines(lines),
        )
        _done(session.record(tool_call), as_json=as_json)


@session_app.command("set")
def set_task(
    name: SessionName,
    goal: Annotated[str | None, typer.Option("--goal", help="Another goal.")] = None,
    status: Annotated[
        str | None, typer.Option("--status", help="The stage: exploring, implementing, testing, reviewing.")
    ] = None,
    constraint: Annotated[list[str] | None, typer.Option("--constraint", help="One more that must hold.")] = None,
    budget: Annotated[int | None, typer.Option("--budget", metavar="TOKENS", help="Most tokens of a context.")] = None,
    as_json: AsJson = False,
) -> None:
    """Change goal, stage, constraints or budget."""
    if goal is None and status is None and budget is None and not constraint:
        raise typer.BadParameter("nothing to set: give --goal, --status, --constraint or --budget")
    with _told(open_engine()) as engine:
        session = engine.session(name, goal=goal)
        if budget is not None:
            session.set_budget(budget)
        if status is not None:
            session.set_status(status)
        for one in constraint or ():
            session.add_constraint(one)
        _print_session(session, as_json=as_json)


@session_app.command("compact")
def compact(
    name: SessionName,
    target: Annotated[
        int, typer.Option("--target", metavar="TOKENS", min=1, help="Most tokens of the result.")
    ] = 1_000,
    preserve: Annotated[
        list[str] | None, typer.Option("--preserve", metavar="KEY", help="Keep the lines that have this word.")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="FILE", help="A text instead of the session's acts; - is stdin.")
    ] = None,
    summariser: Command = None,
    summariser_timeout: Seconds = 20.0,
    as_json: AsJson = False,
) -> None:
    """Put the older acts, or a text, into a few structured fields; the whole stays restorable."""
    from codecards.wire.sessions import compaction_json

    text = None if source is None else _text("-") if source == "-" else _file(source).decode("utf-8", "replace")
    summarising = _summarising(summariser, summariser_timeout)
    with _told(open_engine()) as engine:
        found = engine.session(name, summariser=summarising).compact(text, target, tuple(preserve or ()))
        if found.notice:
            say(f"codecards: {found.notice}: these are the rules' own words")
        print_state(as_json, lambda: compaction_json(found), lambda _: typer.echo(found.as_text()))


@session_app.command("restore")
def restore(name: SessionName, handle: Annotated[str, typer.Argument(metavar="HANDLE", help="t-…")]) -> None:
    """Print the whole text behind a handle, byte for byte."""
    with _told(open_engine()) as engine:
        sys.stdout.buffer.write(engine.session(name).restore(handle).encode("utf-8", "surrogatepass"))


@session_app.command("end")
def end(
    name: SessionName,
    outcome: Annotated[str, typer.Option("--outcome", help='"done", "failed" …')] = "done",
    conclusion: Annotated[str, typer.Option("--conclusion", help="Goes to the archive as a note.")] = "",
    as_json: AsJson = False,
) -> None:
    """End a session."""
    from codecards.wire.sessions import note_json

    with _told(open_engine()) as engine:
        note = engine.session(name).end(outcome, conclusion=conclusion)
        print_state(
            as_json,
            lambda: {"outcome": outcome, "note": note_json(note) if note else None},
            lambda _: typer.echo(f"ended: {outcome}" + (f"; note {note.note_id}" if note else "")),
        )


@session_app.command("export")
def export(
    name: SessionName,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file; else stdout.")] = None,
) -> None:
    """Write the session's effects as a bundle for another agent."""
    with _told(open_engine()) as engine:
        data = engine.session(name).export()
    if output is None:
        sys.stdout.buffer.write(data + b"\n")
        return
    from codecards.indexer.atomic_files import write_atomic

    write_atomic(output.absolute(), data)


@session_app.command("import")
def import_bundle(
    name: SessionName,
    bundle: Annotated[str, typer.Argument(metavar="FILE", help="A bundle; - is stdin.")],
    as_json: AsJson = False,
) -> None:
    """Take in what another agent's bundle adds; where both differ our own side stays, and is shown."""
    data = sys.stdin.buffer.read() if bundle == "-" else _file(bundle)
    with _told(open_engine()) as engine:
        session = engine.session(name)
        conflicts = session.merge(data)
        print_state(
            as_json,
            lambda: {"conflicts": [{"what": one.what, "ours": one.ours, "theirs": one.theirs} for one in conflicts]},
            lambda readable: readable.show_conflicts(conflicts),
        )


@contextmanager
def _told(engine: Engine) -> Iterator[Engine]:
    """Yield an engine, and close it; tell what was repaired on the way."""
    with engine:
        try:
            yield engine
        finally:
            for notice in engine.sessions.take_notices():
                say(f"codecards: {notice}")


def _text(value: str) -> str:
    """Return an option's text; `-` stands for what comes on stdin."""
    return sys.stdin.buffer.read().decode("utf-8", "replace") if value == "-" else value


def _file(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except (OSError, ValueError) as error:
        raise ProjectUnreadableError(f"{name} can't be read: {getattr(error, 'strerror', None) or error}") from error


def _summarising(command: str | None, timeout_s: float) -> "SummariserConfig | None":
    if command is None:
        return None
    from codecards.cli.summariser import summariser_command
    from codecards.router.compress.summaries import SummariserConfig

    # The program is ended first, so that it is told of as late and leaves nothing running.
    return SummariserConfig(summariser_command(command, timeout_s), timeout_s + 5)


def _lines(written: str | None) -> tuple[int, int] | None:
    if written is None:
        return None
    first, _, last = written.partition("-")
    if not first.isdigit() or not (last or first).isdigit() or not 1 <= int(first) <= int(last or first):
        raise typer.BadParameter(f"{written!r} are no lines; write 10-40")
    return int(first), int(last or first)


def _done(status: str, *, as_json: bool) -> None:
    print_state(as_json, lambda: {"status": status}, lambda _: typer.echo(status))


def _print_session(session: "Session", *, as_json: bool) -> None:
    from codecards.wire.sessions import session_json

    report = session.report()
    print_state(
        as_json,
        lambda: session_json(session.state, *report),
        lambda readable: readable.show_session(session.state, *report),
    )


def _print_context(found: "Context", session: "Session | None" = None, *, as_json: bool) -> None:
    from codecards.wire.sessions import context_json

    actions = session.last_actions if session is not None else ()
    if as_json:
        write(context_json(found, actions))
        return
    # To a pipe goes what the model is to see, as it is; a terminal must not obey what a file says.
    sys.stdout.write((terminal_safe(found.text, keeps_lines=True) if sys.stdout.isatty() else found.text) + "\n")
    sys.stdout.flush()
    say(f"codecards: {found.ledger.total_tokens} of {found.ledger.budget_tokens} tokens")
    for action in actions:
        if action.reason and action.kind.value != "keep":
            say(f"codecards: {action.kind.value} {action.path}: {action.reason}")
