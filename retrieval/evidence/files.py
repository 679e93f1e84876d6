"""File evidence: everything that speaks for or against each candidate file, by the names of `weights`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from codecards.retrieval.evidence.paths import PathEvidence, path_evidence
from codecards.retrieval.evidence.symbols import NamedCards, NameEvidence, name_evidence
from codecards.retrieval.evidence.terms import TermGroups
from codecards.retrieval.evidence.text import (
    CARD_WEIGHTS,
    DOC_WEIGHTS,
    FILE_WEIGHTS,
    PLAIN_FILE_WEIGHTS,
    Matches,
    card_scores,
    decayed_sum,
    file_scores,
    find_occurrences,
    match,
    max_per_file,
    share_of,
)
from codecards.retrieval.evidence.transformer import transformer_scores
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.query import Query
from codecards.retrieval.store.columns import ROLES, Floats, Int64s, runs
from codecards.retrieval.store.paths import PathFlag
from codecards.retrieval.vectors.card_vectors import Similarity

TOP_CARDS, TOP_DECAY = 4, 0.7
N_NEAREST = 20
"""Cards that are near enough in meaning for their files to be shown without any word of the query (S2-26)."""
LESS_STATIC = 0.25
"""How much less a file's static vector counts where all candidates have deep ones."""
MAX_DEPTH = 6
_IS_PROSE, _IS_MADE = np.isin(ROLES, ("docs", "config")), np.isin(ROLES, ("generated", "vendored"))

_asks_for = {
    "test": re.compile(
        r"\b(tests?|testing|specs?|fixtures?|mocks?|unittest|pytest)\b|测试|テスト|테스트", re.IGNORECASE
    ),
    "side": re.compile(
        r"\b(examples?|samples?|demos?|docs?|vendor(ed)?|legacy|deprecated|compat\w*|generated|benchmarks?|stubs?)\b|示例",
        re.IGNORECASE,
    ),
    "prose": re.compile(
        r"\b(docs?|documentation|readme|changelog|guide|tutorial|manual|config file|settings file|licen[sc]e)\b"
        r"|文档|说明|设计",
        re.IGNORECASE,
    ),
    "made": re.compile(r"\b(generated|vendor(ed)?|bundled?|lock ?file|third.party)\b", re.IGNORECASE),
    "old_version": re.compile(r"\b(legacy|old version)\b", re.IGNORECASE),
}
"""What in a query asks for the files that are put lower otherwise."""
_version = re.compile(r"(?<![a-z0-9])v(\d{1,2})(?![a-z0-9])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was found of F candidate files and C of their cards."""

    matches: Matches
    groups: TermGroups
    paths: PathEvidence
    names: NameEvidence
    card_words: Floats
    """(C,): BM25F of each card."""
    features: Mapping[str, Floats]
    """Name → (F,)."""
    of_cards: Mapping[str, tuple[Int64s, Floats]] = field(default_factory=dict)
    """Further evidence of cards: name → their rows, ascending, and values."""


def file_signals(
    index: DerivedIndex,
    query: Query,
    groups: TermGroups,
    files: Int64s,
    named: Sequence[NamedCards],
    places: Mapping[str, Mapping[int, float]],
    similarity: Similarity | None,
) -> Evidence:
    """Return the evidence for a question's candidates.

    Args:
        index: The index.
        query: As parsed.
        groups: Its terms.
        files: Rows of the candidates, ascending.
        named: Exact definitions of its names.
        places: "place" and "frame" → file row → how surely it is named.
        similarity: How near cards are; None without vectors.
    """
    n_files = len(files)
    matches = match(index, find_occurrences(index, files, groups.word_ids), groups)
    paths = path_evidence(index, files, query, groups)
    names = name_evidence(index, matches, groups)
    words = card_scores(index, matches, groups, CARD_WEIGHTS)
    docs = card_scores(index, matches, groups, DOC_WEIGHTS)
    fields = file_scores(index, matches, groups, FILE_WEIGHTS, paths.counts)
    plain = file_scores(index, matches, groups, PLAIN_FILE_WEIGHTS)
    scale = max(2.2 * groups.part_idf, 1e-9)
    doc_best = max_per_file(docs, matches.card_file, n_files)
    features = {
        "cards": share_of(decayed_sum(words, matches.card_file, n_files)),
        "best_card": share_of(max_per_file(words, matches.card_file, n_files)),
        "file_words": plain / scale,
        "file_fields": share_of(fields),
        "file_name": paths.stem_f1,
        "file_name_precision": paths.stem_precision,
        "file_name_exact": paths.exact,
        "file_name_common": paths.exact_common,
        "file_name_head": paths.head_recall,
        "file_name_first": paths.first_word,
        "folder_and_name": paths.with_folder,
        "folders": paths.folder_recall,
        "folder_exact": paths.folder_exact,
        "opposite": paths.opposite,
        "whole_path": paths.all_recall,
        "action_name": names.best_action,
        "symbol_name": names.best,
        "symbol_names": names.total,
        "documentation": doc_best / scale,
        "documentation_best": share_of(doc_best),
        "used_by_matches": used_by_matches(index, files, share_of(fields)),
        **_named_features(query, files, named),
        **{name: dense(values, files) for name, values in places.items()},
        **prior_signals(index, query, files),
        **vector_signals(index, files, similarity),
    }
    return Evidence(matches, groups, paths, names, words, features)


def has_evidence(evidence: Evidence, similarity: Similarity | None, index: DerivedIndex) -> NDArray[np.bool_]:
    """Return (F,): which candidates anything of the query speaks for; the others would only fill the list."""
    matches = evidence.matches
    found = (evidence.paths.counts > 0).any(axis=1) | (evidence.paths.exact > 0)
    found[matches.file_cell_file] = True
    for name in ("place", "frame", "module"):
        if name in evidence.features:
            found |= evidence.features[name] > 0
    if similarity is not None:
        cards, _ = similarity.nearest(N_NEAREST)
        if similarity.transformer is not None:
            cards = np.concatenate([cards, similarity.transformer.nearest(N_NEAREST)])
        found |= np.isin(matches.files, index.file_of_card[cards])
    return np.asarray(found)


def used_by_matches(index: DerivedIndex, files: Int64s, values: Floats) -> Floats:
    """Return (F,): how well the files that use each candidate fit the query themselves, 0 to 1."""
    columns = index.columns
    lengths = columns.link_offset[files + 1] - columns.link_offset[files]
    links = runs(columns.link_offset[files], lengths)
    gain = np.bincount(
        columns.link_target[links], np.repeat(values, lengths) * columns.link_weight[links], columns.n_files
    )
    return (gain[files] / (columns.in_weight[files] + 2)).astype(np.float32)


def prior_signals(index: DerivedIndex, query: Query, files: Int64s) -> dict[str, Floats]:
    """Return what speaks for or against files whatever is asked, as far as the query does not ask for just that."""
    columns = index.columns
    role, flags = columns.role[files], columns.flags[files]
    depth = columns.depth[files].astype(np.float32) - index.least_depth
    features: dict[str, Floats] = {
        "centrality": np.log(columns.centrality[files] + 1e-3).astype(np.float32),
        "users": np.log1p(columns.in_degree[files]).astype(np.float32),
        "size": np.log1p(columns.n_lines[files]).astype(np.float32),
        "test": _is(role == ROLES.index("test")),
        "side": _is((flags & PathFlag.SIDE) > 0),
        "prose": _is(_IS_PROSE[role]),
        "made": _is(_IS_MADE[role]),
        "old_version": columns.old_version[files].copy(),
        "depth": np.minimum(depth, MAX_DEPTH),
        "header": _is((flags & PathFlag.HEADER) > 0),
        "header_with_source": _is((flags & PathFlag.HAS_SOURCE) > 0),
        "entry": _is((flags & PathFlag.ENTRY) > 0),
    }
    asked = query.text[:300]
    for name, pattern in _asks_for.items():
        # A report that speaks of tests and documents is about the code all the same.
        if query.kind != "symbol" and not query.is_issue and pattern.search(asked):
            features[name] = np.zeros(len(files), np.float32)
    versions = _version.findall(asked)
    for row in np.flatnonzero(features["old_version"]).tolist() if versions else ():
        if set(versions) & set(_version.findall(index.path(int(files[row])))):
            features["old_version"][row] = 0.0
    return features


def vector_signals(index: DerivedIndex, files: Int64s, similarity: Similarity | None) -> dict[str, Floats]:
    """Return the similarities of files and of their best cards to the query."""
    if similarity is None:
        return {}
    columns = index.columns
    lengths = columns.card_offset[files + 1] - columns.card_offset[files]
    cards = runs(columns.card_offset[files], lengths)
    cosines = similarity.cards(cards)
    owner = np.repeat(np.arange(len(files)), lengths)
    features = {
        "meaning_cards": decayed_sum(cosines, owner, len(files), n_best=TOP_CARDS, decay=TOP_DECAY),
        "meaning_file": similarity.files(files),
    }
    if (by_transformer := transformer_scores(index, similarity, cards)) is not None:
        features["meaning_file"] *= 1 - LESS_STATIC * by_transformer.share
        features["transformer_card"] = by_transformer.share * max_per_file(by_transformer.cosines, owner, len(files))
    return features


def dense(values: Mapping[int, float], files: Int64s) -> Floats:
    """Return (F,): the values of the candidates, 0 for those without."""
    found = np.zeros(len(files), np.float32)
    for row, value in values.items():
        place = int(np.searchsorted(files, row))
        if place < len(files) and files[place] == row:
            found[place] = value
    return found


def best_in_files(named: NamedCards, files: Int64s) -> Floats:
    """Return (F,): the highest value of a name's definitions in each candidate."""
    found = np.zeros(len(files), np.float32)
    if len(files):
        place = np.minimum(np.searchsorted(files, named.files), len(files) - 1)
        inside = files[place] == named.files
        np.maximum.at(found, place[inside], named.values[inside])
    return found


def _named_features(query: Query, files: Int64s, named: Sequence[NamedCards]) -> dict[str, Floats]:
    features = {
        name: np.zeros(len(files), np.float32) for name in ("symbol", "symbol_in_text", "type_in_text", "first_symbol")
    }
    first = True
    for one in named:
        values = best_in_files(one, files)
        if query.kind == "symbol":
            features["symbol"] = np.maximum(features["symbol"], values)
            continue
        if not one.is_meant:
            continue
        features["symbol_in_text" if one.name.strong else "type_in_text"] += values
        if first:
            features["first_symbol"] = values
            first = False
    return features


def _is(condition: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> Floats:
    return condition.astype(np.float32)
