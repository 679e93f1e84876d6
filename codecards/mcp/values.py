"""MCP values: the JSON value beside each answer's text, as short as a program can work with.

Some hosts hand the value to the model in the place of the text, so it is paid for like the text: what is empty or as usual
is left out, and so is what another tool tells. The command line's shapes, which are whole, are in `wire`.
"""

from collections.abc import Iterable, Mapping

from codecards.answers import Caller, Calls, FoundCard, Impact, Recall, RetrieverStatus, ShownTarget, Status
from codecards.indexer.cards.card import Card
from codecards.untrusted_text import utf8_safe
from codecards.wire.answers import Json, path_json, summary

Value = Mapping[str, object]
USUAL_LANES = ("words", "symbols", "graph", "static_vectors")
"""Ways of finding that take part unless a notice says otherwise; others are named."""


def filled(**fields: object) -> Json:
    """Return the fields that hold something: no empty text, list or mapping, no None, no False."""
    return {name: value for name, value in fields.items() if value or (value == 0 and value is not False)}


def hit_value(hit: FoundCard, *, expand: bool = False) -> Json:
    """Return a hit; its code with `expand`, else what says what it is."""
    card = hit.card
    # A hit starts with the comment above it: that is where a question in words often matches.
    value = card_value(card, signature=not expand) | {"start_line": card.lead_line}
    if expand:
        return value | filled(changed=not hit.fresh, text=utf8_safe(hit.text))
    said = summary(card)
    return value | filled(
        summary=said if card.doc and not card.signature.startswith(said.removesuffix("…")) else "",
        changed=not hit.fresh,
    )


def card_value(card: Card, *, signature: bool = True, path: bool = True) -> Json:
    """Return a card; its id only where it can't be told from its path and name."""
    usual = f"{card.path}::{card.qualified_name}"
    return {
        **filled(id=utf8_safe(card.symbol_id) if card.symbol_id != usual else ""),
        "name": utf8_safe(card.qualified_name),
        "kind": card.kind,
        **(path_json(card.path) if path else {}),
        "start_line": card.first_line,
        "end_line": card.last_line,
        **filled(signature=utf8_safe(card.signature) if signature else ""),
    }


def recall_value(recall: Recall, hits: list[Json], notices: list[str]) -> Json:
    """Return the answer to a question with those of its hits that are shown."""
    return {
        "verdict": recall.verdict,
        "generation": recall.generation,
        "retrievers": " ".join(lane.name for lane in recall.retrievers if lane.ready),  # those that answered
        "hits": hits,
        **filled(left_out=dict(recall.left_out), suggestions=[] if hits else list(recall.suggestions), notices=notices),
    }


def shown_value(shown: ShownTarget, text: str) -> Json:
    """Return a symbol, file or line with its text, of which a part may be left out."""
    card = shown.card
    named = card is not None and card.kind != "module" and not card.qualified_name.startswith("<")
    return {
        **path_json(shown.path),
        **filled(symbol=utf8_safe(card.qualified_name) if card is not None and named else ""),
        "start_line": shown.first_line,
        "end_line": shown.last_line,
        "text": text,
        **filled(stale=shown.stale),
    }


def calls_value(calls: Calls, key: str) -> Json:
    """Return callers or callees, under that key; candidates where the name is ambiguous."""
    if calls.target is None:
        return {"candidates": [card_value(card) for card in calls.candidates]}
    return {
        "target": utf8_safe(calls.target.symbol_id),
        key: [caller_value(one) for one in calls.calls],
        "total": calls.total,
    }


def caller_value(caller: Caller) -> Json:
    """Return one use of a symbol; without a path it lies outside the project."""
    place = path_json(caller.path)
    return {
        "name": utf8_safe(caller.name),
        **filled(path=place.get("path", utf8_safe(caller.path))),
        "line": caller.line,
        "confidence": caller.confidence,
    }


def impact_value(impact: Impact, limit: int) -> Json:
    """Return what a change touches, of each kind at most so many."""
    return {
        "changed": [card_value(card, signature=False) for card in impact.changed[:limit]],
        "callers": [caller_value(one) for one in impact.callers[:limit]],
        "tests": [utf8_safe(path) for path in impact.tests[:limit]],
    }


def status_value(status: Status, root: str) -> Json:
    """Return the state of an index; its problems are counted by reason."""
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
        "retrievers": {lane.name: _retriever_state(lane) for lane in status.retrievers},
        **filled(
            incomplete=not status.complete,
            problems=problems,
            tuned=status.tuned is not None,
            weights_problem=utf8_safe(status.tuned_problem),
        ),
    }


def without_empty(value: Value, keys: Iterable[str] = ()) -> Json:
    """Return what a mapping holds at its first level, less what is empty and less some keys."""
    left_out = set(keys)
    return filled(**{name: one for name, one in value.items() if name not in left_out})


def _retriever_state(lane: RetrieverStatus) -> str:
    """Return "ready" or "off", and why or how far."""
    reason = f" ({utf8_safe(lane.reason)})" if lane.reason else ""
    return ("ready" if lane.ready else "off") + reason
