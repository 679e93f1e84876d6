"""Query: what kind of question a text is, and the words, names and places in it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from codecards.indexer.cards.words import whole_token, word_tokens, words
from codecards.retrieval.query.diff_hunks import Hunk, find_hunks
from codecards.retrieval.query.stack_frames import Frame, find_frames
from codecards.retrieval.query.words import PREPOSITIONS, SOFT_STOP_WORDS, STOP_CHARACTERS, STOP_PAIRS, STOP_WORDS

Kind = Literal["symbol", "path", "question", "trace"]
TermKind = Literal["part", "whole", "join"]

MAX_CHARACTERS = 100_000
"""What stands further back in a query is not read: a pasted log says what it says in its beginning."""
ISSUE_WORDS = 60
"""From so many words on a text is an issue report rather than a question; from half as many if it has several lines."""
TRACE_WORDS = 25
"""Words that stand to one stack frame where a text is little else."""
WHOLE_WEIGHT, JOIN_WEIGHT = 1.2, 0.8
POSITION_DECAY = 0.04
PAIR_END_WEIGHT = 0.3

_CODE_SUFFIX = (
    r"py|pyi|pyx|js|jsx|mjs|cjs|ts|tsx|mts|cts|go|rs|java|kt|kts|scala|sc|c|h|cc|cpp|cxx|hpp|hh|cs|rb|php|swift|lua|ex|exs|hs|zig|sql"
    r"|sh|bash|md|rst|toml|yaml|yml|json|vue|svelte|html|css|txt|cfg|ini"
)
_path = re.compile(
    rf"(?<![\w/.:])(?:[.~]?/?(?:[\w.@+-]{{1,200}}/){{1,40}}[\w.@+-]{{0,200}}[\w@+-]|[\w@+-][\w.@+-]{{0,200}}\.(?:{_CODE_SUFFIX}))(?![\w/])(?::(\d+))?"
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
    """A capitalised word that opens the text: "Codec combining …" may mean a type, or be a sentence's beginning."""
    position: int
    """Among the names of the query."""


@dataclass(frozen=True, slots=True)
class NamedPath:
    """A file or folder in a query."""

    path: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Term:
    """One token that is searched for, with its relatives."""

    token: str
    kind: TermKind
    weight: float
    position: int
    """Of its word among the content words."""
    others: tuple[tuple[str, float], ...] = ()
    """Further tokens that stand for the same, with how surely they do."""


@dataclass(frozen=True, slots=True)
class Query:
    """A text that was understood as far as it can be without an index."""

    text: str
    kind: Kind
    terms: tuple[Term, ...]
    content_words: tuple[str, ...]
    """As written, without stop words."""
    head_words: frozenset[str]
    """Tokens before the first preposition: in "router for websocket paths" those of router."""
    names: tuple[Name, ...]
    paths: tuple[NamedPath, ...]
    frames: tuple[Frame, ...]
    hunks: tuple[Hunk, ...]
    """Places that a diff in the text changes."""
    is_issue: bool
    """Whether the text is long enough to be read as an issue report."""
    english: str | None = None
    """The English of a Chinese text, as far as it is known; None for a text that has no Chinese."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to search for."""
        return not (self.terms or self.names or self.paths or self.frames)


def read_query(text: str) -> Query:
    """Return what a text asks for. Takes any text; one of stop words alone is searched by these."""
    text = text[:MAX_CHARACTERS].replace("\0", " ")
    frames, hunks = find_frames(text), find_hunks(text)
    paths = tuple(_paths(text))
    all_words = words(_address.sub(" ", text))
    kind = _kind(text, paths, frames, len(all_words))
    content = content_words(all_words)
    n_words = len(all_words)
    return Query(
        text=text,
        kind=kind,
        terms=tuple(_terms(content)),
        content_words=tuple(content),
        head_words=frozenset(_head(all_words, content)),
        names=tuple(_names(text)),
        paths=paths,
        frames=frames,
        hunks=hunks,
        is_issue=kind == "trace"
        or bool(hunks)
        or n_words >= ISSUE_WORDS
        or ("\n" in text.strip() and n_words >= ISSUE_WORDS // 2),
    )


def content_words(all_words: Sequence[str]) -> list[str]:
    """Return the words of a text that say something; those of one that says nothing else are kept."""
    if len(all_words) == 1:
        return list(all_words)
    kept = [word for word in all_words if word.casefold() not in STOP_WORDS]
    if len(kept) >= 2:
        return kept
    softer = [word for word in all_words if word.casefold() not in STOP_WORDS or word.casefold() in SOFT_STOP_WORDS]
    return softer or list(all_words)


def is_identifier(word: str) -> bool:
    """Return whether a word is written as only identifiers are: snake_case, camelCase, with a digit inside."""
    if word.isalpha() and word[1:].islower():  # most words are plain ones
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
    # A report that quotes a trace is a question; a trace with a line of text about it is a trace.
    if frames and ("\n" in bare or len(frames) > 1) and n_words <= TRACE_WORDS * (len(frames) + 1):
        return "trace"
    if paths and _path.fullmatch(bare):
        return "path"
    called = re.sub(r"\([^()]*\)$", "", bare)
    if called and _qualified.fullmatch(called):
        return "symbol"
    return "question"


def _terms(content: Sequence[str]) -> Iterator[Term]:
    """Yield a term for every distinct token, in order; of equal ones the first."""
    seen: set[str] = set()
    for position, word in enumerate(content):
        decay = 1 / (1 + POSITION_DECAY * position)
        for token in word_tokens(word):
            if token in seen or token in STOP_PAIRS:
                continue
            seen.add(token)
            if token.startswith("="):
                yield Term(token, "whole", WHOLE_WEIGHT * decay, position)
            else:
                spans_an_end = not token.isascii() and len(token) == 2 and bool(STOP_CHARACTERS.intersection(token))
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
        if started and word.casefold() in PREPOSITIONS:
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
        if not name or (name, qualifier) in seen or (len(parts) == 1 and name.casefold() in STOP_WORDS):
            continue
        if len(parts) > 1 and re.fullmatch(_CODE_SUFFIX, name):  # a file's name
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
