"""The command line. Answers go to stdout, everything else to stderr; exit codes are in README.md."""

import json
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from click import ClickException
from typer.core import TyperGroup

from codecards import __version__
from codecards.config import Settings, settings_from_environment
from codecards.engine import Engine
from codecards.errors import (
    CodecardsError,
    IndexWriteError,
    SnapshotDamagedError,
    SnapshotFormatError,
    SnapshotMissingError,
    WriterBusyError,
)
from codecards.indexer.build import IndexReport
from codecards.wire import (
    Json,
    calls_json,
    files_json,
    impact_json,
    outline_json,
    path_json,
    printable,
    recall_json,
    report_json,
    shown_json,
    status_json,
    symbol_json,
    why_not_json,
)

INTERRUPTED = 130
AUTO_REFRESH_FILES = 500
"""Changed files up to which a question brings the index up to date by itself; more are reported and left."""


class _Group(TyperGroup):
    """Turns errors into messages and exit codes; a traceback never reaches a user."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - typer's own signature
        """Run the command."""
        try:
            return super().invoke(ctx)
        except CodecardsError as error:
            _say(f"codecards: {error}")
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            _say("codecards: interrupted; what was indexed before is unharmed")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except (typer.Exit, typer.Abort, ClickException):
            raise  # ways in which commands end on purpose
        except Exception as error:
            if os.environ.get("CODECARDS_DEBUG"):
                raise
            _say(f"codecards: internal error: {type(error).__name__}: {error}; CODECARDS_DEBUG=1 shows where it is")
            raise typer.Exit(3) from None


app = typer.Typer(
    cls=_Group, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None,
    help="Finds the right code in a repository, and keeps the right code in view.",
)  # fmt: skip


class _Chosen:
    """What the options before the command say."""

    project: Path | None = None
    settings: Settings = Settings()


_chosen = _Chosen()
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Refresh = Annotated[bool, typer.Option("--refresh/--no-refresh", help="Take changed files in first.")]


def _version(value: bool) -> None:
    if value:
        typer.echo(f"codecards {__version__}")
        raise typer.Exit


@app.callback()
def common(
    project: Annotated[
        Path | None, typer.Option("-C", metavar="DIR", help="The project (default: around this folder).")
    ] = None,
    index: Annotated[Path | None, typer.Option("--index", metavar="DIR", help="Where the index lies.")] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Finds the right code in a repository, and keeps the right code in view."""
    _chosen.project = project
    settings = settings_from_environment()
    _chosen.settings = replace(settings, index=index.absolute()) if index is not None else settings


@app.command("index")
def index_command(
    path: Annotated[Path | None, typer.Argument(help="The project's folder.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Read everything anew.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Go on whenever files change.")] = False,
    embedder: Annotated[
        str | None, typer.Option("--embedder", help="static, minilm, none, sentence-transformers:PATH.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Bring the index up to date."""
    if embedder is not None:
        _chosen.settings = replace(_chosen.settings, embedder=embedder)
    with _engine(path, exact=path is not None) as engine:
        report = _refreshed(engine, full=full)
        _print_report(report, as_json=as_json)
        while watch:
            _wait_for_changes(engine)
            try:
                _print_report(_refreshed(engine), as_json=as_json)
            except (WriterBusyError, IndexWriteError) as error:
                _say(f"codecards: {error}")


@app.command()
def recall(
    query: str,
    limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="Most hits.")] = 8,
    path: Annotated[list[str] | None, typer.Option("--path", metavar="GLOB", help="Only files like this.")] = None,
    language: Annotated[list[str] | None, typer.Option("--language", help="Only this language.")] = None,
    kind: Annotated[list[str] | None, typer.Option("--kind", help="Only this kind of card.")] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", metavar="TOKENS", min=1, help="Most tokens of output.")
    ] = None,
    expand: Annotated[bool, typer.Option("--expand", help="With the code.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="With the parts of each score.")] = False,
    refresh: Refresh = True,
    as_json: AsJson = False,
) -> None:
    """Answer a question: where is …, a name, a path, an issue text, a stack trace."""
    with _ready_engine(refresh=refresh) as engine:
        found = engine.recall(query, limit=limit, paths=path or (), languages=language or (), kinds=kind or ())
        _print(as_json, lambda: recall_json(found, expand=expand, explain=explain, budget_tokens=budget),
               lambda readable: readable.show_recall(found, expand=expand, explain=explain))  # fmt: skip


@app.command()
def files(refresh: Refresh = True, as_json: AsJson = False) -> None:
    """List the indexed files."""
    with _ready_engine(refresh=refresh) as engine:
        found = engine.files()
        _print(as_json, lambda: files_json(found), lambda readable: readable.show_files(found))


@app.command()
def symbols(
    path: Annotated[str | None, typer.Option("--path", help="Only this file.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="Only this name.")] = None,
    refresh: Refresh = True,
    as_json: AsJson = False,
) -> None:
    """List symbols."""
    with _ready_engine(refresh=refresh) as engine:
        found = engine.symbols(path=path, name=name)
        _print(
            as_json,
            lambda: {"symbols": [symbol_json(card) for card in found]},
            lambda readable: readable.show_cards(found),
        )


@app.command()
def callers(
    name: str,
    path: Annotated[str | None, typer.Option("--path", help="The file that defines it.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1)] = 100,
    offset: Annotated[int, typer.Option("--offset", min=0)] = 0,
    refresh: Refresh = True,
    as_json: AsJson = False,
) -> None:
    """List who uses a symbol."""
    with _ready_engine(refresh=refresh) as engine:
        found = engine.callers(name, path=path, limit=limit, offset=offset)
        _print(as_json, lambda: calls_json(found, "callers"), lambda readable: readable.show_calls(found, "callers"))


@app.command()
def callees(
    name: str,
    path: Annotated[str | None, typer.Option("--path", help="The file that defines it.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1)] = 100,
    offset: Annotated[int, typer.Option("--offset", min=0)] = 0,
    refresh: Refresh = True,
    as_json: AsJson = False,
) -> None:
    """List what a symbol uses."""
    with _ready_engine(refresh=refresh) as engine:
        found = engine.callees(name, path=path, limit=limit, offset=offset)
        _print(as_json, lambda: calls_json(found, "callees"), lambda readable: readable.show_calls(found, "callees"))


@app.command()
def show(
    target: str,
    outline: Annotated[bool, typer.Option("--outline", help="The symbols, without code.")] = False,
    digest: Annotated[bool, typer.Option("--digest", help="Signatures and first lines of documentation.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Most symbols of an outline.")] = 200,
    offset: Annotated[int, typer.Option("--offset", min=0)] = 0,
    refresh: Refresh = True,
    as_json: AsJson = False,
) -> None:
    """Show a symbol, a path, or PATH:LINE."""
    with _ready_engine(refresh=refresh) as engine:
        if outline or digest:
            cards = engine.outline(target)
            _print(
                as_json,
                lambda: outline_json(cards, limit=limit, offset=offset, digest=digest),
                lambda readable: readable.show_cards(cards[offset : offset + limit], f"{len(cards)} symbols"),
            )
            return
        shown = engine.show(target)
        _print(as_json, lambda: shown_json(shown), lambda readable: readable.show_shown(shown))


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
    with _ready_engine(refresh=refresh) as engine:
        card, found = engine.similar(path, int(line), limit=limit)
        _print(as_json, lambda: {"card": symbol_json(card)} | recall_json(found, expand=expand),
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
    with _ready_engine(refresh=refresh) as engine:
        found = engine.impact(None if diff else revision)
        _print(as_json, lambda: impact_json(found), lambda readable: readable.show_impact(found))


@app.command("why-not")
def why_not(path: str, query: str, refresh: Refresh = True, as_json: AsJson = False) -> None:
    """Say why a file is not among the hits of a query."""
    with _ready_engine(refresh=refresh) as engine:
        answer = engine.why_not(path, query)
        _print(as_json, lambda: why_not_json(answer), lambda readable: readable.show_why(answer))


@app.command()
def status(as_json: AsJson = False) -> None:
    """Show the state of the index."""
    with _engine() as engine:
        found = engine.status()
        _print(as_json, lambda: status_json(found), lambda readable: readable.show_status(found))


@app.command()
def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Rebuild what is damaged.")] = False, as_json: AsJson = False
) -> None:
    """Check the whole index, and the encodings of the project's files."""
    with _engine() as engine:
        try:
            faults = engine.check()
        except SnapshotMissingError as error:
            faults = [str(error)]
        if faults and repair:
            _refreshed(engine, full=True)
            faults = engine.check()
        found = engine.status() if not faults else None
        odd = (
            [one for one in engine.files() if one.encoding not in ("utf-8", "ascii", "")]
            if found and found.generation
            else []
        )
        if as_json:
            _write((status_json(found) if found else {"generation": 0}) | {
                "faults": [printable(fault) for fault in faults],
                "not_utf8": [{**path_json(one.path), "encoding": one.encoding} for one in odd],
            })  # fmt: skip
        else:
            for fault in faults:
                typer.echo(f"fault: {printable(fault)} (`codecards doctor --repair` rebuilds it)")
            for one in odd:
                typer.echo(f"not UTF-8: {printable(one.path)} is {one.encoding}")
            if not faults:
                typer.echo("the index is whole")
    if faults:
        raise typer.Exit(3)


@app.command()
def clean(as_json: AsJson = False) -> None:
    """Remove the index; notes and sessions stay."""
    with _engine() as engine:
        engine.clean()
        _print(as_json, lambda: {"removed": printable(str(engine.folder.path))},
               lambda _: typer.echo(f"removed {printable(str(engine.folder.path))}"))  # fmt: skip


def main() -> None:
    """Run the command line."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
        sys.stderr.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    app()


# below: how commands get their engine and give their answer


def _engine(path: Path | None = None, *, exact: bool = False) -> Engine:
    """Return the engine of the chosen project; `exact` takes the folder itself, not the project around it."""
    start = path or _chosen.project or Path.cwd()
    if exact or _chosen.project is not None:
        from codecards.indexer.source_files import check_root  # noqa: PLC0415

        check_root(start)
        return Engine(start.resolve(), _chosen.settings)
    return Engine.open(start, settings=_chosen.settings, build=False)


def _ready_engine(*, refresh: bool) -> Engine:
    """Return an engine whose index is there: built if it is missing, brought up to date if little has changed."""
    engine = _engine()
    try:
        if not engine.is_indexed():
            _say("codecards: indexing first")
            _refreshed(engine)
        elif refresh:
            n_changed = engine.status().n_changed
            if n_changed > AUTO_REFRESH_FILES:
                _say(f"codecards: {n_changed} files changed since the index was built; run `codecards index`")
            elif n_changed:
                _refreshed(engine)
    except (WriterBusyError, IndexWriteError) as error:
        if not engine.is_indexed():
            engine.close()
            raise
        _say(f"codecards: answering from the index as it is: {error}")
    except (SnapshotDamagedError, SnapshotFormatError):
        engine.close()
        raise
    return engine


def _refreshed(engine: Engine, *, full: bool = False) -> IndexReport:
    from codecards.readable import progress_told  # noqa: PLC0415 - rich is slow to load

    bar, told = progress_told()
    with bar or nullcontext():
        report = engine.refresh(full=full, progress=told)
    for message in report.messages:
        _say(f"codecards: {message}")
    return report


def _wait_for_changes(engine: Engine) -> None:
    """Return when files of the project have changed and settled."""
    from watchfiles import watch  # noqa: PLC0415

    ignored = str(engine.folder.path)
    changes = watch(
        engine.root, watch_filter=lambda _, path: not path.startswith(ignored) and "/.git/" not in path, debounce=400
    )
    next(iter(changes), None)


def _print_report(report: IndexReport, *, as_json: bool) -> None:
    if as_json:
        _write(report_json(report, _peak_rss_mb()))
    else:
        from codecards.readable import show_report  # noqa: PLC0415

        show_report(report)


def _print(as_json: bool, value: Callable[[], Json], readable: Callable[[Any], None]) -> None:
    if as_json:
        _write(value())
    else:
        import codecards.readable  # noqa: PLC0415 - rich is slow to load

        readable(codecards.readable)


def _write(value: Json) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _say(message: str) -> None:
    print(printable(message), file=sys.stderr)  # noqa: T201


def _peak_rss_mb() -> float:
    """Return the peak memory of this process and the largest of its ended children, in MiB; 0 where unknown."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return 0.0
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    usage = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage) / scale
