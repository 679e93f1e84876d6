"""Weights: how much each piece of evidence counts for a file; each name is a term of the score.

By hand, from an experiment on two families of questions; learned weights did no better and fell apart on the other
family. Evidence is a share from 0 to 1 unless its bound is given; with everything at its best a file has about 25.
"""

from collections.abc import Mapping

SHORT: Mapping[str, float] = {
    "cards": 1.2,  # its eight best cards, as a share of the best file's
    "best_card": 0.6,
    "file_words": 0.5,
    "file_fields": 1.0,  # words by the field they stand in, path included
    "file_name": 1.5,
    "file_name_precision": 0.5,
    "file_name_exact": 1.0,  # 0 to 1.5: the name is a word of the query, two of them, or all
    "file_name_head": 1.2,
    "file_name_first": 0.4,
    "folders": 3.0,
    "whole_path": 0.7,
    "action_name": 1.6,
    "symbol_name": 0.3,
    "symbol_names": 0.2,  # a logarithm, seldom over 3
    "symbol": 3.3,  # 0 to 2: the one word that was asked defines something here
    "symbol_in_text": 0.4,  # 0 to 6: names in a question that are written as only code is
    "type_in_text": 1.0,  # 0 to 6: capitalised names
    "first_symbol": 0.2,
    "used_by_matches": 1.6,
    "centrality": 0.15,  # ln of PageRank over its average, -4 to 5
    "users": 0.08,  # ln of their number, 0 to 7
    "documentation": 0.8,
    "documentation_best": 0.4,
    "size": 0.15,  # ln of lines, 0 to 11
    "test": -2.4,
    "side": -0.9,
    "prose": -2.5,
    "made": -1.5,
    "old_version": -3.0,
    "depth": -0.5,  # folders above, beyond those that all files share; 0 to 6
    "header": -1.0,
    "header_with_source": -1.4,
    "entry": 0.4,
    "meaning_cards": 0.5,  # -2 to 2.6: cosines of its four best cards
    "meaning_file": 2.5,
    "place": 6.0,
    "frame": 3.0,
}
"""For a question of up to six words: a matching file name is strong evidence."""

LONG: Mapping[str, float] = {
    **SHORT,
    "cards": 2.0,
    "best_card": 0.8,
    "file_name_precision": 0.25,
    "file_name_first": 0.2,
    "centrality": 0.0,
    "users": 0.0,
    "documentation_best": 0.3,
    "size": 0.10,
    "test": -3.5,
    "depth": -0.3,
    "meaning_cards": 0.4,
    "meaning_file": 3.0,
}
"""For a question of ten words and more."""

ISSUE: Mapping[str, float] = {
    "file_fields": 2.5,
    "best_card": 1.5,
    "title_fields": 2.0,
    "title_card": 2.0,
    "code_words": 3.0,
    "file_name": 4.0,
    "title_file_name": 1.0,
    "folders": 8.0,
    "title_symbol": 1.0,
    "symbol_names": 1.0,
    "symbol_in_code": 0.6,  # ln, 0 to 4
    "symbol_in_text": 0.6,
    "place": 2.0,
    "module": 0.5,
    "frame": 0.5,
    "used_by_matches": 6.0,
    "test": -3.0,
    "side": -1.2,
    "prose": -2.0,
    "made": -1.5,
    "entry": -0.8,
    "old_version": -1.0,
    "meaning_file": 2.0,
    "meaning_cards": 0.5,
}
"""For an issue's text."""

TRACE: Mapping[str, float] = {**ISSUE, "frame": 8.0, "place": 0.0}
"""For a stack trace with little else: its frames are the answer, the innermost first."""

CARD: Mapping[str, float] = {
    "words": 3.0,  # as a share of the best card's
    "name": 1.0,
    "symbol": 0.8,  # 0 to 2
    "meaning": 1.0,
    "frame": 6.0,
    "part": -0.3,
    "nameless": -0.15,
    "declaration": -0.1,
}
"""For choosing the card that is shown for a file. What its words say counts most: in questions and reports alike, a
higher weight of names or documentation chose the right function less often."""
ASKED_SYMBOL = 5.0
"""Weight of `symbol` where the query is a name and nothing else: its definition comes before all uses."""

SHORT_WORDS, LONG_WORDS = 6, 10


def weights_for(n_content_words: int) -> Mapping[str, float]:
    """Return the weights of a question with so many words that say something.

    Between six and ten words the two sets are mixed, so that one word more never turns the order over.
    """
    share = min(1.0, max(0.0, (n_content_words - SHORT_WORDS) / (LONG_WORDS - SHORT_WORDS)))
    return {name: (1 - share) * SHORT[name] + share * LONG[name] for name in SHORT}
