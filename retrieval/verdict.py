"""Verdict: whether what ranks first is an answer, something near, or nothing.

It rests on what is there — exact names, paths, the share of the question's words, similarity on the calibrated scale —
and never on a fused score or rank, for these say which answer is best and not whether one is good.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from codecards.retrieval.derived_index import DerivedIndex
from codecards.retrieval.file_evidence import Evidence
from codecards.retrieval.query import Query
from codecards.retrieval.text_evidence import covered

Verdict = Literal["found", "weak", "none"]

FLOOR = 0.70
"""Calibrated similarity from which meaning alone is an answer (S2-27)."""
FOUND_IN_CARD, FOUND_IN_FILE = 0.5, 0.7
"""Shares of the question, by rarity of its words, that a card and its file must hold."""
WEAK_IN_FILE = 0.2
N_LOOKED_AT = 3
"""Files at the top of which one must hold the answer."""


def judge(
    index: DerivedIndex,
    query: Query,
    evidence: Evidence,
    top_files: Sequence[int],
    *,
    has_exact_name: bool,
    is_placed: bool,
    similarity: float,
) -> Verdict:
    """Return the verdict on a ranking.

    Args:
        index: The index.
        query: As parsed.
        evidence: Of the candidates.
        top_files: Places of the first files among the candidates, best first.
        has_exact_name: Whether a name that the query is about is defined exactly.
        is_placed: Whether a path or frame of the query is here.
        similarity: The best card's, calibrated; 0 without vectors.
    """
    if is_placed or has_exact_name:
        return "found"
    if query.kind in ("path", "symbol") and not _words_of(evidence, top_files, 0.75):
        return "weak" if top_files and _share(evidence, top_files)[1] >= WEAK_IN_FILE else "none"
    in_card, in_file = _share(evidence, top_files)
    if similarity >= FLOOR and in_file >= WEAK_IN_FILE:
        return "found"
    if in_card >= FOUND_IN_CARD and in_file >= FOUND_IN_FILE:
        return "found"
    if in_file >= WEAK_IN_FILE or similarity >= FLOOR:
        return "weak"
    return "none"


def _words_of(evidence: Evidence, top_files: Sequence[int], share: float) -> bool:
    return bool(top_files) and _share(evidence, top_files)[0] >= share


def _share(evidence: Evidence, top_files: Sequence[int]) -> tuple[float, float]:
    """Return the largest shares of the question that one card, and one file with its path, of the first files hold."""
    groups, matches = evidence.groups, evidence.matches
    rarity = np.where(groups.is_part, groups.idf, 0.0)
    total = float(rarity.sum())
    if total <= 0 or not top_files:
        return 0.0, 0.0
    in_card, in_file = covered(matches, groups)
    in_path = np.minimum(1.0, evidence.paths.counts)
    files = np.array(top_files[:N_LOOKED_AT])
    by_file = np.maximum(in_file, in_path)[files] @ rarity / total
    mine = np.isin(matches.card_file, files)
    # A card's path is part of what it says: a method "remove" in session_store.py is about sessions.
    by_card = np.maximum(in_card[mine], in_path[matches.card_file[mine]]) @ rarity / total
    return float(by_card.max(initial=0.0)), float(by_file.max(initial=0.0))
