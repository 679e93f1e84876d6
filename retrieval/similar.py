"""Similar cards: finds cards that do much the same as a card, by its words and its vector."""

from collections.abc import Mapping, Sequence

import numpy as np

from codecards.retrieval.evidence.terms import TermGroups, group_terms
from codecards.retrieval.evidence.text import FIELD_BODY, TextWeights, card_scores, find_postings, match_terms
from codecards.retrieval.hits import Hit, Ranking, ScoreTerm
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.query import Term
from codecards.retrieval.rank.filters import Filters
from codecards.retrieval.search import DEFAULT_LIMIT, CardLookup
from codecards.retrieval.store.columns import Floats, Int64s, runs
from codecards.retrieval.vectors.card_vectors import Similarity

N_WORDS = 30
"""Words of a card that are searched: those that are frequent in it and rare elsewhere."""
N_FILES = 100
"""Files that words contribute."""
N_NEAREST = 50
"""Nearest cards whose files vectors contribute."""
UNIQUE_WORD_FACTOR = 0.2
"""Factor on a word that is once in this card and nowhere else: no other card can have it."""
WEIGHTS = TextWeights((3.0, 0.5, 1.5, 1.0, 1.0, 0.0), length=0.6)
MEANING_WEIGHT = 1.0
"""Weight of a cosine of 1; a card with all words of the other, as strongly, has 1."""
FOUND_SHARE, WEAK_SHARE = 0.45, 0.2
"""Fractions of the card's self-score from which another card is "found" or "weak"."""
FOUND_COSINE = 0.75
"""Cosine from which another card is "found", whatever its words."""


def similar(
    index: DerivedIndex, lookup: CardLookup, card_id: int, *, limit: int = DEFAULT_LIMIT, filters: Filters | None = None
) -> Ranking:
    """Return the cards most similar to a card, best first; without itself and the cards that overlap it.

    Args:
        index: Of one generation.
        lookup: The snapshot of the same generation.
        card_id: Id of the card; an unknown id gives no hits.
        limit: Most hits.
        filters: Limits on the hits.
    """
    columns = index.columns
    retrievers = ("words", "static_vectors") if index.vectors is not None else ("words",)
    found = np.flatnonzero(columns.card_id == card_id)
    if not len(found):
        return Ranking("symbol", "none", (), (), 0, retrievers)
    row = int(found[0])
    filters = filters or Filters()
    groups = group_terms(index, _distinctive_words(index, row), relatives=False)
    similarity = None
    if index.vectors is not None:
        similarity = index.vectors.similarity(index.vectors.vectors[row].astype(np.float32))
    files = _candidates(index, row, groups, similarity)
    allowed = filters.files(index)
    mine = int(index.file_of_card[row])
    files = files[allowed[files] | (files == mine)]
    cards, values, own = _score(index, row, files, groups, similarity)
    total = np.asarray(np.sum(list(values.values()), axis=0), np.float32)
    keep = (
        filters.cards(index, cards)
        & allowed[index.file_of_card[cards]]
        & ~_overlapping(index, row, cards)
        & (total > 0)
    )
    order = np.flatnonzero(keep)
    order = order[np.lexsort((cards[order], -total[order]))][:limit]
    best_words = float(values["words"][order].max(initial=0.0))
    best_cosine = float(values["meaning"][order].max(initial=0.0)) if "meaning" in values else 0.0
    verdict = (
        "found"
        if best_words >= FOUND_SHARE or best_cosine >= FOUND_COSINE
        else "weak"
        if best_words >= WEAK_SHARE
        else "none"
    )
    if verdict == "none" or own <= 0:
        return Ranking("symbol", "none", (), (), len(files), retrievers)
    hits = _hits(lookup, columns.card_id[cards[order]].tolist(), {name: of[order] for name, of in values.items()})
    return Ranking("symbol", verdict, hits, (), len(files), retrievers)


def _hits(lookup: CardLookup, ids: Sequence[int], values: Mapping[str, Floats]) -> tuple[Hit, ...]:
    known = lookup.cards(ids)
    hits: list[Hit] = []
    for place, card_id in enumerate(ids):
        if card_id in known:
            terms = tuple(
                ScoreTerm(name, float(parts[place]), _SAYS[name]) for name, parts in values.items() if parts[place]
            )
            hits.append(Hit(len(hits) + 1, known[card_id], sum(term.value for term in terms), terms))
    return tuple(hits)


_SAYS = {
    "words": "the card's distinctive words, as a share of its own score",
    "meaning": "similarity of the two texts",
}


def _distinctive_words(index: DerivedIndex, row: int) -> Sequence[Term]:
    """Return the words that set the card apart: frequent in it and rare elsewhere."""
    columns = index.columns
    entries = slice(int(columns.entry_offset[row]), int(columns.entry_offset[row + 1]))
    words, counts = columns.entry_word[entries], columns.entry_counts[entries]
    files = columns.word_files[words]
    rarity = np.log1p((columns.n_files - files + 0.5) / (files + 0.5))
    often = np.log1p(counts @ np.array(WEIGHTS.fields, np.float32))
    # No other card can have a word that is nowhere else.
    value = np.where((files > 1) | (counts[:, FIELD_BODY] > 1), often * rarity, often * rarity * UNIQUE_WORD_FACTOR)
    best = np.argsort(-value, kind="stable")[:N_WORDS]
    return [Term(index.vocabulary[int(words[place])], "part", float(often[place]), 0) for place in best.tolist()]


def _candidates(index: DerivedIndex, row: int, groups: TermGroups, similarity: Similarity | None) -> Int64s:
    if index.columns.n_files <= N_FILES:
        return np.flatnonzero(np.diff(index.columns.card_offset) > 0)
    weights = zip(
        groups.word_ids.tolist(), (groups.strength * groups.idf).max(axis=1, initial=0.0).tolist(), strict=True
    )
    tokens = [(index.vocabulary[word_id], weight) for word_id, weight in weights]
    ids = [file_id for file_id, _ in index.keywords.candidates(tokens, N_FILES)]
    rows = set(index.rows_of_files(np.array(ids, np.int64)).tolist()) | {int(index.file_of_card[row])}
    if similarity is not None:
        rows.update(index.file_of_card[similarity.nearest(N_NEAREST)[0]].tolist())
    return np.array(sorted(rows), np.int64)


def _score(
    index: DerivedIndex, row: int, files: Int64s, groups: TermGroups, similarity: Similarity | None
) -> tuple[Int64s, dict[str, Floats], float]:
    """Return the cards of the files, their values by name, and the card's self-score."""
    columns = index.columns
    lengths = columns.card_offset[files + 1] - columns.card_offset[files]
    cards = runs(columns.card_offset[files], lengths)
    matches = match_terms(find_postings(index, files, groups.word_ids), groups)
    scores = np.zeros(len(cards), np.float32)
    scores[np.searchsorted(cards, matches.cards)] = card_scores(index, matches, groups, WEIGHTS)
    own = float(scores[np.searchsorted(cards, row)])
    values = {"words": scores / max(own, 1e-9)}
    if similarity is not None:
        values["meaning"] = np.maximum(0.0, similarity.cards(cards)) * np.float32(MEANING_WEIGHT)
    return cards, values, own


def _overlapping(index: DerivedIndex, row: int, cards: Int64s) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return which cards are the card itself, inside it or around it."""
    columns = index.columns
    same_file = index.file_of_card[cards] == index.file_of_card[row]
    overlap = (columns.first_line[cards] <= columns.last_line[row]) & (
        columns.last_line[cards] >= columns.first_line[row]
    )
    return np.asarray(same_file & overlap)
