"""Manages the transformer vectors of an engine: a second set of card vectors, computed when there is time.

The static vectors are ready with the index. Transformer vectors are computed afterwards, and used for the cards that
have one.

**Invariant:** a question never waits for vectors of cards.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from codecards.answers import RetrieverStatus
from codecards.errors import EmbedderError, WriterBusyError
from codecards.project.reader import IndexReader
from codecards.retrieval.vectors.transformer_model import STORE_FILE, TransformerModel

if TYPE_CHECKING:
    from codecards.retrieval.embed.embedder import Embedder
    from codecards.retrieval.vectors.transformer_fill import Filled, ReadCardTexts
    from codecards.retrieval.vectors.transformer_store import TransformerStore
    from codecards.retrieval.vectors.transformer_vectors import TransformerIndex, TransformerLookup

NAME = "transformer_vectors"
STATIC_EMBEDDER = "static"
"""Transformer vectors are used with this static embedder only."""
SWITCHED_OFF = "switched off (CODECARDS_TRANSFORMER)"
NO_VECTORS = (
    "no vectors yet; `codecards index --transformer` computes them, and the MCP server does so in the background"
)
LOADING = "the model is being loaded"
NOT_ASKED = "not used for a name or a path, or for words that the model does not know"


CARDS_PER_S = 165
"""Vectors that one core computes in a second, roughly: 50,000 in five minutes."""


def progress_text(n_ready: int, n_cards: int, *, is_whole: bool) -> str:
    """Return how many cards have a vector; if `is_whole`, also how long the rest takes and what it changes."""
    done = f"{n_ready:,} of {n_cards:,} cards, {100 * n_ready // n_cards} %"
    if not is_whole:
        return done
    seconds = (n_cards - n_ready) / CARDS_PER_S
    rest = f"{round(seconds / 60)} min" if seconds >= 90 else f"{max(1, round(seconds))} s"
    return (
        f"{done}; the rest takes about {rest} of one core (`codecards index --transformer`); until then the other cards"
        " are found by words, symbols and static vectors only"
    )


class TransformerVectors:
    """The transformer vectors of one index. Safe for several threads; to be closed.

    The thread that computes them may run at low priority. It holds no lock of this class while the model works, because a
    question would wait for it.

    Args:
        folder: The index folder.
        is_on: Whether the settings ask for transformer vectors.
        embedder: Specification of the static embedder.
        model: The model; by default the one that ships with codecards.

    Attributes:
        waits_for_model: Whether a question waits until the model is loaded (0.2 s, once a process), or goes without.
    """

    def __init__(self, folder: Path, *, is_on: bool, embedder: str, model: TransformerModel | None = None) -> None:
        self.waits_for_model = True
        self._folder = folder
        self._model = model or TransformerModel()
        self._off = (
            SWITCHED_OFF
            if not is_on
            else ""
            if embedder == STATIC_EMBEDDER
            else f"only with the {STATIC_EMBEDDER!r} embedder"
        )
        self._lock = threading.RLock()
        self._store: TransformerStore | None = None
        self._index: tuple[IndexReader, TransformerIndex | None] | None = None
        self._error = ""

    @property
    def is_on(self) -> bool:
        """Whether transformer vectors are used."""
        return not self._off

    def close(self) -> None:
        """Close the store; it is reopened on demand."""
        with self._lock:
            if self._store is not None:
                self._store.close()
            self._store = self._index = None

    def has_store(self) -> bool:
        """Return whether any vectors were computed. Cheap."""
        return (self._folder / STORE_FILE).is_file()

    def load_model(self) -> None:
        """Load the model ahead of the first question; `status` reports a failure."""
        self._checked_model()

    def lookup(self, reader: IndexReader) -> "TransformerLookup | None":
        """Return the similarity function of a generation; None if there are no usable vectors."""
        index = self._open_index(reader)
        if index is None or not index.n_ready:
            return None
        embedder = self._checked_model() if self.waits_for_model or self._is_ready else None
        if embedder is None:
            return None
        return lambda text: index.similarity(embedder.embed_queries([text])[0])

    def status(self, reader: IndexReader, *, was_used: bool | None = None) -> RetrieverStatus:
        """Return whether the vectors were used in an answer, and how many cards have one.

        Args:
            reader: The generation.
            was_used: Whether the answer used them; None asks whether an answer would.
        """
        index = self._open_index(reader)
        n_ready, n_cards = index.n_ready if index is not None else 0, self._n_wanted(reader)
        share = min(1.0, n_ready / n_cards) if n_cards else 0.0
        filled = "" if n_ready >= n_cards else progress_text(n_ready, n_cards, is_whole=was_used is None)
        why = self._off or self._error
        if why or not n_ready:
            return RetrieverStatus(NAME, False, why or NO_VECTORS, share)
        if was_used is False:
            is_loading = not self._is_ready and not self.waits_for_model
            return RetrieverStatus(NAME, False, LOADING if is_loading else NOT_ASKED, share)
        return RetrieverStatus(NAME, True, filled, share)

    def fill(
        self,
        reader: IndexReader,
        texts: "ReadCardTexts",
        progress: Callable[[int, int], None],
        *,
        limit: int | None = None,
        n_threads: int = 1,
    ) -> "Filled":
        """Compute missing vectors of a generation's cards; see `fill` in `retrieval/vectors/transformer_fill.py`.

        Raises:
            WriterBusyError: Another process is computing vectors.
            EmbedderError: The model can't be loaded.
            IndexWriteError: Vectors can't be written.
        """
        from codecards.retrieval.vectors.transformer_fill import EmbeddableCards, Filled, fill

        keys = reader.card_keys()
        if self._off or keys is None:
            return Filled(0, 0)
        if self._error:
            raise EmbedderError(self._error)
        lock = FileLock(self._folder / "transformer_vectors.lock", timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise WriterBusyError(self._folder, owner_pid=None, age_s=0.0) from None
        try:
            store = self._open_or_make_store()
            cards = EmbeddableCards(reader.derived.columns, keys, texts)
            return fill(cards, store, self._model.loaded, progress, limit=limit, n_threads=n_threads)
        finally:
            lock.release()

    def _n_wanted(self, reader: IndexReader) -> int:
        from codecards.retrieval.vectors.transformer_fill import MAX_CARDS

        return min(MAX_CARDS, reader.derived.columns.n_cards)

    def _checked_model(self) -> "Embedder | None":
        """Return the model if it is the one that computed the stored vectors."""
        if self._off or self._error:
            return None
        try:
            embedder = self._model.loaded()
            if (store := self._open_store()) is not None:
                self._model.check(store.probe_vectors)
        except EmbedderError as error:
            self._error = str(error)
            return None
        return embedder

    def _open_index(self, reader: IndexReader) -> "TransformerIndex | None":
        """Return the transformer index of a generation with everything now in the store; None without a store."""
        if self._off or self._error:
            return None
        with self._lock:
            if self._index is None or self._index[0] is not reader or self._index[1] is None:
                try:
                    self._index = (reader, self._new_index(reader))
                except EmbedderError as error:
                    self._error = str(error)
                    return None
            index = self._index[1]
        if index is not None:
            index.load_new()
        return index

    def _new_index(self, reader: IndexReader) -> "TransformerIndex | None":
        store = self._open_store()
        keys = reader.card_keys() if store is not None else None
        if store is None or keys is None:
            return None
        from codecards.retrieval.vectors.transformer_vectors import TransformerIndex

        return TransformerIndex(keys, store)

    @property
    def _is_ready(self) -> bool:
        return self._model.is_loaded and self._model.is_checked

    def _open_store(self) -> "TransformerStore | None":
        """Return the store if there is a usable one."""
        if self._store is None and self.has_store():
            assert self._model.identity  # hashes the model files: not under the lock
        with self._lock:
            if self._store is None:
                self._store = self._model.stored_vectors(self._folder)
            return self._store

    def _open_or_make_store(self) -> "TransformerStore":
        """Return the store; make it if there is no usable one."""
        if (store := self._open_store()) is None:
            from codecards.retrieval.embed.drift import probe_vectors
            from codecards.retrieval.vectors.transformer_store import make_store

            embedder = self._model.loaded()
            probes = probe_vectors(embedder)
            with self._lock:
                if self._store is None:
                    self._store = make_store(self._folder / STORE_FILE, embedder.identity, probes)
                    self._index = None
                store = self._store
        if self._model.is_loaded:
            self._model.check(store.probe_vectors)
        return store
