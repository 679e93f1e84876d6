"""Issue query: a report in the terms of one index.

Title, whole text, code and text between backticks are four queries. No word is expanded to related words, since a
report has words enough.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from codecards.indexer.cards.words import words
from codecards.retrieval.evidence.symbols import NamedCards, named_cards
from codecards.retrieval.evidence.terms import TermGroups, group_terms
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.issue import CODE, PROSE, SPAN, TITLE, IssueText, heaviest, issue_terms, split_issue
from codecards.retrieval.query.query import Name, Query, Term, content_words
from codecards.retrieval.store.columns import ROLES

N_TERMS, N_TITLE_TERMS, N_CODE_TERMS, N_SPAN_TERMS = 45, 20, 45, 30
MAX_DEFINING_FILES = 40
"""A name that more files define does not tell files apart."""
MAX_MODULE_FILES = 5
"""A dotted name that fits more files is not taken for a module."""


@dataclass(frozen=True, slots=True)
class IssueQuery:
    """A report in the terms of one index."""

    prose_query: Query
    """The query; its content words are those of title and prose only."""
    everything: TermGroups
    title: TermGroups
    code: TermGroups
    spans: TermGroups
    named_in_code: tuple[NamedCards, ...]
    named_in_prose: tuple[NamedCards, ...]
    named_in_title: tuple[NamedCards, ...]
    modules: Mapping[int, float]
    """File row → 1 for a file that is named as a module."""


def read_issue(index: DerivedIndex, query: Query) -> IssueQuery:
    """Return a report in the terms of an index."""
    issue = split_issue(query.text)
    everything = issue_terms(((issue.title, TITLE), (issue.prose, PROSE), (issue.spans, SPAN), (issue.code, CODE)))
    title = issue_terms(((issue.title, 1.0),))
    code = issue_terms(((issue.spans, 1.0), (issue.code, CODE)))
    is_trace = query.kind == "trace"
    prose_words = query.content_words if is_trace else content_words(words(f"{issue.title}\n{issue.prose}"))
    return IssueQuery(
        prose_query=replace(query, content_words=tuple(prose_words)),
        everything=_groups(index, everything, N_TERMS),
        title=_groups(index, title, N_TITLE_TERMS),
        code=_groups(index, code, N_CODE_TERMS),
        spans=_groups(index, issue_terms(((issue.spans, 1.0),)), N_SPAN_TERMS),
        named_in_code=_rare_names(index, issue.code_names),
        named_in_prose=_rare_names(index, issue.prose_names),
        named_in_title=_rare_names(index, issue.title_names),
        modules=_modules(index, issue),
    )


def _groups(index: DerivedIndex, terms: Sequence[Term], limit: int) -> TermGroups:
    n_files = index.columns.n_files
    rarity: dict[str, float] = {}
    for term in terms:
        word_id = index.vocabulary.find(term.token)
        if word_id >= 0:
            count = int(index.columns.word_files[word_id])
            rarity[term.token] = float(np.log1p((max(0, n_files - count) + 0.5) / (count + 0.5)))
    return group_terms(index, heaviest(terms, rarity, limit), relatives=False)


def _rare_names(index: DerivedIndex, names: Sequence[Name]) -> tuple[NamedCards, ...]:
    """Return the definitions outside tests of those names that few files define."""
    is_test = ROLES.index("test")
    found: list[NamedCards] = []
    for one in named_cards(index, names):
        outside = index.columns.role[one.files] != is_test
        n_files = len(np.unique(one.files[outside]))
        if 0 < n_files <= MAX_DEFINING_FILES:
            kept = one.cards[outside], one.files[outside], one.values[outside]
            found.append(NamedCards(one.name, *kept, one.is_meant))
    return tuple(found)


def _modules(index: DerivedIndex, issue: IssueText) -> dict[int, float]:
    """Return the files that a dotted name may be: a.b.c is a/b/c.py, or c of a/b.py."""
    found: dict[int, float] = {}
    for module in issue.modules:
        parts = module.split(".")
        for n_parts in (len(parts), len(parts) - 1):
            if n_parts < 2:
                continue
            rows = index.files_with_stem("/".join(parts[:n_parts]))
            if rows and len(rows) <= MAX_MODULE_FILES:
                found.update(dict.fromkeys(rows, 1.0))
                break
    return found
