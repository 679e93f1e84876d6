"""Term explanations: what a named part of a score means, in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from codecards.retrieval.hits import ScoreTerm
from codecards.retrieval.rank.ranking import ScoredCandidates
from codecards.retrieval.store.columns import Floats, Int64s

_MEANINGS = {
    "cards": "its best cards together, as a share of the best file's",
    "best_card": "its best card, as a share of the best one",
    "file_words": "words of the query in the whole file",
    "file_fields": "words in names, signatures, documentation, path, as a share of the best file's",
    "file_name": "words of the query in the file's name",
    "file_name_precision": "share of the file's name that the query has",
    "file_name_exact": "the file is named like a word of the query",
    "file_name_common": "several files have that name",
    "file_name_head": "the first thing that the query names is in the file's name",
    "file_name_first": "the query's first word is in the file's name",
    "folder_and_name": "folder and file are named like two words of the query that stand side by side",
    "folder_exact": "a folder is named like a word of the query",
    "opposite": "the path names the opposite of what the query asks for",
    "folders": "words of the query in the folders' names",
    "whole_path": "words of the query in the whole path",
    "action_name": "a function's name is much like the query",
    "symbol_name": "a name is much like the query",
    "symbol_names": "names that hold words of the query",
    "symbol": "defines the name that was asked",
    "symbol_in_text": "defines a name in the query",
    "symbol_in_code": "defines a name in the query's code",
    "symbol_in_title": "defines a name in the title",
    "type_in_text": "defines a capitalised name in the query",
    "first_symbol": "defines the first name in the query",
    "used_by_matches": "files that fit the query use it",
    "centrality": "how much of the repository leads here",
    "users": "number of files that use it",
    "documentation": "words of the query in one card's documentation",
    "documentation_best": "the same, as a share of the best file's",
    "size": "number of lines",
    "test": "a test file",
    "side": "examples, vendored, legacy or generated code",
    "prose": "documentation or configuration",
    "made": "generated or vendored",
    "old_version": "a later version lies beside it",
    "copy": "a better file of the same name defines much the same",
    "depth": "folders deep",
    "header": "a header",
    "header_with_source": "a header whose source file is there",
    "entry": "an entry file of its folder",
    "meaning_cards": "similarity of its best cards",
    "meaning_file": "similarity of the file",
    "transformer_card": "deep similarity of its best card",
    "place": "named by its path",
    "frame": "named by a stack frame, or changed by a diff",
    "module": "named as a module",
    "title_fields": "words of the title in the file",
    "title_card": "words of the title in its best card",
    "span_card": "words between backticks in its best card",
    "title_file_name": "words of the title in the file's name",
    "title_symbol": "a name is much like the title",
    "title_names": "names that hold words of the title",
    "in_trace": "a frame of the trace lies in it",
    "code_words": "words of the query's code in the file",
}
_N_WORDS = 8
_BY_WORDS = frozenset(("cards", "best_card", "file_words", "file_fields"))
_BY_PATH = frozenset(("file_name", "folders", "whole_path"))


CARD_MEANINGS: Mapping[str, str] = {
    "words": "words of the query in the card, as a share of the best card",
    "title_words": "words of the title in the card, as a share of the best card",
    "code_words": "words of the query's code in the card, as a share of the best card",
    "code_name": "the card's name is much like the query's code",
    "of_tests": "it belongs to tests that stand beside the code",
    "name": "the card's name is much like the query",
    "card_words": "words of the query in the card, by their rarity among cards, as a share of the best card",
    "name_precision": "share of the words of the card's name that the query has",
    "coverage": "share of the query that the card holds, beyond its path",
    "header": "share of the query in the names of the card, of what is around it, and of its path",
    "signature": "share of the query in the card's first line",
    "nesting": "definitions around the card",
    "parent": "words of the query in the name of what is around the card",
    "message": "the card says this in a string",
    "callable": "something that can be called",
    "type": "a type or module",
    "value": "a variable, constant or field",
    "module_code": "code outside all definitions",
    "prose": "text that is no code",
    "length": "number of lines",
    "symbol": "the card defines a name of the query",
    "meaning": "similarity of the card, beside that of the other candidates",
    "transformer": "deep similarity of the card, beside that of the other candidates",
    "transformer_cosine": "deep similarity to the question itself",
    "frame": "a stack frame lies in the card, or a diff changes it",
    "part": "a later stretch of a long definition",
    "nameless": "no name",
    "obligatory": "a method that types have whatever they are about",
    "declaration": "a declaration without a body",
}
"""Terms of the card within its file."""
_BEST_OF_FILE = "what the file's best card says, as far as the question is after one function or line"


LEAST_CROWDING = 1e-3
"""Less is rounding."""


@dataclass(frozen=True, slots=True)
class HitTerms(Sequence[ScoreTerm]):
    """The terms of one hit, put into words when they are read: most answers are taken without."""

    values: tuple[tuple[str, float], ...]
    """Name and value of each."""
    total: float
    """Their sum: the hit's score."""
    words: tuple[str, ...]
    """Words of the query in the file."""
    path_words: tuple[str, ...]
    """Words of the query in its path."""
    card: tuple[tuple[str, float], ...]
    """What speaks for the card within its file, where the file's best card stands for the file."""

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
        """Return what a term means and which words of the query it rests on."""
        if name == "card":
            # "the card defines a name of the query (+5.00), …"
            parts = sorted(self.card, key=lambda part: -abs(part[1]))
            return ", ".join(f"{CARD_MEANINGS[part]} ({value:+.2f})" for part, value in parts)
        if name in _OF_CARD:
            return _OF_CARD[name]
        meaning = _MEANINGS.get(name, name)
        words = self.words if name in _BY_WORDS else self.path_words if name in _BY_PATH else ()
        return f"{meaning}: {', '.join(words)}" if words else meaning


_OF_CARD = {
    **{f"card_{name}": meaning for name, meaning in CARD_MEANINGS.items()},
    "message": CARD_MEANINGS["message"],
    "best_of_file": _BEST_OF_FILE,
    "diversity": "better cards of the same file are shown already",
}


def hit_terms(ranked: ScoredCandidates, shown: Sequence[tuple[int, int, float]]) -> list[HitTerms]:
    """Return the terms of the cards that are shown.

    What a card adds to its file's score is each of its terms where all of them count between files. Where the file's
    best card stands for the file, the others have less by as much as they are worse.

    Args:
        ranked: What was weighed.
        shown: As `rank_cards` gives it.
    """
    cards, matches, groups = ranked.cards, ranked.evidence.matches, ranked.evidence.groups
    places, files = np.array([place for place, _, _ in shown]), np.array([file for _, file, _ in shown])
    file_values = _columns(ranked.terms, files)
    card_values = _columns(cards.terms, places)
    by_itself = all(cards.shares.get(name) == 1 for name in cards.terms)
    best_of_file = "message" if cards.shares.get("message") == 1 else "best_of_file"
    across, gaps = cards.best_across[files].tolist(), (cards.total[places] - cards.best[files]).tolist()
    first = np.searchsorted(matches.file_cell_file, files).tolist()
    last = np.searchsorted(matches.file_cell_file, files, "right").tolist()
    in_path = ranked.evidence.paths.counts[files] > 0
    found: list[HitTerms] = []
    for row, (_, _, score) in enumerate(shown):
        values = [(name, column[row]) for name, column in file_values if column[row]]
        of_card = [(name, column[row]) for name, column in card_values if column[row]]
        if by_itself:
            values += [(f"card_{name}", value) for name, value in of_card]
        else:
            values += [(best_of_file, across[row])] if across[row] else []
            values.append(("card", gaps[row]))
        # What is left is what a further card of the same file loses.
        total = sum([value for _, value in values])
        if (diversity_penalty := score - total) < -LEAST_CROWDING:
            values.append(("diversity", diversity_penalty))
            total += diversity_penalty
        words = matches.file_cell_group[first[row] : last[row]][:_N_WORDS].tolist()
        path_words = in_path[row].nonzero()[0][:_N_WORDS].tolist()
        words, path_words = (tuple(groups.terms[group].token for group in some) for some in (words, path_words))
        found.append(HitTerms(tuple(values), total, words, path_words, () if by_itself else tuple(of_card)))
    return found


def _columns(terms: Mapping[str, Floats], rows: Int64s) -> list[tuple[str, list[float]]]:
    """Return name and values of some rows."""
    return [(name, values[rows].tolist()) for name, values in terms.items()]
