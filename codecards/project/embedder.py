"""Loads the configured embedder on first use and remembers why it is unavailable."""

import threading

from codecards.errors import EmbedderError
from codecards.retrieval.embed.embedder import Embedder, LazyStaticEmbedder, choose_embedder


class LazyEmbedder:
    """Holds one embedder; without it, words and symbols still answer. Safe for several threads.

    Args:
        spec: As for `load_embedder`.

    Attributes:
        error: Why there is no embedder; "" if there is one, if none is wanted, or if none was requested yet.
    """

    def __init__(self, spec: str) -> None:
        self.error = ""
        self._spec = spec
        self._embedder: Embedder | None = None
        self._lock = threading.RLock()

    def peek(self) -> Embedder | None:
        """Return the embedder, which may not be loaded yet; None if it is unavailable."""
        with self._lock:
            if self._embedder is None and not self.error and self._spec != "none":
                try:
                    self._embedder = choose_embedder(self._spec)
                except EmbedderError as error:
                    self.error = str(error)
            return self._embedder

    def get(self) -> Embedder | None:
        """Return the embedder, loaded; None if it is unavailable."""
        with self._lock:
            embedder = self.peek()
            if isinstance(embedder, LazyStaticEmbedder):
                try:
                    self._embedder = embedder.loaded
                except EmbedderError as error:
                    self.disable(error)
            return self._embedder

    def disable(self, error: EmbedderError) -> None:
        """Go on without an embedder."""
        with self._lock:
            self._embedder, self.error = None, str(error)
