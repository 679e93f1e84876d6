"""Bundles the functions to read for a question, whole, within a number of tokens."""

from collections.abc import Iterator, Sequence

from codecards.answers import Bundle, FoundCard
from codecards.errors import UsageError
from codecards.features.recall import RecallQuery
from codecards.indexer.cards.card import Card
from codecards.indexer.facts import CODE_CALLABLE_KINDS
from codecards.retrieval.hits import ScoreTerm
from codecards.retrieval.rank.filters import Filters
from codecards.router.compress.token_count import estimate_tokens

DEPTH = 60
"""Hits that are considered."""
LEAST_TOKENS = 100
N_FOLLOWED = 3
"""First hits whose callees are read too."""
CALLEES_A_HIT = 3
MAX_SHARE = 0.5
"""Share of the budget that one function may take: a longer one is cut in its middle."""
CERTAIN = ("exact", "likely")


def bundle_of(query: RecallQuery, text: str, budget_tokens: int, filters: Filters) -> Bundle:
    """Return the functions to read for a question.

    Hits come in their order. What the first few call comes behind the hit that calls it: the symptom's function is often named,
    and the fix lies in what it calls.

    Raises:
        UsageError: The query is empty, or the budget too small.
    """
    if budget_tokens < LEAST_TOKENS:
        raise UsageError(f"a bundle of {budget_tokens} tokens holds nothing; use at least {LEAST_TOKENS}")
    recall = query.recall(text, DEPTH, filters)
    spent, kept, known = 0, list[FoundCard](), set[str]()
    for found in _in_order(query, recall.hits):
        if found.card.symbol_id in known or _is_inside(found.card, kept):
            continue
        n_tokens = estimate_tokens(f"{found.card.path}:{found.card.lead_line}\n{found.text}")
        if n_tokens > budget_tokens * MAX_SHARE or spent + n_tokens > budget_tokens:
            continue
        spent += n_tokens
        known.add(found.card.symbol_id)
        kept.append(found)
    return Bundle(recall.query, recall.verdict, tuple(kept), spent, budget_tokens, len(recall.hits))


def _in_order(query: RecallQuery, hits: Sequence[FoundCard]) -> Iterator[FoundCard]:
    """Yield the hits, and behind each of the first what it calls."""
    for place, hit in enumerate(hits):
        yield hit
        if place < N_FOLLOWED and hit.fresh:
            yield from _callees(query, hit)


def _callees(query: RecallQuery, hit: FoundCard) -> Iterator[FoundCard]:
    """Yield the functions of the project that a hit calls, as often-called ones are helpers the least called first."""
    snapshot = query.reader.snapshot
    edges = [edge for edge in snapshot.edges_from([hit.card.card_id]) if edge.confidence in CERTAIN and edge.target_id]
    cards = snapshot.cards({edge.target_id for edge in edges if edge.target_id})
    wanted = [card for card in cards.values() if card.kind in CODE_CALLABLE_KINDS and card.card_id != hit.card.card_id]
    n_callers = {card.card_id: len(snapshot.edges_to([card.card_id])) for card in wanted}
    wanted.sort(key=lambda card: (card.path != hit.card.path, n_callers[card.card_id], card.first_line))
    for checked in query.fresh.check(wanted[:CALLEES_A_HIT]):
        term = ScoreTerm("called", 0.0, f"called by {hit.card.qualified_name}")
        yield FoundCard(hit.rank, checked.card, hit.score, (term,), checked.fresh, checked.card_lines)


def _is_inside(card: Card, kept: Sequence[FoundCard]) -> bool:
    """Return whether the lines of a card are shown already, as part of an outer one."""
    return any(
        one.card.path == card.path and one.card.lead_line <= card.lead_line and card.last_line <= one.card.last_line
        for one in kept
    )
