"""The command line: options before the command, and the table of commands.

Answers go to stdout, everything else to stderr; the exit codes are listed in README.md.
"""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from codecards import __version__
from codecards.cli.command_group import LazyCommand, LazyCommandGroup
from codecards.cli.messages import print_message
from codecards.cli.options import CliOptions
from codecards.config import settings_from_environment, unknown_variables
from codecards.errors import UsageError
from codecards.logs import DEFAULT_LEVEL, start_logging

INDEX, QUERY, SERVE = (f"codecards.cli.{name}" for name in ("index", "query", "serve"))
INSTALL, HOOK = "codecards.cli.install", "codecards.cli.hook"

COMMANDS: Mapping[str, LazyCommand] = {
    "index": LazyCommand(INDEX, "Build or update the index."),
    "recall": LazyCommand(QUERY, "Find code for a question, a name, an issue or a stack trace."),
    "select": LazyCommand(QUERY, "Find code for a question, a name, an issue or a stack trace.", hidden=True),
    "overview": LazyCommand("codecards.cli.overview", "Describe the project: packages, entry points, tests."),
    "files": LazyCommand(QUERY, "List the indexed files."),
    "symbols": LazyCommand(QUERY, "List the indexed symbols."),
    "callers": LazyCommand(QUERY, "List the uses of a symbol."),
    "callees": LazyCommand(QUERY, "List the symbols that a symbol uses."),
    "show": LazyCommand(QUERY, "Show the code of a symbol, a file or a line."),
    "similar": LazyCommand(QUERY, "Find code similar to the code at a line."),
    "impact": LazyCommand(QUERY, "Show the symbols, callers and tests that a change affects."),
    "why-not": LazyCommand(QUERY, "Explain why a file is not among the hits of a query."),
    "status": LazyCommand(INDEX, "Show the state of the index."),
    "doctor": LazyCommand(INDEX, "Check the index for damage, and list files not in UTF-8."),
    "mcp": LazyCommand(SERVE, "Serve agents over stdin and stdout (Model Context Protocol)."),
    "panel": LazyCommand(SERVE, "Show what the model is given on a local, read-only web page."),
    "clean": LazyCommand(INDEX, "Remove the index; notes and sessions stay."),
    "install": LazyCommand(INSTALL, "Add codecards to the configuration of coding agents."),
    "uninstall": LazyCommand(INSTALL, "Remove what `install` added."),
    "hook": LazyCommand(HOOK, "Record an event of an agent's session; agents call this."),
    "run": LazyCommand(
        "codecards.cli.command_output",
        "Run a command and print what matters of its output.",
    ),
    "outputs": LazyCommand("codecards.cli.outputs", "Search and show the whole outputs that `run` kept."),
    "gateway": LazyCommand("codecards.cli.gateway", "Serve a gateway between an agent and its model."),
    "savings": LazyCommand("codecards.cli.savings", "Estimate the tokens that codecards costs and saves."),
    "tune": LazyCommand("codecards.cli.tune", "Measure recall on the git history, and fit the weights to it."),
    "note": LazyCommand("codecards.cli.note", "Keep conclusions, anchored to the code that they are about."),
    "session": LazyCommand("codecards.cli.session", "Manage the working memory of an agent's task."),
}


class Commands(LazyCommandGroup):
    """All commands."""

    lazy_commands = COMMANDS


app = typer.Typer(cls=Commands, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"codecards {__version__}")
        raise typer.Exit


@app.callback()
def common(
    context: typer.Context,
    project: Annotated[
        list[str] | None,
        typer.Option(
            "-C",
            metavar="DIR",
            help="The project folder (default: the project around the current folder); repeatable for `mcp`.",
        ),
    ] = None,
    index: Annotated[Path | None, typer.Option("--index", metavar="DIR", help="The folder of the index.")] = None,
    profile: Annotated[
        str | None,
        typer.Option("--profile", metavar="NAME", help="Context profile: coding-agent, article, minimal or chat."),
    ] = None,
    max_file_bytes: Annotated[
        int | None, typer.Option("--max-file-bytes", metavar="N", min=1, help="Files that are larger are not indexed.")
    ] = None,
    log_level: Annotated[
        str | None,
        typer.Option("--log-level", metavar="LEVEL", help="Log to stderr: debug, info, warning or error."),
    ] = None,
    log_file: Annotated[
        Path | None, typer.Option("--log-file", metavar="FILE", help="Append the log to a file, as JSON lines.")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Finds code in a repository and keeps an agent's working memory."""
    if "" in (project or ()):  # `Path("")` would mean the current folder
        raise UsageError("-C needs a folder; leave -C out to use the project around the current folder")
    for message in unknown_variables():
        print_message(message)
    settings = settings_from_environment()
    settings = replace(
        settings,
        index=index.absolute() if index is not None else settings.index,
        log_file=log_file.absolute() if log_file is not None else settings.log_file,
        profile=profile or settings.profile,
        log_level=log_level or settings.log_level,
    )
    if max_file_bytes is not None:
        discovery = replace(settings.build.discovery, max_file_bytes=max_file_bytes)
        settings = replace(settings, build=replace(settings.build, discovery=discovery))
    context.obj = CliOptions(tuple(map(Path, project or ())), settings)
    if settings.log_file or settings.log_level:
        start_logging(settings.log_level or DEFAULT_LEVEL, settings.log_file)


def main() -> None:
    """Run the command line."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
        sys.stderr.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # typed as TextIO
    app()
