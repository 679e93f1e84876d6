"""Savings command: prints the ledger of what codecards costs and spares."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codecards.cli.run import ready_engine, say, write
from codecards.errors import StateFileError, UsageError
from codecards.indexer.index_folder import FOLDER_NAME
from codecards.wire.answers import Json, utf8_safe

if TYPE_CHECKING:
    from codecards.engine import Engine
    from codecards.savings.ledger import SessionCost, TaskCost, Totals
    from codecards.savings.questions import SavingsQuestion

TEXT_WIDTH = 48
WINDOW_LINES = 250
"""A thrifty agent reads so many lines at a time."""


@dataclass(frozen=True, slots=True)
class SavingsReport:
    """All that is printed."""

    schema: int
    read_lines: int
    costs: "list[TaskCost]"
    totals: "Totals"
    totals_of_windows: "Totals"
    """The same tasks with `WINDOW_LINES` read at a time."""
    sessions: "list[SessionCost]"


def savings(
    queries: Annotated[
        Path | None,
        typer.Option("--queries", help="JSON lines with `query` and `files` (default: your newest commits)."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Most questions.")] = 30,
    read_lines: Annotated[int, typer.Option("--read-lines", min=1, help="Lines that an agent reads at a time.")] = 2000,
    sessions: Annotated[bool, typer.Option("--sessions/--no-sessions", help="Count the project's sessions.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Count what codecards costs and spares in tokens, against grepping and reading."""
    from codecards.mcp.token_cost import answer_of, schema_tokens
    from codecards.savings.grep_baseline import read_corpus
    from codecards.savings.ledger import cost_of, session_cost, totals_of
    from codecards.savings.usage_log import read_window_entries

    with ready_engine(refresh=True) as engine:
        schema = schema_tokens()
        files = engine.files()
        # An agent that looks for code has its grep look into code.
        corpus = read_corpus(engine.root, [one.path for one in files if one.role in ("source", "test")])
        sources = {one.path for one in files if one.role == "source"} & set(corpus.texts)
        questions = _questions(engine, queries, limit, sources)
        if sessions:
            questions += _session_questions(engine, set(corpus.texts))
        ask = cache(lambda query: answer_of(engine, query))
        costs = [cost_of(one, corpus, schema, ask, read_lines) for one in questions]
        windows = [cost_of(one, corpus, schema, ask, WINDOW_LINES) for one in questions]
        logs = [(one.name, read_window_entries(one)) for one in _session_folders(engine)] if sessions else []
        lived = [session_cost(name, supplies, corpus, schema, read_lines) for name, supplies in logs]
        ledger = SavingsReport(
            schema, read_lines, costs, totals_of(costs), totals_of(windows), [one for one in lived if one is not None]
        )
    if not ledger.costs and not ledger.sessions:
        raise UsageError(
            "There is nothing to count: no session was recorded, and git's history holds no fitting commit. "
            "Give questions with --queries FILE."
        )
    if as_json:
        write(_json(ledger))
    else:
        _show(ledger)


def _questions(engine: "Engine", queries: Path | None, limit: int, sources: set[str]) -> "list[SavingsQuestion]":
    from codecards.savings.questions import questions_of_file, questions_of_history

    if queries is None:
        return questions_of_history(engine.root, sources, limit)
    questions, n_left_out = questions_of_file(queries, {one.path for one in engine.files()})
    if n_left_out:
        say(f"codecards: {n_left_out} questions were left out: none of their files is in this project")
    if not questions:
        raise UsageError(f"No question of {queries} has a file of this project.")
    return questions[:limit]


def _session_folders(engine: "Engine") -> list[Path]:
    folder = engine.root / FOLDER_NAME / "sessions"
    return sorted(one for one in folder.iterdir() if one.is_dir()) if folder.is_dir() else []


def _session_questions(engine: "Engine", known: set[str]) -> "list[SavingsQuestion]":
    """Return the questions of sessions that no hook has seen."""
    from codecards.router.memory.store import SessionStore
    from codecards.savings.questions import questions_of_session
    from codecards.savings.usage_log import LOG_NAME

    store = SessionStore(engine.root / FOLDER_NAME / "sessions")
    names = [name for name in store.names() if not (store.folder / name / LOG_NAME).exists()]
    found: list[SavingsQuestion] = []
    for name in names:
        try:
            found += questions_of_session(store.read(name))
        except StateFileError as error:
            say(f"codecards: session {name} was left out: {error}")
    return [one for one in found if known & set(one.targets)]


def _json(ledger: SavingsReport) -> Json:
    return {
        "schema_tokens": ledger.schema,
        "read_lines": ledger.read_lines,
        "tasks": [
            {
                "query": utf8_safe(one.question.query), "source": utf8_safe(one.question.source),
                "files": [utf8_safe(path) for path in one.question.targets],
                "found": one.found, "schema": one.schema, "answer": one.answer, "opened": one.opened,
                "reread": one.reread, "fallback": one.fallback, "ours": one.ours,
                "baseline": {"grep": one.baseline.grep_tokens, "read": one.baseline.read_tokens,
                             "found": one.baseline.found, "files": [utf8_safe(path) for path in one.baseline.paths]},
                "net": one.net,
            }
            for one in ledger.costs
        ],
        "totals": asdict(ledger.totals),
        "totals_reading_windows": asdict(ledger.totals_of_windows) | {"read_lines": WINDOW_LINES},
        "sessions": [asdict(one) | {"ours": one.ours, "net": one.net} for one in ledger.sessions],
    }  # fmt: skip


def _show(ledger: SavingsReport) -> None:
    """Print the ledger for people."""
    if ledger.costs:
        _print_rows(
            ("question", "answer", "opened", "re-read", "after all", "in all", "grep", "read", "net"),
            [
                (one.question.query.split("\n")[0], one.answer, one.opened, one.reread, one.fallback, one.ours,
                 one.baseline.grep_tokens, one.baseline.read_tokens, one.net)
                for one in ledger.costs
            ],
        )  # fmt: skip
        found, n_tasks = ledger.totals.n_found, ledger.totals.n_tasks
        typer.echo(
            f"right file found: codecards {found}, grep and read {ledger.totals.n_found_baseline} of {n_tasks}; the schema "
            f"takes {ledger.schema:,} of each task"
        )
        for n_lines, totals in ((ledger.read_lines, ledger.totals), (WINDOW_LINES, ledger.totals_of_windows)):
            typer.echo(
                f"{n_lines:,} lines read at a time: codecards {totals.ours:,}, grep and read {totals.baseline:,}, net "
                f"{totals.net:+,}; {totals.n_negative} of {n_tasks} tasks cost more; in one session, with the schema "
                f"once, net {totals.net_one_session:+,}"
            )
    if ledger.sessions:
        _print_rows(
            ("session", "answers", "schema", "answered", "briefs", "re-read", "in all", "grep and read", "net"),
            [
                (
                    one.name,
                    one.n_answers,
                    one.schema,
                    one.answers,
                    one.briefs,
                    one.reread,
                    one.ours,
                    one.baseline,
                    one.net,
                )
                for one in ledger.sessions
            ],
        )


def _print_rows(heads: Sequence[str], rows: Sequence[Sequence[str | int]]) -> None:
    """Print a table whose first column is text, and all others tokens."""
    texts = [[f"{cell:,}" if isinstance(cell, int) else utf8_safe(cell)[:TEXT_WIDTH] for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(heads, *texts, strict=True)]
    for row in [list(heads), *texts]:
        first, *others = row
        numbers = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        typer.echo("  ".join([first.ljust(widths[0]), *numbers]).rstrip())
