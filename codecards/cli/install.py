"""The commands `install` and `uninstall`: they show a diff, ask, and write the files."""

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from codecards.agents.catalog import agents
from codecards.agents.install import Plan, PlannedChange, carry_out, detect, plan_install, plan_uninstall
from codecards.agents.record import Record, read_record, record_path, save_record
from codecards.agents.targets import Agent
from codecards.cli.command_group import command_module
from codecards.cli.messages import print_json, print_message
from codecards.cli.options import CliOptions
from codecards.errors import UsageError
from codecards.indexer.walk.files import check_root
from codecards.indexer.walk.root import project_root
from codecards.untrusted_text import utf8_safe

app = command_module()

AgentNames = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        help=f"{', '.join(agent.name for agent in agents())} (default: the agents found).",
    ),
]
Scope = Annotated[
    str, typer.Option("--scope", help="project: the files of this project; user: the files in your home folder.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the diff and write nothing.")]
PlanAsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object; write only with --yes.")]


@dataclass(frozen=True, slots=True)
class _Scope:
    """The files of a project or of a user."""

    base: Path
    """The project's root, or the home folder."""
    record_path: Path
    record: Record


@app.command()
def install(
    context: typer.Context,
    agent: AgentNames = None,
    scope: Scope = "project",
    yes: Yes = False,
    dry_run: DryRun = False,
    command: Annotated[
        str, typer.Option("--command", help="The command line that starts codecards, such as `uvx codecards`.")
    ] = "codecards",
    as_json: PlanAsJson = False,
) -> None:
    """Add codecards to the configuration of coding agents.

    Writes the MCP server, instructions and hooks, after showing a diff and asking.
    """
    words = _words(command)
    opened = _open(context.obj, scope)
    table = agents(words)
    root = opened.base if scope == "project" else _project(context.obj)
    chosen = _named(table, agent) if agent else detect(table, root, Path.home())
    if not chosen:
        raise UsageError(f"No agent was found; name one: --agent {', '.join(one.name for one in table)}.")
    plan = plan_install(chosen, scope, opened.base, opened.record, command)
    _finish(plan, chosen, opened, yes=yes, dry_run=dry_run, as_json=as_json)


@app.command()
def uninstall(
    context: typer.Context,
    agent: AgentNames = None,
    scope: Scope = "project",
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: PlanAsJson = False,
) -> None:
    """Remove what `install` added.

    Every other byte of the files stays as it is.
    """
    opened = _open(context.obj, scope)
    table = agents(_words(opened.record.command))
    chosen = _named(table, agent) if agent else list(table)
    plan = plan_uninstall(chosen, scope, opened.base, opened.record)
    _finish(plan, chosen, opened, yes=yes, dry_run=dry_run, as_json=as_json)


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--command {command!r} can't be split into words: {error}.") from error
    if not words:
        raise UsageError(
            "--command is empty; give the command line that starts codecards, such as `codecards` or `uvx codecards`."
        )
    return words


def _open(options: CliOptions, scope: str) -> _Scope:
    """Return a scope with the record of what was installed in it."""
    if scope not in ("project", "user"):
        raise UsageError(f"{scope!r} is not a scope; use project or user.")
    base = _project(options) if scope == "project" else Path.home()
    place = record_path(scope, base)
    return _Scope(base, place, read_record(place))


def _project(options: CliOptions) -> Path:
    start = options.project or Path.cwd()
    check_root(start)
    return start.resolve() if options.project is not None else project_root(start.resolve())


def _named(table: Sequence[Agent], names: Sequence[str]) -> list[Agent]:
    known = {one.name: one for one in table}
    wanted = [name.strip() for value in names for name in value.split(",")]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise UsageError(f"{unknown[0]!r} is not a known agent; use one of: {', '.join(known)}.")
    return [known[name] for name in dict.fromkeys(wanted)]


def _finish(plan: Plan, chosen: Sequence[Agent], scope: _Scope, *, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Show a plan, ask, and carry the plan out."""
    changes = [change for change in plan.changes if change.action != "keep"]
    save: Callable[[Record], None] = partial(save_record, scope.record_path)
    writes = bool(changes or plan.record != scope.record) and not dry_run
    if as_json:
        writes = writes and yes
        if writes:
            carry_out(plan, save, scope.record)
        _print_plan_json(plan, chosen, written=writes)
        return
    typer.echo(utf8_safe(plan.diff()), nl=False)
    for note in plan.notes:
        print_message(note)
    if not changes:
        if writes:
            carry_out(plan, save, scope.record)
        print_message(f"nothing to change for {', '.join(one.name for one in chosen)}")
    elif writes and _may_write(plan, changes, yes=yes):
        carry_out(plan, save, scope.record)
        for change in changes:
            print_message(f"{change.action}d {change.name}")


def _may_write(plan: Plan, changes: Sequence[PlannedChange], *, yes: bool) -> bool:
    """Ask the user unless `yes` is set."""
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("Can't ask without a terminal, so nothing was written. Add --yes to write, or --dry-run.")
    if not typer.confirm(f"Write {len(changes)} files in {plan.base}?"):
        print_message("nothing was written")
        return False
    return True


def _print_plan_json(plan: Plan, chosen: Sequence[Agent], *, written: bool) -> None:
    print_json(
        {
            "agents": [one.name for one in chosen],
            "files": [{"path": utf8_safe(one.name), "action": one.action} for one in plan.changes],
            "diff": utf8_safe(plan.diff()),
            "notes": [utf8_safe(note) for note in plan.notes],
            "written": written,
        }
    )
