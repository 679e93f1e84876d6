"""Ranking signals: the rows of the two tables `file_signals.FILE_SIGNALS` and `card_signals.CARD_SIGNALS`.

A row holds all that is known of one signal: how it is computed, its bounds, its weight for each kind of query, its
sentence for `--explain`, the tuning group that scales it, and the family that is left out with it in an ablation. Weights,
explanations, tuning groups, ablations and training read these tables and have no list of their own.

The score of a file or card is the sum of weight times value in the order of the rows.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    # Tuned weights read the table of files at every start, which must not load numpy.
    from collections.abc import Callable

    from codecards.retrieval.evidence.cards import CardSignalFunction
    from codecards.retrieval.evidence.files import QuestionEvidence
    from codecards.retrieval.evidence.issues import IssueEvidence
    from codecards.retrieval.store.columns import Floats

Family = Literal["words", "path", "names", "graph", "places", "priors", "kinds", "meaning", "transformer"]
"""Signals of one source, left out together in an ablation."""
Group = Literal["words", "file_name", "folders", "names", "symbols", "graph", "documentation", "meaning", "prior"]
"""Weights that one factor of `codecards tune` scales."""
VectorSet = Literal["none", "static", "transformer"]
"""The vectors that take part in an answer; each set includes the ones before it."""
SCORE_DECIMALS = 5
"""Scores are rounded before they are compared, so that an order does not depend on the last bits of a sum."""
Bounds = tuple[float, float]
"""Least and greatest value; where a value has no limit, what no repository is expected to exceed."""


@dataclass(frozen=True, slots=True)
class FileWeights:
    """The weight of a file signal for each kind of query; 0 where it is not used."""

    short: float = 0.0
    """For a question of up to six content words, where a matching file name is strong evidence; for names and paths too."""
    long: float = 0.0
    """For a question of ten content words and more; between six and ten the two are mixed."""
    issue: float = 0.0
    """For a report."""
    symbol: float | None = None
    """For a query that is one name, if it differs from `short`."""
    trace: float | None = None
    """For a stack trace or diff with little else, if it differs from `issue`."""


@dataclass(frozen=True, slots=True)
class FileSignal:
    """One row: a signal of the candidate files."""

    name: str
    says: str
    """For `--explain`: what a value above 0 means."""
    bounds: Bounds
    weights: FileWeights
    family: Family
    question: "Callable[[QuestionEvidence], Floats | None] | None" = None
    """Computes (F,) values for a question, name or path; None where it is not used for them."""
    issue: "Callable[[IssueEvidence], Floats | None] | None" = None
    """Computes (F,) values for a report, trace or diff."""
    group: Group | None = None
    """Tuning group; None for a weight that a project's history must not change."""
    lists: Literal["words", "path_words"] | None = None
    """Words of the query that the explanation lists: those in the file, or those in its path."""
    is_penalty_of_role: bool = False
    """Whether it lowers files by what they are; it counts more where cards are ranked individually."""
    is_after_sum: bool = False
    """Whether `ranking.rank` computes it from the sum of all others."""


@dataclass(frozen=True, slots=True)
class CardWeight:
    """The weight of a card signal for each kind of query; 0 where it is not used."""

    path: float = 0.0
    """For a path."""
    symbol: float | None = None
    """For a name, if it differs from `path`."""
    report: float | None = None
    """For a report, trace or diff, if it differs from `path`."""
    function: float = 0.0
    """For a question that describes one function, where the weight is set by hand."""
    learned: Literal[-1, 0, 1] = 0
    """Sign of the learned weight for such a question; the weight is in `card_weights.json`. 0: not learned."""


@dataclass(frozen=True, slots=True)
class CardSignal:
    """One row: a signal of the candidate files' cards."""

    name: str
    says: str
    """For `--explain`: what a value above 0 means."""
    bounds: Bounds
    weights: CardWeight
    family: Family
    compute: "CardSignalFunction"
    needs: VectorSet = "none"
    """The smallest set of vectors that it can be computed with."""
    is_kind: bool = False
    """Whether it is the kind of a card; learned weights of kinds have a bound of their own."""

    @property
    def term(self) -> str:
        """Name of its term where the terms of cards and files are listed together."""
        return f"card_{self.name}"
