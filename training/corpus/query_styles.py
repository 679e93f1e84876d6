"""Rewrites documentation sentences by rule into the styles in which people ask.

A model trained on docstrings as they are gains three times as much on docstrings as on anything else, so the style of each
example is drawn at random.
"""

import random
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from codecards.indexer.cards.embedded_text import split_identifiers
from training.corpus.pairs import TextPair

STYLES: Mapping[str, float] = {
    "sentence": 36,
    "question": 20,
    "keywords": 12,
    "name": 8,
    "issue": 8,
    "rest": 8,
    "chinese": 8,
}
"""Style → its weight in the draw."""
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_STOP_WORDS = frozenset(
    """a an the of to for in on by with from and or is are be this that it its as at into if when which given will can
    should not all any other used using use may has have was were you your we""".split()
)
_THIRD_PERSON = re.compile(r"^(\w+?)(sses|shes|ches|xes|zes|ies|s)$")
_QUESTIONS = (
    "where is the code that {}",
    "which function {}s",
    "how does it {}",
    "where do we {}",
    "how to {}",
    "how is it done: {}",
    "find the code to {}",
    "where is {} implemented",
    "what is used to {}",
    "{}",
)
_NOUN_QUESTIONS = (
    "where is the {}",
    "what is the {}",
    "where is {} defined",
    "{} implementation",
    "how does the {} work",
)
_CHINESE_QUESTIONS = ("在哪里{}", "如何{}", "{}的实现", "怎么{}", "哪个函数{}", "{}在哪", "{}的代码在哪里", "{}")
_ISSUES = (
    "{} does not work",
    "Bug: {} fails",
    "{} raises an error",
    "unexpected behavior: {}",
    "{} is broken after upgrade",
    "Fix: {}",
    "add support to {}",
    "{} returns wrong result",
    "improve {}",
    "regression in {}",
    "crash when trying to {}",
)


def make_query(pair: TextPair, rng: random.Random, styles: Mapping[str, float] = STYLES) -> str:
    """Return a question for a pair's code, in a style drawn by the weights."""
    if _CHINESE.search(pair.sentence):
        text = pair.sentence.rstrip("。.")
        return rng.choice(_CHINESE_QUESTIONS).format(text) if rng.random() < 0.5 else text
    style = rng.choices(list(styles), list(styles.values()))[0]
    sentence = pair.sentence.rstrip(".")
    query = {
        "question": lambda: as_question(sentence, rng),
        "keywords": lambda: as_keywords(sentence, rng),
        "name": lambda: as_name(pair.name),
        "issue": lambda: rng.choice(_ISSUES).format(_lower_first(base_form(sentence)[1])),
        "rest": lambda: " ".join(pair.rest.split()[:50]) if len(pair.rest.split()) > 4 else "",
        "chinese": lambda: as_chinese_words(sentence, rng),
    }.get(style, str)()
    return query or sentence


def as_name(name: str) -> str:
    """Return a qualified name as distinct words; "" if there is only one."""
    words = dict.fromkeys(split_identifiers(name.replace(".", " ")).lower().split())
    return " ".join(words) if len(words) > 1 else ""


def as_question(sentence: str, rng: random.Random) -> str:
    """Return a sentence as a question: "Returns the open files" → "how does it return the open files"."""
    is_verb, text = base_form(sentence)
    return rng.choice(_QUESTIONS if is_verb else _NOUN_QUESTIONS).format(_lower_first(text)) + rng.choice(("", "?"))


def as_keywords(sentence: str, rng: random.Random) -> str:
    """Return two to seven content words of a sentence, in their order."""
    words = [word for word in re.findall(r"[\w.]+", sentence.lower()) if word not in _STOP_WORDS]
    kept = sorted(rng.sample(range(len(words)), min(len(words), rng.randint(2, 7))))
    return " ".join(words[index] for index in kept) or sentence


def base_form(sentence: str) -> tuple[bool, str]:
    """Return whether a sentence seems to start with a verb, and the sentence with the verb's base form.

    "Returns the size" → (True, "Return the size"); "The size" → (False, "size").
    """
    first, _, others = sentence.partition(" ")
    match = _THIRD_PERSON.match(first)
    if first.lower() in {"the", "a", "an"}:
        return False, others
    if match and not first.lower().endswith(("ss", "us", "is")):
        stem, ending = match[1], match[2]
        base = stem + {"ies": "y", "s": ""}.get(ending, ending.removesuffix("es"))
        return True, f"{base} {others}"
    starts_object = others.partition(" ")[0].lower() in {"the", "a", "an", "all", "this", "whether", "if", "to", "from"}
    return starts_object, sentence


def as_chinese_words(sentence: str, rng: random.Random) -> str:
    """Return a Chinese question from the words of an English sentence that the list translates; "" if fewer than two."""
    chinese = _english_to_chinese()
    found = [rng.choice(chinese[word]) for word in _stems(sentence) if word in chinese]
    return rng.choice(_CHINESE_QUESTIONS).format("".join(found)) if len(found) > 1 else ""


@cache
def terms() -> tuple[tuple[str, str], ...]:
    """Return the hand-written (Chinese, English) pairs."""
    path = Path(__file__).parent / "terms_zh.toml"
    return tuple(tomllib.loads(path.read_text(encoding="utf-8"))["terms"].items())


@cache
def _english_to_chinese() -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for chinese, english in terms():
        for word in english.split():
            table.setdefault(word, []).append(chinese)
    return table


def _stems(sentence: str) -> list[str]:
    words = re.findall(r"[a-z]+", split_identifiers(sentence).lower())
    known = _english_to_chinese()
    return [word if word in known else word.removesuffix("s") for word in words]


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text
