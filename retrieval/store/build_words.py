"""Builds columns, vocabulary and word index of a generation from its changes and the previous generation."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codecards.indexer.cards.words import FIELDS
from codecards.indexer.store.derived import ChangedFile, GenerationDiff
from codecards.retrieval.store.build_columns import (
    Rows,
    distinct_words,
    merge_rows,
    merge_vocabularies,
    rows_of_columns,
    rows_of_files,
)
from codecards.retrieval.store.columns import ROLES, Columns, starts
from codecards.retrieval.store.file_links import centrality, link_columns
from codecards.retrieval.store.folder import COLUMNS_FOLDER, FORMAT, KEYWORDS_FOLDER, META_FILE, read_languages
from codecards.retrieval.store.keyword_index import OFTEN, VERY_OFTEN, FileDocument, join_tokens, write_keyword_index
from codecards.retrieval.store.paths import old_versions, path_flags, path_words
from codecards.retrieval.store.vocabulary import Vocabulary


def build_words(change: GenerationDiff) -> None:
    """Write columns, vocabulary and word index of a new generation.

    Raises:
        OSError: The new folder can't be written.
        ValueError: The old folder is damaged.
    """
    folder = change.new_folder
    (folder / COLUMNS_FOLDER).mkdir(parents=True)
    gone = {*change.removed_ids, *(one.entry.file_id for one in change.changed)}
    new_words = {token for one in change.changed if one.cards for token in one.tokens.vocabulary}
    for one in change.changed:
        place = path_words(one.entry.path)
        new_words.update(place.stem, place.folder, place.outer)
    if change.old_folder is None:
        rows, vocabulary, word_files = _fresh_rows(change.changed, new_words)
    else:
        rows, vocabulary, word_files = _updated_rows(change, change.old_folder, gone, new_words)
    columns, languages = _columns(rows, word_files, change.links)
    vocabulary.save(folder)
    columns.save(folder / COLUMNS_FOLDER)
    old_keywords = change.old_folder / KEYWORDS_FOLDER if change.old_folder is not None else None
    documents = (_document(one) for one in change.changed if one.cards)
    write_keyword_index(folder / KEYWORDS_FOLDER, old_keywords, sorted(gone), documents)
    meta = {"format": FORMAT, "languages": languages}
    (folder / META_FILE).write_text(json.dumps(meta), encoding="utf-8")


def _fresh_rows(files: Sequence[ChangedFile], words: set[str]) -> tuple[Rows, Vocabulary, NDArray[np.int64]]:
    """Return the rows, the vocabulary, and the number of files that have each word in a card."""
    vocabulary, word_ids = merge_vocabularies((), words)
    rows = rows_of_files(sorted(files, key=lambda one: os.fsencode(one.entry.path)), word_ids)
    return rows, vocabulary, _count_words(files, word_ids, np.zeros(len(vocabulary), np.int64))


def _updated_rows(
    change: GenerationDiff, old_folder: Path, gone: set[int], new_words: set[str]
) -> tuple[Rows, Vocabulary, NDArray[np.int64]]:
    """Return the same as `_fresh_rows`; unchanged files come from the old folder."""
    old = Columns.open(old_folder / COLUMNS_FOLDER)
    is_gone = np.isin(old.file_id, np.fromiter(gone, np.int64, len(gone)))
    old_files, old_paths = old.word_files.astype(np.int64), old.word_paths.astype(np.int64)
    for row in np.flatnonzero(is_gone).tolist():
        old_files[distinct_words(old, row)] -= 1
        old_paths[np.unique(old.place_word[old.place_offset[row] : old.place_offset[row + 1]])] -= 1
    old_words = Vocabulary.open(old_folder).all_words()
    used = (old_files > 0) | (old_paths > 0)
    still_used = [word for word, is_used in zip(old_words, used.tolist(), strict=True) if is_used]
    vocabulary, word_ids = merge_vocabularies(still_used, new_words)
    new_ids = np.fromiter((word_ids.get(word, 0) for word in old_words), np.uint32, len(old_words))
    word_files = np.zeros(len(vocabulary), np.int64)
    word_files[new_ids[used]] = old_files[used]
    kept = rows_of_columns(old, read_languages(old_folder), np.flatnonzero(~is_gone), new_ids)
    rows = merge_rows(kept, rows_of_files(change.changed, word_ids))
    return rows, vocabulary, _count_words(change.changed, word_ids, word_files)


def _count_words(
    files: Sequence[ChangedFile], word_ids: Mapping[str, int], word_files: NDArray[np.int64]
) -> NDArray[np.int64]:
    for one in files:
        if one.cards:
            n_words = len(one.tokens.vocabulary)
            word_files[np.fromiter(map(word_ids.__getitem__, one.tokens.vocabulary), np.int64, n_words)] += 1
    return word_files


def _columns(
    rows: Rows, word_files: NDArray[np.int64], links: Sequence[tuple[int, int, int]]
) -> tuple[Columns, list[str]]:
    """Return all columns, with those that depend on several files, and the languages by number."""
    n_files, n_words = len(rows.paths), len(word_files)
    paths = [os.fsdecode(path) for path in rows.paths]
    languages = sorted(set(rows.languages))
    numbers = {language: number for number, language in enumerate(languages)}
    link_offset, link_target, link_weight = link_columns(links, rows.files["file_id"])
    is_test = (rows.files["role"] == ROLES.index("test")).astype(np.uint8)
    file_of_place = np.repeat(np.arange(n_files), rows.n_places)
    pairs = np.unique(file_of_place * max(1, n_words) + rows.places["place_word"].astype(np.int64))
    columns = Columns(
        **rows.files,
        **rows.places,
        **rows.cards,
        **rows.entries,
        path_bytes=np.frombuffer(b"".join(rows.paths), np.uint8),
        path_offset=starts(np.array([len(path) for path in rows.paths], np.int64)),
        language=np.array([numbers[language] for language in rows.languages], np.uint8),
        flags=np.array([int(flag) for flag in path_flags(paths)], np.uint8),
        old_version=np.array(old_versions(paths), np.float32),
        place_offset=starts(rows.n_places),
        card_offset=starts(rows.n_cards),
        entry_offset=starts(rows.n_entries),
        entry_by_word=np.argsort(rows.entries["entry_word"], kind="stable").astype(np.uint32),
        word_offset=starts(np.bincount(rows.entries["entry_word"], minlength=n_words)),
        centrality=centrality(link_offset, link_target, link_weight, is_test),
        in_weight=np.bincount(link_target, link_weight, n_files).astype(np.float32),
        in_degree=np.bincount(link_target, minlength=n_files).astype(np.uint32),
        link_offset=link_offset,
        link_target=link_target,
        link_weight=link_weight,
        by_name=np.argsort(rows.cards["folded_name"], kind="stable").astype(np.uint32),
        word_files=word_files.astype(np.uint32),
        word_paths=np.bincount(pairs % max(1, n_words), minlength=n_words).astype(np.uint32),
    )
    return columns, languages


def _document(one: ChangedFile) -> FileDocument:
    """Return the document of a file in the keyword index."""
    tokens = one.tokens
    entry_words = np.frombuffer(tokens.token_index, np.uint32)
    counts = np.frombuffer(tokens.counts, np.uint8).reshape(-1, len(FIELDS))
    n_words = len(tokens.vocabulary)
    total = np.bincount(entry_words, counts[:, : FIELDS.index("message")].sum(axis=1, dtype=np.int64), n_words)
    in_names = np.bincount(entry_words, counts[:, 0], n_words)
    place = path_words(one.entry.path)
    return FileDocument(
        file_id=one.entry.file_id,
        text=" ".join(tokens.vocabulary),
        often=join_tokens(tokens.vocabulary, np.flatnonzero(total >= OFTEN).tolist()),
        very_often=join_tokens(tokens.vocabulary, np.flatnonzero(total >= VERY_OFTEN).tolist()),
        names=join_tokens(tokens.vocabulary, np.flatnonzero(in_names > 0).tolist()),
        place=" ".join({**dict.fromkeys(place.stem), **dict.fromkeys(place.folder), **dict.fromkeys(place.outer)}),
    )
