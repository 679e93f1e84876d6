"""Verdict: whether what ranks first is an answer, something near, or nothing.

It rests on what is there — exact names, paths, what of the question the index knows, names, holds together in one card
and is near to in meaning — and never on a fused score or rank, for these say which answer is best and not whether one is
good. Its weights separate the real questions of three families from nonsense (`python -m benchmarks nonsense`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from codecards.retrieval.evidence.files import Evidence
from codecards.retrieval.evidence.terms import LEAST_IDF, TermGroups
from codecards.retrieval.evidence.text import FIELD_NAME, FIELD_PARENT
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.query import Query

Verdict = Literal["found", "weak", "none"]

FLOOR = 0.70
"""Calibrated similarity from which meaning alone is something near (S2-27)."""
WEAK_IN_FILE = 0.2
N_LOOKED_AT = 3
"""Files at the top of which one must hold the answer."""
SHORT_PARTS, LONG_PARTS = 4, 14
"""Words from which on a question begins to be a long one, and is one."""
NAMED_WHERE_LONG, TOGETHER_WHERE_LONG = 5.0, 2.0
"""How much more the share that is named, or stands together, weighs in a long question: few of its words can."""
MAX_TERMS = 100
"""Of a report, so many terms tell how much of it the index knows."""


@dataclass(frozen=True, slots=True)
class AnswerSignals:
    """What speaks for an answer, each from 0 to about 1; words count by their rarity over files."""

    known: float
    """Share of the question that the index knows at all: of a question about cooking, little."""
    named: float
    """Share that the names, parents and path of one of the first files hold, more by the factor above for a long one."""
    together: float
    """Share that one card of these files holds beyond the one word that any card has, more likewise."""
    similarity: float | None
    """The best card's on the calibrated scale; None without vectors."""


@dataclass(frozen=True, slots=True)
class VerdictWeights:
    """What each of the grounds adds, and the sum from which an answer is found."""

    known: float
    named: float
    together: float
    similarity: float
    enough: float


WITH_VECTORS = VerdictWeights(known=4.5, named=5.0, together=2.5, similarity=10.0, enough=14.5)
"""No ground alone is enough, meaning neither: vectors are too easily pleased."""
BY_WORDS = VerdictWeights(known=4.0, named=6.0, together=4.5, similarity=0.0, enough=8.0)
"""A question whose words all stand together in one card is found without a name, as one that is known and named is."""


def judge(
    evidence: Evidence,
    top_files: Sequence[int],
    *,
    has_exact_name: bool,
    is_placed: bool,
    similarity: float | None,
) -> Verdict:
    """Return the verdict on a ranking.

    Args:
        evidence: Of the candidates.
        top_files: Places of the first files among the candidates, best first.
        has_exact_name: Whether a name that the query is about is defined exactly.
        is_placed: Whether a path or frame of the query is here.
        similarity: The best card's, calibrated; None without vectors.
    """
    if is_placed or has_exact_name:
        return "found"
    index, query = evidence.found.index, evidence.found.query
    files = np.array(top_files[:N_LOOKED_AT], np.int64)
    in_file = _share_in_file(evidence, files)
    if query.kind == "symbol":
        return "found" if _is_named(index, evidence) else "weak" if in_file >= WEAK_IN_FILE else "none"
    if query.kind != "path" and is_enough(answer_signals(evidence, files, similarity)):
        return "found"
    is_near = query.kind != "path" and similarity is not None and similarity >= FLOOR
    return "weak" if in_file >= WEAK_IN_FILE or is_near else "none"


def answer_signals(evidence: Evidence, files: NDArray[np.int64], similarity: float | None) -> AnswerSignals:
    """Return the signals of an answer in the first files of a ranking.

    Args:
        evidence: Of the candidates.
        files: Places of the first files among the candidates.
        similarity: The best card's, calibrated; None without vectors.
    """
    index, query = evidence.found.index, evidence.found.query
    groups, matches = evidence.groups, evidence.matches
    rarity = np.where(groups.is_part, groups.idf, 0.0)
    total = float(rarity.sum())
    known = _known_share(index, query, groups)
    if total <= 0 or not len(files):
        return AnswerSignals(known, 0.0, 0.0, similarity)
    # The groups of a report are of its known words alone.
    of_all = known if query.is_issue else 1.0
    length = min(1.0, max(0.0, (np.count_nonzero(groups.is_part) - SHORT_PARTS) / (LONG_PARTS - SHORT_PARTS)))
    # Any single word of the index is in some card.
    alone = float((rarity * groups.strength.max(axis=0, initial=0.0)).max(initial=0.0)) if len(groups.word_ids) else 0.0
    in_path = np.minimum(1.0, evidence.paths.counts[files])
    is_name = (matches.counts[:, [FIELD_NAME, FIELD_PARENT]].max(axis=1, initial=0) > 0)[matches.pair_entry]
    named, together = 0.0, 0.0
    for place, file in enumerate(files.tolist()):
        mine = is_name & (matches.card_file[matches.entry_card[matches.pair_entry]] == file)
        in_name = in_path[place].copy()
        np.maximum.at(in_name, matches.file_cell_group[matches.pair_file_cell[mine]], matches.pair_strength[mine])
        named = max(named, float(rarity @ in_name))
        # A file's path is part of what its cards say: a method "remove" in session_store.py is about sessions.
        unsaid = rarity * (1 - in_path[place])
        in_card = matches.card_shares(unsaid)[matches.card_file == file].max(initial=0.0)
        together = max(together, float(rarity @ in_path[place]) + float(in_card))
    rest = total - alone
    return AnswerSignals(
        known=known,
        named=of_all * named / total * (1 + NAMED_WHERE_LONG * length),
        together=of_all * max(0.0, together - alone) / rest * (1 + TOGETHER_WHERE_LONG * length)
        if rest > 1e-6
        else 0.0,
        similarity=similarity,
    )


def is_enough(ground: AnswerSignals) -> bool:
    """Return whether what speaks for an answer is enough to call it found."""
    weights = BY_WORDS if ground.similarity is None else WITH_VECTORS
    value = weights.known * ground.known + weights.named * ground.named + weights.together * ground.together
    return value + weights.similarity * (ground.similarity or 0.0) >= weights.enough


def _known_share(index: DerivedIndex, query: Query, groups: TermGroups) -> float:
    """Return the share of a question, by the rarity of its words, that the index knows; a report is read by its terms."""
    if not query.is_issue:
        rarity = np.where(groups.is_part, groups.idf, 0.0)
        return float(rarity[groups.known].sum() / max(float(rarity.sum()), 1e-9))
    known = total = 0.0
    columns = index.columns
    for term in [term for term in query.terms if term.kind == "part"][:MAX_TERMS]:
        word_id = index.vocabulary.find(term.token)
        n_files = int(columns.word_files[word_id]) if word_id >= 0 else 0
        missing = max(0, columns.n_files - n_files)
        rarity_of_one = max(LEAST_IDF, float(np.log1p((missing + 0.5) / (n_files + 0.5)))) * term.weight
        total += rarity_of_one
        known += rarity_of_one if word_id >= 0 else 0.0
    return known / total if total else 0.0


def _share_in_file(evidence: Evidence, files: NDArray[np.int64]) -> float:
    """Return the largest share of the question that one of the first files holds with its path."""
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
    """Return whether some name or path holds the query as a whole, however it is cased and joined; no relatives.

    What is merely used is not found: "where is assertEqual" has no answer in a repository that does not define it.
    """
    groups, matches = evidence.groups, evidence.matches
    wholes = [term.token for term in groups.terms if term.kind == "whole"]
    parts = [term.token for term in groups.terms if term.kind == "part"]
    # The last identifier of a qualified name is what is asked for.
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
