"""Issue evidence: what the candidate files have in common with a long report or a stack trace.

Title, whole text, code and text between backticks are four queries over the same postings.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from codecards.retrieval.evidence.files import Evidence, best_in_files, to_dense
from codecards.retrieval.evidence.issue_query import IssueQuery
from codecards.retrieval.evidence.paths import PathEvidence, path_evidence
from codecards.retrieval.evidence.plan import QueryPlan
from codecards.retrieval.evidence.ranking_input import RankingInput
from codecards.retrieval.evidence.symbols import NamedCards, NameEvidence, name_evidence
from codecards.retrieval.evidence.terms import TermGroups
from codecards.retrieval.evidence.text import (
    PLAIN_FILE_WEIGHTS,
    TermMatches,
    TextWeights,
    card_scores,
    file_scores,
    find_postings,
    match_terms,
    max_per_file,
    normalised,
)
from codecards.retrieval.store.columns import Floats

STRONG, PLAIN = 1.0, 0.4
"""How much a definition counts for a name that only code has, and for any other name."""
REPORT_CARD_WEIGHTS = TextWeights((4.0, 1.0, 2.0, 1.5, 1.0, 0.0))
REPORT_FILE_WEIGHTS = TextWeights((4.0, 1.0, 2.0, 1.5, 1.0, 0.0), length=0.75)


@dataclass(frozen=True)
class IssueEvidence(Evidence):
    """The evidence for a report's candidates."""

    issue: IssueQuery
    title: TermMatches
    code: TermMatches
    spans: TermMatches
    title_paths: PathEvidence
    title_names: NameEvidence

    @cached_property
    def title_card_words(self) -> Floats:
        """BM25F of each card that has words of the title, in the order of `title.cards`."""
        return card_scores(self.found.index, self.title, self.issue.title, REPORT_CARD_WEIGHTS)

    @cached_property
    def code_card_words(self) -> Floats:
        """BM25F of each card that has words of the code, in the order of `code.cards`."""
        return card_scores(self.found.index, self.code, self.issue.code, REPORT_CARD_WEIGHTS)

    @cached_property
    def code_names(self) -> NameEvidence:
        """How far the names of cards are words of the code."""
        return name_evidence(self.found.index, self.code, self.issue.code)

    @property
    def title_fields(self) -> Floats:
        """(F,): BM25F of the title, path included, as a share of the best file's."""
        counts = self.title_paths.counts
        return normalised(file_scores(self.found.index, self.title, self.issue.title, REPORT_FILE_WEIGHTS, counts))

    @property
    def title_card(self) -> Floats:
        """(F,): BM25F of the title in each file's best card, as a share of the best one."""
        return normalised(max_per_file(self.title_card_words, self.title.card_file, self.n_files))

    @property
    def span_card(self) -> Floats:
        """(F,): BM25F of the text between backticks in each file's best card, as a share of the best one."""
        words = card_scores(self.found.index, self.spans, self.issue.spans, REPORT_CARD_WEIGHTS)
        return normalised(max_per_file(words, self.spans.card_file, self.n_files))

    @property
    def code_words(self) -> Floats:
        """(F,): BM25 of the code in the whole file, as a share of the best file's."""
        return normalised(file_scores(self.found.index, self.code, self.issue.code, PLAIN_FILE_WEIGHTS))

    @property
    def title_symbol(self) -> Floats:
        """(F,): share of the title in the name of each file's best card."""
        return max_per_file(self.title_names.coverage, self.title.card_file, self.n_files)

    @property
    def symbol_in_code(self) -> Floats:
        """(F,): definitions of names in the code."""
        return self._definitions(self.issue.named_in_code)

    @property
    def symbol_in_prose(self) -> Floats:
        """(F,): definitions of names in title and prose."""
        return self._definitions(self.issue.named_in_prose)

    @property
    def symbol_in_title(self) -> Floats:
        """(F,): definitions of names in the title."""
        return self._definitions(self.issue.named_in_title)

    @property
    def module(self) -> Floats:
        """(F,): 1 for a file that is named as a module."""
        return to_dense(self.issue.modules, self.found.files)

    @property
    def in_trace(self) -> Floats:
        """(F,): 1 for every file of the trace; a fix may be in any of them, however far from the error."""
        return to_dense(dict.fromkeys(self.plan.places.by_frame, 1.0), self.found.files)

    def _definitions(self, named: Sequence[NamedCards]) -> Floats:
        """Return (F,): logarithm of the number of names that a file defines, rare and strong names counting more."""
        files = self.found.files
        total = np.zeros(len(files), np.float32)
        for one in named:
            weight = STRONG if one.name.strong else PLAIN
            total += weight * (best_in_files(one, files) > 0) / (1 + np.log(len(np.unique(one.files))))
        return np.log1p(total).astype(np.float32)


def issue_evidence(found: RankingInput, plan: QueryPlan, issue: IssueQuery) -> IssueEvidence:
    """Return the evidence for a report's candidates."""
    index = found.index
    all_groups = (issue.everything, issue.title, issue.code, issue.spans)
    word_ids = np.unique(np.concatenate([groups.word_ids for groups in all_groups]))
    postings = find_postings(index, found.files, word_ids)

    def matches(groups: TermGroups) -> TermMatches:
        return match_terms(postings, groups)

    of_all, of_title = matches(issue.everything), matches(issue.title)
    by_prose = replace(found, query=issue.prose_query)
    paths = path_evidence(by_prose, issue.everything)
    fields = file_scores(index, of_all, issue.everything, REPORT_FILE_WEIGHTS, paths.counts)
    return IssueEvidence(
        found=found,
        plan=plan,
        groups=issue.everything,
        matches=of_all,
        paths=paths,
        names=name_evidence(index, of_all, issue.everything),
        card_words=card_scores(index, of_all, issue.everything, REPORT_CARD_WEIGHTS),
        field_words=normalised(fields),
        issue=issue,
        title=of_title,
        code=matches(issue.code),
        spans=matches(issue.spans),
        title_paths=path_evidence(by_prose, issue.title),
        title_names=name_evidence(index, of_title, issue.title),
    )
