"""Verdict: whether the first files of a ranking answer the query, are near it, or neither.

It depends on exact names and paths, and on the share of the query that the index knows, that names and paths hold, and
that one card holds, and on similarity. It never depends on a score or rank, which tell the best answer and not a good
one. The weights separate real questions of three families from nonsense (`python -m benchmarks nonsense`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from codecards.retrieval.evidence.files import Evidence
from codecards.retrieval.evidence.terms import MIN_IDF, TermGroups
from codecards.retrieval.evidence.text import FIELD_NAME, FIELD_PARENT
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.query import Query

Verdict = Literal["found", "weak", "none"]

WEAK_SIMILARITY = 0.70
"""Calibrated similarity from which similarity alone makes a verdict "weak"."""
WEAK_IN_FILE = 0.2
"""Share of the query in one file and its path from which a verdict is "weak"."""
N_TOP_FILES = 3
"""One of so many first files must hold the answer."""
SHORT_PARTS, LONG_PARTS = 4, 14
"""Words up to which a question is short, and from which it is long; between them the factors below grow."""
NAMED_IF_LONG, TOGETHER_IF_LONG = 5.0, 2.0
"""How much more `named` and `together` count in a long question, few of whose words can be in one name or card."""
MAX_TERMS = 100
"""Terms of a report that `known` is computed from."""


@dataclass(frozen=True, slots=True)
class AnswerSignals:
    """The signals of an answer, each from 0 to about 1; words count by their IDF over files."""

    known: float
    """Share of the question that the index knows: little of a question about cooking."""
    named: float
    """Largest share in names, parents and path of one of the first files; scaled up for long questions."""
    together: float
    """Largest share of the question in one card, minus the share of its best single word; scaled up for long questions."""
    similarity: float | None
    """Calibrated similarity of the best card; None without vectors."""


@dataclass(frozen=True, slots=True)
class FirstCards:
    """What the first `N_TOP_FILES` cards have in common with a question that describes one function."""

    coverage: float
    """Largest share of the question, by its rarity over cards, that one of them and its path hold."""
    n_better_by_words: int
    """Cards that hold the words better than the best of these does: words and the other signals disagree where there are many."""
    n_lines: int
    """Lines of the first: a short one hands on what another one does."""
    has_message: bool
    """Whether the question quotes a message that one of them has."""


@dataclass(frozen=True, slots=True)
class VerdictWeights:
    """The weight of each signal, and the sum from which an answer is found."""

    known: float
    named: float
    together: float
    similarity: float
    threshold: float


WITH_VECTORS = VerdictWeights(known=4.5, named=5.0, together=2.5, similarity=10.0, threshold=14.5)
"""No single signal reaches the threshold, not even similarity: embeddings find something close to almost anything."""
BY_WORDS = VerdictWeights(known=4.0, named=6.0, together=4.5, similarity=0.0, threshold=8.0)
"""A question is found if one card holds all its words, or if it is known and named."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic regression of "one of the first three answers" on signals of the first cards."""

    function: float
    coverage: float
    better_by_words: float
    lines: float
    together: float
    constant: float


CALIBRATED = Calibration(function=1.08, coverage=1.25, better_by_words=-0.34, lines=0.43, together=0.16, constant=-2.4)
"""Fitted to the choosing half of the asked set; with packages held out in turn, its area under the curve is .72."""
LEAST_LIKELIHOOD = 0.6
"""Where packages are held out in turn, .77 of the answers from here are right; .67 of those from .5, .82 of those from .7."""
NEARLY_ALL = 0.9
"""Share of the question in one card and its path from which the answer is likely whatever else; some .65 to .75 are right."""
DESCRIBED = 0.45
"""How surely a question must describe one function to be held to the calibration."""


def judge(
    evidence: Evidence,
    top_files: Sequence[int],
    *,
    first: FirstCards,
    has_exact_name: bool,
    is_placed: bool,
    similarity: float | None,
) -> Verdict:
    """Return the verdict on a ranking.

    Args:
        evidence: Of the candidates.
        top_files: Positions of the first files among the candidates, best first.
        first: The first cards.
        has_exact_name: Whether one of these files defines the name that the query is about.
        is_placed: Whether the query names one of these files by path, stack frame or diff.
        similarity: Calibrated similarity of the best card; None without vectors.
    """
    if is_placed or has_exact_name:
        return "found"
    index, query = evidence.found.index, evidence.found.query
    files = np.array(top_files[:N_TOP_FILES], np.int64)
    in_file = _share_in_file(evidence, files)
    is_weak = in_file >= WEAK_IN_FILE
    if query.kind == "symbol":
        if _is_named(index, evidence):
            return "found"
        return "weak" if is_weak else "none"
    if query.kind != "path":
        signals = answer_signals(evidence, files, similarity)
        if reaches_threshold(signals) and _is_likely(query, signals, first):
            return "found"
    is_similar = query.kind != "path" and similarity is not None and similarity >= WEAK_SIMILARITY
    return "weak" if is_weak or is_similar else "none"


def answer_signals(evidence: Evidence, files: NDArray[np.int64], similarity: float | None) -> AnswerSignals:
    """Return the signals of an answer in the first files of a ranking.

    Args:
        evidence: Of the candidates.
        files: Positions of the first files among the candidates.
        similarity: Calibrated similarity of the best card; None without vectors.
    """
    index, query = evidence.found.index, evidence.found.query
    groups, matches = evidence.groups, evidence.matches
    rarity = np.where(groups.is_part, groups.idf, 0.0)
    total = float(rarity.sum())
    known = _known_share(index, query, groups)
    if total <= 0 or not len(files):
        return AnswerSignals(known, 0.0, 0.0, similarity)
    # The term groups of a report are those of its known words only.
    of_all = known if query.is_issue else 1.0
    length = min(1.0, max(0.0, (np.count_nonzero(groups.is_part) - SHORT_PARTS) / (LONG_PARTS - SHORT_PARTS)))
    # Some card holds any single word of the index.
    alone = float((rarity * groups.strength.max(axis=0, initial=0.0)).max(initial=0.0)) if len(groups.word_ids) else 0.0
    in_path = np.minimum(1.0, evidence.paths.counts[files])
    is_name = (matches.counts[:, [FIELD_NAME, FIELD_PARENT]].max(axis=1, initial=0) > 0)[matches.pair_entry]
    named, together = 0.0, 0.0
    for place, file in enumerate(files.tolist()):
        mine = is_name & (matches.card_file[matches.entry_card[matches.pair_entry]] == file)
        in_name = in_path[place].copy()
        np.maximum.at(in_name, matches.file_cell_group[matches.pair_file_cell[mine]], matches.pair_strength[mine])
        named = max(named, float(rarity @ in_name))
        # The path of a file belongs to its cards: a method "remove" in session_store.py is about sessions.
        unsaid = rarity * (1 - in_path[place])
        in_card = matches.card_shares(unsaid)[matches.card_file == file].max(initial=0.0)
        together = max(together, float(rarity @ in_path[place]) + float(in_card))
    rest = total - alone
    together_share = max(0.0, together - alone) / rest if rest > 1e-6 else 0.0
    return AnswerSignals(
        known=known,
        named=of_all * named / total * (1 + NAMED_IF_LONG * length),
        together=of_all * together_share * (1 + TOGETHER_IF_LONG * length),
        similarity=similarity,
    )


def reaches_threshold(signals: AnswerSignals) -> bool:
    """Return whether the weighted sum of the signals makes a verdict "found"."""
    weights = BY_WORDS if signals.similarity is None else WITH_VECTORS
    value = weights.known * signals.known + weights.named * signals.named + weights.together * signals.together
    return value + weights.similarity * (signals.similarity or 0.0) >= weights.threshold


def _is_likely(query: Query, signals: AnswerSignals, first: FirstCards) -> bool:
    """Return whether one of the first cards likely answers; only a question that describes one function is held to it."""
    if query.intent.function < DESCRIBED or first.has_message or first.coverage >= NEARLY_ALL:
        return True
    return likelihood(query.intent.function, signals, first) >= LEAST_LIKELIHOOD


def likelihood(function: float, signals: AnswerSignals, first: FirstCards) -> float:
    """Return the calibrated probability that one of the first cards answers a question that describes one function."""
    value = (
        CALIBRATED.function * function
        + CALIBRATED.coverage * first.coverage
        + CALIBRATED.better_by_words * math.log1p(first.n_better_by_words)
        + CALIBRATED.lines * math.log1p(first.n_lines)
        + CALIBRATED.together * signals.together
        + CALIBRATED.constant
    )
    return 1 / (1 + math.exp(-value))


def _known_share(index: DerivedIndex, query: Query, groups: TermGroups) -> float:
    """Return the share of a query, by the IDF of its words, that the index knows; of a report, by its first terms."""
    if not query.is_issue:
        rarity = np.where(groups.is_part, groups.idf, 0.0)
        return float(rarity[groups.known].sum() / max(float(rarity.sum()), 1e-9))
    known = total = 0.0
    columns = index.columns
    for term in [term for term in query.terms if term.kind == "part"][:MAX_TERMS]:
        word_id = index.vocabulary.find(term.token)
        n_files = int(columns.word_files[word_id]) if word_id >= 0 else 0
        missing = max(0, columns.n_files - n_files)
        rarity_of_one = max(MIN_IDF, float(np.log1p((missing + 0.5) / (n_files + 0.5)))) * term.weight
        total += rarity_of_one
        known += rarity_of_one if word_id >= 0 else 0.0
    return known / total if total else 0.0


def _share_in_file(evidence: Evidence, files: NDArray[np.int64]) -> float:
    """Return the largest share of the query that one of the first files holds, its path included."""
    groups, matches = evidence.groups, evidence.matches
    rarity = np.where(groups.is_part, groups.idf, 0.0)
    total = float(rarity.sum())
    if total <= 0 or not len(files):
        return 0.0
    in_path = np.minimum(1.0, evidence.paths.counts[files])
    shares = [
        float(rarity @ in_path[place])
        + float((rarity * (1 - in_path[place]))[matches.file_cell_group[matches.file_cell_file == file]].sum())
        for place, file in enumerate(files.tolist())
    ]
    return max(shares) / total


def _is_named(index: DerivedIndex, evidence: Evidence) -> bool:
    """Return whether some name or path is the query as a whole, in any case and joined in any way; without related words.

    A use is not enough: "where is assertEqual" has no answer in a repository that does not define it.
    """
    groups, matches = evidence.groups, evidence.matches
    wholes = [term.token for term in groups.terms if term.kind == "whole"]
    parts = [term.token for term in groups.terms if term.kind == "part"]
    # A qualified name asks for its last identifier.
    wanted = wholes[-1:] or [form for part in parts[-1:] for form in (part, f"={part}")]
    for word in wanted:
        word_id = index.vocabulary.find(word)
        if word_id < 0:
            continue
        place = int(np.searchsorted(groups.word_ids, word_id))
        in_name = matches.counts[:, FIELD_NAME] > 0
        if index.columns.word_paths[word_id] or bool((in_name & (matches.entry_term == place)).any()):
            return True
    return False
