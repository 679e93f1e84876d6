"""Expands a query word to related words of the vocabulary, each with a strength."""

from codecards.retrieval.query.words import abbreviations
from codecards.retrieval.store.vocabulary import Vocabulary

MAX_EXPANSIONS = 12
SHORTEST = 4
"""Length of the prefix that related words share."""
NEAR, FAR = 0.6, 0.5
"""Strength of a word that is up to four letters longer, and of a more distant relative."""
ABBREVIATED = 0.7
JOINED = 0.8
"""Strength of a compound that the question writes as one word: ratelimit → rate_limit."""
MAX_CACHED = 20_000


class Expander:
    """Expands words by binary search and caches the results. Safe for several threads."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._known: dict[tuple[str, bool], tuple[tuple[int, float], ...]] = {}

    def expand(self, word: str, *, relatives: bool = True) -> tuple[tuple[int, float], ...]:
        """Return (word id, strength from 0 to 1) for a stem and its related words; the stem itself comes first with 1.

        Args:
            word: A stem as returned by `word_tokens`.
            relatives: Whether words other than the stem and its compound form count.
        """
        key = (word, relatives)
        found = self._known.get(key)
        if found is None:
            if len(self._known) > MAX_CACHED:
                self._known.clear()
            found = self._known[key] = self._find(word, relatives=relatives)
        return found

    def _find(self, word: str, *, relatives: bool) -> tuple[tuple[int, float], ...]:
        vocabulary = self._vocabulary
        found: dict[int, float] = {}
        own = vocabulary.find(word)
        if own >= 0:
            found[own] = 1.0
        if word.startswith("="):
            return tuple(found.items())
        compound = vocabulary.find("=" + word)
        if compound >= 0:
            found[compound] = JOINED
        if not relatives:
            return tuple(found.items())
        for word_id, strength in self._relatives(word):
            found.setdefault(word_id, strength)
        return tuple(found.items())

    def _relatives(self, word: str) -> list[tuple[int, float]]:
        """Return the strongest relatives of a stem; of equally strong ones, the nearest in length first."""
        vocabulary = self._vocabulary
        others: list[tuple[float, int, int]] = []
        for other in abbreviations().get(word, ()):
            word_id = vocabulary.find(other)
            if word_id >= 0:
                others.append((-ABBREVIATED, 0, word_id))
        if len(word) >= SHORTEST and word.isascii() and word.isalpha():
            for word_id in vocabulary.starting_with(word[:SHORTEST]):
                other = vocabulary[word_id]
                strength = relation(word, other)
                if strength and other != word:
                    others.append((-strength, abs(len(other) - len(word)), word_id))
        return [(word_id, -strength) for strength, _, word_id in sorted(others)[:MAX_EXPANSIONS]]


def relation(word: str, other: str) -> float:
    """Return the strength with which one stem stands for another, 0 for unrelated stems.

    Relates "valid" and "validat", "rout" and "router"; wrongly also "inter" and "internet".
    """
    shorter, longer = (word, other) if len(word) <= len(other) else (other, word)
    if len(shorter) < SHORTEST:
        return 0.0
    more = len(longer) - len(shorter)
    if longer.startswith(shorter):
        return NEAR if more <= 4 else FAR if more <= 5 else 0.0
    common = _n_common(shorter, longer)
    return FAR if common >= 5 and common >= len(shorter) - 1 and len(longer) - common <= 3 else 0.0


def _n_common(first: str, second: str) -> int:
    count = 0
    for left, right in zip(first, second, strict=False):
        if left != right:
            break
        count += 1
    return count
