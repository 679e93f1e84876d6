"""Term groups: a query's terms as word ids and weights of one index; a group is a term with its related words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.query import Term
from codecards.retrieval.store.columns import Floats, Int64s, Uint32s

Members = tuple[tuple[int, float], ...]
"""(id of a word, how surely it stands for a term)."""

MIN_IDF = 0.05
"""Lower bound of a term's IDF."""
COMMON_PLACE_SHARE = 0.5
COMMON_PLACE_FILES = 8
COMMON_PLACE_WEIGHT = 0.2
"""A word in the paths of most files is the name of the project or package, and does not tell files apart: share of the files,
fewest files, and the factor on the word's weight."""


@dataclass(frozen=True, slots=True)
class TermGroups:
    """G groups over T words of the index."""

    terms: tuple[Term, ...]
    """(G,)"""
    word_ids: Uint32s
    """(T,): ids of the words, ascending."""
    strength: Floats
    """(T, G): how surely a word stands for a group's term, 0 to 1."""
    idf: Floats
    """(G,): IDF over files times the term's weight; above 0 even if no word of the index stands for the term."""
    card_idf: Floats
    """(G,): IDF over cards times the term's weight."""
    path_idf: Floats
    """(G,): IDF over paths."""
    is_part: NDArray[np.bool_]
    """(G,): whether the term is a single word, and not a compound or two joined neighbours."""
    known: NDArray[np.bool_]
    """(G,): whether a word of the index stands for the term, related words included."""

    def pairs(self, term: Int64s) -> tuple[Int64s, Int64s, Floats]:
        """Return (P,) positions in `term`, groups and strengths: every word with each group that it stands for.

        Args:
            term: Positions in `word_ids`.
        """
        word, group = np.nonzero(self.strength)
        n_groups = np.bincount(word, minlength=len(self.word_ids))
        first = np.cumsum(n_groups) - n_groups
        lengths = n_groups[term]
        position = np.repeat(np.arange(len(term)), lengths)
        within = np.arange(len(position)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        place = first[term][position] + within
        return position, group[place], self.strength[word[place], group[place]]

    @property
    def is_empty(self) -> bool:
        """Whether no word of the query is in the index."""
        return not len(self.word_ids)

    @property
    def part_idf(self) -> float:
        """Sum of the IDF of all parts: the scale of scores."""
        return float(self.idf[self.is_part].sum())


def group_terms(index: DerivedIndex, terms: Sequence[Term], *, relatives: bool = True) -> TermGroups:
    """Return the term groups of a query.

    Args:
        index: Has the words.
        terms: Of the query.
        relatives: Whether related words stand for a term too.
    """
    columns = index.columns
    n_files = columns.n_files
    members: list[Members] = []
    for term in terms:
        if term.kind == "join":
            found = index.expander.expand(term.token) + index.expander.expand(term.token[1:], relatives=False)
            members.append(tuple((word_id, 1.0) for word_id, _ in found))
        else:
            itself = index.expander.expand(term.token, relatives=relatives)
            members.append((*itself, *_others(index, term)))
    members = _shared(terms, members)
    word_ids = np.array(sorted({word_id for group in members for word_id, _ in group}), np.uint32)
    place = {word_id: row for row, word_id in enumerate(word_ids.tolist())}
    strength = np.zeros((len(word_ids), len(terms)), np.float32)
    for column, group in enumerate(members):
        for word_id, value in group:
            strength[place[word_id], column] = max(strength[place[word_id], column], value)
    in_files = _union(strength, columns.word_files[word_ids], n_files)
    first, last = columns.word_offset[word_ids], columns.word_offset[word_ids.astype(np.int64) + 1]
    in_cards = _union(strength, (last - first).astype(np.uint32), columns.n_cards)
    in_paths = _union(strength, columns.word_paths[word_ids], n_files)
    weight = np.array([term.weight for term in terms], np.float32)
    if len(terms) > 1 and n_files >= COMMON_PLACE_FILES:
        # Only the word itself counts: in aiohttp, "client" keeps its weight though "clients" is in most paths.
        own = np.array([columns.word_paths[group[0][0]] if group else 0 for group in members])
        weight = np.where(own >= COMMON_PLACE_SHARE * n_files, weight * COMMON_PLACE_WEIGHT, weight)
    return TermGroups(
        terms=tuple(terms),
        word_ids=word_ids,
        strength=strength,
        idf=(np.maximum(MIN_IDF, _idf(in_files, n_files)) * weight).astype(np.float32),
        card_idf=(np.maximum(MIN_IDF, _idf(in_cards, columns.n_cards)) * weight).astype(np.float32),
        path_idf=_idf(in_paths, n_files),
        is_part=np.array([term.kind == "part" for term in terms], np.bool_),
        known=np.asarray((strength > 0).any(axis=0)),
    )


def _shared(terms: Sequence[Term], members: Sequence[Members]) -> list[Members]:
    """Return the members of each term; terms of the same token have the same members.

    "缓存 … cache" asks for one thing twice, and a file with either word matches both terms.
    """
    strongest: dict[str, dict[int, float]] = {}
    for term, group in zip(terms, members, strict=True):
        known = strongest.setdefault(term.token, {})
        for word_id, value in group:
            known[word_id] = max(known.get(word_id, 0.0), value)
    return [
        group
        if len(strongest[term.token]) == len({word_id for word_id, _ in group})
        else tuple(strongest[term.token].items())
        for term, group in zip(terms, members, strict=True)
    ]


def _others(index: DerivedIndex, term: Term) -> Iterator[tuple[int, float]]:
    """Yield the words that stand for a term besides its own, and their near forms."""
    for token, strength in term.others:
        yield from ((word_id, strength * near) for word_id, near in index.expander.expand(token))


def _union(strength: Floats, counts: Uint32s, n_files: int) -> Floats:
    """Return (G,): expected number of files with a word of each group, as if words were independent."""
    missing = 1 - np.minimum(counts, n_files) / max(1, n_files)
    absent = np.where(strength > 0, missing[:, None], 1.0).prod(axis=0)
    return np.asarray((1 - absent) * n_files, np.float32)


def _idf(counts: Floats, n_files: int) -> Floats:
    return np.log1p((n_files - counts + 0.5) / (counts + 0.5)).astype(np.float32)
