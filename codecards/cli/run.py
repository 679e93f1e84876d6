"""Opens the engine for a command and prints its answer."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codecards.answers import RetrieverStatus
from codecards.cli.messages import print_json, print_message
from codecards.cli.options import CliOptions
from codecards.engine import Engine
from codecards.errors import ProjectNotFoundError
from codecards.indexer.build.progress import ProgressCallback
from codecards.indexer.build.refresh import IndexReport
from codecards.indexer.walk.files import check_root
from codecards.indexer.walk.root import find_project
from codecards.project.transformer_vectors import NAME as TRANSFORMER
from codecards.wire.answers import Json, report_json, retriever_json

# Imported in functions: rich (print_answers, print_sessions), watchfiles and the worker pool are slow to load, and
# `resource` does not exist on Windows.
if TYPE_CHECKING:
    from codecards.retrieval.vectors.transformer_fill import Filled


def open_engine(options: CliOptions, path: Path | None = None, *, exact: bool = False) -> Engine:
    """Return the engine of a project.

    Args:
        options: The options before the command.
        path: A folder of the project; by default the one named with `-C`, or the current folder.
        exact: Use the folder itself instead of the project around it.
    """
    start = path or options.project or _current_folder()
    if exact or options.project is not None:
        check_root(start)
        return Engine(start.resolve(), options.settings)
    return Engine(find_project(start, print_message), options.settings)


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise ProjectNotFoundError("the current folder no longer exists; name the project with -C") from None


def ready_engine(options: CliOptions, *, refresh: bool) -> Engine:
    """Return an engine with an index, which is built if it is missing and updated if few files changed."""
    engine = open_engine(options)
    try:
        make_ready(engine, refresh=refresh)
    except BaseException:
        engine.close()
        raise
    return engine


def make_ready(engine: Engine, *, refresh: bool = True) -> None:
    """Build a missing index; update an existing one if few files changed and no other process writes it."""
    if not engine.is_indexed():
        print_message(f"building the index of {engine.root}")
        refreshed(engine)
    elif refresh:
        bar, on_progress = _progress()
        with bar or nullcontext():
            behind = engine.refresh_if_small(on_progress)
        if behind:
            print_message(f"answering from an outdated index: {behind}")


def refreshed(engine: Engine, *, full: bool = False) -> IndexReport:
    """Update the index, with a progress bar on a terminal; return the report."""
    bar, on_progress = _progress()
    with bar or nullcontext():
        report = engine.refresh(full=full, progress=on_progress)
    for message in report.messages:
        print_message(message)
    return report


def changes_of(engine: Engine) -> Iterator[None]:
    """Yield whenever files of the project have changed and settled."""
    from codecards.project.watching import FileWatch

    return FileWatch(engine.root, engine.folder.path, engine.may_have_changed, print_message).changes()


def run_index(engine: Engine, *, full: bool, transformer: bool, as_json: bool) -> None:
    """Update the index, compute transformer vectors on request, and print a report."""
    report = refreshed(engine, full=full)
    if not as_json:
        from codecards.cli.print_answers import show_backfill, show_report

        show_report(report)
    filled, retriever = _backfilled(engine) if transformer else (None, None)
    if as_json:
        value = report_json(report, _peak_rss_mb())
        if filled and retriever:
            value["transformer"] = {"new": filled.n_new, "left": filled.n_left, **retriever_json(retriever)}
        print_json(value)
    elif filled is not None and retriever is not None:
        show_backfill(filled.n_new, retriever)


def _backfilled(engine: Engine) -> "tuple[Filled, RetrieverStatus]":
    """Compute missing transformer vectors, with a progress bar on a terminal; an interrupt keeps those computed."""
    from codecards.indexer.build.worker_pool import usable_cores

    bar, on_progress = _progress()
    with bar or nullcontext():
        filled = engine.backfill_vectors(on_progress, n_threads=engine.settings.n_workers or usable_cores())
    return filled, next(one for one in engine.status().retrievers if one.name == TRANSFORMER)


def print_answer(as_json: bool, value: Callable[[], Json], show: Callable[[Any], None]) -> None:
    """Print an answer as JSON, or for people.

    Args:
        as_json: Whether to print JSON.
        value: Returns the JSON value.
        show: Prints the answer with the module `codecards.cli.print_answers`.
    """
    if as_json:
        print_json(value())
    else:
        import codecards.cli.print_answers

        show(codecards.cli.print_answers)


def print_session_answer(as_json: bool, value: Callable[[], Json], show: Callable[[Any], None]) -> None:
    """Print notes or sessions as JSON, or for people with the module `codecards.cli.print_sessions`."""
    if as_json:
        print_json(value())
    else:
        import codecards.cli.print_sessions

        show(codecards.cli.print_sessions)


def _progress() -> tuple[AbstractContextManager[object] | None, ProgressCallback]:
    """Return (progress bar, the function that moves it); no bar if stderr is not a terminal."""
    if not sys.stderr.isatty():
        return None, lambda _what, _done, _total: None
    from codecards.cli.print_answers import progress_bar

    return progress_bar()


def _peak_rss_mb() -> float:
    """Return the peak memory of this process plus that of its largest ended child, in MiB; 0 where unknown."""
    try:
        import resource
    except ImportError:
        return 0.0
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    usage = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage) / scale
