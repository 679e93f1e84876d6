"""The static vectors of all cards and files, searched by FAISS or by a matrix product.

vectors/
    vectors.npy     (n_cards, dimensions) float16, unit rows, in the order of the columns
    files.npy       (n_files, dimensions) float16: weighted mean of each file's cards
    keys.npy        (n_cards, 2) uint64: hash of the embedded text, so that no text is embedded twice
    probe_vectors.npy  vectors of fixed texts, which reveal a changed embedder
    cards.faiss     IndexIDMap2 over a float16 scalar quantizer, from `FAISS_FROM` cards on
    vectors.json    identity and calibration; written last
"""

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codecards.retrieval.store.columns import Floats, Int64s, dot_rows
from codecards.retrieval.vectors.calibration import Calibration
from codecards.retrieval.vectors.transformer_vectors import TransformerSimilarity


class CardVectors:
    """The static vectors of one generation. Safe for several threads."""

    def __init__(self, folder: Path) -> None:
        """Open the vectors of a folder.

        Raises:
            OSError: A file is missing.
            ValueError: A file is damaged.
        """
        meta = json.loads((folder / "vectors.json").read_text(encoding="utf-8"))
        self.identity = str(meta["identity"])
        self.calibration = Calibration(**meta["calibration"])
        self.vectors: NDArray[np.float16] = np.load(folder / "vectors.npy", mmap_mode="r").view(np.ndarray)
        self.file_vectors: NDArray[np.float16] = np.load(folder / "files.npy", mmap_mode="r").view(np.ndarray)
        self.probe_vectors: Floats = np.load(folder / "probe_vectors.npy")
        self._faiss_path = folder / "cards.faiss"
        self._has_faiss = self._faiss_path.exists()
        self._lock = threading.Lock()
        self._matrix: Floats | None = None
        self._faiss: Any = None  # FAISS has no types

    def similarity(self, query: Floats, transformer: TransformerSimilarity | None = None) -> "Similarity":
        """Return the similarities of a query.

        Args:
            query: (dimensions,) unit vector.
            transformer: The query's similarities by transformer vectors; None if there are none.
        """
        return Similarity(self, query, transformer)

    def search(self, query: Floats, limit: int) -> tuple[Int64s, Floats]:
        """Return rows and cosines of the nearest cards, found by FAISS, best first."""
        cosines, rows = self._faiss_index().search(query[None, :], limit)
        return rows[0].astype(np.int64), cosines[0]

    def all_cosines(self, query: Floats) -> Floats | None:
        """Return the cosine of every card; None for an index so large that FAISS searches it."""
        return None if self._has_faiss else dot_rows(self._whole_matrix(), query)

    def _whole_matrix(self) -> Floats:
        with self._lock:
            if self._matrix is None:
                self._matrix = self.vectors.astype(np.float32)
            return self._matrix

    def _faiss_index(self) -> Any:  # noqa: ANN401 - faiss has no types
        with self._lock:
            if self._faiss is None:
                import faiss

                # More threads make single queries slower on a busy machine.
                faiss.omp_set_num_threads(1)
                self._faiss = faiss.read_index(str(self._faiss_path), faiss.IO_FLAG_MMAP_IFC)
            return self._faiss


class Similarity:
    """The similarities of one query to cards and files, computed on demand and kept.

    Attributes:
        transformer: The similarities by transformer vectors; None if there are none.
    """

    def __init__(self, vectors: CardVectors, query: Floats, transformer: TransformerSimilarity | None = None) -> None:
        """Take the vectors, the query's (dimensions,) unit vector, and the similarities by transformer vectors."""
        self.transformer = transformer
        self._vectors = vectors
        self._query = query
        self._all = vectors.all_cosines(query)
        self._nearest: tuple[Int64s, Floats] = (np.zeros(0, np.int64), np.zeros(0, np.float32))
        self._known: Floats | None = None
        """(n_cards,): the cosines computed so far; NaN for the others."""

    def nearest(self, limit: int) -> tuple[Int64s, Floats]:
        """Return rows and cosines of the nearest cards, best first; ties are ordered by row."""
        limit = min(limit, len(self._vectors.vectors))
        if limit > len(self._nearest[0]):
            self._nearest = self._find_nearest(limit)
        rows, cosines = self._nearest
        return rows[:limit], cosines[:limit]

    def cards(self, rows: Int64s) -> Floats:
        """Return the cosines of some cards."""
        if self._all is not None:
            return self._all[rows]
        if self._known is None:
            self._known = np.full(len(self._vectors.vectors), np.nan, np.float32)
        unknown = rows[np.isnan(self._known[rows])]
        self._known[unknown] = dot_rows(self._vectors.vectors[unknown].astype(np.float32), self._query)
        return self._known[rows]

    def files(self, files: Int64s) -> Floats:
        """Return the cosines of some files."""
        return dot_rows(self._vectors.file_vectors[files].astype(np.float32), self._query)

    def best(self) -> float:
        """Return the calibrated similarity of the best card, 0 to 1."""
        _, cosines = self.nearest(1)
        return self._vectors.calibration.calibrated(float(cosines[0])) if len(cosines) else 0.0

    def _find_nearest(self, limit: int) -> tuple[Int64s, Floats]:
        if self._all is None:
            return self._vectors.search(self._query, limit)
        best = np.argpartition(-self._all, limit - 1)[:limit]
        best = best[np.lexsort((best, -self._all[best]))]
        return best, self._all[best]
