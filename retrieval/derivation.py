"""Derivation: what is derived from one committed state of the snapshot, for ranking to read.

    derived/7/
        meta.json       format and languages
        columns/        `Columns`
        words.bin …     `Vocabulary`
        keywords/       tantivy
        vectors/        `VectorLane`, where an embedder was given
        contents.json   size and digest of every file; written last

The folder of the generation before is read, never changed: readers still use it.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codecards.errors import SnapshotDamagedError
from codecards.indexer.build import Change, ChangedFile
from codecards.indexer.partition import text_lines
from codecards.indexer.snapshot import FileEntry
from codecards.retrieval.column_building import (
    Rows,
    distinct_words,
    merged,
    merged_vocabulary,
    rows_of_columns,
    rows_of_files,
    starts,
)
from codecards.retrieval.columns import ROLES, Columns
from codecards.retrieval.embedder import Embedder, card_text
from codecards.retrieval.file_links import centrality, link_columns
from codecards.retrieval.keyword_index import OFTEN, VERY_OFTEN, FileDocument, joined_tokens, write_keyword_index
from codecards.retrieval.path_words import old_versions, path_flags, path_words
from codecards.retrieval.vector_lane import derive_vectors
from codecards.retrieval.vocabulary import Vocabulary

FORMAT = 1
"""Raised by one whenever older derived files can't be read any more."""
META_FILE = "meta.json"
CONTENTS_FILE = "contents.json"
COLUMNS_FOLDER = "columns"
KEYWORDS_FOLDER = "keywords"
VECTORS_FOLDER = "vectors"

TextReader = Callable[[FileEntry], str | None]
"""Returns the text of a file as it was indexed, None if it has changed since."""


class Derivation:
    """Derives columns, word index and, with an embedder, vectors; an `indexer.build.Deriver`.

    Args:
        read_text: Reads what is embedded; not called without an embedder.
        embedder: Whose vectors are derived; None, or one without dimensions, for none.
    """

    def __init__(self, read_text: TextReader, embedder: Embedder | None) -> None:
        self._read_text = read_text
        self._embedder = embedder if embedder is not None and embedder.dimensions else None
        self.identity = f"{FORMAT}/{self._embedder.identity if self._embedder is not None else 'none'}"

    def derive(self, change: Change) -> None:
        """Fill `change.new_folder`.

        Raises:
            OSError: It can't be written.
            ValueError: The old folder is damaged.
        """
        if change.new_folder.exists():
            shutil.rmtree(change.new_folder)  # left by a writer that died before its commit
        derive_words(change)
        if self._embedder is not None:
            derive_vectors(change, self._embedder, self._texts)
        _write_contents(change.new_folder)

    def usable(self, folder: Path) -> bool:
        """Return whether the files of a derived folder are whole."""
        try:
            check_contents(folder)
            read_languages(folder)
        except (SnapshotDamagedError, OSError, ValueError, KeyError):
            return False
        return True

    def _texts(self, one: ChangedFile) -> list[str]:
        """Return what is embedded of a file's cards; what the index holds where the file has moved on."""
        text = self._read_text(one.entry)
        lines = text_lines(text) if text is not None else []
        texts: list[str] = []
        for card in one.cards:
            body = "\n".join("\n".join(lines[first - 1 : last]) for first, last in card.own_lines)
            texts.append(card_text(card.path, card.qualified_name.strip("<>"), card.signature, card.doc, body))
        return texts


def derive_words(change: Change) -> None:
    """Derive columns and word index of a new generation from what changed and from the generation before.

    Raises:
        OSError: The new folder can't be written.
        ValueError: The old one is damaged.
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


def read_languages(folder: Path) -> list[str]:
    """Return the languages by the number that the columns store.

    Raises:
        OSError: The folder is no derived index.
        ValueError: It is of another format.
    """
    meta = json.loads((folder / META_FILE).read_text(encoding="utf-8"))
    if meta["format"] != FORMAT:
        raise ValueError(f"{folder} has format {meta['format']}, this version reads {FORMAT}")
    return [str(language) for language in meta["languages"]]


def check_contents(folder: Path) -> None:
    """Check that the derived files are those that were written.

    A file whose size and time stamp are as noted is trusted; another one is read and compared by its digest.

    Raises:
        SnapshotDamagedError: One is missing or different.
    """
    try:
        noted = json.loads((folder / CONTENTS_FILE).read_text(encoding="utf-8"))
        for name, (size, mtime_ns, digest) in noted.items():
            path = folder / name
            status = path.stat()
            if status.st_size == size and status.st_mtime_ns == mtime_ns:
                continue
            if status.st_size != size or _digest(path) != digest:
                raise SnapshotDamagedError(f"{path} is damaged; run `codecards index` to rebuild it")
    except (OSError, ValueError, TypeError, AttributeError) as error:
        message = f"the index in {folder} is damaged ({error}); run `codecards index` to rebuild it"
        raise SnapshotDamagedError(message) from error


def _write_contents(folder: Path) -> None:
    noted = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.endswith(".lock"):
            status = path.stat()
            noted[path.relative_to(folder).as_posix()] = (status.st_size, status.st_mtime_ns, _digest(path))
    (folder / CONTENTS_FILE).write_text(json.dumps(noted), encoding="utf-8")


def _digest(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _fresh_rows(files: Sequence[ChangedFile], words: set[str]) -> tuple[Rows, Vocabulary, NDArray[np.int64]]:
    """Return rows, vocabulary, and the number of files with each word in a card."""
    vocabulary, word_ids = merged_vocabulary((), words)
    rows = rows_of_files(sorted(files, key=lambda one: os.fsencode(one.entry.path)), word_ids)
    return rows, vocabulary, _count_words(files, word_ids, np.zeros(len(vocabulary), np.int64))


def _updated_rows(
    change: Change, old_folder: Path, gone: set[int], new_words: set[str]
) -> tuple[Rows, Vocabulary, NDArray[np.int64]]:
    """Return the same as `_fresh_rows`, with the files that did not change taken from the old folder."""
    old = Columns.open(old_folder / COLUMNS_FOLDER)
    is_gone = np.isin(old.file_id, np.fromiter(gone, np.int64, len(gone)))
    old_files, old_paths = old.word_files.astype(np.int64), old.word_paths.astype(np.int64)
    for row in np.flatnonzero(is_gone).tolist():
        old_files[distinct_words(old, row)] -= 1
        old_paths[np.unique(old.place_word[old.place_offset[row] : old.place_offset[row + 1]])] -= 1
    old_words = Vocabulary.open(old_folder).all_words()
    used = (old_files > 0) | (old_paths > 0)
    still_used = [word for word, is_used in zip(old_words, used.tolist(), strict=True) if is_used]
    vocabulary, word_ids = merged_vocabulary(still_used, new_words)
    new_ids = np.fromiter((word_ids.get(word, 0) for word in old_words), np.uint32, len(old_words))
    word_files = np.zeros(len(vocabulary), np.int64)
    word_files[new_ids[used]] = old_files[used]
    kept = rows_of_columns(old, read_languages(old_folder), np.flatnonzero(~is_gone), new_ids)
    rows = merged(kept, rows_of_files(change.changed, word_ids))
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
    """Return the whole columns, with what depends on several files, and the languages by number."""
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
    """Return what the keyword index holds of a file."""
    tokens = one.tokens
    entry_words = np.frombuffer(tokens.token_index, np.uint32)
    counts = np.frombuffer(tokens.counts, np.uint8).reshape(-1, 5)
    n_words = len(tokens.vocabulary)
    total = np.bincount(entry_words, counts.sum(axis=1, dtype=np.int64), n_words)
    in_names = np.bincount(entry_words, counts[:, 0], n_words)
    place = path_words(one.entry.path)
    return FileDocument(
        file_id=one.entry.file_id,
        text=" ".join(tokens.vocabulary),
        often=joined_tokens(tokens.vocabulary, np.flatnonzero(total >= OFTEN).tolist()),
        very_often=joined_tokens(tokens.vocabulary, np.flatnonzero(total >= VERY_OFTEN).tolist()),
        names=joined_tokens(tokens.vocabulary, np.flatnonzero(in_names > 0).tolist()),
        place=" ".join({**dict.fromkeys(place.stem), **dict.fromkeys(place.folder), **dict.fromkeys(place.outer)}),
    )
