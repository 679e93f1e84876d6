"""Prints answers for people: with colours and tables on a terminal, as plain lines into a pipe."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.syntax import Syntax
from rich.table import Table

from codecards.answers import (
    Bundle,
    Caller,
    Calls,
    FileSummary,
    Impact,
    Overview,
    Recall,
    RetrieverStatus,
    ShownTarget,
    Status,
    WhyNot,
)
from codecards.indexer.build.progress import ProgressCallback
from codecards.indexer.build.refresh import IndexReport
from codecards.indexer.cards.card import Card
from codecards.indexer.problems import Problem
from codecards.tuning.fit import TuneReport
from codecards.untrusted_text import terminal_safe
from codecards.wire.answers import place_of, summary

LEXERS = {"csharp": "csharp", "tsx": "tsx", "cpp": "cpp", "jupyter": "json", "": "text"}
MAX_WHOLE_PROBLEMS = 3
"""Maximum number of files that are listed for a reason for which nothing is missing."""
MAX_PROBLEMS = 10


def console() -> Console:
    """Return the console for answers; rich respects `NO_COLOR` and pipes."""
    return Console(highlight=False, soft_wrap=True)


def progress_bar() -> tuple[Progress, ProgressCallback]:
    """Return (progress bar for stderr with the remaining time, the function that moves it)."""
    bar = Progress(
        TextColumn("{task.description:<8}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("reading", total=None)
    return bar, lambda what, done, total: bar.update(task, description=what, completed=done, total=total or None)


def show_report(report: IndexReport) -> None:
    """Print the report of an index run."""
    out = console()
    for message in report.messages:
        out.print(f"note: {terminal_safe(message)}", markup=False)
    out.print(
        f"generation {report.generation}: {report.n_seen:,} files, {report.n_cards:,} cards, {report.n_edges:,} edges"
        f" in {report.took_ms / 1000:.2f} s ({report.n_read:,} read, {report.n_unchanged:,} unchanged,"
        f" {report.n_removed:,} removed)",
        markup=False,
    )
    show_problems(out, report.problems)


def show_backfill(n_new: int, retriever: RetrieverStatus) -> None:
    """Print how many transformer vectors were computed."""
    console().print(f"transformer vectors: {n_new:,} cards embedded; {retriever_state(retriever)}", markup=False)


def show_problems(out: Console, problems: Sequence[Problem]) -> None:
    """Print the files that are not or only partly indexed, by reason."""
    by_reason: dict[tuple[str, str], list[Problem]] = {}
    for one in problems:
        by_reason.setdefault((one.reason.value, one.kept.value), []).append(one)
    for (reason, kept), some in sorted(by_reason.items()):
        out.print(f"  {reason} (kept: {kept}): {len(some)}", markup=False)
        shown = some[: MAX_WHOLE_PROBLEMS if kept == "whole" else MAX_PROBLEMS]
        for one in shown:
            out.print(f"    {terminal_safe(one.path)}: {terminal_safe(one.detail)}", markup=False)
        if len(some) > len(shown):
            n_more = len(some) - len(shown)
            out.print(f"    … and {n_more:,} more; `codecards status --json` lists all {len(some):,}", markup=False)


def show_recall(recall: Recall, *, expand: bool, explain: bool) -> None:
    """Print hits."""
    out = console()
    for notice in recall.notices:
        out.print(f"note: {terminal_safe(notice)}", markup=False)
    if not recall.hits:
        out.print(f"No hits for {terminal_safe(recall.query)[:80]!r} in {recall.n_files:,} files.", markup=False)
    elif recall.verdict == "weak":
        out.print("No good match; the closest hits:", markup=False)
    for hit in recall.hits:
        card = hit.card
        stale = "" if hit.fresh else "  (changed since it was indexed)"
        place = f"{terminal_safe(card.path)}:{card.first_line}-{card.last_line}"
        out.print(f"{hit.rank:>2}  ", end="", markup=False)
        out.print(place, style="bold cyan", end="", markup=False)
        out.print(f"  {card.kind} ", style="dim", end="", markup=False)
        out.print(terminal_safe(card.label), style="bold", end="", markup=False)
        out.print(f"  {hit.score:.2f}{stale}", style="dim", markup=False)
        out.print(f"    {terminal_safe(summary(card))}", markup=False)
        for match in hit.matches:
            out.print(f"    {match.line}: {terminal_safe(match.text)}", markup=False)
        if hit.also:
            places = (f"{one.path}:{one.first_line}" for one in hit.also)
            out.print(f"    also: {terminal_safe(', '.join(places))}", style="dim", markup=False)
        if explain:
            for term in sorted(hit.terms, key=lambda one: -abs(one.value)):
                out.print(
                    f"      {term.value:+7.3f}  {term.name:<16} {terminal_safe(term.detail)}", style="dim", markup=False
                )
        if expand:
            show_code(out, hit.text, card.language, card.lead_line)
    if explain:
        retrievers = (
            f"{one.name} {'on' if one.ready else 'off'}{f' ({one.reason})' if one.reason else ''}"
            for one in recall.retrievers
        )
        out.print("retrievers: " + terminal_safe(", ".join(retrievers)), style="dim", markup=False)
    if recall.suggestions:
        out.print("Similar names: " + terminal_safe(", ".join(recall.suggestions)), markup=False)


def show_recalls(recalls: Sequence[Recall], *, expand: bool, explain: bool) -> None:
    """Print the answers to several questions, each below its question."""
    for place, recall in enumerate(recalls):
        console().print(f"{chr(10) if place else ''}{terminal_safe(recall.query)}", style="bold", markup=False)
        show_recall(recall, expand=expand, explain=explain)


def show_bundle(bundle: Bundle) -> None:
    """Print the functions to read."""
    out = console()
    for one in bundle.functions:
        card = one.card
        out.print(
            f"{terminal_safe(card.path)}:{card.lead_line}-{card.last_line}", style="bold cyan", end="", markup=False
        )
        out.print(f"  {terminal_safe(card.qualified_name)}", style="bold", markup=False)
        show_code(out, one.text, card.language, card.lead_line)
    n = len(bundle.functions)
    out.print(
        f"{n} functions, {bundle.tokens:,} of {bundle.budget_tokens:,} tokens; verdict: {bundle.verdict}", markup=False
    )


def show_overview(overview: Overview) -> None:
    """Print what a project is."""
    console().print(terminal_safe(overview.text, keeps_lines=True), markup=False)


def show_code(out: Console, text: str, language: str, first_line: int) -> None:
    """Print code; with colours and line numbers on a terminal."""
    code = terminal_safe(text, keeps_lines=True)
    if out.is_terminal:
        out.print(Syntax(code, LEXERS.get(language, language), line_numbers=True, start_line=first_line))
    else:
        out.print(code, markup=False)


def show_outline(cards: Sequence[Card], n_cards: int, digest: str | None) -> None:
    """Print symbols, a line each, or the digest of their file if it is given."""
    if digest is None:
        show_cards(cards, f"{n_cards} symbols")
    else:
        out = console()
        for row in digest.split("\n"):
            out.print(terminal_safe(row), markup=False)


def show_cards(cards: Iterable[Card], title: str = "") -> None:
    """Print symbols, a line each."""
    out = console()
    if title:
        out.print(title, markup=False)
    for card in cards:
        out.print(
            f"{terminal_safe(card.path)}:{card.first_line}-{card.last_line}  {card.kind}  {terminal_safe(card.label)}",
            markup=False,
        )


def show_calls(calls: Calls, what: str) -> None:
    """Print callers or callees."""
    out = console()
    if calls.target is None and not calls.candidates:
        near = f" Similar names: {terminal_safe(', '.join(calls.suggestions))}." if calls.suggestions else ""
        out.print(f"No symbol has that name.{near}", markup=False)
        return
    if calls.target is None:
        show_cards(calls.candidates, "The name is ambiguous; give --path, or one of these as PATH::NAME:")
        return
    out.print(
        f"{what} of {terminal_safe(calls.target.qualified_name)} ({terminal_safe(calls.target.path)}:{calls.target.first_line}):"
        f" {calls.total}",
        markup=False,
    )
    for one in calls.calls:
        out.print(
            f"  {terminal_safe(place_of(one))}  {terminal_safe(one.name)}  {one.confidence} ({one.rule}){_called_at(one)}",
            markup=False,
        )
    if calls.truncated:
        out.print(f"  … {calls.total - len(calls.calls)} more: --offset and --limit", markup=False)


def _called_at(one: Caller) -> str:
    """Return where a callee is called, "" for a caller."""
    return f"  called at {terminal_safe(one.called_path)}:{one.called_line}" if one.called_path else ""


def show_files(files: Sequence[FileSummary]) -> None:
    """Print the indexed files."""
    out = console()
    if not out.is_terminal:
        for one in files:
            out.print(
                f"{terminal_safe(one.path)}\t{one.language or 'text'}\t{one.role}\t{one.encoding}\t{one.n_cards}",
                markup=False,
            )
        return
    table = Table("file", "language", "role", "encoding", "cards")
    for one in files:
        table.add_row(escape(terminal_safe(one.path)), one.language or "text", one.role, one.encoding, str(one.n_cards))
    out.print(table)


def print_target(shown: ShownTarget) -> None:
    """Print a symbol, file or line."""
    out = console()
    name = f" {terminal_safe(shown.card.qualified_name)}" if shown.card else ""
    stale = " (changed since it was indexed)" if shown.stale else ""
    out.print(
        f"{terminal_safe(shown.path)}:{shown.first_line}-{shown.last_line}{name}{stale}", style="bold", markup=False
    )
    show_code(out, shown.text, shown.card.language if shown.card else "", shown.first_line)


def show_status(status: Status) -> None:
    """Print the state of an index."""
    out = console()
    if not status.generation:
        out.print("There is no index yet; run `codecards index`.", markup=False)
        return
    dirty = {True: " with uncommitted changes", False: "", None: ""}[status.dirty]
    out.print(
        f"generation {status.generation} (format {status.format}){'' if status.complete else ', incomplete'}",
        markup=False,
    )
    if status.commit:
        out.print(f"indexed at commit {status.commit[:12]}{dirty}", markup=False)
    out.print(
        f"{status.n_files:,} files, {status.n_cards:,} cards, {status.n_edges:,} edges;"
        f" {status.n_changed:,} files changed since",
        markup=False,
    )
    out.print(f"embedder {status.embedder_name} ({status.embedder_dimensions} dimensions)", markup=False)
    kept, limit = status.storage.kept_bytes, status.storage.max_kept_bytes
    out.print(
        f"contents: {status.storage.live_bytes / 1e6:,.1f} MB of files, {kept / 1e6:,.1f} MB kept of earlier versions"
        f" (limit {(status.storage.live_bytes if limit is None else limit) / 1e6:,.1f} MB; `codecards clean --kept`)",
        markup=False,
    )
    planned = f"limit {status.storage.memory_mb:,} MiB" if status.storage.memory_mb else "no limit"
    out.print(f"memory of the last index run: {status.storage.peak_mb:,} MiB ({planned})", markup=False)
    for one in status.retrievers:
        out.print(f"  {one.name}: {retriever_state(one)}", markup=False)
    if status.tuned is not None:
        tuned = status.tuned
        out.print(
            f"weights tuned to {tuned.n_tasks} commits on {tuned.created}: NDCG@10 {tuned.before:.3f} -> {tuned.after:.3f}",
            markup=False,
        )
    elif status.tuned_problem:
        out.print(f"default weights; {terminal_safe(status.tuned_problem)}", markup=False)
    show_problems(out, status.problems)


def retriever_state(retriever: RetrieverStatus) -> str:
    """Return the state of a retriever as text."""
    if not retriever.ready:
        return f"off: {retriever.reason}"
    state = "ready" if retriever.share >= 1 else "in part"
    return f"{state} ({retriever.reason})" if retriever.reason else state


def show_why(answer: WhyNot) -> None:
    """Print why a file is not among the hits."""
    console().print(f"{answer.reason}: {terminal_safe(answer.detail)}", markup=False)


def show_impact(impact: Impact) -> None:
    """Print the symbols, callers and tests that a change affects."""
    show_cards(impact.changed, f"changed symbols: {len(impact.changed)}")
    out = console()
    out.print(f"callers: {len(impact.callers)}", markup=False)
    for one in impact.callers:
        out.print(f"  {terminal_safe(one.path)}:{one.line}  {terminal_safe(one.name)}  {one.confidence}", markup=False)
    out.print("tests to run: " + (" ".join(terminal_safe(path) for path in impact.tests) or "none found"), markup=False)


def show_tuning(report: TuneReport) -> None:
    """Print the recall measured on a project's history."""
    out = console()
    left_out = ", ".join(f"{number} {reason}" for reason, number in sorted(report.left_out.items())) or "none"
    out.print(
        f"{report.n_commits:,} commits read, {report.n_tasks} usable as tasks (skipped: {left_out})", markup=False
    )
    for name, figure in report.figures.items():
        out.print(f"  {name:<17} {figure.mean:.3f}  (95 %: {figure.low:.3f} to {figure.high:.3f})", markup=False)
    out.print(f"  {report.n_symbol_tasks} of the tasks changed a symbol that still exists", markup=False)
    out.print(f"note: {report.note}", markup=False)
    if report.fit is not None:
        out.print(("kept: " if report.fit.accepted else "refused: ") + report.fit.reason, markup=False)
        for name, factor in report.fit.factors.items():
            out.print(f"  {name:<17} x {factor:.2f}", markup=False)
