"""The MCP tools: each returns its answer as a JSON value and as text."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from codecards.answers import ShownTarget
from codecards.engine import Engine
from codecards.errors import (
    AmbiguousTargetError,
    CodecardsError,
    SnapshotError,
    TargetNotFoundError,
    UsageError,
)
from codecards.features.live_search import live_file
from codecards.indexer.walk.files import resolve_inside
from codecards.mcp import arguments
from codecards.mcp.served_project import ServedProject
from codecards.mcp.text import (
    VALUE_NOTICE,
    calls_text,
    cards_text,
    first_within,
    impact_text,
    notices_text,
    recall_text,
    rows_of,
    shown_text,
    status_text,
    utf8_safe_json,
)
from codecards.router.compress.excerpts import head_and_tail
from codecards.router.compress.summaries import SummariserConfig
from codecards.router.compress.token_count import estimate_tokens
from codecards.untrusted_text import fenced, on_one_line, utf8_safe
from codecards.wire.answers import Json, path_json
from codecards.wire.mcp_values import (
    calls_value,
    card_value,
    hit_value,
    impact_value,
    non_empty,
    recall_value,
    shown_value,
    status_value,
    without_empty,
)


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer of a tool."""

    value: Json
    text: str
    is_error: bool = False


def answer(
    project: ServedProject, tool: str, given: Mapping[str, object], summarising: SummariserConfig | None = None
) -> ToolAnswer:
    """Return the answer of a tool; errors for the caller are answers too.

    Args:
        project: The project of the call.
        tool: A name in `arguments.TOOLS`.
        given: The arguments of the call, unchecked.
        summarising: Writes the summaries of closed files and compactions; None for extractive summaries.
    """
    try:
        read = arguments.read_arguments(arguments.TOOLS[tool], given)
        summarised = _summarised.get(tool)
        with project.backfill.paused():
            found = summarised(project, read, summarising) if summarised else _answers[tool](project, read)
    except CodecardsError as error:
        return error_answer(error)
    # Some hosts give the model the value instead of the text.
    return ToolAnswer({"note": VALUE_NOTICE, **utf8_safe_json(found.value)}, found.text)


def error_answer(error: CodecardsError) -> ToolAnswer:
    """Return an error as an answer, with candidates or suggestions."""
    value: dict[str, Any] = {"error": type(error).__name__.removesuffix("Error"), "message": on_one_line(error)}
    if isinstance(error, AmbiguousTargetError):
        value["candidates"] = list(error.candidates)
    if isinstance(error, TargetNotFoundError):
        value["suggestions"] = list(error.suggestions)
    return ToolAnswer(utf8_safe_json(value), on_one_line(error), is_error=True)


def recall(project: ServedProject, asked: arguments.RecallArguments) -> ToolAnswer:
    """Find code for a query."""
    paths = (asked.path,) if asked.path else ()
    languages = (asked.language,) if asked.language else ()
    found = project.recall(asked.query, asked.limit, paths, languages)
    hits = [hit_value(hit, expand=asked.expand) for hit in found.hits]
    kept = first_within(hits, asked.max_tokens)
    notices = [*found.notices]
    if asked.expand and kept and estimate_tokens(str(kept[0])) > asked.max_tokens:
        kept[0]["text"] = head_and_tail(str(kept[0]["text"]), asked.max_tokens, estimate_tokens)
    if len(kept) < len(hits):
        notices.append(f"{len(hits) - len(kept)} more hits do not fit into max_tokens={asked.max_tokens}")
    value = recall_value(found, kept, _notices(project, notices))
    return ToolAnswer(value, recall_text(value))


def symbol(project: ServedProject, asked: arguments.SymbolArguments) -> ToolAnswer:
    """Show a symbol, its callers, its callees or the impact of changing it."""
    try:
        return project.ask(lambda engine: _symbol(project, engine, asked))
    except SnapshotError:
        found = recall(
            project, arguments.RecallArguments(asked.name, limit=min(asked.limit, 20), max_tokens=asked.max_tokens)
        )
        notice = f"{asked.want} needs the index, which does not exist yet; these places in the files contain the name"
        value = found.value | {"notices": [notice, *rows_of(found.value, "notices")]}
        return ToolAnswer(value, recall_text(value))


def open_file(project: ServedProject, asked: arguments.OpenFileArguments) -> ToolAnswer:
    """Show a file, or lines of it, and keep it in the working memory."""
    target = asked.path
    if (asked.first_line, asked.last_line) != (1, 0):
        if asked.last_line and asked.last_line < asked.first_line:
            raise UsageError(f"last_line {asked.last_line} is before first_line {asked.first_line}")
        target = f"{asked.path}:{asked.first_line}-{asked.last_line or 10**9}"
    try:
        shown = project.ask(lambda engine: engine.show(target))
    except SnapshotError:
        discovery = project.engine.settings.build.discovery
        shown = live_file(project.root, asked.path, asked.first_line, asked.last_line, discovery)
    text = _shortened(shown, asked.max_tokens)
    notices = []
    if text != shown.text:
        notices.append("The middle is left out; request it with first_line and last_line.")
    if not project.read_only:
        lines = None if target == asked.path else (shown.first_line, shown.last_line)
        project.session().open_file(shown.path, asked.purpose, lines=lines)
    value = shown_value(shown, text) | non_empty(notices=_notices(project, notices))
    return ToolAnswer(value, shown_text(value))


def close_file(
    project: ServedProject, asked: arguments.CloseFileArguments, summarising: SummariserConfig | None = None
) -> ToolAnswer:
    """Remove a file from the working memory."""
    session = project.session(summarising=summarising)
    status = session.close_file(asked.path)
    closed = session.memory.memos[-1]
    value: Json = {"closed": closed.path, "summary": closed.text, "handle": closed.handle}
    return ToolAnswer(value, f"{on_one_line(status)}\n{fenced(closed.text, path=closed.path, purpose=closed.purpose)}")


def context(project: ServedProject, asked: arguments.ContextArguments) -> ToolAnswer:
    """Begin a turn and return its context."""
    session = project.session(asked.goal, asked.budget_tokens, asked.constraints)
    for constraint in asked.constraints:
        session.add_constraint(constraint)
    if asked.stage:
        session.set_status(asked.stage)
    found = session.before_generation(asked.input)
    value: Json = {
        "text": found.text,
        "files": [{**path_json(file.path), "shown": file.shown} for file in found.files],
        "budget_tokens": found.ledger.budget_tokens,
        "total_tokens": found.ledger.total_tokens,
        **non_empty(notices=_notices(project, [])),
    }
    # No fence: the blocks are labelled and closed already, and the goal and the guidance are instructions.
    return ToolAnswer(value, utf8_safe(found.text) + notices_text(value))


def commit_note(project: ServedProject, asked: arguments.CommitNoteArguments) -> ToolAnswer:
    """Add a note to the archive."""
    for named in asked.files:
        resolve_inside(project.root, named.partition("::")[0])
    note = project.session().commit_note(asked.title, asked.conclusion, files=asked.files, rejected=asked.rejected)
    anchored = ", ".join(on_one_line(anchor.symbol or anchor.path) for anchor in note.anchors) or "nothing"
    anchors = [
        non_empty(symbol=anchor.symbol) | path_json(anchor.path) | {"state": anchor.state.value}
        for anchor in note.anchors
    ]
    value: Json = {"id": note.note_id, **non_empty(anchors=anchors)}
    return ToolAnswer(value, f"note {note.note_id} saved, anchored to: {anchored}")


def compact(
    project: ServedProject, asked: arguments.CompactArguments, summarising: SummariserConfig | None = None
) -> ToolAnswer:
    """Compact a text or the past turns, or restore a full text."""
    session = project.session(summarising=summarising)
    if asked.handle:
        text = session.restore(asked.handle)
        return ToolAnswer({"handle": asked.handle, "text": text}, fenced(text, handle=asked.handle))
    found = session.compact(asked.source or None, asked.max_tokens, asked.preserve)
    value = dict(found.as_json())
    notice = str(value.pop("notice", ""))
    value = without_empty(value) | non_empty(notices=[on_one_line(notice)] if notice else [])
    return ToolAnswer(value, fenced(found.as_text(), handle=found.handle) + notices_text(value))


def status(project: ServedProject, asked: arguments.StatusArguments) -> ToolAnswer:
    """Return the state of the index; the server handles `refresh` beforehand."""
    del asked
    value = status_value(project.ask(lambda engine: engine.status()), on_one_line(project.root))
    reason = project.watch.polls_because
    polls = [f"no file events here ({on_one_line(reason)}): the files are looked at now and then"] if reason else []
    value |= non_empty(notices=_notices(project, polls))
    return ToolAnswer(value, status_text(value))


_answers: Mapping[str, Callable[[ServedProject, Any], ToolAnswer]] = {
    "recall": recall,
    "symbol": symbol,
    "open_file": open_file,
    "context": context,
    "commit_note": commit_note,
    "status": status,
}
_summarised: Mapping[str, Callable[[ServedProject, Any, SummariserConfig | None], ToolAnswer]] = {
    "close_file": close_file,
    "compact": compact,
}
SUMMARISED_TOOLS = tuple(_summarised)
"""Tools whose answers a summariser may write."""


def _symbol(project: ServedProject, engine: Engine, asked: arguments.SymbolArguments) -> ToolAnswer:
    if asked.want == "definition":
        return _definition(project, engine, asked)
    if asked.want == "impact":
        found = engine.impact() if asked.name == "diff" else engine.impact_of(asked.name)
        value = impact_value(found, asked.limit) | non_empty(notices=_notices(project, []))
        return ToolAnswer(value, impact_text(value))
    ask = engine.callers if asked.want == "callers" else engine.callees
    calls = ask(asked.name, limit=asked.limit)
    if calls.target is None and not calls.candidates:
        raise TargetNotFoundError(asked.name, what="symbol", suggestions=calls.suggestions)
    value = calls_value(calls, asked.want)
    for key in ("candidates", asked.want):
        if key in value:
            value[key] = first_within(rows_of(value, key), asked.max_tokens)
    value |= non_empty(notices=_notices(project, []))
    return ToolAnswer(value, calls_text(value, asked.want))


def _definition(project: ServedProject, engine: Engine, asked: arguments.SymbolArguments) -> ToolAnswer:
    shown = engine.show(asked.name)
    if shown.card is None and ":" not in asked.name:
        cards = engine.outline(asked.name)
        rows = first_within([card_value(card, path=False) for card in cards[: asked.limit]], asked.max_tokens)
        value: Json = {**path_json(shown.path), "outline": rows, "total": len(cards)}
        value |= non_empty(notices=_notices(project, []))
        return ToolAnswer(
            value, cards_text(rows, f"{on_one_line(shown.path)}: {len(cards)} symbols, {len(rows)} shown")
        )
    value = shown_value(shown, _shortened(shown, asked.max_tokens)) | non_empty(notices=_notices(project, []))
    return ToolAnswer(value, shown_text(value))


def _shortened(shown: ShownTarget, max_tokens: int) -> str:
    """Return the text of a target; the middle of a long text is left out."""
    return head_and_tail(utf8_safe(shown.text), max_tokens, estimate_tokens)


def _notices(project: ServedProject, notices: list[str]) -> list[str]:
    """Return the notices with repairs of session files and the state of an index run."""
    doing = project.indexing.describe() if not project.has_index() or project.indexing.error else ""
    if project.read_only and not project.has_index():
        doing = "this server is read-only: run `codecards index` to build an index"
    repaired = [on_one_line(one) for one in project.engine.sessions.take_notices()]
    return [*notices, *repaired, *([doing] if doing else [])]
