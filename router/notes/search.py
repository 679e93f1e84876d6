"""Searches notes with BM25 over words and pairs of ideographs, and removes near-duplicates."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from codecards.indexer.cards.words import word_tokens, words
from codecards.router.notes.note import Note

SATURATION = 1.2
LENGTH_WEIGHT = 0.4
"""BM25's k1 and b; b is low, since notes are short and their length is hardly informative."""
TITLE_WEIGHT = 2.0
PREFIX_WEIGHT = 0.6
"""Weight of a match by prefix: "linter" finds "lint"."""
MIN_PREFIX_CHARACTERS = 4
"""Least length of both words in a match by prefix."""
NEAR_DUPLICATE = 0.8
"""Two notes are duplicates from this Jaccard similarity of their words."""
NEGATIONS = frozenset("not no never none don dont cannot without unless except 不 没 勿 禁 别 未 非".split())
COMMON = frozenset("a an the of to in is are be for on and or it this that with we i".split()) | frozenset(
    "how what which where when why do does done use".split()
)


@dataclass(frozen=True, slots=True)
class NoteHit:
    """A note that matches a query."""

    note: Note
    score: float
    """The higher the better; comparable within one search only."""
    duplicates: tuple[str, ...] = ()
    """Ids of near-duplicates that were left out."""


def note_tokens(text: str) -> list[str]:
    """Return the search terms of a text, split as in the index."""
    return [token for word in words(text) for token in word_tokens(word)]


def search_notes(notes: Sequence[Note], query: str, limit: int = 10) -> list[NoteHit]:
    """Return the notes that match a query, best first, without near-duplicates."""
    counted = [_counts(note) for note in notes]
    wanted = _wanted(query, counted)
    informative = [token for token in wanted if token not in COMMON] or wanted
    mean_length = sum(sum(counts.values()) for counts in counted) / max(1, len(counted)) or 1.0
    n_with = {token: sum(_weight(token, counts) > 0 for counts in counted) for token in informative}
    scored = []
    for note, counts in zip(notes, counted, strict=True):
        length = sum(counts.values()) / mean_length
        score = 0.0
        for token in informative:
            n_times = _weight(token, counts)
            rarity = math.log(1 + (len(notes) - n_with[token] + 0.5) / (n_with[token] + 0.5))
            score += (
                rarity
                * n_times
                * (SATURATION + 1)
                / (n_times + SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length))
            )
        if score > 0:
            scored.append((score * note.confidence, note))
    scored.sort(
        key=lambda pair: (-pair[0], pair[1].archived, _reversed(pair[1].updated or pair[1].created), pair[1].note_id)
    )
    return _without_repeats(scored, limit)


def says_the_same(one: Note, other: Note) -> bool:
    """Return whether two notes are near-duplicates; notes with different negations or numbers are not."""
    first_signs, first = _content(one.text)
    second_signs, second = _content(other.text)
    if first_signs != second_signs or min(len(first), len(second)) < NEAR_DUPLICATE * max(len(first), len(second)):
        return False
    return one.text == other.text or len(first & second) >= NEAR_DUPLICATE * max(1, len(first | second))


@lru_cache(maxsize=8192)
def _content(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the negations and numbers of a text, and its words without the common ones."""
    tokens = frozenset(note_tokens(text))
    signs = {token for token in tokens if token in NEGATIONS or token.isdigit()}
    signs |= {sign for sign in NEGATIONS if not sign.isascii() and sign in text}
    return frozenset(signs), tokens - COMMON


def _without_repeats(scored: Sequence[tuple[float, Note]], limit: int) -> list[NoteHit]:
    hits: list[NoteHit] = []
    for score, note in scored:
        twin = next((index for index, hit in enumerate(hits) if says_the_same(hit.note, note)), None)
        if twin is not None:
            hit = hits[twin]
            hits[twin] = NoteHit(hit.note, hit.score, (*hit.duplicates, note.note_id))
        elif len(hits) < limit:
            hits.append(NoteHit(note, score))
    return hits


def _counts(note: Note) -> dict[str, float]:
    counts: dict[str, float] = {}
    parts = ((note.text, 1.0), (note.title, TITLE_WEIGHT), (" ".join(note.rejected), 0.5))
    places = " ".join([*(f"{anchor.symbol} {anchor.path}" for anchor in note.anchors), *note.files])
    for text, weight in (*parts, (places, 1.0)):
        for token in note_tokens(text):
            counts[token] = counts.get(token, 0.0) + weight
    return counts


def _wanted(query: str, counted: Sequence[dict[str, float]]) -> list[str]:
    """Return the terms to search for; an identifier that a note contains whole is not searched for by its parts."""
    tokens: dict[str, None] = {}
    for word in words(query):
        found = word_tokens(word)
        whole = [token for token in found if token.startswith("=") and any(token in counts for counts in counted)]
        tokens |= dict.fromkeys(whole or found)
    return list(tokens)


def _weight(token: str, counts: dict[str, float]) -> float:
    """Return how often a term occurs; a match by prefix counts with `PREFIX_WEIGHT`."""
    if token in counts:
        return counts[token]
    if len(token) < MIN_PREFIX_CHARACTERS or not token.isascii() or token.startswith("="):
        return 0.0
    near = (
        n_times
        for other, n_times in counts.items()
        if len(other) >= MIN_PREFIX_CHARACTERS and (other.startswith(token) or token.startswith(other))
    )
    return PREFIX_WEIGHT * max(near, default=0.0)


def _reversed(time: str) -> tuple[int, ...]:
    return tuple(-ord(character) for character in time)
