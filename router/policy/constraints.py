"""Finds constraints in the user's text, so that they enter the state, which is never pushed out of the context.

A constraint is a sentence that demands or forbids something of the work. The same words also occur in questions, reports
and pasted errors ("I don't know why it always fails", "value must be positive"): those are not constraints. A marker
therefore counts only where the sentence is an order, or a demand on the result. The patterns are in constraint_rules.toml.
"""

import importlib.resources
import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache

MAX_CONSTRAINT_CHARACTERS = 160
MAX_SEARCHED_CHARACTERS = 20_000
"""A longer prompt holds a pasted file, and its own words are at the ends: the middle is not searched."""

_fence = re.compile(r"^(?:```|~~~)")
_sentence = re.compile(r"(?<=[.!?;])(?=\s|$)|(?<=[\u3002\uff01\uff1f\uff1b])|\n")
_bullet = re.compile(r"^\s*(?:[-*+\u2022]|\d{1,2}[.)])\s+")
_polite = re.compile(r"(?:can|could|would|will) you ", re.IGNORECASE)
_ideograph = re.compile(r"[\u4e00-\u9fff]")


def find_constraints(text: str) -> tuple[str, ...]:
    """Return the sentences that demand or forbid something; questions, reports and pasted text are not constraints."""
    if len(text) > MAX_SEARCHED_CHARACTERS:
        half = MAX_SEARCHED_CHARACTERS // 2
        text = f"{text[:half]}\n{text[-half:]}"
    found = [
        sentence
        for line in _own_lines(text)
        for part in _sentence.split(line)
        if (sentence := _trimmed(part)) and len(sentence) <= MAX_CONSTRAINT_CHARACTERS and is_constraint(sentence)
    ]
    return tuple(dict.fromkeys(found))


def is_constraint(sentence: str) -> bool:
    """Return whether one sentence demands or forbids something."""
    rules = _rules()
    said = rules["quoted"].sub("_", sentence)
    if rules["pasted"].search(said):
        return False
    if _ideograph.search(said):
        asks = (rules[name].search(said) for name in ("question", "chinese_asks", "chinese_report"))
        return not any(asks) and rules["chinese"].search(said) is not None
    if rules["question"].search(said) and not (_polite.match(said) and rules["order"].match(said)):
        return False
    order, result = rules["order"].search(said), rules["result"].search(said)
    if order is not None and not _is_told(said, order.start()):
        return True
    if result is not None and not rules["epistemic"].search(said) and not _is_told(said, result.start()):
        return True
    return rules["without"].search(said) is not None and rules["work"].match(said) is not None


def _is_told(said: str, start: int) -> bool:
    """Return whether what starts there belongs to what is asked for or told: "explain why this must …"."""
    return _rules()["asks"].search(said[: start + 1] + " ") is not None


@lru_cache(maxsize=1)
def _rules() -> Mapping[str, re.Pattern[str]]:
    source = importlib.resources.files("codecards.router.policy").joinpath("constraint_rules.toml")
    tables = tomllib.loads(source.read_text(encoding="utf-8"))
    named = {name: text.replace("\n", "") for name, text in tables["words"].items()}
    for name, text in tables["parts"].items():
        named[name] = _filled(text, named)
    return {
        name: re.compile("|".join(f"(?:{_filled(one, named)})" for one in patterns), re.IGNORECASE)
        for name, patterns in tables["patterns"].items()
    }


def _filled(pattern: str, named: Mapping[str, str]) -> str:
    return re.sub(r"<([A-Z_]+)>", lambda match: named[match[1]], pattern)


def _own_lines(text: str) -> list[str]:
    """Return the lines that the user wrote: without code."""
    kept, is_code = [], False
    for line in text.splitlines():
        if _fence.match(line.strip()):
            is_code = not is_code
        elif not is_code and not line.startswith(("    ", "\t")):
            kept.append(line)
    return kept


def _trimmed(part: str) -> str:
    return _bullet.sub("", " ".join(part.split())).rstrip(".;\u3002\uff1b")
