"""The command `codecards gateway`: a local server between an agent and its model."""

from pathlib import Path
from typing import Annotated

import typer

from codecards.cli.command_group import command_module, without_collection
from codecards.cli.messages import print_message
from codecards.cli.options import CliOptions
from codecards.outputs.store import project_folder, project_outputs

app = command_module()


@app.command()
def gateway(
    context: typer.Context,
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="The port on 127.0.0.1.")] = 8791,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Forward requests unchanged, and log what would have been done.")
    ] = False,
    anthropic: Annotated[
        str, typer.Option("--anthropic-url", metavar="URL", help="Upstream of the Messages API.")
    ] = "",
    openai: Annotated[
        str, typer.Option("--openai-url", metavar="URL", help="Upstream of the Chat and Responses APIs.")
    ] = "",
) -> None:
    """Serve a gateway between an agent and its model."""
    options: CliOptions = context.obj
    with without_collection():
        from codecards.gateway.server import GatewayOptions, serve

    start = options.project or Path.cwd()
    upstreams = {name: url for name, url in (("anthropic", anthropic), ("openai", openai)) if url}
    print_message(
        f"the gateway listens on 127.0.0.1:{port}{' (dry run)' if dry_run else ''}; point an agent at it:\n"
        f"  export ANTHROPIC_BASE_URL=http://127.0.0.1:{port}\n"
        f"  export OPENAI_BASE_URL=http://127.0.0.1:{port}/v1"
    )
    serve(GatewayOptions(project_folder(start) / "gateway", port, dry_run, upstreams), project_outputs(start))
