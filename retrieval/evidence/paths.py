"""Path evidence: what the names of a file and its folders say, by the rarity of their words."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from codecards.indexer.cards.words import stem
from codecards.retrieval.evidence.terms import TermGroups
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.query import Query, is_identifier
from codecards.retrieval.query.words import OPPOSITES
from codecards.retrieval.store.columns import PLACES, Floats, Int64s, Uint32s, runs
from codecards.retrieval.store.names import name_hash, normalised_name

STEM, FOLDER, OUTER = (PLACES.index(place) for place in ("stem", "folder", "outer_folder"))
COMPOUND_BONUS = 1.5
"""A file that is named like a compound word of the query."""
JOINED_MATCH = 1.4
"""A file that is named like two neighbouring words of the query."""
WHOLE_MATCH = 1.5
"""A file that is named like the whole query."""
COMMON_NAME = 0.5
"""How fast a name says less as more files have it: of n files it says 1 / (1 + this * ln n)."""


@dataclass(frozen=True, slots=True)
class PathEvidence:
    """For F candidate files, each value from 0 to about 1 unless said otherwise."""

    stem_recall: Floats
    """Share of the query's parts, by rarity, in the file's name."""
    stem_precision: Floats
    """Share of the name's words that are in the query."""
    stem_f1: Floats
    folder_recall: Floats
    all_recall: Floats
    """Share of the query's parts in the whole path."""
    head_recall: Floats
    """`stem_recall` by the words before the first preposition alone."""
    first_word: Floats
    """1 where the first content word is in the name."""
    exact: Floats
    """0 to 1.5: the name is a word of the query, two of them joined, or the whole of it."""
    exact_common: Floats
    """The part of `exact` that a name says less since several files have it."""
    with_folder: Floats
    """1 where two neighbouring words of the query are the folder's and the file's names."""
    folder_exact: Floats
    """1 where a compound word of the query is a folder's name."""
    opposite: Floats
    """1 where the path has the opposite of a word of the query: Writers/ where something is read."""
    counts: Floats
    """(F, G): weighted occurrences of each group in the path, for BM25F."""


def path_evidence(
    index: DerivedIndex,
    files: Int64s,
    query: Query,
    groups: TermGroups,
    *,
    counts: tuple[float, float, float] = (4.0, 1.5, 0.9),
) -> PathEvidence:
    """Return what the paths of some files say.

    Args:
        index: The index.
        files: Rows.
        query: As parsed.
        groups: Its terms.
        counts: Occurrences that one in the name, the folder, an outer folder stands for.
    """
    n_files, n_groups = len(files), len(groups.terms)
    columns = index.columns
    lengths = columns.place_offset[files + 1] - columns.place_offset[files]
    entries = runs(columns.place_offset[files], lengths)
    owner = np.repeat(np.arange(n_files), lengths)
    words, kinds = columns.place_word[entries], columns.place_kind[entries]
    matched, term = _matched(groups, words)
    position, group, strength = groups.pairs(term)
    cells = (owner[matched] * 3 + kinds[matched])[position] * n_groups + group
    sums = np.bincount(cells, strength, n_files * 3 * n_groups)
    hit = np.minimum(1.0, sums).astype(np.float32).reshape(n_files, 3, n_groups)
    strengths = groups.strength[term]
    _spread_joins(hit, groups)
    parts = groups.is_part
    rarity = np.where(parts, groups.path_idf, np.float32(0.0))
    total = max(float(rarity.sum()), 1e-9)
    stem_hit = hit[:, STEM]
    recall = stem_hit @ rarity / total
    precision = _precision(index, groups, owner, words, kinds, matched, strengths, n_files)
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
        exact_common=exact * (1 - _said_by_name(index.n_named_alike[files])),
        with_folder=_with_folder(index, files, query),
        folder_exact=_folder_exact(index, owner[kinds != STEM], words[kinds != STEM], query, n_files),
        opposite=_opposite(index, owner, words, query, n_files),
        counts=hit[:, STEM] * counts[0] + hit[:, FOLDER] * counts[1] + hit[:, OUTER] * counts[2],
    )


def _matched(groups: TermGroups, words: Uint32s) -> tuple[Int64s, Int64s]:
    """Return the positions of those words that the query has, and which they are."""
    if groups.is_empty:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    term = np.minimum(np.searchsorted(groups.word_ids, words), len(groups.word_ids) - 1)
    matched = np.flatnonzero(groups.word_ids[term] == words)
    return matched, term[matched]


def _spread_joins(hit: Floats, groups: TermGroups) -> None:
    """Let a joined pair stand for both its words: ratelimit.go has "rate" and "limit"."""
    for column, term in enumerate(groups.terms):
        if term.kind != "join":
            continue
        for other, part in enumerate(groups.terms):
            if part.kind == "part" and part.position in (term.position, term.position + 1):
                hit[:, :, other] = np.maximum(hit[:, :, other], 0.9 * hit[:, :, column])


def _precision(
    index: DerivedIndex,
    groups: TermGroups,
    owner: Int64s,
    words: NDArray[np.uint32],
    kinds: NDArray[np.uint8],
    matched: Int64s,
    strengths: Floats,
    n_files: int,
) -> Floats:
    """Return the share of each file name's parts that the query has."""
    first_compound = index.compounds.start
    plain = (words < first_compound) | (words >= index.compounds.stop)
    n_parts = np.bincount(owner[(kinds == STEM) & plain], minlength=n_files)
    in_stem = (kinds[matched] == STEM) & plain[matched]
    best = strengths[in_stem].max(axis=1, initial=0.0)
    hits = np.bincount(owner[matched][in_stem], best, n_files)
    return np.asarray(np.minimum(1.0, hits / np.maximum(n_parts, 1)), np.float32)


def _exact(index: DerivedIndex, files: Int64s, query: Query) -> Floats:
    """Return how far each file's name is a word of the query."""
    wanted: dict[int, float] = {}

    def want(name: str, value: float) -> None:
        for key in _form_hashes(name):
            wanted[key] = max(wanted.get(key, 0.0), value)

    content = query.content_words
    for position, word in enumerate(content[:40]):
        value = 1 / (1 + 0.04 * position)
        want(word, value * (COMPOUND_BONUS if is_identifier(word) else 1.0))
        for agent in _agent_nouns(word):
            want(agent, value)
    for word, next_word in pairwise(content[:40]):
        want(word + next_word, JOINED_MATCH)
    if 1 < len(content) <= 5:
        want("".join(content), WHOLE_MATCH)
    names = index.columns.stem_hash[files, :2]
    if not wanted:
        return np.zeros(len(files), np.float32)
    hashes = np.array(sorted(wanted), np.uint64)
    values = np.array([wanted[key] for key in sorted(wanted)], np.float32)
    place = np.minimum(np.searchsorted(hashes, names), len(hashes) - 1)
    found = np.where(hashes[place] == names, values[place], np.float32(0.0))
    return np.asarray(found.max(axis=1), np.float32)


def _said_by_name(n_files: Floats) -> Floats:
    """Return what a name says that so many files have, as a share of what it says of a single one."""
    return np.asarray(1 / (1 + COMMON_NAME * np.log(n_files)), np.float32)


@lru_cache(maxsize=20_000)
def _form_hashes(name: str) -> tuple[int, ...]:
    """Return what a file may be called that is named like a word of the query."""
    whole = normalised_name(name)
    return tuple(name_hash(form) for form in (whole, whole + "s", whole.removesuffix("s"), stem(whole)) if form)


def _agent_nouns(word: str) -> tuple[str, ...]:
    """Return the names of what does what a word says: the router does the routing, the parser parses."""
    base = stem(word)
    return (f"{base}er", f"{base}or", f"{base}{base[-1]}er") if word.isascii() and word.isalpha() else ()


def _with_folder(index: DerivedIndex, files: Int64s, query: Query) -> Floats:
    """Return 1 for files that two neighbouring words of the query name with their folder: session/store.php."""
    pairs = {
        name_hash(stem(normalised_name(word + next_word))) for word, next_word in pairwise(query.content_words[:40])
    }
    hashes = np.fromiter(pairs - {0}, np.uint64)
    return np.isin(index.columns.stem_hash[files, 2], hashes).astype(np.float32)


def _folder_exact(index: DerivedIndex, owner: Int64s, words: NDArray[np.uint32], query: Query, n_files: int) -> Floats:
    """Return 1 for files under a folder that is named like a compound word of the query."""
    wanted = [index.vocabulary.find(term.token) for term in query.terms if term.kind == "whole"]
    return _any_of(owner, words, wanted, n_files)


def _opposite(index: DerivedIndex, owner: Int64s, words: NDArray[np.uint32], query: Query, n_files: int) -> Floats:
    """Return 1 for files whose path has the opposite of a word of the query, and not the word itself."""
    asked = {term.token for term in query.terms if term.kind == "part"}
    found = np.zeros(n_files, np.float32)
    for same, other in {OPPOSITES[token] for token in asked if token in OPPOSITES}:
        if not other & asked:
            has_other = _any_of(owner, words, [index.vocabulary.find(token) for token in other], n_files)
            has_same = _any_of(owner, words, [index.vocabulary.find(token) for token in same], n_files)
            found = np.maximum(found, has_other * (1 - has_same))
    return found


def _any_of(owner: Int64s, words: NDArray[np.uint32], wanted: Sequence[int], n_files: int) -> Floats:
    """Return 1 for the files that have one of some words; numbers under 0 are no words."""
    known = np.array([word_id for word_id in wanted if word_id >= 0], np.uint32)
    found = np.zeros(n_files, np.float32)
    found[owner[np.isin(words, known)]] = 1.0
    return found
