"""Tune command: how well the project's own history is answered, and weights that fit it better."""

from typing import Annotated

import typer

from codecards.cli.run import open_engine, print_answer, ready_engine
from codecards.wire.answers import tuning_json


def tune(
    fit: Annotated[
        bool, typer.Option("--fit", help="Fit the weights too; they are kept only if unseen commits say they help.")
    ] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Go back to the default weights.")] = False,
    commits: Annotated[int, typer.Option("--commits", min=1, help="How many of the newest to look at.")] = 1_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure recall on your own git history: commit messages ask, the code that they changed answers."""
    if fit and reset:
        raise typer.BadParameter("--fit and --reset ask for opposite things; give one of them")
    if reset:
        with open_engine() as engine:
            was_tuned = engine.reset_tuning()
        words = "the default weights are back" if was_tuned else "the default weights were in use already"
        print_answer(as_json, lambda: {"reset": was_tuned}, lambda _: typer.echo(words))
        return
    with ready_engine(refresh=True) as engine:
        report = engine.tune(fits=fit, n_commits=commits)
    print_answer(as_json, lambda: tuning_json(report), lambda readable: readable.show_tuning(report))
