"""JSON values of the MCP tools, as short as a program can use them.

Some hosts give the model the value instead of the text, so its tokens count too: empty fields, defaults and facts that
another tool returns are left out. The complete shapes of the command line are in `wire.answers`.
"""

from collections.abc import Iterable, Mapping

from codecards.answers import Caller, Calls, FoundCard, Impact, Recall, RetrieverStatus, ShownTarget, Status
from codecards.indexer.cards.card import Card
from codecards.untrusted_text import utf8_safe
from codecards.wire.answers import Json, path_json, place_of, summary

Value = Mapping[str, object]


def non_empty(**fields: object) -> Json:
    """Return the fields without empty texts, lists and mappings, None and False."""
    return {name: value for name, value in fields.items() if value or (value == 0 and value is not False)}


def hit_value(hit: FoundCard, *, expand: bool = False) -> Json:
    """Return a hit with its code, or without `expand` with its signature and summary."""
    card = hit.card
    # A hit starts at the comment above it, where questions in words often match.
    value = card_value(card, signature=not expand) | {"start_line": card.lead_line}
    if expand:
        return value | non_empty(changed=not hit.fresh, text=utf8_safe(hit.text))
    said = summary(card)
    return value | non_empty(
        summary=said if card.doc and not card.signature.startswith(said.removesuffix("…")) else "",
        changed=not hit.fresh,
    )


def card_value(card: Card, *, signature: bool = True, path: bool = True) -> Json:
    """Return a card, with its id only if that differs from PATH::NAME."""
    default_id = f"{card.path}::{card.qualified_name}"
    return {
        **non_empty(id=utf8_safe(card.symbol_id) if card.symbol_id != default_id else ""),
        "name": utf8_safe(card.qualified_name),
        "kind": card.kind,
        **(path_json(card.path) if path else {}),
        "start_line": card.first_line,
        "end_line": card.last_line,
        **non_empty(signature=utf8_safe(card.signature) if signature else ""),
    }


def recall_value(recall: Recall, hits: list[Json], notices: list[str]) -> Json:
    """Return the answer to a question with the hits that are shown."""
    return {
        "verdict": recall.verdict,
        "generation": recall.generation,
        "retrievers": " ".join(one.name for one in recall.retrievers if one.ready),
        "hits": hits,
        **non_empty(
            left_out=dict(recall.left_out), suggestions=[] if hits else list(recall.suggestions), notices=notices
        ),
    }


def shown_value(shown: ShownTarget, text: str) -> Json:
    """Return a symbol, file or line with its text, which may be shortened."""
    card = shown.card
    named = card is not None and card.kind != "module" and not card.qualified_name.startswith("<")
    return {
        **path_json(shown.path),
        **non_empty(symbol=utf8_safe(card.qualified_name) if card is not None and named else ""),
        "start_line": shown.first_line,
        "end_line": shown.last_line,
        "text": text,
        **non_empty(stale=shown.stale),
    }


def calls_value(calls: Calls, key: str) -> Json:
    """Return callers or callees under that key, or the candidates if the name is ambiguous."""
    if calls.target is None:
        return {"candidates": [card_value(card) for card in calls.candidates]}
    return {
        "target": utf8_safe(calls.target.symbol_id),
        key: [caller_value(one) for one in calls.calls],
        "total": calls.total,
    }


def caller_value(caller: Caller) -> Json:
    """Return one use of a symbol, or one callee with the place of its use; a place that is not known is left out."""
    place = path_json(caller.path)
    at = {"path": place.get("path", utf8_safe(caller.path)), "line": caller.line}
    called_at = f"{utf8_safe(caller.called_path)}:{caller.called_line}"
    return {
        "name": utf8_safe(caller.name),
        **(at if caller.path else {"place": utf8_safe(place_of(caller))}),
        "confidence": caller.confidence,
        **({"called_at": called_at} if caller.called_path else {}),
    }


def impact_value(impact: Impact, limit: int) -> Json:
    """Return the symbols, callers and tests that a change affects, at most `limit` of each."""
    return {
        "changed": [card_value(card, signature=False) for card in impact.changed[:limit]],
        "callers": [caller_value(one) for one in impact.callers[:limit]],
        "tests": [utf8_safe(path) for path in impact.tests[:limit]],
    }


def status_value(status: Status, root: str) -> Json:
    """Return the state of an index, with the number of problems per reason."""
    problems: dict[str, int] = {}
    for problem in status.problems:
        problems[problem.reason.value] = problems.get(problem.reason.value, 0) + 1
    return {
        "root": root,
        "generation": status.generation,
        "files": status.n_files,
        "cards": status.n_cards,
        "edges": status.n_edges,
        "changed_since": status.n_changed,
        "retrievers": {one.name: _retriever_state(one) for one in status.retrievers},
        **non_empty(
            incomplete=not status.complete,
            problems=problems,
            tuned=status.tuned is not None,
            weights_problem=utf8_safe(status.tuned_problem),
        ),
    }


def without_empty(value: Value, keys: Iterable[str] = ()) -> Json:
    """Return a mapping without empty values and without some keys."""
    left_out = set(keys)
    return non_empty(**{name: one for name, one in value.items() if name not in left_out})


def _retriever_state(retriever: RetrieverStatus) -> str:
    """Return "ready", "in part" or "off", with the reason or the progress."""
    reason = f" ({utf8_safe(retriever.reason)})" if retriever.reason else ""
    return ("off" if not retriever.ready else "ready" if retriever.share >= 1 else "in part") + reason
