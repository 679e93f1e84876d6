"""Query intent: how surely a text describes one function, and whether it quotes a message.

"Convert a row to bytes", "where are expired sessions removed" and "the number of chunks along each axis" describe one
function; "how does routing work" and "query parameters" ask for the files about a subject; "index must not be negative"
quotes the line that says it. A description ranks cards individually; a subject ranks the best files, one card each. The
result is a share, and weights change in proportion to it, so that no single word reverses an order.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from codecards.retrieval.query.words import english_verbs


@dataclass(frozen=True, slots=True)
class Intent:
    """What a question is after."""

    function: float
    """How surely it describes one function, 0 to 1; 0 for a subject."""
    is_message: bool
    """Whether it reads like an error or a line of a log."""


SUBJECT = Intent(function=0.0, is_message=False)

_ACTION_WORDS, _ASKED_WORDS = 3, 2
"""Fewest words that are read as an action: alone ("load file" may be a name), and after "how to" and the like."""
_TRANSFER_WORDS = 4
"""Fewest words of a text like "copy single file to remote"."""
_PASSIVE_WORDS = 10
"""Most words of "where is … removed" that ask for one place; a longer question describes a subject."""
_LONG_WORDS = 8
"""Words from which a text without any other sign may describe a function."""
_DESCRIBED, _STATED, _LONG_SHARE, _PLAIN_SHARE = 1.0, 0.5, 0.2, 0.03
"""How surely a text describes one function: if it begins like a description, if it is a sentence, if it is long, else."""
_ENDINGS = (("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("zes", "z"), ("ies", "y"))
"""Endings of the third person, and what the verb ends with."""
_INSIDE_A_NAME = ("-", "_", ".", "(")
"""What follows a word that is part of a name: "on-demand", "load_file", "sort.py", "run(…"."""

_word = re.compile(r"[a-z']+")
_conjunction = re.compile(r"^(?:and|or) ([a-z']+)")
_question_word = re.compile(r"^(?:how|where|what|which|why|when|who)\b")


@dataclass(frozen=True, slots=True)
class _Patterns:
    """One pattern for each table of `intent_phrases.toml`."""

    asking: re.Pattern[str]
    passive: re.Pattern[str]
    objects: re.Pattern[str]
    determiners: re.Pattern[str]
    directions: re.Pattern[str]
    complaints: re.Pattern[str]
    descriptions: re.Pattern[str]
    statements: re.Pattern[str]


def intent_of(text: str) -> Intent:
    """Return what a question is after."""
    lowered = " ".join(text.lower().split())
    if _asks_for_action(lowered):
        return Intent(1.0, False)
    if _question_word.match(lowered):
        return Intent(0.0, False)
    # "number of items must be at least one" begins like a description, and is an error.
    is_message = bool(_patterns().complaints.search(lowered))
    return Intent(min(_description(lowered), _STATED if is_message else 1.0), is_message)


def _description(lowered: str) -> float:
    """Return how surely a text that is not a question describes one function."""
    n_words = len(lowered.split())
    if n_words < _ACTION_WORDS:
        return 0.0
    if _patterns().descriptions.match(lowered):
        return _DESCRIBED
    if _patterns().statements.search(lowered) or _states_transfer(lowered):
        return _STATED
    return _LONG_SHARE if n_words >= _LONG_WORDS else _PLAIN_SHARE


def _states_transfer(lowered: str) -> bool:
    """Return whether a text has a verb, which may also be a noun, and a direction: "copy single file to remote"."""
    first = _word.match(lowered)
    if first is None or len(lowered.split()) < _TRANSFER_WORDS:
        return False
    if lowered[first.end() :].startswith(_INSIDE_A_NAME):
        return False
    return bool(_base_forms(first[0])) and bool(_patterns().directions.search(lowered))


def _asks_for_action(lowered: str) -> bool:
    """Return whether a text asks for what is done: "how to …", "returns the …", "where is … removed"."""
    rest = _patterns().asking.sub("", lowered)
    first = _word.match(rest)
    verbs = _base_forms(first[0]) if first else frozenset()
    least = _ACTION_WORDS if rest == lowered else _ASKED_WORDS
    if first is None or not verbs or len(rest.split()) < least:
        return len(lowered.split()) <= _PASSIVE_WORDS and bool(_patterns().passive.match(lowered))
    after = rest[first.end() :]
    if after.startswith(_INSIDE_A_NAME):
        return False
    if rest != lowered:
        return True
    after = after.strip()
    if second := _conjunction.match(after):
        return bool(_base_forms(second[1])) and bool(_patterns().determiners.search(after))
    _, also_nouns = english_verbs()
    return not verbs & also_nouns or bool(_patterns().objects.match(after))


def _base_forms(word: str) -> frozenset[str]:
    """Return the verbs that a word may be: "returns" → return; none for other words."""
    forms = {word}
    ending = next(((old, new) for old, new in _ENDINGS if word.endswith(old)), None)
    if ending is not None:
        forms = {word.removesuffix(ending[0]) + ending[1]}
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        forms.add(word.removesuffix("s"))
    verbs, _ = english_verbs()
    return frozenset(forms) & verbs


@cache
def _patterns() -> _Patterns:
    """Return the patterns of all tables, compiled when the first question is read."""
    tables = tomllib.loads((files(__package__) / "intent_phrases.toml").read_text(encoding="utf-8"))
    phrases = {name: "|".join(table["phrases"]) for name, table in tables.items()}

    def whole_words(name: str, before: str = r"(?<![\w-])") -> re.Pattern[str]:
        return re.compile(rf"{before}(?:{phrases[name]})(?![\w-])")

    return _Patterns(
        asking=re.compile(f"^(?:{phrases['asking']})+"),
        passive=re.compile(rf"^where (?:is|are) .*\b(?:{phrases['participles']})\b"),
        objects=whole_words("objects", before="^"),
        determiners=whole_words("determiners"),
        directions=re.compile(f" (?:{phrases['directions']}) "),
        complaints=whole_words("complaints"),
        descriptions=whole_words("descriptions", before="^"),
        statements=whole_words("statements"),
    )
