"""Search: a query becomes candidates, their evidence a score, and the best card of each of the best files a hit."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np

from codecards.errors import UsageError
from codecards.indexer.cards import Card
from codecards.retrieval.candidates import find_candidates
from codecards.retrieval.card_choice import CardScores, frame_cards, order_cards, score_cards
from codecards.retrieval.columns import Floats, Int64s
from codecards.retrieval.derived_index import DerivedIndex
from codecards.retrieval.file_evidence import Evidence, gather_evidence, has_evidence
from codecards.retrieval.filters import Filters
from codecards.retrieval.hits import Hit, Ranking, ScoreTerm
from codecards.retrieval.issue_evidence import gather_issue_evidence, understand_issue
from codecards.retrieval.query import Query, read_query
from codecards.retrieval.suggestions import suggest
from codecards.retrieval.symbol_evidence import NamedCards, named_cards
from codecards.retrieval.term_explanations import Explanation, card_terms
from codecards.retrieval.term_groups import TermGroups, group_terms
from codecards.retrieval.translation import in_english
from codecards.retrieval.tuned_weights import scaled
from codecards.retrieval.vector_lane import Similarity
from codecards.retrieval.verdict import Verdict, judge
from codecards.retrieval.weights import ISSUE, TRACE, weights_for

__all__ = ["DEFAULT_LIMIT", "CardLookup", "Filters", "search"]

DEFAULT_LIMIT = 8
"""S2-26: five to eight hits."""
MAX_EMBEDDED_CHARACTERS = 2_000
LEAST_CROWDING = 1e-3
"""Less is rounding."""


class CardLookup(Protocol):
    """What a search asks of the snapshot."""

    def cards(self, card_ids: Iterable[int]) -> dict[int, Card]:
        """Return card id → card for those that exist."""
        ...


def search(
    index: DerivedIndex,
    lookup: CardLookup,
    text: str,
    *,
    limit: int = DEFAULT_LIMIT,
    filters: Filters | None = None,
    factors: Mapping[str, float] | None = None,
) -> Ranking:
    """Return the best cards for a query: by file for a subject, by card for what is done.

    Args:
        index: Of one generation.
        lookup: The snapshot of the same generation.
        text: As it was typed: a name, a path, a question, an issue, a stack trace.
        limit: Most hits to return.
        filters: What they are limited to.
        factors: Of `tuned_weights.GROUPS`, for questions; None for the default weights.

    Raises:
        UsageError: The query is empty.
    """
    filters = filters or Filters()
    query = in_english(index, read_query(text))
    if not query.text.strip():
        raise UsageError("the query is empty; say what to look for, in words or by name")
    similarity = query_similarity(index, query)
    lanes = ("words", "symbols", "graph", "vectors") if similarity is not None else ("words", "symbols", "graph")
    issue = understand_issue(index, query) if query.is_issue else None
    places, frames = named_places(index, query)
    placed = {row for values in places.values() for row in values}
    allowed = filters.files(index)
    if issue is not None:
        named: Sequence[NamedCards] = (*issue.named_in_code, *issue.named_in_prose)
        placed.update(issue.modules)
        groups: tuple[TermGroups, ...] = (issue.everything, issue.title)
    else:
        named = named_cards(index, query.names)
        groups = (group_terms(index, query.terms),)
    files = find_candidates(index, query, groups, named, placed, similarity, allowed)
    if not len(files) or (groups[0].is_empty and not placed and similarity is None):
        return Ranking(query.kind, "none", (), suggest(index, lookup, query), 0, lanes)
    if issue is not None:
        evidence = gather_issue_evidence(index, query, issue, files, places, similarity)
    else:
        evidence = gather_evidence(index, query, groups[0], files, named, places, similarity)
    weights = _weights_of(query)
    if factors and query.kind == "question" and issue is None:
        weights = scaled(weights, factors)
    terms = {name: weights[name] * values for name, values in evidence.features.items() if weights.get(name)}
    file_scores = np.asarray(np.sum(list(terms.values()), axis=0), np.float32)
    cards = score_cards(index, query, evidence, named, frames, similarity, filters)
    worth_showing = has_evidence(evidence, similarity, index)
    shown = order_cards(cards, np.where(worth_showing, file_scores, -np.inf).astype(np.float32), limit)
    if not shown:
        return Ranking(query.kind, "none", (), suggest(index, lookup, query), len(files), lanes)
    verdict = _verdict(index, query, evidence, named, placed, similarity, [file for _, file, _ in shown])
    hits = _hits(index, lookup, evidence, terms, cards, shown) if verdict != "none" else ()
    wants_names = verdict == "none" or (verdict == "weak" and query.kind == "symbol")
    suggestions = suggest(index, lookup, query) if wants_names else ()
    return Ranking(query.kind, verdict, hits, suggestions, len(files), lanes)


def _weights_of(query: Query) -> Mapping[str, float]:
    if query.is_issue:
        return TRACE if query.kind == "trace" else ISSUE
    return weights_for(len(query.content_words))


def _verdict(
    index: DerivedIndex,
    query: Query,
    evidence: Evidence,
    named: Sequence[NamedCards],
    placed: set[int],
    similarity: Similarity | None,
    shown_files: Sequence[int],
) -> Verdict:
    top_files = list(dict.fromkeys(shown_files))
    rows = evidence.matches.files[top_files]
    return judge(
        index,
        query,
        evidence,
        top_files,
        has_exact_name=_has_exact_name(query, named, rows),
        is_placed=bool(placed.intersection(rows.tolist())),
        similarity=similarity.best() if similarity is not None else 0.0,
    )


def query_similarity(index: DerivedIndex, query: Query) -> Similarity | None:
    """Return how near a query is to cards; None without vectors, and where the embedder knows none of its words."""
    if index.vectors is None or index.embedder is None or query.kind == "path":
        return None
    vector: Floats = index.embedder.embed_queries([(query.english or query.text)[:MAX_EMBEDDED_CHARACTERS]])[0]
    return index.vectors.similarity(vector) if np.any(vector) else None


def named_places(index: DerivedIndex, query: Query) -> tuple[dict[str, dict[int, float]], dict[int, float]]:
    """Return "place" and "frame" → file row → how surely it is named, and card row → the same."""
    files, cards = frame_cards(index, query.frames)
    places: dict[int, float] = {}
    for named in query.paths:
        rows = index.files_ending(named.path)
        n_parts = named.path.count("/") + 1
        for row in rows[:50]:
            # A bare name in a question is a weaker sign than a path, or than a query that is nothing else.
            places[row] = max(places.get(row, 0.0), 1.0 if n_parts > 1 or query.kind == "path" else 0.4)
    found = {name: values for name, values in (("place", places), ("frame", files)) if values}
    return found, cards


def _has_exact_name(query: Query, named: Sequence[NamedCards], files: Int64s) -> bool:
    """Return whether a name that only code has is defined in one of the files; for one name, in its qualifier too."""
    for one in named:
        if query.kind == "symbol":
            sure = one.values >= one.values.max() * 0.99
            fits = not one.name.qualifier or bool((one.values * (1 + np.log(len(np.unique(one.files)))) >= 0.8).any())
            if fits and np.isin(one.files[sure], files).any():
                return True
        elif one.name.strong and len(query.content_words) <= 4 and np.isin(one.files, files).any():
            return True
    return False


def _hits(
    index: DerivedIndex,
    lookup: CardLookup,
    evidence: Evidence,
    terms: Mapping[str, Floats],
    cards: CardScores,
    shown: Sequence[tuple[int, int, float]],
) -> tuple[Hit, ...]:
    ids = [int(index.columns.card_id[cards.cards[place]]) for place, _, _ in shown]
    known = lookup.cards(ids)
    hits: list[Hit] = []
    for card_id, (place, file, score) in zip(ids, shown, strict=True):
        if card_id not in known:
            continue
        explanation = Explanation(evidence, file)
        parts = [
            ScoreTerm(name, float(values[file]), explanation.of(name)) for name, values in terms.items() if values[file]
        ]
        parts += card_terms(cards, place)
        # What is left is what a further card of the same file loses.
        crowding = score - sum(part.value for part in parts)
        if crowding < -LEAST_CROWDING:
            parts.append(ScoreTerm("diversity", crowding, "better cards of the same file are shown already"))
        hits.append(Hit(len(hits) + 1, known[card_id], sum(part.value for part in parts), tuple(parts)))
    return tuple(hits)
