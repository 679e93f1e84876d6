"""Symbol evidence: definitions of the query's names, exact ones and ones whose name has words of the query."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codecards.indexer.facts import NAMED_TYPE_KINDS, Kind
from codecards.retrieval.evidence.built_files import built_files
from codecards.retrieval.evidence.terms import TermGroups
from codecards.retrieval.evidence.text import FIELD_NAME, TermMatches, max_per_file
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.query import Name
from codecards.retrieval.store.columns import ROLES, Floats, Int64s
from codecards.retrieval.store.names import name_hash, normalised_name

KIND_PRIOR = np.array(
    [
        {
            "enum": 0.95, "impl": 0.6, "namespace": 0.9, "module": 0.9, "function": 0.9, "method": 0.75,
            "constructor": 0.5, "property": 0.65, "macro": 0.85, "declaration": 0.6, "type": 0.9, "variable": 0.6,
            "constant": 0.6, "field": 0.5,
            "table": 1.0, "view": 0.95, "procedure": 0.9, "trigger": 0.8, "index": 0.6, "section": 0.5, "cell": 0.3,
            "window": 0.3, "part": 0.3,
        }.get(kind, 1.0)
        for kind in Kind
    ],
    np.float32,
)  # fmt: skip
"""Prior of each kind: how likely a card of this kind is asked for; 1 for types."""
IS_TYPE = np.array([kind in NAMED_TYPE_KINDS for kind in Kind])
OTHER_CASE, CASE_BESIDE_EXACT = 0.6, 0.15
"""Factors for a name in another case: where no card has the case as written, and where one has."""
PARENT_MATCH, FILE_MATCH, NO_MATCH = 2.0, 1.8, 0.7
"""Factors for a qualified name whose qualifier is the parent, the file, neither."""
BESIDE_SOURCE = 0.3
"""Factor for a definition in a test, in build output or in a declaration file, where a source defines the name."""
SOURCE_ROLE = ROLES.index("source")
_NESTING = np.array([1.0, 1.0, 0.8, 0.65], np.float32)
"""Factor by the number of definitions around the card; the last one for all deeper cards."""


@dataclass(frozen=True, slots=True)
class NamedCards:
    """The cards that define a name of the query exactly."""

    name: Name
    cards: Int64s
    """(N,): rows of the cards."""
    files: Int64s
    """(N,): rows of their files."""
    values: Floats
    """(N,): how surely each is meant, 0 to 2."""
    is_meant: bool
    """Whether the query writes it as a name: as only identifiers are written, or capitalised; at the beginning of the text,
    a capitalised word is a name if a type is written exactly like it."""


def named_cards(index: DerivedIndex, names: Sequence[Name]) -> list[NamedCards]:
    """Return the exact definitions of names, without names that nothing defines."""
    found: list[NamedCards] = []
    columns = index.columns
    for name in names:
        rows = index.cards_named(name_hash(name.text.casefold()))
        if not len(rows):
            continue
        files = index.file_of_card[rows]
        exact = columns.exact_name[rows] == np.uint64(name_hash(name.text))
        case = np.where(exact, 1.0, CASE_BESIDE_EXACT if exact.any() else OTHER_CASE)
        kind = columns.kind[rows]
        values = KIND_PRIOR[kind] * case * _NESTING[np.minimum(columns.nesting[rows], len(_NESTING) - 1)]
        if name.qualifier:
            qualifier = name_hash(name.qualifier.casefold())
            of_parent = columns.parent_name[rows] == np.uint64(qualifier)
            of_file = columns.stem_hash[files, 0] == np.uint64(name_hash(normalised_name(name.qualifier)))
            values = values * np.where(of_parent, PARENT_MATCH, np.where(of_file, FILE_MATCH, NO_MATCH))
        values = values / (1 + np.log(len(np.unique(files))))
        values = values * _of_sources(index, files)
        opens_as_type = name.opening and bool((exact & IS_TYPE[kind]).any())
        is_meant = name.strong or name.capital or opens_as_type
        found.append(NamedCards(name, rows, files, values.astype(np.float32), is_meant))
    return found


def _of_sources(index: DerivedIndex, files: Int64s) -> Floats:
    """Return a factor for each definition: less for tests, build output and declarations where a source defines the name too."""
    is_source = index.columns.role[files] == SOURCE_ROLE
    known = is_source & (built_files(index, files) == 0)
    return np.where(known, 1.0, BESIDE_SOURCE).astype(np.float32) if known.any() else np.ones(len(files), np.float32)


@dataclass(frozen=True, slots=True)
class NameEvidence:
    """How far the names of cards match the query, word by word; F files, C cards."""

    best: Floats
    """(F,): F1 of query and name, times the kind's prior, of each file's best card."""
    best_action: Floats
    """(F,): the same, among cards that are not types."""
    total: Floats
    """(F,): ln(1 + sum of coverage times precision)."""
    by_card: Floats
    """(C,): F1 times the kind's prior."""
    coverage: Floats
    """(C,): share of the query's parts, by IDF, in the card's name."""
    precision: Floats
    """(C,): share of the name's words that the query has."""


def name_evidence(index: DerivedIndex, matches: TermMatches, groups: TermGroups) -> NameEvidence:
    """Return how far the names of the cards match a query."""
    columns = index.columns
    n_files = len(matches.files)
    in_name = matches.counts[:, FIELD_NAME] > 0
    is_part = groups.is_part.astype(np.float32)
    named_pairs = in_name[matches.pair_entry]
    sums = np.bincount(matches.pair_cell, matches.pair_strength * named_pairs, len(matches.cell_card))
    hit = np.minimum(1.0, sums) * is_part[matches.cell_group]
    rarity = groups.idf * is_part
    held = np.bincount(matches.cell_card, hit * rarity[matches.cell_group], len(matches.cards))
    coverage = held / max(float(rarity.sum()), 1e-9)
    compounds = index.compounds
    word_ids = groups.word_ids.astype(np.int64)
    plain = (word_ids < compounds.start) | (word_ids >= compounds.stop)
    best = (groups.strength * is_part).max(axis=1, initial=0.0) * plain
    matched = np.bincount(matches.entry_card, best[matches.entry_term] * in_name, len(matches.cards))
    lengths = columns.field_length[matches.cards, FIELD_NAME].astype(np.int64)
    n_words = np.where(lengths > 1, lengths - 1, lengths)  # a name of several words is indexed with its compound
    precision = np.minimum(1.0, matched / np.maximum(n_words, 1))
    f1 = 2 * coverage * precision / np.maximum(coverage + precision, 1e-9)
    kind = columns.kind[matches.cards]
    by_card = (f1 * KIND_PRIOR[kind]).astype(np.float32)
    product = coverage * precision * KIND_PRIOR[kind]
    return NameEvidence(
        best=max_per_file(by_card, matches.card_file, n_files),
        best_action=max_per_file(np.where(IS_TYPE[kind], 0.0, by_card).astype(np.float32), matches.card_file, n_files),
        total=np.log1p(np.bincount(matches.card_file, product, n_files)).astype(np.float32),
        by_card=by_card,
        coverage=coverage.astype(np.float32),
        precision=precision.astype(np.float32),
    )
