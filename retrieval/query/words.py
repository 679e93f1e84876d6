"""Word lists: stop words, abbreviations and other words that reading a query needs, from the two files beside it."""

import tomllib
from collections import defaultdict
from functools import cache
from importlib.resources import files
from typing import Any

from codecards.indexer.cards.words import stem


@cache
def stop_words() -> frozenset[str]:
    """Return English function words, question words, and verbs that people ask about code with."""
    return _words("stop_words")


@cache
def soft_stop_words() -> frozenset[str]:
    """Return stop words that are words of code too; a question of few other words keeps them."""
    return _words("soft_stop_words")


@cache
def report_stop_words() -> frozenset[str]:
    """Return the stop words of a report: also the words that reports have whatever they are about."""
    return stop_words() | _words("report_stop_words")


@cache
def form_words() -> frozenset[str]:
    """Return the words of the headings of report forms, all stop words of reports included."""
    return report_stop_words() | _words("form_words")


@cache
def prepositions() -> frozenset[str]:
    """Return the prepositions and conjunctions that end the head of a question."""
    return _words("prepositions")


@cache
def stop_pairs() -> frozenset[str]:
    """Return pairs of Chinese, Japanese or Korean characters that ask, and do not name a subject."""
    return _words("stop_pairs")


@cache
def stop_characters() -> frozenset[str]:
    """Return characters of particles; a pair with one of them spans the end of a word."""
    return _words("stop_characters")


@cache
def abbreviations() -> dict[str, tuple[str, ...]]:
    """Return stem → stems with the same meaning: abbreviations in both directions, and irregular forms of verbs."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for forms in _lines("irregular_verbs", "forms"):
        verb, *others = (stem(word) for word in forms.split())
        for other in others:
            found[other][verb] = None
    for pair in _lines("abbreviations", "pairs"):
        short, long = (stem(word) for word in pair.split())
        if short != long:
            found[short][long] = None
            found[long][short] = None
    return {word: tuple(others) for word, others in found.items()}


@cache
def everyday_words() -> dict[str, tuple[str, ...]]:
    """Return stem of an everyday word → stems that code uses for it, in one direction; from `everyday_words.toml`."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for line in _everyday()["lines"].strip().splitlines():
        word, _, others = line.partition(":")
        found[stem(word)] |= dict.fromkeys(other for other in map(stem, others.split()) if other != stem(word))
    return {word: tuple(others) for word, others in found.items()}


@cache
def everyday_strength() -> float:
    """Return how surely code's word stands for the everyday word."""
    return float(_everyday()["strength"])


@cache
def opposites() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Return stem → (stems of the same role, stems of the opposite role)."""
    found: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for pair in _lines("opposites", "pairs"):
        first, second = (frozenset(map(stem, side.split())) for side in pair.split(","))
        found |= dict.fromkeys(first - second, (first - second, second - first))
        found |= dict.fromkeys(second - first, (second - first, first - second))
    return found


@cache
def english_verbs() -> tuple[frozenset[str], frozenset[str]]:
    """Return the verbs that describe functions, British spellings included, and those that are nouns of code as well."""
    text = (files(__package__) / "english_verbs.txt").read_text(encoding="utf-8")
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    verbs = {row[0] for row in rows}
    british = {verb.removesuffix("ize") + "ise" for verb in verbs if verb.endswith("ize")}
    return frozenset(verbs | british), frozenset(row[0] for row in rows if row[1:] == ["noun"])


@cache
def _everyday() -> dict[str, Any]:
    text = (files(__package__) / "everyday_words.toml").read_text(encoding="utf-8")
    table: dict[str, Any] = tomllib.loads(text)["everyday"]
    return table


def _words(table: str) -> frozenset[str]:
    return frozenset(_tables()[table]["words"].split())


def _lines(table: str, key: str) -> list[str]:
    return _tables()[table][key].strip().splitlines()


@cache
def _tables() -> dict[str, dict[str, str]]:
    return tomllib.loads((files(__package__) / "english_words.toml").read_text(encoding="utf-8"))
