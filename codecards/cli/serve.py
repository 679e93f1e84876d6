"""Commands that serve until they are ended: the MCP server and the panel.

Both servers are slow to load, so each is imported in its command.
"""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from codecards.cli.command_group import command_module, without_collection
from codecards.cli.options import CliOptions
from codecards.cli.run import open_engine
from codecards.mcp.stdio import claim_stdio

app = command_module()


@app.command()
def mcp(
    context: typer.Context,
    read_only: Annotated[bool, typer.Option("--read-only", help="Write neither an index nor notes.")] = False,
    session: Annotated[
        str, typer.Option("--session", metavar="NAME", help="The session that holds the working memory.")
    ] = "mcp",
    sampling: Annotated[
        bool, typer.Option("--sampling", help="Let the client's model write summaries of closed files and turns.")
    ] = False,
) -> None:
    """Serve agents over stdin and stdout (Model Context Protocol)."""
    options: CliOptions = context.obj
    stdio = claim_stdio()
    with without_collection():
        from codecards.mcp.server import ServerOptions, serve

    serve(ServerOptions(options.projects, Path.cwd(), options.settings, read_only, session, sampling), stdio)
    # Threads may still read, parse or wait. No answer is pending and all commits are on disk, so leave them.
    sys.stderr.flush()
    os._exit(0)


@app.command()
def panel(
    context: typer.Context,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 picks a free one.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the default browser.")
    ] = True,
) -> None:
    """Show what the model is given on a local, read-only web page."""
    from codecards.panel.server import serve_panel

    with open_engine(context.obj) as engine:
        serve_panel(engine, port=port, opens_browser=browser)
