"""The command `codecards savings`: prints how many tokens codecards costs and saves."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from codecards.cli.command_group import command_module
from codecards.cli.messages import print_json, print_message
from codecards.cli.options import AsJson
from codecards.cli.run import ready_engine
from codecards.engine import Engine
from codecards.errors import StateFileError, UsageError
from codecards.indexer.index_folder import FOLDER_NAME
from codecards.mcp.token_cost import answer_of, schema_tokens
from codecards.router.memory.store import SessionStore
from codecards.savings.grep_baseline import read_corpus
from codecards.savings.ledger import SessionCost, TaskCost, Totals, cost_of, session_cost, totals_of
from codecards.savings.questions import (
    SavingsQuestion,
    questions_of_file,
    questions_of_history,
    questions_of_session,
)
from codecards.savings.usage_log import LOG_NAME, read_window_entries
from codecards.untrusted_text import utf8_safe
from codecards.wire.answers import Json

app = command_module()

TEXT_WIDTH = 48
WINDOW_LINES = 250
"""Lines that a thrifty agent reads at a time."""


@dataclass(frozen=True, slots=True)
class SavingsReport:
    """Costs of tasks and sessions, with codecards and without."""

    schema: int
    """Tokens of the MCP tools' schema."""
    read_lines: int
    costs: list[TaskCost]
    totals: Totals
    totals_of_windows: Totals
    """The same tasks with `WINDOW_LINES` lines read at a time."""
    sessions: list[SessionCost]


@app.command()
def savings(
    context: typer.Context,
    queries: Annotated[
        Path | None,
        typer.Option("--queries", help="JSON lines with `query` and `files` (default: the newest commits)."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Maximum number of questions.")] = 30,
    read_lines: Annotated[int, typer.Option("--read-lines", min=1, help="Lines that an agent reads at a time.")] = 2000,
    sessions: Annotated[
        bool, typer.Option("--sessions/--no-sessions", help="Include the project's recorded sessions.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Estimate the tokens that codecards costs and saves.

    The baseline is an agent that greps and reads the files that it finds.
    """
    with ready_engine(context.obj, refresh=True) as engine:
        report = _report(engine, queries, limit, read_lines, sessions=sessions)
    if not report.costs and not report.sessions:
        raise UsageError(
            "There is nothing to count: no session was recorded, and no commit of the git history fits. "
            "Give questions with --queries FILE."
        )
    if as_json:
        print_json(_report_json(report))
    else:
        _print_report(report)


def _report(engine: Engine, queries: Path | None, limit: int, read_lines: int, *, sessions: bool) -> SavingsReport:
    schema = schema_tokens()
    files = engine.files()
    # An agent that looks for code greps only code.
    corpus = read_corpus(engine.root, [one.path for one in files if one.role in ("source", "test")])
    sources = {one.path for one in files if one.role == "source"} & set(corpus.texts)
    questions = _questions(engine, queries, limit, sources)
    if sessions:
        questions += _session_questions(engine, set(corpus.texts))
    ask = cache(lambda query: answer_of(engine, query))
    costs = [cost_of(one, corpus, schema, ask, read_lines) for one in questions]
    windows = [cost_of(one, corpus, schema, ask, WINDOW_LINES) for one in questions]
    logs = [(one.name, read_window_entries(one)) for one in _session_folders(engine)] if sessions else []
    recorded = [session_cost(name, supplies, corpus, schema, read_lines) for name, supplies in logs]
    return SavingsReport(
        schema, read_lines, costs, totals_of(costs), totals_of(windows), [one for one in recorded if one is not None]
    )


def _questions(engine: Engine, queries: Path | None, limit: int, sources: set[str]) -> list[SavingsQuestion]:
    if queries is None:
        return questions_of_history(engine.root, sources, limit)
    questions, n_skipped = questions_of_file(queries, {one.path for one in engine.files()})
    if n_skipped:
        print_message(f"skipped {n_skipped} questions: none of their files is in this project")
    if not questions:
        raise UsageError(f"No question of {queries} has a file of this project.")
    return questions[:limit]


def _session_folders(engine: Engine) -> list[Path]:
    folder = engine.root / FOLDER_NAME / "sessions"
    return sorted(one for one in folder.iterdir() if one.is_dir()) if folder.is_dir() else []


def _session_questions(engine: Engine, known: set[str]) -> list[SavingsQuestion]:
    """Return the questions of sessions without a usage log, that is, without hooks."""
    store = SessionStore(engine.root / FOLDER_NAME / "sessions")
    names = [name for name in store.names() if not (store.folder / name / LOG_NAME).exists()]
    found: list[SavingsQuestion] = []
    for name in names:
        try:
            found += questions_of_session(store.read(name))
        except StateFileError as error:
            print_message(f"skipped session {name}: {error}")
    return [one for one in found if known & set(one.targets)]


def _report_json(report: SavingsReport) -> Json:
    return {
        "schema_tokens": report.schema,
        "read_lines": report.read_lines,
        "tasks": [_task_json(one) for one in report.costs],
        "totals": asdict(report.totals),
        "totals_reading_windows": asdict(report.totals_of_windows) | {"read_lines": WINDOW_LINES},
        "sessions": [asdict(one) | {"ours": one.ours, "net": one.net} for one in report.sessions],
    }


def _task_json(cost: TaskCost) -> Json:
    return {
        "query": utf8_safe(cost.question.query),
        "source": utf8_safe(cost.question.source),
        "files": [utf8_safe(path) for path in cost.question.targets],
        "found": cost.found,
        "schema": cost.schema,
        "answer": cost.answer,
        "opened": cost.opened,
        "reread": cost.reread,
        "fallback": cost.fallback,
        "ours": cost.ours,
        "baseline": {
            "grep": cost.baseline.grep_tokens,
            "read": cost.baseline.read_tokens,
            "found": cost.baseline.found,
            "files": [utf8_safe(path) for path in cost.baseline.paths],
        },
        "net": cost.net,
    }


def _print_report(report: SavingsReport) -> None:
    if report.costs:
        _print_tasks(report)
    if report.sessions:
        _print_rows(
            ("session", "answers", "schema", "answered", "briefs", "re-read", "total", "grep and read", "net"),
            [_session_row(one) for one in report.sessions],
        )


def _print_tasks(report: SavingsReport) -> None:
    _print_rows(
        ("question", "answer", "opened", "re-read", "fallback", "total", "grep", "read", "net"),
        [_task_row(one) for one in report.costs],
    )
    found, n_tasks = report.totals.n_found, report.totals.n_tasks
    typer.echo(
        f"right file found: codecards {found}, grep and read {report.totals.n_found_baseline} of {n_tasks}; the schema "
        f"takes {report.schema:,} of each task"
    )
    for n_lines, totals in ((report.read_lines, report.totals), (WINDOW_LINES, report.totals_of_windows)):
        typer.echo(
            f"{n_lines:,} lines read at a time: codecards {totals.ours:,}, grep and read {totals.baseline:,}, net "
            f"{totals.net:+,}; {totals.n_negative} of {n_tasks} tasks cost more; in one session, with the schema "
            f"counted once, net {totals.net_one_session:+,}"
        )


def _task_row(task: TaskCost) -> tuple[str | int, ...]:
    own = (task.answer, task.opened, task.reread, task.fallback, task.ours)
    return (task.question.query.split("\n")[0], *own, task.baseline.grep_tokens, task.baseline.read_tokens, task.net)


def _session_row(session: SessionCost) -> tuple[str | int, ...]:
    own = (session.n_answers, session.schema, session.answers, session.briefs, session.reread, session.ours)
    return (session.name, *own, session.baseline, session.net)


def _print_rows(heads: Sequence[str], rows: Sequence[Sequence[str | int]]) -> None:
    """Print a table with a text in the first column and tokens in the others."""
    texts = [[f"{cell:,}" if isinstance(cell, int) else utf8_safe(cell)[:TEXT_WIDTH] for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(heads, *texts, strict=True)]
    for row in [list(heads), *texts]:
        first, *others = row
        numbers = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        typer.echo("  ".join([first.ljust(widths[0]), *numbers]).rstrip())
