"""Builds the static vectors of a generation's cards and files, reusing those of known texts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codecards.indexer.cards.embedded_text import text_key
from codecards.indexer.facts import TOPIC_KINDS
from codecards.indexer.store.derived import GenerationDiff
from codecards.retrieval.embed.drift import probe_vectors
from codecards.retrieval.embed.embedder import Embedder
from codecards.retrieval.store.columns import Columns, kinds_of
from codecards.retrieval.vectors.calibration import calibrate

FAISS_FROM = 100_000
"""Number of cards from which FAISS is used. Below, a matrix product is faster: 1.8 ms per question for 57,000 cards, where FAISS
takes 0.9 ms and converting the candidates' float16 rows 6 ms more. Loading FAISS costs 0.19 s of CPU; the matrix takes 1 KB
per card."""


_LIGHT_WEIGHT = 0.3

_ROWS_AT_ONCE = 16_384


def build_card_vectors(change: GenerationDiff, embedder: Embedder, *, faiss_from: int = FAISS_FROM) -> None:
    """Write the vectors of a new generation; those of known texts are copied from the old one.

    Args:
        change: The generation, whose columns are already in the new folder.
        embedder: Makes the vectors.
        faiss_from: Number of cards from which a FAISS index is built.

    Raises:
        OSError: A file can't be written.
    """
    columns = Columns.open(change.new_folder / "columns")
    old_folder = change.old_folder / "vectors" if change.old_folder is not None else None
    old = _old_vectors(old_folder, embedder)
    vectors = np.zeros((columns.n_cards, embedder.dimensions), np.float16)
    keys = np.zeros((columns.n_cards, 2), np.uint64)
    row_of_file = {file_id: row for row, file_id in enumerate(columns.file_id.tolist())}
    changed_rows = {row_of_file[one.entry.file_id] for one in change.changed}
    if old is not None and change.old_folder is not None:
        _copy_old(Columns.open(change.old_folder / "columns"), columns, old, changed_rows, vectors, keys)
    known = {key.tobytes(): row for row, key in enumerate(old.keys)} if old is not None and change.changed else {}
    wanted_rows: list[int] = []
    texts: list[str] = []
    for one in change.changed:
        first = int(columns.card_offset[row_of_file[one.entry.file_id]])
        wanted_rows += range(first, first + len(one.cards))
        texts += one.embedded_texts()
        if len(texts) >= _ROWS_AT_ONCE:  # bounds memory: the texts of a whole repository are never held at once
            _embed(wanted_rows, texts, embedder, old, known, vectors, keys)
            wanted_rows, texts = [], []
    _embed(wanted_rows, texts, embedder, old, known, vectors, keys)
    folder = change.new_folder / "vectors"
    folder.mkdir()
    file_vectors = _file_means(columns, vectors)
    np.save(folder / "vectors.npy", vectors)
    np.save(folder / "files.npy", file_vectors)
    np.save(folder / "keys.npy", keys)
    np.save(folder / "probe_vectors.npy", probe_vectors(embedder))
    if columns.n_cards >= faiss_from:
        _write_faiss(folder / "cards.faiss", vectors)
    meta = {"identity": embedder.identity, "calibration": asdict(calibrate(embedder, vectors))}
    (folder / "vectors.json").write_text(json.dumps(meta), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class _OldVectors:
    vectors: NDArray[np.float16]
    keys: NDArray[np.uint64]


def _old_vectors(folder: Path | None, embedder: Embedder) -> _OldVectors | None:
    if folder is None or not (folder / "vectors.json").exists():
        return None
    if json.loads((folder / "vectors.json").read_text(encoding="utf-8"))["identity"] != embedder.identity:
        return None
    return _OldVectors(np.load(folder / "vectors.npy", mmap_mode="r"), np.load(folder / "keys.npy"))


def _copy_old(
    before: Columns,
    columns: Columns,
    old: _OldVectors,
    changed_rows: set[int],
    vectors: NDArray[np.float16],
    keys: NDArray[np.uint64],
) -> None:
    """Copy the vectors of the unchanged files."""
    old_row = {file_id: row for row, file_id in enumerate(before.file_id.tolist())}
    for row, file_id in enumerate(columns.file_id.tolist()):
        if row in changed_rows:
            continue
        source, target = before.card_offset[old_row[file_id]], columns.card_offset[row]
        n_cards = columns.card_offset[row + 1] - target
        vectors[target : target + n_cards] = old.vectors[source : source + n_cards]
        keys[target : target + n_cards] = old.keys[source : source + n_cards]


def _embed(
    rows: Sequence[int],
    texts: Sequence[str],
    embedder: Embedder,
    old: _OldVectors | None,
    known: Mapping[bytes, int],
    vectors: NDArray[np.float16],
    keys: NDArray[np.uint64],
) -> None:
    """Fill in the vectors of some texts; those of known texts (key -> row) are copied from the old vectors."""
    fresh: list[int] = []
    for position, (row, text) in enumerate(zip(rows, texts, strict=True)):
        key = text_key(text)
        keys[row] = np.frombuffer(key, np.uint64)
        if old is not None and key in known:
            vectors[row] = old.vectors[known[key]]
        else:
            fresh.append(position)
    for start in range(0, len(fresh), _ROWS_AT_ONCE):
        some = fresh[start : start + _ROWS_AT_ONCE]
        vectors[[rows[position] for position in some]] = embedder.embed_documents(
            [texts[position] for position in some]
        )


def _file_means(columns: Columns, vectors: NDArray[np.float16]) -> NDArray[np.float16]:
    """Return (n_files, dimensions): unit rows; zeros for a file without cards."""
    heavy = kinds_of(columns.kind, TOPIC_KINDS)
    weights = np.where(heavy, 1.0, _LIGHT_WEIGHT).astype(np.float32)
    means = np.zeros((columns.n_files, vectors.shape[1]), np.float32)
    bounds = columns.card_offset.tolist()
    for row in range(columns.n_files):
        first, last = bounds[row], bounds[row + 1]
        if last > first:
            mean = weights[first:last] @ vectors[first:last].astype(np.float32)
            means[row] = mean / max(float(np.linalg.norm(mean)), 1e-9)
    return means.astype(np.float16)


def _write_faiss(path: Path, vectors: NDArray[np.float16]) -> None:
    import faiss

    faiss.omp_set_num_threads(1)
    quantizer = faiss.IndexScalarQuantizer(vectors.shape[1], faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
    index = faiss.IndexIDMap2(quantizer)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        block = vectors[start : start + _ROWS_AT_ONCE].astype(np.float32)
        index.add_with_ids(block, np.arange(start, start + len(block), dtype=np.int64))
    faiss.write_index(index, str(path))
