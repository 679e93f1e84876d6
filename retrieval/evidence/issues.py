"""Issue evidence: what speaks for each candidate file in the light of a long report or a stack trace.

Its title, all of it, its code, and what it sets between backticks are four queries over the same occurrences; no word
stands for its relatives, for a report has words enough.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from codecards.indexer.cards.words import words
from codecards.retrieval.evidence.files import (
    Evidence,
    best_in_files,
    dense,
    prior_signals,
    used_by_matches,
    vector_signals,
)
from codecards.retrieval.evidence.paths import path_evidence
from codecards.retrieval.evidence.symbols import NamedCards, name_evidence, named_cards
from codecards.retrieval.evidence.terms import TermGroups, group_terms
from codecards.retrieval.evidence.text import (
    PLAIN_FILE_WEIGHTS,
    TextWeights,
    card_scores,
    file_scores,
    find_occurrences,
    match,
    max_per_file,
    share_of,
)
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.issue import CODE, PROSE, SPAN, TITLE, IssueText, heaviest, issue_terms, split_issue
from codecards.retrieval.query.query import Name, Query, Term, content_words
from codecards.retrieval.store.columns import ROLES, Floats, Int64s
from codecards.retrieval.vectors.card_vectors import Similarity

N_TERMS, N_TITLE_TERMS, N_CODE_TERMS, N_SPAN_TERMS = 45, 20, 45, 30
MAX_PATH_WEIGHT = 3.0
MAX_DEFINING_FILES = 40
"""A name that more files define tells nothing."""
STRONG, PLAIN = 1.0, 0.4
CARD_WEIGHTS = TextWeights((4.0, 1.0, 2.0, 1.5, 1.0, 0.0))
FILE_WEIGHTS = TextWeights((4.0, 1.0, 2.0, 1.5, 1.0, 0.0), length=0.75)


@dataclass(frozen=True, slots=True)
class IssueQuery:
    """A report in the words of one index."""

    told: Query
    """The query, its content words those of title and prose alone."""
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
    """Return a report in the words of an index."""
    issue = split_issue(query.text)
    everything = issue_terms(((issue.title, TITLE), (issue.prose, PROSE), (issue.spans, SPAN), (issue.code, CODE)))
    title = issue_terms(((issue.title, 1.0),))
    code = issue_terms(((issue.spans, 1.0), (issue.code, CODE)))
    spoken = content_words(words(f"{issue.title}\n{issue.prose}")) if query.kind != "trace" else query.content_words
    return IssueQuery(
        told=replace(query, content_words=tuple(spoken)),
        everything=_groups(index, everything, N_TERMS),
        title=_groups(index, title, N_TITLE_TERMS),
        code=_groups(index, code, N_CODE_TERMS),
        spans=_groups(index, issue_terms(((issue.spans, 1.0),)), N_SPAN_TERMS),
        named_in_code=_rare_names(index, issue.code_names),
        named_in_prose=_rare_names(index, issue.prose_names),
        named_in_title=_rare_names(index, issue.title_names),
        modules=_modules(index, issue),
    )


def gather_issue_evidence(
    index: DerivedIndex,
    query: Query,
    issue: IssueQuery,
    files: Int64s,
    places: Mapping[str, Mapping[int, float]],
    similarity: Similarity | None,
) -> Evidence:
    """Return the evidence for a report's candidates.

    Args:
        index: The index.
        query: As parsed.
        issue: As understood.
        files: Rows of the candidates, ascending.
        places: "place" and "frame" → file row → how surely it is named.
        similarity: How near cards are; None without vectors.
    """
    n_files = len(files)
    all_groups = (issue.everything, issue.title, issue.code, issue.spans)
    word_ids = np.unique(np.concatenate([groups.word_ids for groups in all_groups]))
    occurrences = find_occurrences(index, files, word_ids)
    matches, title_matches, code_matches, span_matches = (match(index, occurrences, groups) for groups in all_groups)
    paths = path_evidence(index, files, issue.told, issue.everything)
    title_paths = path_evidence(index, files, issue.told, issue.title)
    names = name_evidence(index, matches, issue.everything)
    title_names = name_evidence(index, title_matches, issue.title)
    code_names = name_evidence(index, code_matches, issue.code)
    words = card_scores(index, matches, issue.everything, CARD_WEIGHTS)
    title_words = card_scores(index, title_matches, issue.title, CARD_WEIGHTS)
    code_words = card_scores(index, code_matches, issue.code, CARD_WEIGHTS)
    span_words = card_scores(index, span_matches, issue.spans, CARD_WEIGHTS)
    fields = share_of(file_scores(index, matches, issue.everything, FILE_WEIGHTS, paths.counts))
    features = {
        "file_fields": fields,
        "best_card": share_of(max_per_file(words, matches.card_file, n_files)),
        "title_fields": share_of(file_scores(index, title_matches, issue.title, FILE_WEIGHTS, title_paths.counts)),
        "title_card": share_of(max_per_file(title_words, title_matches.card_file, n_files)),
        "span_card": share_of(max_per_file(span_words, span_matches.card_file, n_files)),
        "code_words": share_of(file_scores(index, code_matches, issue.code, PLAIN_FILE_WEIGHTS)),
        "file_name": paths.stem_recall,
        "file_name_precision": paths.stem_precision,
        "file_name_exact": paths.exact,
        "title_file_name": title_paths.stem_recall,
        "folders": paths.folder_recall,
        "title_symbol": max_per_file(title_names.coverage, title_matches.card_file, n_files),
        "title_names": title_names.total,
        "symbol_names": names.total,
        "used_by_matches": used_by_matches(index, files, fields),
        **_named_features(issue, files, places),
        **prior_signals(index, query, files),
        **vector_signals(index, files, similarity),
    }
    of_cards = {
        "title_words": (title_matches.cards, share_of(title_words)),
        "code_words": (code_matches.cards, share_of(code_words)),
        "code_name": (code_matches.cards, code_names.by_card),
    }
    return Evidence(matches, issue.everything, paths, names, words, features, of_cards)


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
    """Return the definitions of names that few files define outside tests."""
    is_test = ROLES.index("test")
    found: list[NamedCards] = []
    for one in named_cards(index, names):
        outside = index.columns.role[one.files] != is_test
        n_files = len(np.unique(one.files[outside]))
        if 0 < n_files <= MAX_DEFINING_FILES:
            kept = one.cards[outside], one.files[outside], one.values[outside]
            found.append(NamedCards(one.name, *kept, one.is_meant))
    return tuple(found)


def _named_features(issue: IssueQuery, files: Int64s, places: Mapping[str, Mapping[int, float]]) -> dict[str, Floats]:
    """Return what the report names: definitions, modules, paths, frames."""
    return {
        "symbol_in_code": _named(issue.named_in_code, files),
        "symbol_in_text": _named(issue.named_in_prose, files),
        "symbol_in_title": _named(issue.named_in_title, files),
        "module": dense(issue.modules, files),
        **{name: dense(values, files) for name, values in places.items()},
        # A fix may lie in any file of the trace, however far from the error.
        "in_trace": dense(dict.fromkeys(places.get("frame", ()), 1.0), files),
    }


def _named(named: Sequence[NamedCards], files: Int64s) -> Floats:
    total = np.zeros(len(files), np.float32)
    for one in named:
        total += (
            (STRONG if one.name.strong else PLAIN)
            * (best_in_files(one, files) > 0)
            / (1 + np.log(len(np.unique(one.files))))
        )
    return np.log1p(total).astype(np.float32)


def _modules(index: DerivedIndex, issue: IssueText) -> dict[int, float]:
    """Return the files that a dotted name may be: a.b.c is a/b/c.py, or c of a/b.py."""
    found: dict[int, float] = {}
    for module in issue.modules:
        parts = module.split(".")
        for n_parts in (len(parts), len(parts) - 1):
            if n_parts < 2:
                continue
            rows = index.files_with_stem("/".join(parts[:n_parts]))
            if rows and len(rows) <= 5:
                found.update(dict.fromkeys(rows, 1.0))
                break
    return found
