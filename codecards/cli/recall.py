"""The commands `recall` and `overview`."""

from dataclasses import replace
from typing import Annotated

import typer

from codecards.cli.run import chosen, print_answer, ready_engine
from codecards.errors import UsageError
from codecards.features.reading import DEFAULT_OVERVIEW_TOKENS
from codecards.wire.answers import bundle_json, overview_json, recall_json

DEFAULT_LIMIT = 8


def recall(
    query: Annotated[str | None, typer.Argument(help="A question, a name, a path, an issue text, a stack trace.")] = None,
    also: Annotated[
        list[str] | None, typer.Option("--also", metavar="QUESTION", help="One more question; may be given again.")
    ] = None,
    literal: Annotated[
        str | None, typer.Option("--literal", metavar="TEXT", help="Every line that holds this text, word for word.")
    ] = None,
    regex: Annotated[
        str | None, typer.Option("--regex", metavar="PATTERN", help="Every match of a regular expression.")
    ] = None,
    bundle: Annotated[
        int | None, typer.Option("--bundle", metavar="TOKENS", min=1, help="The functions to read, whole, within this.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="Most hits.")] = DEFAULT_LIMIT,
    path: Annotated[list[str] | None, typer.Option("--path", metavar="GLOB", help="Only files like this.")] = None,
    language: Annotated[list[str] | None, typer.Option("--language", help="Only this language.")] = None,
    kind: Annotated[list[str] | None, typer.Option("--kind", help="Only this kind of card.")] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", metavar="TOKENS", min=1, help="Most tokens of output.")
    ] = None,
    expand: Annotated[bool, typer.Option("--expand", help="With the code.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="With the parts of each score.")] = False,
    reranker: Annotated[
        str | None, typer.Option("--reranker", metavar="PATH", help="A cross-encoder that reads the first hits again.")
    ] = None,
    refresh: Annotated[bool, typer.Option("--refresh/--no-refresh", help="Take changed files in first.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Answer a question: where is …, a name, a path, an issue text, a stack trace; or find an exact text."""
    asked = [one for one in (query, literal, regex) if one is not None]
    if len(asked) != 1:
        raise UsageError("recall takes one of: a question, --literal TEXT, --regex PATTERN")
    if query is None and (also or bundle is not None):
        raise UsageError("--also and --bundle go with a question, not with --literal or --regex")
    if reranker is not None:
        chosen.settings = replace(chosen.settings, reranker=reranker)
    where = {"paths": path or (), "languages": language or ()}
    with ready_engine(refresh=refresh) as engine:
        if query is not None and bundle is not None:
            read = engine.bundle(query, bundle, **where)
            print_answer(as_json, lambda: bundle_json(read), lambda readable: readable.show_bundle(read))
            return
        if query is not None and also:
            answers = engine.recall_all([query, *also], limit=limit, **where)
            print_answer(
                as_json,
                lambda: {
                    "answers": [recall_json(one, expand=expand, explain=explain, budget_tokens=budget) for one in answers]
                },
                lambda readable: readable.show_recalls(answers, expand=expand, explain=explain),
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
            lambda readable: readable.show_recall(found, expand=expand, explain=explain),
        )


def overview(
    path: Annotated[str, typer.Argument(help="A folder of the project (default: all of it).")] = "",
    budget: Annotated[
        int, typer.Option("--budget", metavar="TOKENS", min=1, help="Most tokens of output.")
    ] = DEFAULT_OVERVIEW_TOKENS,
    refresh: Annotated[bool, typer.Option("--refresh/--no-refresh", help="Take changed files in first.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what the project is: packages, entry points, most used definitions, tests, configuration."""
    with ready_engine(refresh=refresh) as engine:
        found = engine.overview(path, budget_tokens=budget)
        print_answer(as_json, lambda: overview_json(found), lambda readable: readable.show_overview(found))
