"""Weights for one query, from the tables of signals: how much each signal of files and of cards counts."""

import importlib.resources
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from codecards.retrieval.query.intent import Intent
from codecards.retrieval.query.query import Query
from codecards.retrieval.rank.card_signals import CARD_SIGNALS
from codecards.retrieval.rank.file_signals import FILE_SIGNALS, LONG, SHORT
from codecards.retrieval.rank.signals import VectorSet

SHORT_WORDS, LONG_WORDS = 6, 10
"""Content words up to which a question is short, and from which it is long."""

ISSUE_SIGNALS = tuple(row for row in FILE_SIGNALS if row.weights.issue)
SYMBOL: Mapping[str, float] = {row.name: row.weights.symbol for row in FILE_SIGNALS if row.weights.symbol is not None}
"""The weights of a query that is one name, where they differ from `SHORT`."""
ISSUE: Mapping[str, float] = {row.name: row.weights.issue for row in ISSUE_SIGNALS}
TRACE: Mapping[str, float] = {
    row.name: row.weights.issue if row.weights.trace is None else row.weights.trace for row in ISSUE_SIGNALS
}
PATH_CARDS: Mapping[str, float] = {row.name: row.weights.path for row in CARD_SIGNALS if row.weights.path}
SYMBOL_CARDS: Mapping[str, float] = {
    **PATH_CARDS,
    **{row.name: row.weights.symbol for row in CARD_SIGNALS if row.weights.symbol is not None},
}
REPORT_CARDS: Mapping[str, float] = {
    **PATH_CARDS,
    **{row.name: row.weights.report for row in CARD_SIGNALS if row.weights.report is not None},
}
FUNCTION_BY_HAND: Mapping[str, float] = {row.name: row.weights.function for row in CARD_SIGNALS if row.weights.function}
"""For a question that describes one function: signals that documentation of functions can't teach."""
ROLE_PENALTIES = tuple(row.name for row in FILE_SIGNALS if row.is_penalty_of_role)

ROLE_PENALTY_FACTOR = 8.0
"""Factor on `ROLE_PENALTIES` when cards are ranked individually. Card scores are larger than file scores, and a test often
states what code does more plainly than the code."""
IN_FILE = 0.35
"""Share of the function weights that orders the cards of one file if a question is about a subject."""
QUOTED_MESSAGE = 24.0
"""Weight of `message` where the question reads like an error or a log line."""
SUBJECT_DIVERSITY, REPORT_DIVERSITY, FUNCTION_DIVERSITY = 5.0, 0.75, 0.5
"""Diversity penalty per further card of one file, for subject questions, reports and function questions."""


@dataclass(frozen=True, slots=True)
class CardWeights:
    """How the cards of one query are weighted."""

    in_file: Mapping[str, float]
    """Signal → weight, by which the cards of one file are compared."""
    cross_file: Mapping[str, float]
    """Signal → share of its weight (0 to 1) that also compares cards of different files; 0 for signals not named."""
    diversity_penalty: float
    """Subtracted for every further card of one file."""


@cache
def function_weights(vectors: VectorSet) -> Mapping[str, float]:
    """Return the weights of cards for a question that describes one function, as multiples of the file's own score.

    The more vectors there are, the less the words weigh.
    """
    text = importlib.resources.files(__package__).joinpath("card_weights.json").read_text(encoding="utf-8")
    return {**json.loads(text)[vectors], **FUNCTION_BY_HAND}


def file_weights(query: Query) -> Mapping[str, float]:
    """Return signal → weight for the candidate files of a query."""
    if query.is_issue:
        # A diff names its places as exactly as a stack trace does.
        return TRACE if query.kind == "trace" or query.hunks else ISSUE
    weights = question_weights(len(query.content_words))
    if query.kind == "symbol":
        return {**weights, **SYMBOL}
    if query.kind != "question":
        return weights
    # How much of the card scores also compares cards of different files.
    share = 1.0 if query.intent.is_message else query.intent.function
    # A weak sign of a function must not bury documents and examples.
    more = 1 + (ROLE_PENALTY_FACTOR - 1) * share**2
    penalties = {name: more * weights[name] for name in ROLE_PENALTIES}
    # Duplicates of a function are ordered by their cards, not by their files.
    return {**weights, **penalties, "duplicate": (1 - share) * weights["duplicate"]}


def question_weights(n_content_words: int) -> Mapping[str, float]:
    """Return the weights of a question with so many content words.

    Between six and ten words the two sets are mixed, so that one more word never reverses the order.
    """
    share = min(1.0, max(0.0, (n_content_words - SHORT_WORDS) / (LONG_WORDS - SHORT_WORDS)))
    return {name: (1 - share) * SHORT[name] + share * LONG[name] for name in SHORT}


def card_weights(query: Query, *, has_vectors: bool, transformer_share: float = 0.0) -> CardWeights:
    """Return how the cards of a query are weighted.

    Args:
        query: As parsed.
        has_vectors: Whether there are static vectors.
        transformer_share: Share of the candidates with a transformer vector, 0 to 1.
    """
    if query.is_issue:
        return CardWeights(REPORT_CARDS, {}, REPORT_DIVERSITY)
    if query.kind == "symbol":
        return CardWeights(SYMBOL_CARDS, {}, SUBJECT_DIVERSITY)
    if query.kind == "path":
        return CardWeights(PATH_CARDS, {}, SUBJECT_DIVERSITY)
    return question_card_weights(query.intent, has_vectors=has_vectors, transformer_share=transformer_share)


def question_card_weights(intent: Intent, *, has_vectors: bool, transformer_share: float = 0.0) -> CardWeights:
    """Return how the cards of a question are weighted, by what it asks for; the arguments are those of `card_weights`."""
    weights, share = function_weights("static" if has_vectors else "none"), intent.function
    if transformer_share:
        transformer = function_weights("transformer")
        weights = {
            name: (1 - transformer_share) * weights.get(name, 0.0) + transformer_share * transformer.get(name, 0.0)
            for name in {**transformer, **weights}
        }
    in_file = {name: (IN_FILE + (1 - IN_FILE) * share) * weight for name, weight in weights.items()}
    cross_file = dict.fromkeys(weights, share)
    if intent.is_message:
        in_file["message"], cross_file["message"] = QUOTED_MESSAGE, 1.0
    elif not share:
        del in_file["message"]
    # Several functions of one file may do nearly what is described, so this share falls first.
    of_files = (1 - share) ** 2
    diversity_penalty = (1 - of_files) * FUNCTION_DIVERSITY + of_files * SUBJECT_DIVERSITY
    return CardWeights(in_file, cross_file, diversity_penalty)
