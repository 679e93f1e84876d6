"""Term explanations: what a named part of a score means, in words."""

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from codecards.retrieval.card_choice import CardScores
from codecards.retrieval.file_evidence import Evidence
from codecards.retrieval.hits import ScoreTerm

_MEANINGS = {
    "cards": "its best cards together, as a share of the best file's",
    "best_card": "its best card, as a share of the best one",
    "file_words": "words of the query in the whole file",
    "file_fields": "words in names, signatures, documentation, path, as a share of the best file's",
    "file_name": "words of the query in the file's name",
    "file_name_precision": "share of the file's name that the query has",
    "file_name_exact": "the file is named like a word of the query",
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
    "depth": "folders deep",
    "header": "a header",
    "header_with_source": "a header whose source file is there",
    "entry": "an entry file of its folder",
    "meaning_cards": "similarity of its best cards",
    "meaning_file": "similarity of the file",
    "place": "named by its path",
    "frame": "named by a stack frame, or changed by a diff",
    "module": "named as a module",
    "title_fields": "words of the title in the file",
    "title_card": "words of the title in its best card",
    "title_file_name": "words of the title in the file's name",
    "title_symbol": "a name is much like the title",
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
    "coverage": "share of the query that the card holds, beyond its path",
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
    "frame": "a stack frame lies in the card, or a diff changes it",
    "part": "a later stretch of a long definition",
    "nameless": "no name",
    "declaration": "a declaration without a body",
}
"""Terms of the card within its file."""
_BEST_OF_FILE = "what the file's best card says, as far as the question is after one function or line"


def card_terms(cards: CardScores, place: int) -> list[ScoreTerm]:
    """Return what a card adds to its file's score: each term by itself where all of them count between files.

    Where the file's best card stands for the file, the others have less by as much as they are worse.
    """
    file = cards.card_file[place]
    if all(cards.shares.get(name) == 1 for name in cards.terms):
        return [
            ScoreTerm(f"card_{name}", float(values[place]), CARD_MEANINGS[name])
            for name, values in cards.terms.items()
            if values[place]
        ]
    parts = []
    if cards.best_across[file]:
        is_quoted = cards.shares.get("message") == 1
        name, meaning = ("message", CARD_MEANINGS["message"]) if is_quoted else ("best_of_file", _BEST_OF_FILE)
        parts.append(ScoreTerm(name, float(cards.best_across[file]), meaning))
    gap = float(cards.total[place] - cards.best[file])
    return [*parts, ScoreTerm("card", gap, explain_card(cards, place))]


def explain_card(cards: CardScores, place: int) -> str:
    """Return what speaks for a card within its file: "the card defines a name of the query (+5.00), …"."""
    parts = [(float(values[place]), name) for name, values in cards.terms.items() if values[place]]
    parts.sort(key=lambda part: -abs(part[0]))
    return ", ".join(f"{CARD_MEANINGS[name]} ({value:+.2f})" for value, name in parts)


class Explanation:
    """Explains the terms of one file."""

    def __init__(self, evidence: Evidence, file: int) -> None:
        """Take the evidence and the file's place among the candidates."""
        self._evidence = evidence
        self._file = file

    def of(self, name: str) -> str:
        """Return what a term means and which words of the query it rests on."""
        meaning = _MEANINGS.get(name, name)
        words = self._words if name in _BY_WORDS else self._path_words if name in _BY_PATH else ""
        return f"{meaning}: {words}" if words else meaning

    @cached_property
    def _words(self) -> str:
        matches = self._evidence.matches
        groups = np.sort(matches.file_cell_group[matches.file_cell_file == self._file])
        return ", ".join(self._evidence.groups.terms[group].token for group in groups[:_N_WORDS].tolist())

    @cached_property
    def _path_words(self) -> str:
        groups = np.flatnonzero(self._evidence.paths.counts[self._file] > 0)
        return ", ".join(self._evidence.groups.terms[group].token for group in groups[:_N_WORDS].tolist())
