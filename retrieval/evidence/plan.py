"""Query plan: a query in the terms of one index, computed once and read by candidate search, evidence and ranking."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from codecards.retrieval.evidence.issue_query import IssueQuery, read_issue
from codecards.retrieval.evidence.named_places import NamedPlaces, named_places
from codecards.retrieval.evidence.symbols import NamedCards, named_cards
from codecards.retrieval.evidence.terms import TermGroups, group_terms
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.query import Query


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """A query in the terms of one index."""

    query: Query
    """As parsed."""
    prose_query: Query
    """The same query; for a report, its content words are those of title and prose only."""
    word_groups: tuple[TermGroups, ...]
    """Term groups that candidates are searched by; the first one holds all terms."""
    named: Sequence[NamedCards]
    """Exact definitions of the query's names."""
    places: NamedPlaces
    """Files and cards that the query names by path, stack frame or diff."""
    placed_files: Set[int]
    """Rows of the files that the query names by path, module, stack frame or diff."""
    issue: IssueQuery | None
    """The parts of a report; None for other queries."""


def plan_query(index: DerivedIndex, query: Query) -> QueryPlan:
    """Return the plan of a parsed query."""
    issue = read_issue(index, query) if query.is_issue else None
    places = named_places(index, query)
    placed = {row for values in (places.by_path, places.by_frame) for row in values}
    if issue is None:
        groups = (group_terms(index, query.terms),)
        return QueryPlan(query, query, groups, named_cards(index, query.names), places, placed, None)
    placed.update(issue.modules)
    named = (*issue.named_in_code, *issue.named_in_prose)
    return QueryPlan(query, issue.prose_query, (issue.everything, issue.title), named, places, placed, issue)
