"""Diff hunks: the places that a pasted diff changes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from codecards.indexer.tokens import word_tokens, words
from codecards.retrieval.columns import Int64s
from codecards.retrieval.derived_index import DerivedIndex
from codecards.retrieval.path_words import name_hash

MAX_HUNKS = 200
MAX_FILES_OF_A_PATH = 5
BY_LINE, BY_WORDS, BY_NAME = 1.0, 0.9, 0.7
"""How surely a card is meant: by its lines, if its words are those of the hunk; as the one that has most of these, where the
file has moved on; by a name that stands at the hunk or in its changed lines."""
SAME_WORDS = 0.7
"""Share of the best card's words that the card at a hunk's lines must have to be believed."""
LEAST_WORDS = 0.4
"""Share of a hunk's words that a card must have."""

_target = re.compile(r"^\+\+\+ (?:b/)?(.+?)\s*$")
_source = re.compile(r"^--- (?:a/)?(.+?)\s*$")
_hunk = re.compile(r"^@@ -\d{1,9}(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)$")
_name = re.compile(r"[A-Za-z_$][\w$]*")
_definition = re.compile(
    r"\b(?:def|class|func|fn|function|struct|interface|trait|enum|type|module|sub)\s+(?:\([^()]*\)\s*)?([A-Za-z_$][\w$]*)"
)


@dataclass(frozen=True, slots=True)
class Hunk:
    """One place in a diff."""

    path: str
    """As written, without "a/" or "b/"; that of the old file where it is deleted."""
    lines: tuple[int, ...]
    """Changed lines by their number in the new file, 1-based; where lines go, the one that follows."""
    names: tuple[str, ...]
    """Identifiers beside the line numbers, and of definitions in changed lines."""
    words: tuple[str, ...]
    """Tokens of its lines, those that go included."""


def find_hunks(text: str) -> tuple[Hunk, ...]:
    """Return the hunks of a unified diff in a text; none in a text that has no diff."""
    if "@@ -" not in text:
        return ()
    found: list[Hunk] = []
    path, old_path = "", ""
    lines = iter(text.split("\n"))
    for line in lines:
        if (head := _hunk.match(line)) and path:
            hunk = _read_hunk(path, head, lines)
            if hunk.lines:
                found.append(hunk)
        elif source := _source.match(line):
            old_path = source[1]
        elif target := _target.match(line):
            path = old_path if target[1] == "/dev/null" else target[1]
        if len(found) >= MAX_HUNKS:
            break
    return tuple(found)


def _read_hunk(path: str, head: re.Match[str], lines: Iterator[str]) -> Hunk:
    """Return the hunk of a head, and take its lines: as many as the head says, for "--- x" may be one of them."""
    n_old, number, n_new = int(head[1] or 1), int(head[2]), int(head[3] or 1)
    changed: dict[int, None] = {}
    names = dict.fromkeys(_name.findall(head[4]))
    said: dict[str, None] = {}
    while n_old > 0 or n_new > 0:
        line = next(lines, None)
        if line is None or line.startswith("@@ "):
            break
        said.update((token, None) for word in words(line) for token in word_tokens(word))
        if line[:1] in ("+", "-"):
            changed[max(1, number)] = None
            names.update(dict.fromkeys(_definition.findall(line)))
        n_old -= line[:1] not in ("+", "\\")
        n_new -= line[:1] not in ("-", "\\")
        number += line[:1] not in ("-", "\\")
    return Hunk(path, tuple(changed), tuple(names), tuple(said))


def hunk_cards(index: DerivedIndex, hunks: tuple[Hunk, ...]) -> tuple[dict[int, float], dict[int, float]]:
    """Return file row → weight, and card row → weight, of the places that a diff changes."""
    columns = index.columns
    files: dict[int, float] = {}
    cards: dict[int, float] = {}
    for hunk in hunks:
        rows = index.files_ending(hunk.path, loosely=True)
        if not rows or len(rows) > MAX_FILES_OF_A_PATH:
            continue
        hashes = np.array([name_hash(name) for name in hunk.names], np.uint64)
        for row in rows:
            files[row] = 1.0
            mine = np.arange(columns.card_offset[row], columns.card_offset[row + 1])
            for card in mine[np.isin(columns.exact_name[mine], hashes)].tolist():
                cards[card] = max(cards.get(card, 0.0), BY_NAME)
            meant = _by_words(index, mine, hunk)
            at_lines = _at_lines(index, mine, hunk)
            best = max(meant.values(), default=0.0)
            believed = [card for card in at_lines if meant.get(card, 0.0) >= SAME_WORDS * best]
            for card in believed:
                cards[card] = BY_LINE
            if not believed and best >= LEAST_WORDS:
                card = max(meant, key=lambda one: meant[one])
                cards[card] = max(cards.get(card, 0.0), BY_WORDS)
    return files, cards


def _at_lines(index: DerivedIndex, mine: Int64s, hunk: Hunk) -> list[int]:
    """Return the innermost card of a file at each changed line."""
    columns = index.columns
    found: dict[int, None] = {}
    for line in hunk.lines:
        around = mine[(columns.first_line[mine] <= line) & (columns.last_line[mine] >= line)]
        if len(around):
            found[int(around[np.argmin(columns.last_line[around] - columns.first_line[around])])] = None
    return list(found)


def _by_words(index: DerivedIndex, mine: Int64s, hunk: Hunk) -> dict[int, float]:
    """Return card → share of the hunk's words that it has."""
    columns = index.columns
    known = [word_id for word in hunk.words if (word_id := index.vocabulary.find(word)) >= 0]
    if not known or not len(mine):
        return {}
    first, last = int(columns.entry_offset[mine[0]]), int(columns.entry_offset[mine[-1] + 1])
    entries = first + np.flatnonzero(np.isin(columns.entry_word[first:last], np.array(known, np.uint32)))
    cards, counts = np.unique(np.searchsorted(columns.entry_offset, entries, "right") - 1, return_counts=True)
    return dict(zip(cards.tolist(), (counts / len(hunk.words)).tolist(), strict=True))
