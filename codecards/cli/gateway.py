"""`codecards gateway`: a local server between an agent and its model that keeps histories short."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from codecards.cli.run import chosen
from codecards.indexer.index_folder import FOLDER_NAME, keep_out_of_commits
from codecards.indexer.walk.discovery import project_root


def gateway(
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port on 127.0.0.1.")] = 8791,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Forward everything as it comes, and log what would have been done.")
    ] = False,
    anthropic: Annotated[
        str, typer.Option("--anthropic-url", metavar="URL", help="Upstream of the Messages API.")
    ] = "",
    openai: Annotated[
        str, typer.Option("--openai-url", metavar="URL", help="Upstream of the Chat and Responses APIs.")
    ] = "",
) -> None:
    """Serve a gateway between an agent and its model: same answers, shorter histories."""
    from codecards.gateway.server import GatewayOptions, serve
    from codecards.outputs.store import OutputStore

    folder = project_root(chosen.project or Path.cwd()) / FOLDER_NAME
    store = OutputStore(folder / "outputs", prepare=lambda: keep_out_of_commits(folder))
    keep_out_of_commits(folder)
    upstreams = {name: url for name, url in (("anthropic", anthropic), ("openai", openai)) if url}
    sys.stderr.write(
        f"codecards: the gateway listens on 127.0.0.1:{port}{' (dry run)' if dry_run else ''}; point an agent at it:\n"
        f"  export ANTHROPIC_BASE_URL=http://127.0.0.1:{port}\n"
        f"  export OPENAI_BASE_URL=http://127.0.0.1:{port}/v1\n"
    )
    serve(GatewayOptions(folder / "gateway", port, dry_run, upstreams), store)
