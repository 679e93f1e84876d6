"""Commands on the whole outputs that `codecards run` kept: `codecards outputs …`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from codecards.cli.command_group import command_module
from codecards.cli.messages import print_json
from codecards.cli.options import AsJson, CliOptions
from codecards.errors import UsageError
from codecards.outputs.store import OutputStore, project_outputs
from codecards.wire.outputs import output_json, output_line_json

app = command_module("outputs", "Search and show the whole outputs that `run` kept.")

Handle = Annotated[str, typer.Argument(help="The handle that `run` printed.")]
Limit = Annotated[int, typer.Option("--limit", min=1, help="At most so many.")]


@app.command("list")
def list_outputs(context: typer.Context, limit: Limit = 20, as_json: AsJson = False) -> None:
    """List the kept outputs, newest first."""
    found = _store(context.obj).latest(limit)
    if as_json:
        print_json({"outputs": [output_json(one) for one in found]})
        return
    for one in found:
        code = "" if one.exit_code is None else f" exit {one.exit_code}"
        sys.stdout.write(f"{one.handle}  {one.created}{code}  {one.source}\n")


@app.command("search")
def search_outputs(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(help="Words; a line must contain all of them.")],
    handle: Annotated[str, typer.Option("--handle", help="Search only this output.")] = "",
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """Search the kept outputs by words."""
    found = _store(context.obj).search(" ".join(query), limit, handle=handle)
    if as_json:
        print_json({"query": " ".join(query), "lines": [output_line_json(one) for one in found]})
        return
    for one in found:
        sys.stdout.write(f"{one.handle}:{one.line}: {one.text}\n")


@app.command("show")
def show_output(
    context: typer.Context,
    handle: Handle,
    lines: Annotated[
        str, typer.Option("--lines", metavar="FIRST-LAST", help="Only these lines: 40-60, 40- or 40.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Print a kept output, or some lines of it."""
    first, last = _line_range(lines)
    found = _store(context.obj).get(handle)
    text = found.lines(first, last)
    if as_json:
        print_json({**output_json(found), "first_line": first, "text": text})
    else:
        sys.stdout.write(text)


def _line_range(text: str) -> tuple[int, int | None]:
    if not text:
        return 1, None
    first, dash, last = text.partition("-")
    if first.isdigit() and (last.isdigit() or not last):
        return max(1, int(first)), int(last) if last else None if dash else int(first)
    raise UsageError(f"--lines {text} is not a range of lines; write 40-60, 40- or 40")


def _store(options: CliOptions) -> OutputStore:
    return project_outputs(options.project or Path.cwd())
