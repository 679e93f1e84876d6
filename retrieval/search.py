"""Search: answers a query with the best cards, each with the terms of its score, and a verdict."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np

from codecards.errors import UsageError
from codecards.indexer.cards.card import Card
from codecards.retrieval.evidence.cards import CardEvidence, coverage
from codecards.retrieval.evidence.similarity import query_similarity
from codecards.retrieval.evidence.symbols import NamedCards
from codecards.retrieval.evidence.translation import translate
from codecards.retrieval.hits import Hit, Ranking
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.issue import split_issue
from codecards.retrieval.query.query import Query, read_query
from codecards.retrieval.rank.candidates import DEFAULT_LIMITS, CandidateLimits
from codecards.retrieval.rank.card_ranking import RankedCard, rank_cards
from codecards.retrieval.rank.explanations import hit_terms
from codecards.retrieval.rank.filters import Filters
from codecards.retrieval.rank.one_function import one_hit_a_function
from codecards.retrieval.rank.ranking import ScoredCandidates, rank
from codecards.retrieval.rank.suggestions import suggest
from codecards.retrieval.rank.verdict import N_TOP_FILES, FirstCards, Verdict, judge
from codecards.retrieval.store.columns import Int64s, dot_rows
from codecards.retrieval.vectors.card_vectors import Similarity
from codecards.retrieval.vectors.transformer_vectors import TransformerLookup

__all__ = ["DEFAULT_LIMIT", "CardLookup", "Filters", "search"]

DEFAULT_LIMIT = 8
"""Hits of an answer if the caller names no number."""

SURE_SHARE = 0.99
"""Share of the best definition's value that another one must have to be meant as surely."""
QUALIFIED_VALUE = 0.8
"""Value of a definition, before it is divided by the number of files that have one, from which its qualifier fits."""
MIN_SPARE = 6
"""Hits beyond the limit that make up for those that are folded into one."""


class CardLookup(Protocol):
    """The part of the snapshot that a search needs."""

    def cards(self, card_ids: Iterable[int]) -> dict[int, Card]:
        """Return card id → card for the ids that exist."""
        ...


def search(
    index: DerivedIndex,
    lookup: CardLookup,
    text: str,
    *,
    limit: int = DEFAULT_LIMIT,
    filters: Filters | None = None,
    factors: Mapping[str, float] | None = None,
    limits: CandidateLimits = DEFAULT_LIMITS,
    transformer: TransformerLookup | None = None,
) -> Ranking:
    """Return the best cards for a query: of the best files for a subject, the best of all cards for a function.

    Args:
        index: Of one generation.
        lookup: The snapshot of the same generation.
        text: The query as typed: a name, a path, a question, an issue, a stack trace.
        limit: Most hits to return.
        filters: Limits on the hits.
        factors: Factors of `tuned_weights.GROUPS`, applied to questions; None for the default weights.
        limits: How many files words and vectors contribute.
        transformer: Looks up transformer vectors; None if they are not used.

    Raises:
        UsageError: The query is empty.
    """
    filters = filters or Filters()
    query = translate(index, read_query(text))
    if not query.text.strip():
        raise UsageError("the query is empty; say what to look for, in words or by name")
    similarity = query_similarity(index, query, transformer)
    retrievers = retrievers_used(similarity)
    is_tuned = query.kind == "question" and not query.is_issue
    ranked = rank(index, query, similarity, filters, factors=(factors or {}) if is_tuned else {}, limits=limits)
    depth = limit + max(MIN_SPARE, limit // 2)
    shown = rank_cards(ranked.cards, ranked.file_scores, depth) if ranked is not None else []
    if ranked is None or not shown:
        n_files = len(ranked.file_scores) if ranked is not None else 0
        return Ranking(query.kind, "none", (), suggest(index, lookup, query), n_files, retrievers)
    verdict = _verdict(index, query, ranked, similarity, shown[:limit])
    if verdict == "none" and _is_worth_showing(index, lookup, query, ranked, transformer):
        verdict = "weak"
    all_hits = _hits(index, lookup, ranked, shown) if verdict != "none" else ()
    hits = one_hit_a_function(index, lookup, all_hits, limit)
    wants_names = verdict == "none" or (verdict == "weak" and query.kind == "symbol")
    suggestions = suggest(index, lookup, query) if wants_names else ()
    return Ranking(query.kind, verdict, hits, suggestions, len(ranked.file_scores), retrievers)


def retrievers_used(similarity: Similarity | None) -> tuple[str, ...]:
    """Return the names of the retrievers that an answer used."""
    always = ("words", "symbols", "graph")
    if similarity is None:
        return always
    if similarity.transformer is None:
        return (*always, "static_vectors")
    return (*always, "static_vectors", "transformer_vectors")


def _verdict(
    index: DerivedIndex,
    query: Query,
    ranked: ScoredCandidates,
    similarity: Similarity | None,
    shown: Sequence[RankedCard],
) -> Verdict:
    top_files = list(dict.fromkeys(one.file for one in shown))
    rows = ranked.evidence.matches.files[top_files]
    return judge(
        ranked.evidence,
        top_files,
        first=_first_cards(index, ranked, shown),
        has_exact_name=_has_exact_name(query, ranked.plan.named, rows),
        is_placed=not ranked.plan.placed_files.isdisjoint(rows.tolist()),
        similarity=similarity.best() if similarity is not None else None,
    )


def _first_cards(index: DerivedIndex, ranked: ScoredCandidates, shown: Sequence[RankedCard]) -> FirstCards:
    cards, columns = ranked.cards, index.columns
    places = [one.card for one in shown[:N_TOP_FILES]]

    def highest(name: str) -> float:
        return float(cards.terms[name][places].max(initial=0.0)) if name in cards.terms else 0.0

    by_words = cards.terms.get("card_words")
    row, in_order = cards.cards[places[0]], sorted(places)
    first = CardEvidence(ranked.evidence, cards.cards[in_order], cards.card_file[in_order], None)
    return FirstCards(
        coverage=float(
            (coverage(first) + dot_rows(first.in_path, first.part_shares)[first.card_file]).max(initial=0.0)
        ),
        n_better_by_words=int((by_words > highest("card_words")).sum()) if by_words is not None else 0,
        n_lines=int(columns.last_line[row]) - int(columns.first_line[row]) + 1,
        has_message=highest("message") > 0,
    )


def _has_exact_name(query: Query, named: Sequence[NamedCards], files: Int64s) -> bool:
    """Return whether one of the files defines a name of the query that is written as only code is.

    A query that is one name must match in its qualifier too.
    """
    for one in named:
        if query.kind == "symbol":
            sure = one.values >= one.values.max() * SURE_SHARE
            fits = not one.name.qualifier or bool(
                (one.values * (1 + np.log(len(np.unique(one.files)))) >= QUALIFIED_VALUE).any()
            )
            if fits and np.isin(one.files[sure], files).any():
                return True
        elif one.name.strong and not query.is_issue and np.isin(one.files, files).any():
            return True
    return False


def _is_worth_showing(
    index: DerivedIndex,
    lookup: CardLookup,
    query: Query,
    ranked: ScoredCandidates,
    transformer: TransformerLookup | None,
) -> bool:
    """Return whether a text is answered though its words are few in any file: it has a defined name, or a title that has hits."""
    if query.kind == "question" and any(one.name.strong for one in ranked.plan.named):
        return True
    if not query.is_issue:
        return False
    title = split_issue(query.text).title.strip()
    if not title or title == query.text.strip() or read_query(title).is_issue:
        return False
    return search(index, lookup, title, limit=1, transformer=transformer).verdict != "none"


def _hits(
    index: DerivedIndex, lookup: CardLookup, ranked: ScoredCandidates, shown: Sequence[RankedCard]
) -> tuple[Hit, ...]:
    ids = [int(index.columns.card_id[ranked.cards.cards[one.card]]) for one in shown]
    known = lookup.cards(ids)
    hits: list[Hit] = []
    for card_id, terms in zip(ids, hit_terms(ranked, shown), strict=True):
        if card_id in known:
            hits.append(Hit(len(hits) + 1, known[card_id], terms.total, terms))
    return tuple(hits)
