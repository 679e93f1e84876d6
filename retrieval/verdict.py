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
from codecards.retrieval.text_evidence import FIELD_NAME

Verdict = Literal["found", "weak", "none"]

FLOOR = 0.70
"""Calibrated similarity from which meaning alone is an answer (S2-27)."""
FOUND_IN_CARD, FOUND_IN_FILE = 0.55, 0.7
"""Shares of a short question, by rarity of its words, that a card and its file must hold."""
LONG_IN_CARD, LONG_IN_FILE = 0.25, 0.45
"""The same for a question of many words: in no answer are all of them, and few are in a file by chance."""
SHORT_PARTS, LONG_PARTS = 4, 14
SUPPORT_IN_FILE, SUPPORT_A_PART, LEAST_SUPPORT = 0.75, 0.05, 0.4
"""Share of the question that a file must hold for meaning to make it an answer, less by so much for each of its words,
down to so much: vectors alone are too easily pleased, and of three words one is in some file by chance."""
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
    in_card, in_file = _share(evidence, top_files)
    if query.kind == "symbol":
        return "found" if _is_named(index, evidence) else "weak" if in_file >= WEAK_IN_FILE else "none"
    if query.kind == "path":
        return "weak" if in_file >= WEAK_IN_FILE else "none"
    n_parts = int(np.count_nonzero(evidence.groups.is_part))
    if similarity >= FLOOR and in_file >= max(LEAST_SUPPORT, SUPPORT_IN_FILE - SUPPORT_A_PART * n_parts):
        return "found"
    length = min(1.0, max(0.0, (n_parts - SHORT_PARTS) / (LONG_PARTS - SHORT_PARTS)))
    enough_in_card = FOUND_IN_CARD + length * (LONG_IN_CARD - FOUND_IN_CARD)
    enough_in_file = FOUND_IN_FILE + length * (LONG_IN_FILE - FOUND_IN_FILE)
    if in_card >= enough_in_card and in_file >= enough_in_file:
        return "found"
    if in_file >= WEAK_IN_FILE or similarity >= FLOOR:
        return "weak"
    return "none"


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


def _share(evidence: Evidence, top_files: Sequence[int]) -> tuple[float, float]:
    """Return the largest shares of the question that one card, and one file with its path, of the first files hold."""
    groups, matches = evidence.groups, evidence.matches
    rarity = np.where(groups.is_part, groups.idf, 0.0)
    total = float(rarity.sum())
    if total <= 0 or not top_files:
        return 0.0, 0.0
    files = np.array(top_files[:N_LOOKED_AT])
    in_path = np.minimum(1.0, evidence.paths.counts[files])
    by_file, by_card = [0.0], [0.0]
    for place, file in enumerate(files.tolist()):
        # A file's path is part of what its cards say: a method "remove" in session_store.py is about sessions.
        unsaid = rarity * (1 - in_path[place])
        said = float(rarity @ in_path[place])
        mine = matches.card_file == file
        by_card.append(said + float(matches.card_shares(unsaid)[mine].max(initial=0.0)))
        by_file.append(said + float(unsaid[matches.file_cell_group[matches.file_cell_file == file]].sum()))
    return max(by_card) / total, max(by_file) / total
