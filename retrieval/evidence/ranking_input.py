"""The values that all evidence is computed from: an index, a query and its candidate files."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.query import Query
from codecards.retrieval.store.columns import Int64s, runs
from codecards.retrieval.vectors.card_vectors import Similarity


@dataclass(frozen=True, slots=True)
class CandidateCards:
    """The cards of the candidate files; K cards."""

    rows: Int64s
    """(K,): rows in the index, ascending."""
    file: Int64s
    """(K,): position of each card's file among the candidate files, ascending."""


@dataclass(frozen=True)
class RankingInput:
    """A query and its candidate files; F files."""

    index: DerivedIndex
    query: Query
    files: Int64s
    """(F,): rows of the candidate files, ascending."""
    similarity: Similarity | None
    """Similarity of the query to cards; None without vectors."""

    @cached_property
    def cards(self) -> CandidateCards:
        """All cards of the candidate files."""
        columns = self.index.columns
        lengths = columns.card_offset[self.files + 1] - columns.card_offset[self.files]
        rows = runs(columns.card_offset[self.files], lengths)
        return CandidateCards(rows, np.repeat(np.arange(len(self.files)), lengths))
