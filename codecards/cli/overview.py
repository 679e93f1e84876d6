"""The command `codecards overview`."""

from typing import Annotated

import typer

from codecards.cli.command_group import command_module
from codecards.cli.options import AsJson, Refresh
from codecards.cli.run import print_answer, ready_engine
from codecards.features.reading import DEFAULT_OVERVIEW_TOKENS
from codecards.wire.answers import overview_json

app = command_module()


@app.command()
def overview(
    context: typer.Context,
    path: Annotated[str, typer.Argument(help="A folder of the project; by default all of it.")] = "",
    budget: Annotated[
        int, typer.Option("--budget", metavar="TOKENS", min=1, help="Maximum tokens of the output.")
    ] = DEFAULT_OVERVIEW_TOKENS,
    refresh: Refresh = True,
    as_json: AsJson = False,
) -> None:
    """Describe the project: packages, entry points, tests."""
    with ready_engine(context.obj, refresh=refresh) as engine:
        found = engine.overview(path, budget_tokens=budget)
        print_answer(as_json, lambda: overview_json(found), lambda printer: printer.show_overview(found))
