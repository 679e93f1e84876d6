"""Embedder choice: the embedder that the settings name, as far as it is there and as far as it is needed."""

import threading

from codecards.errors import EmbedderError
from codecards.retrieval.embed.embedder import Embedder, LazyStaticEmbedder, choose_embedder


class LazyEmbedder:
    """Holds one embedder; without it words and symbols answer all the same. Safe for several threads.

    Args:
        spec: As for `load_embedder`.

    Attributes:
        error: Why there is none, "" if there is one, if none is wanted, or if nobody has asked yet.
    """

    def __init__(self, spec: str) -> None:
        self.error = ""
        self._spec = spec
        self._embedder: Embedder | None = None
        self._lock = threading.RLock()

    def chosen(self) -> Embedder | None:
        """Return the embedder, which may not be loaded yet; None if it can't be had."""
        with self._lock:
            if self._embedder is None and not self.error and self._spec != "none":
                try:
                    self._embedder = choose_embedder(self._spec)
                except EmbedderError as error:
                    self.error = str(error)
            return self._embedder

    def loaded(self) -> Embedder | None:
        """Return the embedder, ready to embed; None if it can't be had."""
        with self._lock:
            embedder = self.chosen()
            if isinstance(embedder, LazyStaticEmbedder):
                try:
                    self._embedder = embedder.loaded
                except EmbedderError as error:
                    self.give_up(error)
            return self._embedder

    def give_up(self, error: EmbedderError) -> None:
        """Go on without an embedder."""
        with self._lock:
            self._embedder, self.error = None, str(error)
