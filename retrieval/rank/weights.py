"""Weights: how much each piece of evidence counts for a file, and for a card; each name is a term of the score.

By hand, from an experiment on two families of questions; learned weights did no better and fell apart on the other
family. Evidence is a share from 0 to 1 unless its bound is given; with everything at its best a file has about 25.
"""

import importlib.resources
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from codecards.retrieval.query.intent import Intent

SHORT: Mapping[str, float] = {
    "cards": 1.2,  # its eight best cards, as a share of the best file's
    "best_card": 0.6,
    "file_words": 0.5,
    "file_fields": 1.0,  # words by the field they stand in, path included
    "file_name": 1.5,
    "file_name_precision": 0.5,
    "file_name_exact": 1.0,  # 0 to 1.5: the name is a word of the query, two of them, or all
    "file_name_common": 0.0,  # the part of it that is worth less since more files have the name
    "file_name_head": 1.2,
    "file_name_first": 0.4,
    "folder_and_name": 2.0,  # two neighbouring words: session/store for "session store"
    "folders": 3.0,
    "folder_exact": 2.0,  # a compound word of the query is a folder
    "opposite": -2.0,  # the path is about writing where the query is about reading
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
    "old_version": -4.0,
    "copy": -2.0,  # the share of its names that a better file of the same name in another folder has
    "depth": -0.6,  # folders above, beyond those that all files share; 0 to 6
    "header": -1.0,
    "header_with_source": -1.4,
    "entry": 0.2,
    "meaning_file": 2.5,  # a quarter less where `transformer_card` counts in full
    "transformer_card": 4.0,  # the share of the candidates with a deep vector, times a cosine
    "place": 6.0,
    "frame": 3.0,
}
"""For a question of up to six words: a matching file name is strong evidence."""

ASKED_FOLDERS = 1.0
"""Weight of `folders` where a name is asked for: a folder with a word of it says less than a definition of the name."""

LONG: Mapping[str, float] = {
    **SHORT,
    "cards": 2.0,
    "best_card": 0.8,
    "file_name_precision": 0.0,  # of twenty words some are a file's whole name by chance
    "file_name_common": -1.0,  # and most easily a name that many files have
    "file_name_first": 0.2,
    "centrality": 0.0,
    "users": 0.0,
    "documentation_best": 0.3,
    "size": 0.10,
    "test": -3.5,
    "depth": -0.3,
    "entry": 0.0,
    "meaning_file": 3.0,
    "transformer_card": 2.0,  # the model has learned on sentences; of twenty words it makes less
}
"""For a question of ten words and more."""

ISSUE: Mapping[str, float] = {
    "file_fields": 2.5,
    "best_card": 1.5,
    "title_fields": 2.0,
    "title_card": 2.0,
    "code_words": 3.0,
    "span_card": 2.0,  # words between backticks, as a share of the best card's
    "file_name": 4.0,
    "title_file_name": 1.0,
    "file_name_exact": 1.5,  # 0 to 1.5
    "file_name_precision": 0.5,
    "folders": 8.0,
    "title_symbol": 1.0,
    "title_names": 1.0,  # a logarithm, seldom over 2
    "symbol_names": 1.0,
    "symbol_in_code": 0.6,  # ln, 0 to 4
    "symbol_in_text": 0.6,
    "symbol_in_title": 0.5,
    "place": 2.0,
    "module": 0.5,
    "frame": 1.5,
    "in_trace": 1.0,
    "used_by_matches": 4.0,
    "test": -8.0,  # tests repeat what a report says more plainly than the code does
    "side": -1.5,
    "prose": -2.5,
    "made": -2.0,
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
    "meaning": 0.15,  # -3 to 6 standard deviations
    "frame": 6.0,
    "part": -0.3,
    "nameless": -0.15,
    "declaration": -0.1,
}
"""For the cards of a file in the light of a name or a path."""
REPORT: Mapping[str, float] = {
    **CARD,
    "words": 2.0,
    "title_words": 1.0,
    "code_words": 1.0,
    "code_name": 1.0,
    "callable": 0.7,
    "nameless": -1.0,
    "of_tests": -2.0,
}
"""For the cards of a file in the light of a report or a trace: what is to be changed is a function."""
ASKED_SYMBOL = 5.0
"""Weight of `symbol` where the query is a name and nothing else: its definition comes before all uses."""

FUNCTION_BY_HAND: Mapping[str, float] = {"prose": -8.0, "obligatory": -6.0, "message": 24.0}
"""For a question that describes one function: what documentation of functions says nothing about."""


VectorSet = Literal["none", "static", "transformer"]
"""Which vectors take part: none, those of the first lane, or those of the deep lane too."""


@cache
def function_weights(vectors: VectorSet) -> Mapping[str, float]:
    """Return the weights of cards for a question that describes one function, beside the file's own score.

    They were learned (`python -m training --only cards`) on functions of packages that serve in no benchmark, with the
    sign of each given. The more vectors there are, the less the words weigh.
    """
    text = (
        importlib.resources.files("codecards.retrieval.rank").joinpath("card_weights.json").read_text(encoding="utf-8")
    )
    return {**json.loads(text)[vectors], **FUNCTION_BY_HAND}


DEMOTIONS = frozenset({"test", "side", "prose", "made", "old_version"})
"""What puts a file down by what it is."""
DEMOTED_CARDS = 8.0
"""How much more these count where cards are ordered by themselves: what speaks for a card is so much larger than what
speaks for a file, and a test says what it tests more plainly than the code does."""
WITHIN = 0.35
"""How much of these counts for the cards of one file, where a question is after a subject."""
QUOTED = 24.0
"""Weight of `message` where the question reads like an error or a log line."""

FILES_CROWDING, REPORTS_CROWDING, CARDS_CROWDING = 5.0, 0.75, 0.5
"""What every further card of a file loses, by what the order goes by: a subject is better served by several files,
a report by the functions of the right one."""


@dataclass(frozen=True, slots=True)
class CardWeights:
    """How cards are weighed."""

    within: Mapping[str, float]
    """Every term's weight."""
    across: Mapping[str, float]
    """Term → share of it that counts between files too; none for the terms that are not here."""
    diversity_penalty: float
    """What every further card of a file loses."""


def card_weights(
    asked: Intent | Literal["symbol", "path", "report"], *, has_meaning: bool, transformer_share: float = 0.0
) -> CardWeights:
    """Return how cards are weighed for a query.

    Args:
        asked: What a question is after; "symbol" for a name alone, "report" for traces too.
        has_meaning: Whether there are vectors.
        transformer_share: Share of the candidates with a deep vector, 0 to 1.
    """
    if asked == "symbol":
        return CardWeights({**CARD, "symbol": ASKED_SYMBOL}, {}, FILES_CROWDING)
    if asked == "report":
        return CardWeights(REPORT, {}, REPORTS_CROWDING)
    if asked == "path":
        return CardWeights(CARD, {}, FILES_CROWDING)
    weights, share = function_weights("static" if has_meaning else "none"), asked.function
    if transformer_share:
        transformer = function_weights("transformer")
        weights = {
            name: (1 - transformer_share) * weights.get(name, 0.0) + transformer_share * transformer.get(name, 0.0)
            for name in {**transformer, **weights}
        }
    within = {name: (WITHIN + (1 - WITHIN) * share) * weight for name, weight in weights.items()}
    across = dict.fromkeys(weights, share)
    if asked.is_message:
        within["message"], across["message"] = QUOTED, 1.0
    elif not share:
        del within["message"]
    of_files = (1 - share) ** 2  # several functions of one file may do nearly what is described, so this falls first
    return CardWeights(within, across, (1 - of_files) * CARDS_CROWDING + of_files * FILES_CROWDING)


SHORT_WORDS, LONG_WORDS = 6, 10


def weights_for(n_content_words: int) -> Mapping[str, float]:
    """Return the weights of a question with so many words that say something.

    Between six and ten words the two sets are mixed, so that one word more never turns the order over.
    """
    share = min(1.0, max(0.0, (n_content_words - SHORT_WORDS) / (LONG_WORDS - SHORT_WORDS)))
    return {name: (1 - share) * SHORT[name] + share * LONG[name] for name in SHORT}
