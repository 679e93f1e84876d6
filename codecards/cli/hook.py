"""The command `codecards hook`, for its help; `codecards.__main__` runs hooks without this module."""

from typing import Annotated

import typer

from codecards.agents.hooks import AGENTS, main
from codecards.cli.command_group import command_module

app = command_module()


@app.command()
def hook(
    agent: Annotated[str, typer.Argument(help=f"{', '.join(AGENTS)}.")],
    event: Annotated[str, typer.Argument(help="The agent's name of the event.")],
    session: Annotated[str, typer.Option("--session", metavar="NAME", help="The session to record in.")] = "mcp",
) -> None:
    """Record an event of an agent's session; agents call this.

    The event is read as JSON from stdin. `codecards install` sets the hooks up.
    """
    raise typer.Exit(main([agent, event, "--session", session]))
