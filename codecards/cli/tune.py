"""The command `codecards tune`: measures recall on the project's history and fits the ranking weights to it."""

from typing import Annotated

import typer

from codecards.cli.command_group import command_module
from codecards.cli.options import AsJson
from codecards.cli.run import open_engine, print_answer, ready_engine
from codecards.wire.answers import tuning_json

app = command_module()


@app.command()
def tune(
    context: typer.Context,
    fit: Annotated[
        bool, typer.Option("--fit", help="Also fit the weights; they are kept only if held-out commits improve.")
    ] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Restore the default weights.")] = False,
    commits: Annotated[int, typer.Option("--commits", min=1, help="Number of newest commits to read.")] = 1_000,
    as_json: AsJson = False,
) -> None:
    """Measure recall on the git history, and fit the weights to it.

    Commit messages are the queries; the code that a commit changed is the answer.
    """
    if fit and reset:
        raise typer.BadParameter("--fit and --reset exclude each other; give one of them")
    if reset:
        with open_engine(context.obj) as engine:
            was_tuned = engine.reset_tuning()
        message = "restored the default weights" if was_tuned else "the default weights were already in use"
        print_answer(as_json, lambda: {"reset": was_tuned}, lambda _: typer.echo(message))
        return
    with ready_engine(context.obj, refresh=True) as engine:
        report = engine.tune(fits=fit, n_commits=commits)
    print_answer(as_json, lambda: tuning_json(report), lambda printer: printer.show_tuning(report))
