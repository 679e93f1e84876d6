"""Install commands: `install` and `uninstall`: the diff first, then a question, then the files."""

import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codecards.cli.run import chosen, say, write
from codecards.errors import UsageError
from codecards.indexer.walk.discovery import project_root
from codecards.indexer.walk.files import check_root
from codecards.wire.answers import utf8_safe

if TYPE_CHECKING:
    from codecards.agents.catalog import Agent
    from codecards.agents.install import Plan
    from codecards.agents.record import Record

AgentNames = Annotated[
    list[str] | None,
    typer.Option(
        "--agent", help="claude, codex, cursor, copilot, gemini, qwen, opencode, windsurf, zed (default: those found)."
    ),
]
Scope = Annotated[str, typer.Option("--scope", help="project: this project's files; user: those in your home folder.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the diff and write nothing.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object; it writes only with --yes.")]


def install(
    agent: AgentNames = None,
    scope: Scope = "project",
    yes: Yes = False,
    dry_run: DryRun = False,
    command: Annotated[str, typer.Option("--command", help="How codecards is called there.")] = "codecards",
    as_json: AsJson = False,
) -> None:
    """Write MCP server, instructions and hooks into the files of coding agents."""
    from codecards.agents.catalog import agents
    from codecards.agents.install import detect, plan_install

    words = _words(command)
    base, place, record = _open(scope)
    table = agents(words)
    found = _named(table, agent) if agent else detect(table, base if scope == "project" else _project(), Path.home())
    if not found:
        raise UsageError(f"No agent was found here; name one: --agent {', '.join(one.name for one in table)}.")
    plan = plan_install(found, scope, base, record, command)
    _finish(plan, found, place, record, yes=yes, dry_run=dry_run, as_json=as_json)


def uninstall(
    agent: AgentNames = None,
    scope: Scope = "project",
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Take out what `install` wrote; every other byte stays."""
    from codecards.agents.catalog import agents
    from codecards.agents.install import plan_uninstall

    base, place, record = _open(scope)
    table = agents(_words(record.command))
    found = _named(table, agent) if agent else list(table)
    plan = plan_uninstall(found, scope, base, record)
    _finish(plan, found, place, record, yes=yes, dry_run=dry_run, as_json=as_json)


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--command {command!r} can't be taken apart: {error}.") from error
    if not words:
        raise UsageError("--command is empty; say how codecards is called, such as `codecards` or `uvx codecards`.")
    return words


def _open(scope: str) -> "tuple[Path, Path, Record]":
    """Return the base of a scope, where its record lies, and the record."""
    from codecards.agents.record import read_record, record_path

    if scope not in ("project", "user"):
        raise UsageError(f"There is no scope {scope!r}; take project or user.")
    base = _project() if scope == "project" else Path.home()
    place = record_path(scope, base)
    return base, place, read_record(place)


def _project() -> Path:
    start = chosen.project or Path.cwd()
    check_root(start)
    return start.resolve() if chosen.project is not None else project_root(start.resolve())


def _named(table: "Sequence[Agent]", names: Sequence[str]) -> "list[Agent]":
    known = {one.name: one for one in table}
    wanted = [name.strip() for value in names for name in value.split(",")]
    strange = [name for name in wanted if name not in known]
    if strange:
        raise UsageError(f"There is no agent {strange[0]!r}; take one of: {', '.join(known)}.")
    return [known[name] for name in dict.fromkeys(wanted)]


def _finish(
    plan: "Plan", found: "Sequence[Agent]", place: Path, record: "Record", *, yes: bool, dry_run: bool, as_json: bool
) -> None:
    """Show a plan, ask, and carry it out."""
    from codecards.agents.install import carry_out
    from codecards.agents.record import save_record

    todo = [change for change in plan.changes if change.action != "keep"]
    save: Callable[[Record], None] = partial(save_record, place)
    writes = bool(todo or plan.record != record) and not dry_run
    if as_json:
        writes = writes and yes
        if writes:
            carry_out(plan, save, record)
        write({
            "agents": [one.name for one in found],
            "files": [{"path": utf8_safe(one.name), "action": one.action} for one in plan.changes],
            "diff": utf8_safe(plan.diff()),
            "notes": [utf8_safe(note) for note in plan.notes],
            "written": writes,
        })  # fmt: skip
        return
    typer.echo(utf8_safe(plan.diff()), nl=False)
    for note in plan.notes:
        say(f"codecards: {note}")
    if not todo:
        if writes:
            carry_out(plan, save, record)
        say(f"codecards: nothing to change for {', '.join(one.name for one in found)}")
        return
    if not writes:
        return
    if not yes:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageError("This is no terminal to ask on; nothing was written. Add --yes to write, or --dry-run.")
        if not typer.confirm(f"Write {len(todo)} files in {plan.base}?"):
            say("codecards: nothing was written")
            return
    carry_out(plan, save, record)
    for change in todo:
        say(f"codecards: {change.action}d {utf8_safe(change.name)}")


def hook(
    agent: Annotated[str, typer.Argument(help="claude, codex, cursor, copilot, gemini, qwen, windsurf.")],
    event: Annotated[str, typer.Argument(help="The event, as the agent calls it.")],
    session: Annotated[str, typer.Option("--session", help="Where it is recorded.")] = "mcp",
) -> None:
    """Record an event of an agent's session (its JSON on stdin); what `install` enters as hooks."""
    from codecards.agents.hooks import main

    raise typer.Exit(main([agent, event, "--session", session]))
