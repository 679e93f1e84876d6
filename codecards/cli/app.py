"""The command line. Answers go to stdout, everything else to stderr; exit codes are in README.md."""

import gc
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from codecards import __version__
from codecards.cli.install import hook, install, uninstall
from codecards.cli.note import note_app
from codecards.cli.recall import overview, recall
from codecards.cli.run import (
    CommandGroup,
    chosen,
    open_engine,
    print_answer,
    print_calls,
    ready_engine,
    refreshed,
    run_index,
    say,
    wait_for_changes,
    write,
)
from codecards.cli.savings import savings
from codecards.cli.session import session_app
from codecards.cli.tune import tune
from codecards.config import settings_from_environment
from codecards.errors import IndexWriteError, SnapshotMissingError, UsageError, WriterBusyError
from codecards.logs import DEFAULT_LEVEL, start_logging
from codecards.mcp.stdio import claim_stdio
from codecards.wire.answers import (
    files_json,
    impact_json,
    outline_json,
    path_json,
    recall_json,
    shown_json,
    status_json,
    symbol_json,
    terminal_safe,
    utf8_safe,
    why_not_json,
)

app = typer.Typer(
    cls=CommandGroup, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None,
    help="Finds the right code in a repository, and keeps the right code in view.",
)  # fmt: skip
app.add_typer(note_app, name="note")
app.add_typer(session_app, name="session")

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
DefinedIn = Annotated[str | None, typer.Option("--path", help="The file that defines it.")]
Page = Annotated[int, typer.Option("--limit", min=1, help="Most of them.")]
Offset = Annotated[int, typer.Option("--offset", min=0, help="Pass over so many first.")]
Refresh = Annotated[bool, typer.Option("--refresh/--no-refresh", help="Take changed files in first.")]


def _version(value: bool) -> None:
    if value:
        typer.echo(f"codecards {__version__}")
        raise typer.Exit


@app.callback()
def common(
    project: Annotated[
        list[str] | None,
        typer.Option("-C", metavar="DIR", help="The project (default: around this folder); `mcp` takes several."),
    ] = None,
    index: Annotated[Path | None, typer.Option("--index", metavar="DIR", help="Where the index lies.")] = None,
    profile: Annotated[
        str | None, typer.Option("--profile", metavar="NAME", help="coding-agent, article, minimal or chat.")
    ] = None,
    log_level: Annotated[
        str | None, typer.Option("--log-level", metavar="LEVEL", help="debug, info, warning or error; to stderr.")
    ] = None,
    log_file: Annotated[
        Path | None, typer.Option("--log-file", metavar="FILE", help="Append the log here, as JSON lines.")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Finds the right code in a repository, and keeps the right code in view."""
    if "" in (project or ()):  # which a `Path` could not tell from this folder
        raise UsageError("-C names no folder; leave it out to take the project around this one")
    chosen.projects = tuple(map(Path, project or ()))
    chosen.project = chosen.projects[-1] if chosen.projects else None
    settings = settings_from_environment()
    chosen.settings = settings = replace(
        settings,
        index=index.absolute() if index is not None else settings.index,
        log_file=log_file.absolute() if log_file is not None else settings.log_file,
        profile=profile or settings.profile,
        log_level=log_level or settings.log_level,
    )
    if settings.log_file or settings.log_level:
        start_logging(settings.log_level or DEFAULT_LEVEL, settings.log_file)


@app.command("index")
def index_command(
    path: Annotated[Path | None, typer.Argument(help="The project's folder.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Read everything anew.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Go on whenever files change.")] = False,
    embedder: Annotated[
        str | None, typer.Option("--embedder", help="static, minilm, none, sentence-transformers:PATH.")
    ] = None,
    transformer: Annotated[
        bool,
        typer.Option(
            "--transformer", help="Then fill the deep lane: a transformer's vectors (3 to 6 ms a card and core)."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the index up to date."""
    if embedder is not None:
        chosen.settings = replace(chosen.settings, embedder=embedder)
    with open_engine(path, exact=path is not None) as engine:
        run_index(engine, full=full, transformer=transformer, as_json=as_json)
        while watch:
            wait_for_changes(engine)
            try:
                run_index(engine, full=False, transformer=transformer, as_json=as_json)
            except (WriterBusyError, IndexWriteError) as error:
                say(f"codecards: {error}")


@app.command()
def files(refresh: Refresh = True, as_json: AsJson = False) -> None:
    """List the indexed files."""
    with ready_engine(refresh=refresh) as engine:
        found = engine.files()
        print_answer(as_json, lambda: files_json(found), lambda readable: readable.show_files(found))


@app.command()
def symbols(
    path: Annotated[str | None, typer.Option("--path", help="Only this file.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="Only this name.")] = None,
    refresh: Refresh = True,
    as_json: AsJson = False,
) -> None:
    """List symbols."""
    with ready_engine(refresh=refresh) as engine:
        found = engine.symbols(path=path, name=name)
        print_answer(
            as_json,
            lambda: {"symbols": [symbol_json(card) for card in found]},
            lambda readable: readable.show_cards(found),
        )


@app.command()
def callers(
    name: str,
    path: DefinedIn = None,
    limit: Page = 100,
    offset: Offset = 0,
    refresh: Refresh = True,
    as_json: AsJson = False,
) -> None:
    """List who uses a symbol."""
    with ready_engine(refresh=refresh) as engine:
        print_calls(engine.callers(name, path=path, limit=limit, offset=offset), "callers", as_json=as_json)


@app.command()
def callees(
    name: str,
    path: DefinedIn = None,
    limit: Page = 100,
    offset: Offset = 0,
    refresh: Refresh = True,
    as_json: AsJson = False,
) -> None:
    """List what a symbol uses."""
    with ready_engine(refresh=refresh) as engine:
        print_calls(engine.callees(name, path=path, limit=limit, offset=offset), "callees", as_json=as_json)


@app.command()
def show(
    target: str,
    outline: Annotated[bool, typer.Option("--outline", help="The symbols, without code.")] = False,
    digest: Annotated[
        bool, typer.Option("--digest", help="The code card of the file: what it needs, signatures, remarks.")
    ] = False,
    limit: Page = 200,
    offset: Offset = 0,
    refresh: Refresh = True,
    as_json: AsJson = False,
) -> None:
    """Show a symbol, a path, or PATH:LINE."""
    with ready_engine(refresh=refresh) as engine:
        if outline or digest:
            cards = engine.outline(target)
            text = engine.digest(target) if digest else None
            print_answer(
                as_json,
                lambda: outline_json(cards, limit=limit, offset=offset, digest=text),
                lambda readable: readable.show_outline(cards[offset : offset + limit], len(cards), text),
            )
            return
        shown = engine.show(target)
        print_answer(as_json, lambda: shown_json(shown), lambda readable: readable.print_target(shown))


@app.command()
def similar(
    place: Annotated[str, typer.Argument(metavar="PATH:LINE")],
    limit: Annotated[int, typer.Option("--limit", min=1, max=200)] = 8,
    expand: Annotated[bool, typer.Option("--expand")] = False,
    refresh: Refresh = True,
    as_json: AsJson = False,
) -> None:
    """Find code that does much the same as the code at a line."""
    path, _, line = place.rpartition(":")
    if not path or not line.isdigit():
        raise typer.BadParameter(f"{place!r} is not PATH:LINE, such as src/auth.py:12")
    with ready_engine(refresh=refresh) as engine:
        card, found = engine.similar(path, int(line), limit=limit)
        print_answer(as_json, lambda: {"card": symbol_json(card)} | recall_json(found, expand=expand),
               lambda readable: readable.show_recall(found, expand=expand, explain=False))  # fmt: skip


@app.command()
def impact(
    revision: Annotated[
        str | None, typer.Argument(metavar="[REV]", help="Compare with this commit (default HEAD).")
    ] = None,
    diff: Annotated[bool, typer.Option("--diff", help="The uncommitted changes (the default).")] = False,
    refresh: Refresh = True,
    as_json: AsJson = False,
) -> None:
    """Show what a change touches: symbols, callers, tests to run."""
    with ready_engine(refresh=refresh) as engine:
        found = engine.impact(None if diff else revision)
        print_answer(as_json, lambda: impact_json(found), lambda readable: readable.show_impact(found))


@app.command("why-not")
def why_not(path: str, query: str, refresh: Refresh = True, as_json: AsJson = False) -> None:
    """Say why a file is not among the hits of a query."""
    with ready_engine(refresh=refresh) as engine:
        answer = engine.why_not(path, query)
        print_answer(as_json, lambda: why_not_json(answer), lambda readable: readable.show_why(answer))


@app.command()
def status(as_json: AsJson = False) -> None:
    """Show the state of the index."""
    with open_engine() as engine:
        found = engine.status()
        print_answer(as_json, lambda: status_json(found), lambda readable: readable.show_status(found))


@app.command()
def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Rebuild what is damaged.")] = False, as_json: AsJson = False
) -> None:
    """Check the whole index, and the encodings of the project's files."""
    with open_engine() as engine:
        try:
            faults = engine.check()
        except SnapshotMissingError as error:
            faults = [str(error)]
        if faults and repair:
            refreshed(engine, full=True)
            faults = engine.check()
        found = engine.status() if not faults else None
        odd = (
            [one for one in engine.files() if one.encoding not in ("utf-8", "ascii", "")]
            if found and found.generation
            else []
        )
        if as_json:
            write((status_json(found) if found else {"generation": 0}) | {
                "faults": [utf8_safe(fault) for fault in faults],
                "not_utf8": [{**path_json(one.path), "encoding": one.encoding} for one in odd],
            })  # fmt: skip
        else:
            for fault in faults:
                typer.echo(f"fault: {terminal_safe(fault)} (`codecards doctor --repair` rebuilds it)")
            for one in odd:
                typer.echo(f"not UTF-8: {terminal_safe(one.path)} is {one.encoding}")
            if not faults:
                typer.echo("the index is whole")
    if faults:
        raise typer.Exit(3)


@app.command()
def mcp(
    read_only: Annotated[bool, typer.Option("--read-only", help="Write nothing: no index, no notes.")] = False,
    session: Annotated[str, typer.Option("--session", metavar="NAME", help="Name of the working memory.")] = "mcp",
    sampling: Annotated[
        bool, typer.Option("--sampling", help="Let the client's model word memos and compactions.")
    ] = False,
) -> None:
    """Serve agents over stdin and stdout (Model Context Protocol)."""
    wire = claim_stdio()
    gc.disable()  # a tenth of the start went into looking for garbage among modules that all stay
    from codecards.mcp.server import ServerOptions, serve

    gc.freeze()
    gc.enable()

    options = ServerOptions(chosen.projects, Path.cwd(), chosen.settings, read_only, session, sampling)
    serve(options, wire)
    # Threads may be reading, parsing or waiting: nothing is left to be said, and what is committed is safe.
    sys.stderr.flush()
    os._exit(0)


@app.command()
def panel(
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it in the browser.")] = True,
) -> None:
    """Show what a model is given, on a page for this machine alone; read-only."""
    from codecards.panel.server import serve_panel

    with open_engine() as engine:
        serve_panel(engine, port=port, opens_browser=browser)


@app.command()
def clean(as_json: AsJson = False) -> None:
    """Remove the index; notes and sessions stay."""
    with open_engine() as engine:
        engine.clean()
        print_answer(as_json, lambda: {"removed": utf8_safe(str(engine.folder.path))},
               lambda _: typer.echo(f"removed {terminal_safe(str(engine.folder.path))}"))  # fmt: skip


app.command("select", hidden=True)(recall)  # the article's name
for command in (recall, overview, install, uninstall, hook, savings, tune):
    app.command()(command)


def main() -> None:
    """Run the command line."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
        sys.stderr.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    app()
