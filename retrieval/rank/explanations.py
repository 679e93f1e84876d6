"""Explanations: the terms of a hit's score, each with a sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from codecards.retrieval.hits import ScoreTerm
from codecards.retrieval.rank.card_ranking import RankedCard
from codecards.retrieval.rank.card_signals import CARD_SIGNALS
from codecards.retrieval.rank.file_signals import FILE_SIGNALS
from codecards.retrieval.rank.ranking import ScoredCandidates
from codecards.retrieval.store.columns import Floats, Int64s

MIN_DIVERSITY_PENALTY = 1e-3
"""A smaller difference is rounding."""
_N_WORDS = 8
"""Words that an explanation lists."""
_FILE_ROWS = {row.name: row for row in FILE_SIGNALS}
_CARD_SAYS = {row.name: row.says for row in CARD_SIGNALS}
_OTHER_SAYS = {
    **{row.term: row.says for row in CARD_SIGNALS},
    "message": _CARD_SAYS["message"],
    "best_of_file": "the score of the file's best card, as far as the question is about one function or line",
    "diversity": "better cards of the same file are shown before it",
}
"""Sentences of the terms that are not file signals."""


@dataclass(frozen=True, slots=True)
class HitTerms(Sequence[ScoreTerm]):
    """The score terms of one hit; their text is built lazily, since few callers read it."""

    values: tuple[tuple[str, float], ...]
    """Name and value of each."""
    total: float
    """Sum of the values: the score of the hit."""
    words: tuple[str, ...]
    """Words of the query in the file."""
    path_words: tuple[str, ...]
    """Words of the query in its path."""
    card: tuple[tuple[str, float], ...]
    """Card signals and their terms within the file, if the term "card" sums them up."""

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> ScoreTerm: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[ScoreTerm]: ...

    def __getitem__(self, index: int | slice) -> ScoreTerm | Sequence[ScoreTerm]:
        if isinstance(index, slice):
            return tuple(ScoreTerm(name, value, self._detail(name)) for name, value in self.values[index])
        name, value = self.values[index]
        return ScoreTerm(name, value, self._detail(name))

    def _detail(self, name: str) -> str:
        """Return the sentence of a term, with the words of the query that it rests on."""
        if name == "card":
            # "the card defines a name of the query (+5.00), …"
            parts = sorted(self.card, key=lambda part: -abs(part[1]))
            return ", ".join(f"{_CARD_SAYS[part]} ({value:+.2f})" for part, value in parts)
        if name in _OTHER_SAYS:
            return _OTHER_SAYS[name]
        row = _FILE_ROWS[name]
        words = self.words if row.lists == "words" else self.path_words if row.lists == "path_words" else ()
        return f"{row.says}: {', '.join(words)}" if words else row.says


def hit_terms(ranked: ScoredCandidates, shown: Sequence[RankedCard]) -> list[HitTerms]:
    """Return the terms of the cards that are shown.

    Where all card signals compare cards of different files in full, each of them is a term. Elsewhere the best card of a
    file has the score of the file, and the term "card" of any other card is its distance from the best one.

    Args:
        ranked: The scored candidates.
        shown: As returned by `rank_cards`.
    """
    cards, matches = ranked.cards, ranked.evidence.matches
    places, files = np.array([one.card for one in shown]), np.array([one.file for one in shown])
    file_values, card_values = _columns(ranked.terms, files), _columns(cards.terms, places)
    is_individual = all(cards.shares.get(name) == 1 for name in cards.terms)
    best_of_file = "message" if cards.shares.get("message") == 1 else "best_of_file"
    across, gaps = cards.best_cross_file[files].tolist(), (cards.total[places] - cards.best[files]).tolist()
    first = np.searchsorted(matches.file_cell_file, files).tolist()
    last = np.searchsorted(matches.file_cell_file, files, "right").tolist()
    in_path = ranked.evidence.paths.counts[files] > 0
    found: list[HitTerms] = []
    for row, one in enumerate(shown):
        values = [(name, column[row]) for name, column in file_values if column[row]]
        of_card = [(name, column[row]) for name, column in card_values if column[row]]
        if is_individual:
            values += [(f"card_{name}", value) for name, value in of_card]
        else:
            values += [(best_of_file, across[row])] if across[row] else []
            values.append(("card", gaps[row]))
        total = sum([value for _, value in values])
        if (diversity_penalty := one.score - total) < -MIN_DIVERSITY_PENALTY:
            values.append(("diversity", diversity_penalty))
            total += diversity_penalty
        words = _tokens(ranked, matches.file_cell_group[first[row] : last[row]])
        path_words = _tokens(ranked, in_path[row].nonzero()[0])
        found.append(HitTerms(tuple(values), total, words, path_words, () if is_individual else tuple(of_card)))
    return found


def _tokens(ranked: ScoredCandidates, groups: Int64s) -> tuple[str, ...]:
    """Return the tokens of the first few of some groups."""
    return tuple(ranked.evidence.groups.terms[group].token for group in groups[:_N_WORDS].tolist())


def _columns(terms: Mapping[str, Floats], rows: Int64s) -> list[tuple[str, list[float]]]:
    """Return name and values of some rows."""
    return [(name, values[rows].tolist()) for name, values in terms.items()]
