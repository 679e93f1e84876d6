"""`codecards run` and `codecards outputs`: commands whose output fits, and the whole of it on demand."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from codecards.cli.run import chosen, write
from codecards.indexer.index_folder import FOLDER_NAME, keep_out_of_commits
from codecards.indexer.walk.discovery import project_root
from codecards.outputs.run import DEFAULT_BUDGET_TOKENS, forward_signals, run_command
from codecards.outputs.store import OutputStore
from codecards.wire.outputs import output_json, output_line_json, run_json

outputs_app = typer.Typer(no_args_is_help=True, help="Search and show the whole outputs that `codecards run` kept.")

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def run(
    context: typer.Context,
    budget: Annotated[int, typer.Option("--budget", min=20, help="Most tokens to print.")] = DEFAULT_BUDGET_TOKENS,
    as_json: AsJson = False,
) -> None:
    """Run a command and print what matters of its output: failures, changes, the summary."""
    arguments = context.args[1:] if context.args[:1] == ["--"] else context.args
    done = run_command(arguments, _store(), budget_tokens=budget, on_start=forward_signals)
    if as_json:
        write(run_json(done))
    else:
        sys.stdout.write(done.short.text)
    raise typer.Exit(done.exit_code)


@outputs_app.command("list")
def list_outputs(
    limit: Annotated[int, typer.Option("--limit", min=1, help="Most of them.")] = 20, as_json: AsJson = False
) -> None:
    """List the kept outputs, the latest first."""
    found = _store().latest(limit)
    if as_json:
        write({"outputs": [output_json(one) for one in found]})
        return
    for one in found:
        code = "" if one.exit_code is None else f" exit {one.exit_code}"
        sys.stdout.write(f"{one.handle}  {one.created}{code}  {one.source}\n")


@outputs_app.command("search")
def search_outputs(
    query: Annotated[list[str], typer.Argument(help="Words; a line must hold them all.")],
    handle: Annotated[str, typer.Option("--handle", help="Search this output alone.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, help="Most lines.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Search the kept outputs by words."""
    found = _store().search(" ".join(query), limit, handle=handle)
    if as_json:
        write({"query": " ".join(query), "lines": [output_line_json(one) for one in found]})
        return
    for one in found:
        sys.stdout.write(f"{one.handle}:{one.line}: {one.text}\n")


@outputs_app.command("show")
def show_output(
    handle: Annotated[str, typer.Argument(help="As `run` printed it.")],
    lines: Annotated[str, typer.Option("--lines", metavar="FIRST-LAST", help="Only these lines, such as 40-60.")] = "",
    as_json: AsJson = False,
) -> None:
    """Print a kept output, whole or some lines of it."""
    first, last = _line_range(lines)
    found = _store().get(handle)
    text = found.lines(first, last)
    if as_json:
        write({**output_json(found), "first_line": first, "text": text})
    else:
        sys.stdout.write(text)


def _line_range(text: str) -> tuple[int, int | None]:
    if not text:
        return 1, None
    first, dash, last = text.partition("-")
    if first.isdigit() and (last.isdigit() or (dash and not last) or not dash):
        return max(1, int(first)), int(last) if last else None if dash else int(first)
    raise typer.BadParameter(f"{text} is not a range of lines; write 40-60, 40- or 40", param_hint="--lines")


def _store() -> OutputStore:
    root = project_root(chosen.project or Path.cwd())
    folder = root / FOLDER_NAME
    return OutputStore(folder / "outputs", prepare=lambda: keep_out_of_commits(folder))
