"""Query: parses a text into its kind and the terms, names and places in it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from codecards.indexer.cards.words import whole_token, word_tokens, words
from codecards.indexer.parse.languages import FILE_SUFFIXES
from codecards.retrieval.query.diff_hunks import Hunk, find_hunks
from codecards.retrieval.query.intent import SUBJECT, Intent, intent_of
from codecards.retrieval.query.stack_frames import Frame, find_frames
from codecards.retrieval.query.words import (
    everyday_strength,
    everyday_words,
    prepositions,
    soft_stop_words,
    stop_characters,
    stop_pairs,
    stop_words,
)

Kind = Literal["symbol", "path", "question", "trace"]
TermKind = Literal["part", "whole", "join"]

MAX_CHARACTERS = 100_000
"""Characters of a query that are read; a pasted log has what matters in its beginning."""
ISSUE_WORDS = 60
"""Words from which a text is an issue and not a question; half as many if it has several lines."""
TRACE_WORDS = 25
"""Most words a stack frame in a text that is a trace; a text with more is a report that quotes one."""
WHOLE_WEIGHT, JOIN_WEIGHT = 1.2, 0.8
"""Weight of an identifier of several words, and of two neighbouring words joined; a single word has 1."""
POSITION_DECAY = 0.04
"""A word at position n of the content words has 1 / (1 + n * POSITION_DECAY) of its weight: people name first what they want."""
SUBJECT_STRENGTH = 0.0
"""Share of their strength that code's words for everyday words keep where the question names a subject."""
PAIR_END_WEIGHT = 0.3
"""Factor for a pair of characters that spans the end of a word."""

_path = re.compile(
    rf"(?<![\w/.:])(?:[.~]?/?(?:[\w.@+-]{{1,200}}/){{1,40}}[\w.@+-]{{0,200}}[\w@+-]|[\w@+-][\w.@+-]{{0,200}}\.(?:{FILE_SUFFIXES}))(?![\w/])(?::(\d+))?"
)
_qualified = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|#|\\)~?[A-Za-z_$][\w$]*)*")
_separator = re.compile(r"\.|::|->|#|\\")
_address = re.compile(r"\b\w+://\S+")


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier in a query."""

    text: str
    """The last part, as written."""
    qualifier: str
    """The part before it, "" if none."""
    strong: bool
    """Qualified, or written as only identifiers are: snake_case, camelCase, with a digit."""
    capital: bool
    """A capitalised word, not the first of the text."""
    opening: bool
    """A capitalised word that opens the text: in "Codec combining …" it may be a type, or just the first word."""
    position: int
    """Position among the names of the query."""


@dataclass(frozen=True, slots=True)
class NamedPath:
    """A file or folder in a query."""

    path: str
    """As written, without "./" and line number."""
    line: int | None
    """1-based."""


@dataclass(frozen=True, slots=True)
class Term:
    """One token that is searched."""

    token: str
    kind: TermKind
    weight: float
    position: int
    """Position of its word among the content words."""
    others: tuple[tuple[str, float], ...] = ()
    """Further tokens that stand for the term, with how surely they do, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Query:
    """A text, parsed as far as is possible without an index."""

    text: str
    kind: Kind
    terms: tuple[Term, ...]
    content_words: tuple[str, ...]
    """As written, without stop words."""
    head_words: frozenset[str]
    """Tokens before the first preposition: "router" in "router for websocket paths"."""
    names: tuple[Name, ...]
    paths: tuple[NamedPath, ...]
    frames: tuple[Frame, ...]
    hunks: tuple[Hunk, ...]
    """Places that a diff in the text changes."""
    is_issue: bool
    """Whether the text is read as a report: it is long, a stack trace, or has a diff."""
    intent: Intent
    """What a question is after; `SUBJECT` for names, paths and reports."""
    english: str | None = None
    """The known English words of a Chinese text; None for a text without Chinese."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to search for."""
        return not (self.terms or self.names or self.paths or self.frames)


def read_query(text: str) -> Query:
    """Return the parsed query of any text; a text of stop words only is searched by these."""
    text = text[:MAX_CHARACTERS].replace("\0", " ")
    frames, hunks = find_frames(text), find_hunks(text)
    paths = tuple(_paths(text))
    all_words = words(_address.sub(" ", text))
    kind = _kind(text, paths, frames, len(all_words))
    content = content_words(all_words)
    n_words = len(all_words)
    intent = intent_of(text)
    is_issue = (
        kind == "trace"
        or bool(hunks)
        or n_words >= ISSUE_WORDS
        or ("\n" in text.strip() and n_words >= ISSUE_WORDS // 2)
    )
    is_described = kind == "question" and not is_issue
    terms = tuple(_terms(content))
    return Query(
        text=text,
        kind=kind,
        terms=with_code_words(terms, intent) if is_described else terms,
        content_words=tuple(content),
        head_words=frozenset(_head(all_words, content)),
        names=tuple(_names(text)),
        paths=paths,
        frames=frames,
        hunks=hunks,
        is_issue=is_issue,
        intent=intent if is_described else SUBJECT,
    )


def with_code_words(terms: Sequence[Term], intent: Intent) -> tuple[Term, ...]:
    """Return terms that also find the words that code uses for everyday words, the surer the more a function is described.

    Who names a subject uses the words of its files; who describes what is done uses everyday words.
    """
    strength = everyday_strength() * (SUBJECT_STRENGTH + (1 - SUBJECT_STRENGTH) * intent.function)
    said = {term.token for term in terms}
    found = []
    for term in terms:
        others = everyday_words().get(term.token, ()) if term.kind == "part" else ()
        more = tuple((other, strength) for other in others if other not in said)
        found.append(replace(term, others=(*term.others, *more)) if more and strength else term)
    return tuple(found)


def content_words(all_words: Sequence[str]) -> list[str]:
    """Return the words of a text without stop words; a text of stop words only keeps them."""
    if len(all_words) == 1:
        return list(all_words)
    kept = [word for word in all_words if word.casefold() not in stop_words()]
    if len(kept) >= 2:
        return kept
    softer = [word for word in all_words if word.casefold() not in stop_words() or word.casefold() in soft_stop_words()]
    return softer or list(all_words)


def is_identifier(word: str) -> bool:
    """Return whether a word is written as only identifiers are: snake_case, camelCase, with a digit inside."""
    if word.isalpha() and word[1:].islower():  # most words
        return False
    inner = word.strip("_$")
    if not inner or not (inner[0].isalpha() or word[0] in "_$"):
        return False
    return (
        "_" in inner
        or "$" in word
        or word.startswith("_")
        or any(character.isdigit() for character in inner)
        or (any(character.isupper() for character in inner[1:]) and any(character.islower() for character in inner))
    )


def _kind(text: str, paths: Sequence[NamedPath], frames: Sequence[Frame], n_words: int) -> Kind:
    bare = text.strip().strip("`'\"").strip()
    # A report that quotes a trace is a question; a trace with a line of text is a trace.
    if frames and ("\n" in bare or len(frames) > 1) and n_words <= TRACE_WORDS * (len(frames) + 1):
        return "trace"
    if paths and _path.fullmatch(bare):
        return "path"
    called = re.sub(r"\([^()]*\)$", "", bare)
    if called and _qualified.fullmatch(called):
        return "symbol"
    return "question"


def _terms(content: Sequence[str]) -> Iterator[Term]:
    """Yield a term for every distinct token, at its first position."""
    seen: set[str] = set()
    for position, word in enumerate(content):
        decay = 1 / (1 + POSITION_DECAY * position)
        for token in word_tokens(word):
            if token in seen or token in stop_pairs():
                continue
            seen.add(token)
            if token.startswith("="):
                yield Term(token, "whole", WHOLE_WEIGHT * decay, position)
            else:
                spans_an_end = not token.isascii() and len(token) == 2 and bool(stop_characters().intersection(token))
                yield Term(token, "part", decay * (PAIR_END_WEIGHT if spans_an_end else 1.0), position)
    for position, (word, next_word) in enumerate(pairwise(content)):
        token = whole_token(word + next_word)
        if token not in seen and word.isascii() and next_word.isascii():
            seen.add(token)
            yield Term(token, "join", JOIN_WEIGHT / (1 + POSITION_DECAY * position), position)


def _head(all_words: Sequence[str], content: Sequence[str]) -> Iterator[str]:
    """Yield the tokens of the content words before the first preposition that follows one."""
    kept = set(content)
    started = False
    for word in all_words:
        if started and word.casefold() in prepositions():
            return
        if word in kept:
            started = True
            yield from (token for token in word_tokens(word) if not token.startswith("="))


def identifiers(text: str) -> tuple[Name, ...]:
    """Return the identifiers in a text, each once, in order."""
    return tuple(_names(text))


def _names(text: str) -> Iterator[Name]:
    cleaned = _address.sub(" ", text)
    position = 0
    seen: set[tuple[str, str]] = set()
    for match in _qualified.finditer(cleaned):
        parts = [part for part in _separator.split(match[0]) if part]
        name, qualifier = parts[-1].lstrip("~"), parts[-2] if len(parts) > 1 else ""
        if not name or (name, qualifier) in seen or (len(parts) == 1 and name.casefold() in stop_words()):
            continue
        if len(parts) > 1 and re.fullmatch(FILE_SUFFIXES, name):  # the name of a file
            name, qualifier = parts[-2], parts[-3] if len(parts) > 2 else ""
        seen.add((name, qualifier))
        is_capital, is_first = name[:1].isupper(), not cleaned[: match.start()].strip()
        yield Name(
            text=name,
            qualifier=qualifier,
            strong=bool(qualifier) or is_identifier(name),
            capital=is_capital and not is_first,
            opening=is_capital and is_first,
            position=position,
        )
        position += 1


def _paths(text: str) -> Iterator[NamedPath]:
    seen: set[str] = set()
    for match in _path.finditer(_address.sub(" ", text)):
        path = match[0].rpartition(":")[0] if match[1] else match[0]
        path = path.removeprefix("./").strip("/")
        if path and path not in seen:
            seen.add(path)
            yield NamedPath(path, int(match[1]) if match[1] else None)
