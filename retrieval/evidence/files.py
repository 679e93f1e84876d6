"""File evidence: what the candidate files have in common with a query, from words, paths, names, graph and vectors.

`rank.file_signals` names the pieces of evidence that count, and weights them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from codecards.retrieval.evidence.paths import PathEvidence, path_evidence
from codecards.retrieval.evidence.plan import QueryPlan
from codecards.retrieval.evidence.priors import PriorEvidence, prior_evidence
from codecards.retrieval.evidence.ranking_input import RankingInput
from codecards.retrieval.evidence.symbols import NamedCards, NameEvidence, name_evidence
from codecards.retrieval.evidence.terms import TermGroups
from codecards.retrieval.evidence.text import (
    CARD_WEIGHTS,
    DOC_WEIGHTS,
    FILE_WEIGHTS,
    MAX_WORD_SCORE,
    PLAIN_FILE_WEIGHTS,
    TermMatches,
    card_scores,
    decayed_sum,
    file_scores,
    find_postings,
    match_terms,
    max_per_file,
    normalised,
)
from codecards.retrieval.evidence.vectors import VectorEvidence
from codecards.retrieval.store.columns import Floats, runs

N_NEAREST = 20
"""Files of so many nearest cards are shown even if they have no word of the query."""
USED_BY_SMOOTHING = 2
"""Added to the weight of a file's incoming links, so that a single link does not count in full."""


@dataclass(frozen=True)
class Evidence:
    """The evidence for F candidate files and C of their cards; what is not needed by every query is computed lazily."""

    found: RankingInput
    plan: QueryPlan
    groups: TermGroups
    matches: TermMatches
    paths: PathEvidence
    names: NameEvidence
    card_words: Floats
    """(C,): BM25F of each card."""
    field_words: Floats
    """(F,): BM25F of names, signatures, documentation, body and path, as a share of the best file's."""

    @property
    def n_files(self) -> int:
        """Number of candidate files, F."""
        return len(self.found.files)

    @cached_property
    def priors(self) -> PriorEvidence:
        """Properties that count whatever is asked."""
        return prior_evidence(self.found)

    @cached_property
    def vectors(self) -> VectorEvidence | None:
        """Similarities; None without vectors."""
        return VectorEvidence(self.found, self.found.similarity) if self.found.similarity is not None else None

    @property
    def best_card(self) -> Floats:
        """(F,): BM25F of each file's best card, as a share of the best one."""
        return normalised(max_per_file(self.card_words, self.matches.card_file, self.n_files))

    @property
    def used_by_matches(self) -> Floats:
        """(F,): how well the files that use each candidate match the query themselves, 0 to 1."""
        columns, files = self.found.index.columns, self.found.files
        lengths = columns.link_offset[files + 1] - columns.link_offset[files]
        links = runs(columns.link_offset[files], lengths)
        values = np.repeat(self.field_words, lengths) * columns.link_weight[links]
        gain = np.bincount(columns.link_target[links], values, columns.n_files)
        return (gain[files] / (columns.in_weight[files] + USED_BY_SMOOTHING)).astype(np.float32)

    @property
    def place(self) -> Floats | None:
        """(F,): how surely each file is named by its path; None where the query names no path."""
        return to_dense(self.plan.places.by_path, self.found.files) if self.plan.places.by_path else None

    @property
    def frame(self) -> Floats | None:
        """(F,): how surely each file is meant by a stack frame or diff; None where the query has neither."""
        return to_dense(self.plan.places.by_frame, self.found.files) if self.plan.places.by_frame else None


@dataclass(frozen=True)
class QuestionEvidence(Evidence):
    """The evidence for the candidates of a question, a name or a path."""

    @property
    def cards(self) -> Floats:
        """(F,): BM25F of each file's best cards together, as a share of the best file's."""
        return normalised(decayed_sum(self.card_words, self.matches.card_file, self.n_files))

    @property
    def file_words(self) -> Floats:
        """(F,): BM25 of the whole file, in units of a full match."""
        return file_scores(self.found.index, self.matches, self.groups, PLAIN_FILE_WEIGHTS) / self._full_match

    @property
    def documentation(self) -> Floats:
        """(F,): BM25 of the documentation of each file's best card, in units of a full match."""
        return self._best_documentation / self._full_match

    @property
    def documentation_best(self) -> Floats:
        """(F,): the same, as a share of the best file's."""
        return normalised(self._best_documentation)

    @cached_property
    def named(self) -> "NamedEvidence":
        """Definitions of the query's names."""
        return _named_evidence(self.found, self.plan)

    @cached_property
    def _full_match(self) -> float:
        return max(MAX_WORD_SCORE * self.groups.part_idf, 1e-9)

    @cached_property
    def _best_documentation(self) -> Floats:
        docs = card_scores(self.found.index, self.matches, self.groups, DOC_WEIGHTS)
        return max_per_file(docs, self.matches.card_file, self.n_files)


@dataclass(frozen=True, slots=True)
class NamedEvidence:
    """How surely each of F files defines a name of a question; 0 to 2 a name."""

    symbol: Floats
    """The name that is the whole query."""
    in_text: Floats
    """Sum over the names that are written as only code is."""
    types: Floats
    """Sum over the capitalised names."""
    first: Floats
    """The first name."""


def question_evidence(found: RankingInput, plan: QueryPlan) -> QuestionEvidence:
    """Return the evidence for the candidates of a query that is not a report."""
    index, groups = found.index, plan.word_groups[0]
    matches = match_terms(find_postings(index, found.files, groups.word_ids), groups)
    paths = path_evidence(found, groups)
    return QuestionEvidence(
        found=found,
        plan=plan,
        groups=groups,
        matches=matches,
        paths=paths,
        names=name_evidence(index, matches, groups),
        card_words=card_scores(index, matches, groups, CARD_WEIGHTS),
        field_words=normalised(file_scores(index, matches, groups, FILE_WEIGHTS, paths.counts)),
    )


def has_evidence(evidence: Evidence) -> NDArray[np.bool_]:
    """Return (F,): which candidates have any evidence; the others would only fill the list."""
    found, matches = evidence.found, evidence.matches
    has_any = (evidence.paths.counts > 0).any(axis=1) | (evidence.paths.exact > 0)
    has_any[matches.file_cell_file] = True
    has_any |= np.isin(found.files, list(evidence.plan.placed_files))
    if found.similarity is not None:
        cards, _ = found.similarity.nearest(N_NEAREST)
        if found.similarity.transformer is not None:
            cards = np.concatenate([cards, found.similarity.transformer.nearest(N_NEAREST)])
        has_any |= np.isin(found.files, found.index.file_of_card[cards])
    return np.asarray(has_any)


def to_dense(values: Mapping[int, float], files: NDArray[np.int64]) -> Floats:
    """Return (F,): the values of the candidates, 0 for files without one."""
    found = np.zeros(len(files), np.float32)
    for row, value in values.items():
        place = int(np.searchsorted(files, row))
        if place < len(files) and files[place] == row:
            found[place] = value
    return found


def best_in_files(named: NamedCards, files: NDArray[np.int64]) -> Floats:
    """Return (F,): the highest value of a name's definitions in each candidate."""
    found = np.zeros(len(files), np.float32)
    if len(files):
        place = np.minimum(np.searchsorted(files, named.files), len(files) - 1)
        inside = files[place] == named.files
        np.maximum.at(found, place[inside], named.values[inside])
    return found


def _named_evidence(found: RankingInput, plan: QueryPlan) -> NamedEvidence:
    symbol, in_text, types, first = (np.zeros(len(found.files), np.float32) for _ in range(4))
    is_first = True
    for one in plan.named:
        values = best_in_files(one, found.files)
        if found.query.kind == "symbol":
            symbol = np.maximum(symbol, values)
        elif one.is_meant:
            if one.name.strong:
                in_text += values
            else:
                types += values
            first = values if is_first else first
            is_first = False
    return NamedEvidence(symbol, in_text, types, first)
