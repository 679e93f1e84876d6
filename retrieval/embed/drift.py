"""Detects a model that silently changed, by the vectors of fixed texts that are stored with an index."""

import numpy as np
from numpy.typing import NDArray

from codecards.indexer.cards.embedded_text import embedded_text
from codecards.retrieval.embed.embedder import Embedder

_MIN_COSINE = 0.98
"""The int8 model differs by up to 0.01 between processors with and without VNNI; another model stays below 0.9."""
_DOCUMENTS = (
    embedded_text(
        "src/auth/token_store.py",
        "TokenStore.purge_expired",
        "def purge_expired(self, now: float) -> int",
        "Remove tokens that are older than the timeout.",
        "stale = [key for key, token in self._tokens.items() if token.expires < now]",
    ),
    embedded_text("lib/http/retry.js", "retryRequest", "function retryRequest(url, options)", "", "return fetch(url)"),
)
_QUERIES = ("where is the login timeout handled", "parseHTTPHeader", "缓存在哪里清理")


def probe_vectors(embedder: Embedder) -> NDArray[np.float32]:
    """Return (5, dimensions): the model's vectors of fixed texts."""
    documents = embedder.embed_documents(_DOCUMENTS)
    return np.concatenate([documents, embedder.embed_queries(_QUERIES)])


def same_model(stored: NDArray[np.float32], fresh: NDArray[np.float32]) -> bool:
    """Return whether two results of `probe_vectors` come from the same model, allowing for differences of processors.

    If not, vectors of the one model must not be searched with queries of the other.
    """
    if stored.shape != fresh.shape:
        return False
    cosines = (stored * fresh).sum(axis=1)
    present = (np.abs(stored).sum(axis=1) > 0) | (np.abs(fresh).sum(axis=1) > 0)
    return bool(np.all(cosines[present] >= _MIN_COSINE))
