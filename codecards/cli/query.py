"""Commands that answer questions from the index."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated

import typer

from codecards.cli.command_group import command_module
from codecards.cli.options import AsJson, CliOptions, Refresh
from codecards.cli.run import print_answer, ready_engine
from codecards.errors import UsageError
from codecards.wire.answers import (
    bundle_json,
    calls_json,
    files_json,
    impact_json,
    outline_json,
    recall_json,
    shown_json,
    symbol_json,
    why_not_json,
)

app = command_module()

DefinedIn = Annotated[str | None, typer.Option("--path", help="The file that defines the symbol.")]
Page = Annotated[int, typer.Option("--limit", min=1, help="Maximum number of rows.")]
Offset = Annotated[int, typer.Option("--offset", min=0, help="Rows to skip.")]
HitLimit = Annotated[int, typer.Option("--limit", min=1, max=200, help="Maximum number of hits.")]
Expand = Annotated[bool, typer.Option("--expand", help="Show the code of each hit.")]


@app.command("select", hidden=True)  # an alias of `recall`
@app.command()
def recall(
    context: typer.Context,
    query: Annotated[
        str | None, typer.Argument(help="A question, a name, a path, an issue text, a stack trace.")
    ] = None,
    also: Annotated[
        list[str] | None, typer.Option("--also", metavar="QUESTION", help="One more question; can be repeated.")
    ] = None,
    literal: Annotated[
        str | None, typer.Option("--literal", metavar="TEXT", help="Find every line with exactly this text.")
    ] = None,
    regex: Annotated[
        str | None, typer.Option("--regex", metavar="PATTERN", help="Find every match of a regular expression.")
    ] = None,
    bundle: Annotated[
        int | None,
        typer.Option("--bundle", metavar="TOKENS", min=1, help="Show whole functions to read, within this budget."),
    ] = None,
    limit: HitLimit = 8,
    path: Annotated[
        list[str] | None, typer.Option("--path", metavar="GLOB", help="Search only matching files.")
    ] = None,
    language: Annotated[list[str] | None, typer.Option("--language", help="Search only this language.")] = None,
    kind: Annotated[list[str] | None, typer.Option("--kind", help="Search only this kind of card.")] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", metavar="TOKENS", min=1, help="Maximum tokens of the JSON output.")
    ] = None,
    expand: Expand = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show the terms of each score.")] = False,
    reranker: Annotated[
        str | None, typer.Option("--reranker", metavar="PATH", help="A cross-encoder that reranks the first hits.")
    ] = None,
    refresh: Refresh = True,
    as_json: AsJson = False,
) -> None:
    """Find code for a question, a name, an issue or a stack trace."""
    asked = [one for one in (query, literal, regex) if one is not None]
    if len(asked) != 1:
        raise UsageError("recall takes one of: a question, --literal TEXT, --regex PATTERN")
    if query is None and (also or bundle is not None):
        raise UsageError("--also and --bundle go with a question, not with --literal or --regex")
    options: CliOptions = context.obj
    if reranker is not None:
        options = options.with_settings(replace(options.settings, reranker=reranker))
    where = {"paths": path or (), "languages": language or ()}
    with ready_engine(options, refresh=refresh) as engine:
        if query is not None and bundle is not None:
            read = engine.bundle(query, bundle, **where)
            print_answer(as_json, lambda: bundle_json(read), lambda printer: printer.show_bundle(read))
            return
        if query is not None and also:
            answers = engine.recall_all([query, *also], limit=limit, **where)
            shown = {"expand": expand, "explain": explain}
            print_answer(
                as_json,
                lambda: {"answers": [recall_json(one, **shown, budget_tokens=budget) for one in answers]},
                lambda printer: printer.show_recalls(answers, **shown),
            )
            return
        if literal is not None:
            found = engine.literal(literal, limit=limit, **where)
        elif regex is not None:
            found = engine.regex(regex, limit=limit, **where)
        else:
            found = engine.recall(asked[0], limit=limit, kinds=kind or (), **where)
        print_answer(
            as_json,
            lambda: recall_json(found, expand=expand, explain=explain, budget_tokens=budget),
            lambda printer: printer.show_recall(found, expand=expand, explain=explain),
        )


@app.command()
def files(context: typer.Context, refresh: Refresh = True, as_json: AsJson = False) -> None:
    """List the indexed files."""
    with ready_engine(context.obj, refresh=refresh) as engine:
        found = engine.files()
        print_answer(as_json, lambda: files_json(found), lambda printer: printer.show_files(found))


@app.command()
def symbols(
    context: typer.Context,
    path: Annotated[str | None, typer.Option("--path", help="Only symbols of this file.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="Only symbols of this name.")] = None,
    refresh: Refresh = True,
    as_json: AsJson = False,
) -> None:
    """List the indexed symbols."""
    with ready_engine(context.obj, refresh=refresh) as engine:
        found = engine.symbols(path=path, name=name)
        print_answer(
            as_json,
            lambda: {"symbols": [symbol_json(card) for card in found]},
            lambda printer: printer.show_cards(found),
        )


def _calls_command(direction: str) -> Callable[..., None]:
    """Return the command that lists "callers" or "callees"."""

    def command(
        context: typer.Context,
        name: str,
        path: DefinedIn = None,
        limit: Page = 100,
        offset: Offset = 0,
        refresh: Refresh = True,
        as_json: AsJson = False,
    ) -> None:
        with ready_engine(context.obj, refresh=refresh) as engine:
            ask = engine.callers if direction == "callers" else engine.callees
            calls = ask(name, path=path, limit=limit, offset=offset)
            print_answer(
                as_json, lambda: calls_json(calls, direction), lambda printer: printer.show_calls(calls, direction)
            )

    return command


app.command("callers", help="List the uses of a symbol.")(_calls_command("callers"))
app.command("callees", help="List the symbols that a symbol uses.")(_calls_command("callees"))


@app.command()
def show(
    context: typer.Context,
    target: Annotated[str, typer.Argument(help="A symbol, a path, or PATH:LINE.")],
    outline: Annotated[bool, typer.Option("--outline", help="Show the symbols without their code.")] = False,
    digest: Annotated[
        bool, typer.Option("--digest", help="Show the digest of the file: imports, signatures, notable comments.")
    ] = False,
    limit: Page = 200,
    offset: Offset = 0,
    refresh: Refresh = True,
    as_json: AsJson = False,
) -> None:
    """Show the code of a symbol, a file or a line."""
    with ready_engine(context.obj, refresh=refresh) as engine:
        if outline or digest:
            cards = engine.outline(target)
            text = engine.digest(target) if digest else None
            print_answer(
                as_json,
                lambda: outline_json(cards, limit=limit, offset=offset, digest=text),
                lambda printer: printer.show_outline(cards[offset : offset + limit], len(cards), text),
            )
            return
        shown = engine.show(target)
        print_answer(as_json, lambda: shown_json(shown), lambda printer: printer.print_target(shown))


@app.command()
def similar(
    context: typer.Context,
    place: Annotated[str, typer.Argument(metavar="PATH:LINE")],
    limit: HitLimit = 8,
    expand: Expand = False,
    refresh: Refresh = True,
    as_json: AsJson = False,
) -> None:
    """Find code similar to the code at a line."""
    path, _, line = place.rpartition(":")
    if not path or not line.isdigit():
        raise typer.BadParameter(f"{place!r} is not PATH:LINE, such as src/auth.py:12")
    with ready_engine(context.obj, refresh=refresh) as engine:
        card, found = engine.similar(path, int(line), limit=limit)
        print_answer(
            as_json,
            lambda: {"card": symbol_json(card)} | recall_json(found, expand=expand),
            lambda printer: printer.show_recall(found, expand=expand, explain=False),
        )


@app.command()
def impact(
    context: typer.Context,
    revision: Annotated[
        str | None, typer.Argument(metavar="[REV]", help="Compare with this commit (default: HEAD).")
    ] = None,
    diff: Annotated[bool, typer.Option("--diff", help="Use the uncommitted changes (the default).")] = False,
    refresh: Refresh = True,
    as_json: AsJson = False,
) -> None:
    """Show the symbols, callers and tests that a change affects."""
    with ready_engine(context.obj, refresh=refresh) as engine:
        found = engine.impact(None if diff else revision)
        print_answer(as_json, lambda: impact_json(found), lambda printer: printer.show_impact(found))


@app.command("why-not")
def why_not(context: typer.Context, path: str, query: str, refresh: Refresh = True, as_json: AsJson = False) -> None:
    """Explain why a file is not among the hits of a query."""
    with ready_engine(context.obj, refresh=refresh) as engine:
        answer = engine.why_not(path, query)
        print_answer(as_json, lambda: why_not_json(answer), lambda printer: printer.show_why(answer))
