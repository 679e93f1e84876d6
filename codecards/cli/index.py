"""Commands on the index itself: build, check, remove."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from codecards.answers import FileSummary
from codecards.cli.command_group import command_module
from codecards.cli.messages import print_json, print_message
from codecards.cli.options import AsJson, CliOptions
from codecards.cli.run import changes_of, open_engine, print_answer, refreshed, run_index
from codecards.engine import Engine
from codecards.errors import IndexWriteError, SnapshotMissingError, UsageError, WriterBusyError
from codecards.indexer.index_folder import FOLDER_NAME
from codecards.indexer.walk.root import project_root
from codecards.untrusted_text import terminal_safe, utf8_safe
from codecards.wire.answers import path_json, status_json

app = command_module()


@app.command("index")
def index_command(
    context: typer.Context,
    path: Annotated[Path | None, typer.Argument(help="The project folder.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Read all files again.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Keep running and index files when they change.")] = False,
    embedder: Annotated[
        str | None, typer.Option("--embedder", help="static, minilm, none or sentence-transformers:PATH.")
    ] = None,
    transformer: Annotated[
        bool,
        typer.Option("--transformer", help="Also compute transformer vectors (3 to 6 ms per card and core)."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Build or update the index."""
    options: CliOptions = context.obj
    if embedder is not None:
        options = options.with_settings(replace(options.settings, embedder=embedder))
    if path is not None:
        _refuse_part_of_a_project(path)
    with open_engine(options, path, exact=path is not None) as engine:
        if not engine.is_indexed():
            print_message(f"building the index of {engine.root}")
        run_index(engine, full=full, transformer=transformer, as_json=as_json)
        for _ in changes_of(engine) if watch else ():
            try:
                run_index(engine, full=False, transformer=transformer, as_json=as_json)
            except (WriterBusyError, IndexWriteError) as error:
                print_message(str(error))


@app.command()
def status(context: typer.Context, as_json: AsJson = False) -> None:
    """Show the state of the index."""
    with open_engine(context.obj) as engine:
        found = engine.status()
        print_answer(as_json, lambda: status_json(found), lambda printer: printer.show_status(found))


@app.command()
def doctor(
    context: typer.Context,
    repair: Annotated[bool, typer.Option("--repair", help="Rebuild a damaged index.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check the index for damage, and list files not in UTF-8."""
    with open_engine(context.obj) as engine:
        try:
            faults = engine.check()
        except SnapshotMissingError as error:
            faults = [str(error)]
        if faults and repair:
            refreshed(engine, full=True)
            faults = engine.check()
        found = engine.status() if not faults else None
        others = _not_utf8(engine) if found and found.generation else []
        engine.archive.notes()
        notes = engine.archive.damaged
        if as_json:
            print_json(
                (status_json(found) if found else {"generation": 0})
                | {
                    "faults": [utf8_safe(fault) for fault in faults],
                    "not_utf8": [{**path_json(one.path), "encoding": one.encoding} for one in others],
                    "damaged_notes": [{"file": utf8_safe(one.name), "detail": utf8_safe(one.detail)} for one in notes],
                }
            )
        else:
            _print_diagnosis(faults, others)
            for note in notes:
                typer.echo(
                    f"unreadable note: {terminal_safe(str(engine.archive.folder / note.name))}: {terminal_safe(note.detail)}"
                    " (correct the file, or delete it)"
                )
    if faults:
        raise typer.Exit(3)


@app.command()
def clean(
    context: typer.Context,
    kept: Annotated[
        bool, typer.Option("--kept", help="Remove only what is kept of contents that no file has any more.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Remove the index; notes and sessions stay."""
    with open_engine(context.obj) as engine:
        if kept:
            n_bytes = engine.clean_kept()
            print_answer(as_json, lambda: {"freed_bytes": n_bytes}, lambda _: typer.echo(f"freed {n_bytes:,} bytes"))
            return
        engine.clean()
        folder = str(engine.folder.path)
    print_answer(
        as_json,
        lambda: {"removed": utf8_safe(folder)},
        lambda _: typer.echo(f"removed {terminal_safe(folder)}"),
    )


def _refuse_part_of_a_project(path: Path) -> None:
    """Raise if a folder is part of an indexed project: its own index would hide the project's from questions there."""
    start = path.resolve()
    if (start / FOLDER_NAME).is_dir() or (start / ".git").exists():
        return
    root = project_root(start)
    if root != start and (root / FOLDER_NAME / "index").is_dir():
        inside = start.relative_to(root).as_posix()
        raise UsageError(
            f"{path} is part of the project {root}; `codecards -C {root} index` updates its index, and"
            f" `recall --path '{inside}/**'` searches only this folder (`codecards -C {path} index` makes it a project)"
        )


def _not_utf8(engine: Engine) -> list[FileSummary]:
    """Return the indexed files that have another encoding than UTF-8."""
    return [one for one in engine.files() if one.encoding not in ("utf-8", "ascii", "")]


def _print_diagnosis(faults: Sequence[str], others: Sequence[FileSummary]) -> None:
    for fault in faults:
        typer.echo(f"fault: {terminal_safe(fault)} (`codecards doctor --repair` rebuilds the index)")
    for one in others:
        typer.echo(f"not UTF-8: {terminal_safe(one.path)} is {one.encoding}")
    if not faults:
        typer.echo("no damage found")
