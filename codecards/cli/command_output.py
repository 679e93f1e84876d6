"""The command `codecards run`: another command's output, within a token budget."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from codecards.cli.command_group import command_module
from codecards.cli.messages import print_json
from codecards.cli.options import AsJson, CliOptions
from codecards.outputs.run import DEFAULT_BUDGET_TOKENS, forward_signals, run_command
from codecards.outputs.store import project_outputs
from codecards.wire.outputs import run_json

app = command_module()


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}
)
def run(
    context: typer.Context,
    budget: Annotated[
        int, typer.Option("--budget", min=20, metavar="TOKENS", help="Upper limit of what is printed.")
    ] = DEFAULT_BUDGET_TOKENS,
    as_json: AsJson = False,
) -> None:
    """Run a command and print what matters of its output.

    The exit code is the command's own. `codecards outputs show` prints the whole output.
    """
    options: CliOptions = context.obj
    arguments = context.args[1:] if context.args[:1] == ["--"] else context.args
    done = run_command(
        arguments, project_outputs(options.project or Path.cwd()), budget_tokens=budget, on_start=forward_signals
    )
    if as_json:
        print_json(run_json(done))
    else:
        sys.stdout.write(done.short.text)
    raise typer.Exit(done.exit_code)
