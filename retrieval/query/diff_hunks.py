"""Diff hunks: the places that a pasted diff changes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from codecards.indexer.cards.words import word_tokens, words

MAX_HUNKS = 200

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
    """As written, without "a/" or "b/"; of a deleted file, its old path."""
    lines: tuple[int, ...]
    """Numbers of changed lines in the new file, 1-based; for removed lines, the number of the line that follows."""
    names: tuple[str, ...]
    """Identifiers in the head of the hunk, and names of definitions in changed lines."""
    words: tuple[str, ...]
    """Tokens of its lines, removed lines included."""


def find_hunks(text: str) -> tuple[Hunk, ...]:
    """Return the hunks of a unified diff in a text; none if the text has no diff."""
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
    """Return the hunk of a head and consume its lines, as many as the head states, since "--- x" may be one of them."""
    n_old, number, n_new = int(head[1] or 1), int(head[2]), int(head[3] or 1)
    changed: dict[int, None] = {}
    names = dict.fromkeys(_name.findall(head[4]))
    tokens: dict[str, None] = {}
    while n_old > 0 or n_new > 0:
        line = next(lines, None)
        if line is None or line.startswith("@@ "):
            break
        tokens.update((token, None) for word in words(line) for token in word_tokens(word))
        if line[:1] in ("+", "-"):
            changed[max(1, number)] = None
            names.update(dict.fromkeys(_definition.findall(line)))
        n_old -= line[:1] not in ("+", "\\")
        n_new -= line[:1] not in ("-", "\\")
        number += line[:1] not in ("-", "\\")
    return Hunk(path, tuple(changed), tuple(names), tuple(tokens))
