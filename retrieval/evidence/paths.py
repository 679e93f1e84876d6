"""Path evidence: matches between a query and the names of a file and its folders, by the IDF of their words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from codecards.indexer.cards.words import stem
from codecards.retrieval.evidence.ranking_input import RankingInput
from codecards.retrieval.evidence.terms import TermGroups
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.query import POSITION_DECAY, Query, is_identifier
from codecards.retrieval.query.words import opposites
from codecards.retrieval.store.columns import PLACES, Floats, Int64s, Uint32s, runs
from codecards.retrieval.store.names import name_hash, normalised_name

STEM, FOLDER, OUTER = (PLACES.index(place) for place in ("stem", "folder", "outer_folder"))
STEM_COUNT, FOLDER_COUNT, OUTER_COUNT = 4.0, 1.5, 0.9
"""Occurrences in text that a word in the file's name, its folder, an outer folder counts as."""
COMPOUND_BONUS = 1.5
"""Factor on `exact` for a file that is named like a compound word of the query."""
JOINED_MATCH = 1.4
"""Value of `exact` for a file that is named like two neighbouring words of the query."""
WHOLE_MATCH, MAX_WHOLE_WORDS = 1.5, 5
"""Value of `exact` for a file that is named like the whole query."""
JOINED_PART = 0.9
"""How surely a joined pair holds each of its words."""
MAX_WORDS = 40
"""Content words that file names are compared with."""
COMMON_NAME = 0.5
"""Discount of a file name shared by n files: 1 / (1 + COMMON_NAME · ln n)."""


@dataclass(frozen=True, slots=True)
class PathEvidence:
    """Matches of F candidate files; values are from 0 to about 1 unless stated otherwise."""

    stem_recall: Floats
    """Share of the query's parts, by IDF, in the file's name."""
    stem_precision: Floats
    """Share of the name's words that are in the query."""
    stem_f1: Floats
    """F1 of the two."""
    folder_recall: Floats
    """Share of the query's parts in the names of the folders."""
    all_recall: Floats
    """Share of the query's parts in the whole path."""
    head_recall: Floats
    """`stem_recall` of the words before the first preposition only."""
    first_word: Floats
    """1 for a file whose name has the first content word."""
    exact: Floats
    """0 to 1.5: the name is a word of the query, two of its words joined, or the whole query."""
    exact_common: Floats
    """The part of `exact` by which a name that several files have is discounted."""
    with_folder: Floats
    """1 for a file whose folder and name are two neighbouring words of the query."""
    folder_exact: Floats
    """1 for a file in a folder that is named like a compound word of the query."""
    opposite: Floats
    """1 for a file whose path has the opposite of a word of the query: Writers/ for a question about reading."""
    counts: Floats
    """(F, G): weighted occurrences of each group in the path, for BM25F."""


def path_evidence(found: RankingInput, groups: TermGroups) -> PathEvidence:
    """Return how far the paths of the candidate files match a query.

    Args:
        found: The query, whose content words are looked for, and its candidate files.
        groups: The query's terms, or a part of them.
    """
    index, files, query = found.index, found.files, found.query
    n_files, n_groups = len(files), len(groups.terms)
    words = _path_words(index, files, groups)
    position, group, strength = groups.pairs(words.term)
    cells = (words.owner[words.matched] * 3 + words.kinds[words.matched])[position] * n_groups + group
    sums = np.bincount(cells, strength, n_files * 3 * n_groups)
    hit = np.minimum(1.0, sums).astype(np.float32).reshape(n_files, 3, n_groups)
    _spread_joins(hit, groups)
    parts = groups.is_part
    rarity = np.where(parts, groups.path_idf, np.float32(0.0))
    total = max(float(rarity.sum()), 1e-9)
    stem_hit = hit[:, STEM]
    recall = stem_hit @ rarity / total
    precision = _precision(index, groups, words, n_files)
    heads = np.array([part and term.token in query.head_words for part, term in zip(parts, groups.terms, strict=True)])
    head_rarity = np.where(heads, groups.path_idf, np.float32(0.0))
    first = next((place for place, part in enumerate(parts) if part), None)
    folders = np.maximum(hit[:, FOLDER], hit[:, OUTER])
    exact = _exact(index, files, query)
    return PathEvidence(
        stem_recall=recall,
        stem_precision=precision,
        stem_f1=2 * recall * precision / np.maximum(recall + precision, 1e-9),
        folder_recall=np.asarray(folders @ rarity / total, np.float32),
        all_recall=np.asarray(np.maximum(stem_hit, folders) @ rarity / total, np.float32),
        head_recall=stem_hit @ head_rarity / max(float(head_rarity.sum()), 1e-9),
        first_word=stem_hit[:, first] if first is not None else np.zeros(n_files, np.float32),
        exact=exact,
        exact_common=exact * (1 - _name_discount(index.n_named_alike[files])),
        with_folder=_with_folder(index, files, query),
        folder_exact=_folder_exact(index, words, query, n_files),
        opposite=_opposite(index, words, query, n_files),
        counts=hit[:, STEM] * STEM_COUNT + hit[:, FOLDER] * FOLDER_COUNT + hit[:, OUTER] * OUTER_COUNT,
    )


@dataclass(frozen=True, slots=True)
class _PathWords:
    """The words of the candidate files' paths; W words, M of which the query has."""

    owner: Int64s
    """(W,): position of the file among the candidates."""
    words: Uint32s
    """(W,): the word's id."""
    kinds: NDArray[np.uint8]
    """(W,): position in `PLACES`."""
    matched: Int64s
    """(M,): position of each matched word in the three above."""
    term: Int64s
    """(M,): position of each matched word in `TermGroups.word_ids`."""


def _path_words(index: DerivedIndex, files: Int64s, groups: TermGroups) -> _PathWords:
    columns = index.columns
    lengths = columns.place_offset[files + 1] - columns.place_offset[files]
    entries = runs(columns.place_offset[files], lengths)
    owner = np.repeat(np.arange(len(files)), lengths)
    words, kinds = columns.place_word[entries], columns.place_kind[entries]
    if groups.is_empty:
        nothing = np.zeros(0, np.int64)
        return _PathWords(owner, words, kinds, nothing, nothing)
    term = np.minimum(np.searchsorted(groups.word_ids, words), len(groups.word_ids) - 1)
    matched = np.flatnonzero(groups.word_ids[term] == words)
    return _PathWords(owner, words, kinds, matched, term[matched])


def _spread_joins(hit: Floats, groups: TermGroups) -> None:
    """Count a joined pair as both its words: ratelimit.go has "rate" and "limit"."""
    for column, term in enumerate(groups.terms):
        if term.kind != "join":
            continue
        for other, part in enumerate(groups.terms):
            if part.kind == "part" and part.position in (term.position, term.position + 1):
                hit[:, :, other] = np.maximum(hit[:, :, other], JOINED_PART * hit[:, :, column])


def _precision(index: DerivedIndex, groups: TermGroups, found: _PathWords, n_files: int) -> Floats:
    """Return (F,): share of the parts of each file's name that the query has."""
    in_stem = (found.kinds == STEM) & ((found.words < index.compounds.start) | (found.words >= index.compounds.stop))
    n_parts = np.bincount(found.owner[in_stem], minlength=n_files)
    matched_in_stem = in_stem[found.matched]
    best = groups.strength[found.term][matched_in_stem].max(axis=1, initial=0.0)
    hits = np.bincount(found.owner[found.matched][matched_in_stem], best, n_files)
    return np.asarray(np.minimum(1.0, hits / np.maximum(n_parts, 1)), np.float32)


def _exact(index: DerivedIndex, files: Int64s, query: Query) -> Floats:
    """Return (F,): how surely each file's name is a word of the query, 0 to 1.5."""
    wanted: dict[int, float] = {}

    def want(name: str, value: float) -> None:
        for key in _form_hashes(name):
            wanted[key] = max(wanted.get(key, 0.0), value)

    content = query.content_words
    for position, word in enumerate(content[:MAX_WORDS]):
        value = 1 / (1 + POSITION_DECAY * position)
        want(word, value * (COMPOUND_BONUS if is_identifier(word) else 1.0))
        for agent in _agent_nouns(word):
            want(agent, value)
    for word, next_word in pairwise(content[:MAX_WORDS]):
        want(word + next_word, JOINED_MATCH)
    if 1 < len(content) <= MAX_WHOLE_WORDS:
        want("".join(content), WHOLE_MATCH)
    names = index.columns.stem_hash[files, :2]
    if not wanted:
        return np.zeros(len(files), np.float32)
    hashes = np.array(sorted(wanted), np.uint64)
    values = np.array([wanted[key] for key in sorted(wanted)], np.float32)
    place = np.minimum(np.searchsorted(hashes, names), len(hashes) - 1)
    found = np.where(hashes[place] == names, values[place], np.float32(0.0))
    return np.asarray(found.max(axis=1), np.float32)


def _name_discount(n_files: Floats) -> Floats:
    """Return the discount of names that so many files have: 1 for the name of a single file."""
    return np.asarray(1 / (1 + COMMON_NAME * np.log(n_files)), np.float32)


@lru_cache(maxsize=20_000)
def _form_hashes(name: str) -> tuple[int, ...]:
    """Return the hashes of the file names that match a word: as it is, its plural and singular, its stem."""
    whole = normalised_name(name)
    return tuple(name_hash(form) for form in (whole, whole + "s", whole.removesuffix("s"), stem(whole)) if form)


def _agent_nouns(word: str) -> tuple[str, ...]:
    """Return the agent nouns of a word: "routing" → "router", "parse" → "parser"."""
    base = stem(word)
    return (f"{base}er", f"{base}or", f"{base}{base[-1]}er") if word.isascii() and word.isalpha() else ()


def _with_folder(index: DerivedIndex, files: Int64s, query: Query) -> Floats:
    """Return 1 for files whose folder and name are two neighbouring words of the query: session/store.php."""
    pairs = {
        name_hash(stem(normalised_name(word + next_word)))
        for word, next_word in pairwise(query.content_words[:MAX_WORDS])
    }
    hashes = np.fromiter(pairs - {0}, np.uint64)
    return np.isin(index.columns.stem_hash[files, 2], hashes).astype(np.float32)


def _folder_exact(index: DerivedIndex, found: _PathWords, query: Query, n_files: int) -> Floats:
    """Return 1 for files in a folder that is named like a compound word of the query."""
    wanted = [index.vocabulary.find(term.token) for term in query.terms if term.kind == "whole"]
    is_folder = found.kinds != STEM
    return _any_of(found.owner[is_folder], found.words[is_folder], wanted, n_files)


def _opposite(index: DerivedIndex, path_words: _PathWords, query: Query, n_files: int) -> Floats:
    """Return 1 for files whose path has the opposite of a word of the query, but not the word itself."""
    asked = {term.token for term in query.terms if term.kind == "part"}
    found = np.zeros(n_files, np.float32)

    def has_any(tokens: Iterable[str]) -> Floats:
        word_ids = [index.vocabulary.find(token) for token in tokens]
        return _any_of(path_words.owner, path_words.words, word_ids, n_files)

    for same, other in {opposites()[token] for token in asked if token in opposites()}:
        if not other & asked:
            found = np.maximum(found, has_any(other) * (1 - has_any(same)))
    return found


def _any_of(owner: Int64s, words: NDArray[np.uint32], wanted: Sequence[int], n_files: int) -> Floats:
    """Return 1 for the files that have one of some words; a negative id is not a word."""
    known = np.array([word_id for word_id in wanted if word_id >= 0], np.uint32)
    found = np.zeros(n_files, np.float32)
    found[owner[np.isin(words, known)]] = 1.0
    return found
