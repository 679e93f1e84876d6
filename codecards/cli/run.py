"""Command run: what all commands share: their project, its engine, how answers and errors leave the process."""

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from click import ClickException
from typer.core import TyperGroup

from codecards.answers import Calls, RetrieverStatus
from codecards.config import Settings
from codecards.engine import Engine
from codecards.environment import is_debug
from codecards.errors import CodecardsError, ProjectNotFoundError
from codecards.indexer.build.progress import ProgressCallback
from codecards.indexer.build.refresh import IndexReport
from codecards.indexer.walk.discovery import project_root
from codecards.indexer.walk.files import check_root
from codecards.project.transformer_vectors import NAME as TRANSFORMER
from codecards.wire.answers import Json, calls_json, report_json, retriever_json, terminal_safe

if TYPE_CHECKING:
    from codecards.retrieval.vectors.transformer_fill import Filled

logger = logging.getLogger(__name__)

INTERRUPTED = 130


class CommandGroup(TyperGroup):
    """Turns errors into messages and exit codes; a traceback never reaches a user."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - typer's own signature
        """Run the command."""
        try:
            return super().invoke(ctx)
        except CodecardsError as error:
            logger.error("command failed", extra={"kind": type(error).__name__, "detail": str(error)})
            say(f"codecards: {error}")
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            say("codecards: interrupted; what was indexed before is unharmed")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except (typer.Exit, typer.Abort, ClickException):
            raise  # ways in which commands end on purpose
        except OSError as error:
            if is_debug():
                raise
            logger.exception("the system refused")
            place = f" ({error.filename})" if error.filename else ""
            say(f"codecards: the system refused: {error.strerror or error}{place}; what was indexed before is unharmed")
            raise typer.Exit(3) from None
        except Exception as error:
            if is_debug():
                raise
            logger.exception("internal error")
            say(f"codecards: internal error: {type(error).__name__}: {error}; CODECARDS_DEBUG=1 shows where it is")
            raise typer.Exit(3) from None


class Chosen:
    """What the options before the command say."""

    project: Path | None = None
    projects: tuple[Path, ...] = ()
    """All that were named; only `mcp` takes more than the last."""
    settings: Settings = Settings()


chosen = Chosen()


def open_engine(path: Path | None = None, *, exact: bool = False) -> Engine:
    """Return the engine of the chosen project; `exact` takes the folder itself, not the project around it."""
    start = path or chosen.project or _current_folder()
    if exact or chosen.project is not None:
        check_root(start)
        return Engine(start.resolve(), chosen.settings)
    check_root(start)
    return Engine(project_root(start.resolve()), chosen.settings)


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise ProjectNotFoundError("the current folder is gone; name the project with -C") from None


def ready_engine(*, refresh: bool) -> Engine:
    """Return an engine whose index is there: built if it is missing, brought up to date if little has changed."""
    engine = open_engine()
    try:
        make_ready(engine, refresh=refresh)
    except BaseException:
        engine.close()
        raise
    return engine


def make_ready(engine: Engine, *, refresh: bool = True) -> None:
    """Build the index if it is missing, else bring it up to date if little has changed and nobody else is at it."""
    if not engine.is_indexed():
        say("codecards: indexing first")
        refreshed(engine)
    elif refresh:
        bar, told = _progress()
        with bar or nullcontext():
            behind = engine.refresh_if_small(told)
        if behind:
            say(f"codecards: answering from the index as it is: {behind}")


def refreshed(engine: Engine, *, full: bool = False) -> IndexReport:
    """Bring the index up to date, with a progress bar on a terminal; return what was done."""
    bar, told = _progress()
    with bar or nullcontext():
        report = engine.refresh(full=full, progress=told)
    for message in report.messages:
        say(f"codecards: {message}")
    return report


def changes_of(engine: Engine) -> Iterator[None]:
    """Yield whenever files of the project have changed and settled."""
    from codecards.project.watching import FileWatch

    return FileWatch(
        engine.root, engine.folder.path, engine.may_have_changed, lambda sentence: say(f"codecards: {sentence}")
    ).changes()


def run_index(engine: Engine, *, full: bool, transformer: bool, as_json: bool) -> None:
    """Bring the index up to date, fill the deep lane if that is wanted, and print what was done."""
    report = refreshed(engine, full=full)
    if not as_json:
        from codecards.cli.print_answers import show_backfill, show_report

        show_report(report)
    filled, lane = _backfilled(engine) if transformer else (None, None)
    if as_json:
        told = (
            {"transformer": {"new": filled.n_new, "left": filled.n_left, **retriever_json(lane)}}
            if filled and lane
            else {}
        )
        write(report_json(report, _peak_rss_mb()) | told)
    elif filled is not None and lane is not None:
        show_backfill(filled.n_new, lane)


def _backfilled(engine: Engine) -> "tuple[Filled, RetrieverStatus]":
    """Fill the deep lane with a progress bar on a terminal; broken off, it keeps what was computed."""
    from codecards.indexer.build.worker_pool import usable_cores

    bar, told = _progress()
    with bar or nullcontext():
        filled = engine.backfill_vectors(told, n_threads=engine.settings.n_workers or usable_cores())
    return filled, next(lane for lane in engine.status().retrievers if lane.name == TRANSFORMER)


def print_answer(as_json: bool, value: Callable[[], Json], readable: Callable[[Any], None]) -> None:
    """Print an answer as JSON, or with the module for people."""
    if as_json:
        write(value())
    else:
        import codecards.cli.print_answers

        readable(codecards.cli.print_answers)


def print_state(as_json: bool, value: Callable[[], Json], readable: Callable[[Any], None]) -> None:
    """Print something of the working memory as JSON, or with the module for people."""
    if as_json:
        write(value())
    else:
        import codecards.cli.print_sessions

        readable(codecards.cli.print_sessions)


def print_calls(calls: Calls, what: str, *, as_json: bool) -> None:
    """Print callers or callees."""
    print_answer(as_json, lambda: calls_json(calls, what), lambda readable: readable.show_calls(calls, what))


def _progress() -> tuple[AbstractContextManager[object] | None, ProgressCallback]:
    """Return (progress bar, function that is told), none where no person looks."""
    if not sys.stderr.isatty():
        return None, lambda _what, _done, _total: None
    from codecards.cli.print_answers import progress_bar

    return progress_bar()


def write(value: Json) -> None:
    """Print one JSON object."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def say(message: str) -> None:
    """Tell something that is no answer."""
    print(terminal_safe(message), file=sys.stderr)  # noqa: T201


def _peak_rss_mb() -> float:
    """Return the peak memory of this process and the largest of its ended children, in MiB; 0 where unknown."""
    try:
        import resource
    except ImportError:
        return 0.0
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    usage = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage) / scale
