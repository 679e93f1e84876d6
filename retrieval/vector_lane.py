"""Vector lane: one embedder's vectors of all cards, found by FAISS or by a plain product, on a scale calibrated here.

vectors/
    vectors.npy     (n_cards, dimensions) float16, unit rows, in the order of the columns
    files.npy       (n_files, dimensions) float16: each file's weighted mean
    keys.npy        (n_cards, 2) uint64: hash of the embedded text, so that none is embedded twice
    canary.npy      vectors of fixed texts: an embedder that drifted is noticed
    cards.faiss     IndexIDMap2 over a float16 scalar quantizer, from `FAISS_FROM` cards on
    lane.json       identity and calibration; written last
"""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codecards.indexer.deriving import Change, ChangedFile
from codecards.retrieval.canaries import canary
from codecards.retrieval.card_texts import text_key
from codecards.retrieval.columns import KINDS, Columns, Floats, Int64s
from codecards.retrieval.deep_lane import DeepSimilarity
from codecards.retrieval.embedder import Embedder
from codecards.retrieval.off_topic import OFF_TOPIC_QUESTIONS
from codecards.retrieval.products import products

TextsOf = Callable[[ChangedFile], Sequence[str]]
"""Returns what is embedded of a file's cards, in their order."""
FAISS_FROM = 100_000
"""Below this many cards the product of the matrix is quicker: 1.8 ms a question for 57,000 cards, where FAISS takes 0.9
and turning the candidates' float16 rows into numbers 6; loading FAISS costs 0.19 s of CPU. The matrix takes 1 KB a card."""
TYPE_KINDS = frozenset(
    "class struct interface trait enum record object type function method module macro namespace".split()
)
"""Kinds that say what a file is about; the others count less in its mean."""
_LIGHT_WEIGHT = 0.3
_ROWS_AT_ONCE = 16_384
NULL_MIDDLE, NULL_HIGH = 0.50, 0.70
"""Where the middle and the 98th percentile of similarities to off-topic questions lie on the calibrated scale."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How similar the best card is to questions that have nothing to do with the code."""

    middle: float
    """Median of the best cosine."""
    high: float
    """Its 98th percentile."""

    def calibrated(self, cosine: float) -> float:
        """Return a similarity from 0 to 1; .70 is what only one off-topic question in fifty reaches."""
        spread = max(self.high - self.middle, 1e-3)
        value = NULL_MIDDLE + (NULL_HIGH - NULL_MIDDLE) * (cosine - self.middle) / spread
        return float(min(1.0, max(0.0, value)))


class VectorLane:
    """Vectors of one generation; safe for several threads."""

    def __init__(self, folder: Path) -> None:
        """Open a lane.

        Raises:
            OSError: It is missing.
            ValueError: It is damaged.
        """
        meta = json.loads((folder / "lane.json").read_text(encoding="utf-8"))
        self.identity = str(meta["identity"])
        self.calibration = Calibration(**meta["calibration"])
        self.vectors: NDArray[np.float16] = np.load(folder / "vectors.npy", mmap_mode="r").view(np.ndarray)
        self.file_vectors: NDArray[np.float16] = np.load(folder / "files.npy", mmap_mode="r").view(np.ndarray)
        self.canary: Floats = np.load(folder / "canary.npy")
        self._faiss_path = folder / "cards.faiss"
        self._has_faiss = self._faiss_path.exists()
        self._lock = threading.Lock()
        self._matrix: Floats | None = None
        self._faiss: Any = None  # faiss has no types

    def similarity(self, query: Floats, deep: DeepSimilarity | None = None) -> "Similarity":
        """Return what the lane says of a query.

        Args:
            query: (dimensions,) unit vector.
            deep: What the deep lane says of it, where it takes part.
        """
        return Similarity(self, query, deep)

    def search(self, query: Floats, limit: int) -> tuple[Int64s, Floats]:
        """Return rows and cosines of the nearest cards by FAISS, best first."""
        cosines, rows = self._faiss_index().search(query[None, :], limit)
        return rows[0].astype(np.int64), cosines[0]

    def all_cosines(self, query: Floats) -> Floats | None:
        """Return every card's cosine; None where there are so many that FAISS is to be asked."""
        return None if self._has_faiss else products(self._whole_matrix(), query)

    def _whole_matrix(self) -> Floats:
        with self._lock:
            if self._matrix is None:
                self._matrix = self.vectors.astype(np.float32)
            return self._matrix

    def _faiss_index(self) -> Any:  # noqa: ANN401 - faiss has no types
        with self._lock:
            if self._faiss is None:
                import faiss  # noqa: PLC0415 - costs 0.19 s of CPU

                # More threads make single queries slower on a busy machine.
                faiss.omp_set_num_threads(1)
                self._faiss = faiss.read_index(str(self._faiss_path), faiss.IO_FLAG_MMAP_IFC)
            return self._faiss


class Similarity:
    """How near one query is to cards and files; what is needed of it twice is computed once.

    Attributes:
        deep: What the deep lane says of it; None where it takes no part.
    """

    def __init__(self, lane: VectorLane, query: Floats, deep: DeepSimilarity | None = None) -> None:
        """Take the lane, the query's (dimensions,) unit vector, and what the deep lane says."""
        self.deep = deep
        self._lane = lane
        self._query = query
        self._all = lane.all_cosines(query)
        self._nearest: tuple[Int64s, Floats] = (np.zeros(0, np.int64), np.zeros(0, np.float32))
        self._known: Floats | None = None
        """(n_cards,): the cosines that were asked for; NaN for the others."""

    def nearest(self, limit: int) -> tuple[Int64s, Floats]:
        """Return rows and cosines of the nearest cards, best first; of equal ones the first."""
        limit = min(limit, len(self._lane.vectors))
        if limit > len(self._nearest[0]):
            self._nearest = self._find_nearest(limit)
        rows, cosines = self._nearest
        return rows[:limit], cosines[:limit]

    def cards(self, rows: Int64s) -> Floats:
        """Return the cosines of some cards."""
        if self._all is not None:
            return self._all[rows]
        if self._known is None:
            self._known = np.full(len(self._lane.vectors), np.nan, np.float32)
        unknown = rows[np.isnan(self._known[rows])]
        self._known[unknown] = products(self._lane.vectors[unknown].astype(np.float32), self._query)
        return self._known[rows]

    def files(self, files: Int64s) -> Floats:
        """Return the cosines of some files."""
        return products(self._lane.file_vectors[files].astype(np.float32), self._query)

    def best(self) -> float:
        """Return the best card's similarity on the calibrated scale, 0 to 1."""
        _, cosines = self.nearest(1)
        return self._lane.calibration.calibrated(float(cosines[0])) if len(cosines) else 0.0

    def _find_nearest(self, limit: int) -> tuple[Int64s, Floats]:
        if self._all is None:
            return self._lane.search(self._query, limit)
        best = np.argpartition(-self._all, limit - 1)[:limit]
        best = best[np.lexsort((best, -self._all[best]))]
        return best, self._all[best]


def derive_vectors(change: Change, embedder: Embedder, texts_of: TextsOf, *, faiss_from: int = FAISS_FROM) -> None:
    """Write the lane of a new generation beside its columns; vectors of known texts are taken from the old one.

    Args:
        change: Whose columns lie in the new folder already.
        embedder: Whose vectors.
        texts_of: Gives what is embedded.
        faiss_from: Number of cards from which a FAISS index is made.

    Raises:
        OSError: It can't be written.
    """
    columns = Columns.open(change.new_folder / "columns")
    old_folder = change.old_folder / "vectors" if change.old_folder is not None else None
    old = _old_lane(old_folder, embedder)
    vectors = np.zeros((columns.n_cards, embedder.dimensions), np.float16)
    keys = np.zeros((columns.n_cards, 2), np.uint64)
    row_of_file = {file_id: row for row, file_id in enumerate(columns.file_id.tolist())}
    changed_rows = {row_of_file[one.entry.file_id] for one in change.changed}
    if old is not None and change.old_folder is not None:
        _take_old(Columns.open(change.old_folder / "columns"), columns, old, changed_rows, vectors, keys)
    known = {key.tobytes(): row for row, key in enumerate(old.keys)} if old is not None and change.changed else {}
    wanted_rows: list[int] = []
    texts: list[str] = []
    for one in change.changed:
        first = int(columns.card_offset[row_of_file[one.entry.file_id]])
        wanted_rows += range(first, first + len(one.cards))
        texts += texts_of(one)
        if len(texts) >= _ROWS_AT_ONCE:  # the text of a whole repository is not held at once
            _embed(wanted_rows, texts, embedder, old, known, vectors, keys)
            wanted_rows, texts = [], []
    _embed(wanted_rows, texts, embedder, old, known, vectors, keys)
    folder = change.new_folder / "vectors"
    folder.mkdir()
    file_vectors = _file_means(columns, vectors)
    np.save(folder / "vectors.npy", vectors)
    np.save(folder / "files.npy", file_vectors)
    np.save(folder / "keys.npy", keys)
    np.save(folder / "canary.npy", canary(embedder))
    if columns.n_cards >= faiss_from:
        _write_faiss(folder / "cards.faiss", vectors)
    meta = {"identity": embedder.identity, "calibration": asdict(calibrate(embedder, vectors))}
    (folder / "lane.json").write_text(json.dumps(meta), encoding="utf-8")


def calibrate(embedder: Embedder, vectors: NDArray[np.float16]) -> Calibration:
    """Return how near off-topic questions come to these vectors."""
    if not len(vectors):
        return Calibration(0.5, 0.7)
    questions = embedder.embed_queries(OFF_TOPIC_QUESTIONS)
    best = np.full(len(questions), -1.0, np.float32)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        block = vectors[start : start + _ROWS_AT_ONCE].astype(np.float32)
        np.maximum(best, (block @ questions.T).max(axis=0), out=best)
    middle, high = np.quantile(best, (0.5, 0.98))
    return Calibration(float(middle), float(high))


@dataclass(frozen=True, slots=True)
class _OldLane:
    vectors: NDArray[np.float16]
    keys: NDArray[np.uint64]


def _old_lane(folder: Path | None, embedder: Embedder) -> _OldLane | None:
    if folder is None or not (folder / "lane.json").exists():
        return None
    if json.loads((folder / "lane.json").read_text(encoding="utf-8"))["identity"] != embedder.identity:
        return None
    return _OldLane(np.load(folder / "vectors.npy", mmap_mode="r"), np.load(folder / "keys.npy"))


def _take_old(
    before: Columns,
    columns: Columns,
    old: _OldLane,
    changed_rows: set[int],
    vectors: NDArray[np.float16],
    keys: NDArray[np.uint64],
) -> None:
    """Copy the vectors of the files that did not change."""
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
    old: _OldLane | None,
    known: Mapping[bytes, int],
    vectors: NDArray[np.float16],
    keys: NDArray[np.uint64],
) -> None:
    """Fill in the vectors of some texts, those of texts that were embedded before (key -> row) from the old lane."""
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
    """Return (n_files, dimensions) unit rows; zeros for a file without cards."""
    heavy = np.isin(columns.kind, [KINDS.index(kind) for kind in TYPE_KINDS])
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
    import faiss  # noqa: PLC0415 - only large repositories need it

    faiss.omp_set_num_threads(1)
    quantizer = faiss.IndexScalarQuantizer(vectors.shape[1], faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
    index = faiss.IndexIDMap2(quantizer)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        block = vectors[start : start + _ROWS_AT_ONCE].astype(np.float32)
        index.add_with_ids(block, np.arange(start, start + len(block), dtype=np.int64))
    faiss.write_index(index, str(path))
