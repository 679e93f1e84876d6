"""Lists callers and callees of symbols from the call graph."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from codecards.answers import Caller, Calls, Definition
from codecards.errors import UsageError
from codecards.features.targets import find_symbol, near_names
from codecards.indexer.cards.card import Card
from codecards.indexer.facts import Import
from codecards.indexer.graph.edges import CallEdge
from codecards.indexer.store.snapshot import Snapshot

CALL_KINDS = frozenset({"call", "construct", "macro", "decorator", "value"})
"""Kinds of reference that count as a use; a type in an annotation does not."""
CONFIDENCES = ("exact", "likely", "possible", "external")
"""Most certain first."""
MAX_CALLS = 200
"""Calls listed with a shown card."""


@dataclass(frozen=True, slots=True)
class CallPage:
    """Which part of a list of calls to return."""

    limit: int
    """1 or more."""
    offset: int = 0
    """0 or more."""


def calls_of(
    snapshot: Snapshot,
    name: str,
    path: str | None,
    page: CallPage,
    collect: Callable[[Snapshot, Sequence[Card]], list[Caller]],
) -> Calls:
    """Return one page of the calls of a symbol; without a target if no symbol or several have the name.

    Args:
        snapshot: The generation to read.
        name: The symbol, as users write it.
        path: Limits the name to one file; None for no limit.
        page: Which calls to return.
        collect: `callers_of` or `callees_of`.

    Raises:
        UsageError: The page is out of range.
    """
    if page.limit < 1 or page.offset < 0:
        raise UsageError("the limit must be 1 or more, and the offset 0 or more")
    groups = find_symbol(snapshot, name, path)
    if not groups:
        return Calls(None, (), (), 0, False, tuple(near_names(snapshot, name)))
    if len(groups) > 1:
        return Calls(None, tuple(group[0] for group in groups), (), 0, False)
    calls = collect(snapshot, groups[0])
    shown = tuple(calls[page.offset : page.offset + page.limit])
    return Calls(groups[0][0], (), shown, len(calls), len(shown) < len(calls))


def callers_of(snapshot: Snapshot, cards: Sequence[Card]) -> list[Caller]:
    """Return the uses of the cards of one symbol, most certain first, then by path and line."""
    edges = snapshot.edges_to([card.card_id for card in cards])
    known = {edge.edge_id for edge in edges}
    for card in cards:
        edges += [edge for edge in snapshot.ambiguous_edges_to(card) if edge.edge_id not in known]
    edges = [edge for edge in edges if edge.kind in CALL_KINDS]
    callers = snapshot.cards(edge.caller_id for edge in edges if edge.caller_id is not None)
    found = [
        Caller(_caller_name(edge, callers), edge.caller_path, edge.line, edge.confidence, edge.rule, edge.kind)
        for edge in edges
    ]
    return sorted(dict.fromkeys(found), key=lambda one: (CONFIDENCES.index(one.confidence), one.path, one.line))


def callees_of(snapshot: Snapshot, cards: Sequence[Card]) -> list[Caller]:
    """Return what the cards of one symbol use, by the line of the use."""
    edges = [edge for edge in snapshot.edges_from([card.card_id for card in cards]) if edge.kind in CALL_KINDS]
    known = {one for edge in edges for one in (edge.target_id, *edge.candidate_ids) if one is not None}
    targets = snapshot.cards(sorted(known))
    return [_callee(edge, targets) for edge in edges]


def _callee(edge: CallEdge, targets: Mapping[int, Card]) -> Caller:
    """Return the symbol that an edge leads to, with the place of its definition and that of the use."""
    target = targets.get(edge.target_id) if edge.target_id is not None else None
    path = target.path if target is not None else edge.target_path or ""
    candidates = (targets[one] for one in edge.candidate_ids if one in targets)
    return Caller(
        target.qualified_name if target is not None else edge.name,
        path,
        # A target without a card is a whole file.
        target.first_line if target is not None else 1 if path else 0,
        edge.confidence,
        edge.rule,
        edge.kind,
        edge.caller_path,
        edge.line,
        tuple(Definition(one.qualified_name, one.path, one.first_line) for one in candidates),
        edge.n_candidates,
    )


def _caller_name(edge: CallEdge, callers: dict[int, Card]) -> str:
    caller = callers.get(edge.caller_id) if edge.caller_id is not None else None
    return caller.qualified_name if caller is not None else "<module>"


def calls_in(snapshot: Snapshot, card: Card) -> tuple[Caller, ...]:
    """Return what a card calls, by the line of the call; each target once, at its first call."""
    found: dict[tuple[str, str], Caller] = {}
    for one in callees_of(snapshot, [card]):
        found.setdefault((one.name, one.path), one)
    return tuple(found.values())[:MAX_CALLS]


def imports_used(snapshot: Snapshot, card: Card) -> tuple[Import, ...]:
    """Return the imports that a card uses: those of its file whose names it uses, and those inside it; by line."""
    entry = snapshot.file_at(card.path)
    facts = snapshot.facts(entry.content_key) if entry is not None else None
    if facts is None:
        return ()
    inside = range(card.first_line, card.last_line + 1)
    references = (one for one in facts.references if one.line in inside)
    used = {(one.receiver or one.name).partition(".")[0].partition("(")[0] for one in references}
    used.update(base.partition(".")[0] for base in card.bases)
    found = (one for one in facts.imports if one.line in inside or (one.alias and one.alias.partition(".")[0] in used))
    return tuple(sorted(dict.fromkeys(found), key=lambda one: one.line))
