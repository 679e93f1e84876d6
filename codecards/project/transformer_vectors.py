"""Deep vectors: the second opinion on questions: a transformer's vectors of the cards, computed when there is time.

The first vector lane is ready when the index is; this one is filled afterwards, and used as far as it is filled.

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
BESIDE = "static"
"""The embedder of the first lane beside which there is a second one."""
SWITCHED_OFF = "switched off (CODECARDS_DEEP)"
NOT_BEGUN = "no vectors yet; `codecards index --transformer` makes them, and so does the MCP server by and by"
LOADING = "its model is being loaded"
NOT_ASKED = "a name or a path needs no second opinion, or the words mean nothing to the model"


class TransformerVectors:
    """One engine's deep lane. Safe for several threads; to be closed.

    The thread that fills it may be of low priority: it holds no lock of this class while the model works, for a question
    would wait for it.

    Args:
        folder: The index folder.
        is_on: Whether it is wanted.
        embedder: Specification of the embedder of the first lane.
        model: The model; the one that is shipped by default.

    Attributes:
        waits_for_model: Whether a question waits until the model is loaded (0.2 s, once a process), or goes without.
    """

    def __init__(self, folder: Path, *, is_on: bool, embedder: str, model: TransformerModel | None = None) -> None:
        self.waits_for_model = True
        self._folder = folder
        self._model = model or TransformerModel()
        self._off = "" if embedder == BESIDE and is_on else SWITCHED_OFF if not is_on else f"only beside {BESIDE!r}"
        self._lock = threading.RLock()
        self._store: TransformerStore | None = None
        self._index: tuple[IndexReader, TransformerIndex | None] | None = None
        self._error = ""

    @property
    def is_on(self) -> bool:
        """Whether there is to be such a lane."""
        return not self._off

    def close(self) -> None:
        """Give the store up; it is opened again when it is needed."""
        with self._lock:
            if self._store is not None:
                self._store.close()
            self._store = self._index = None

    def has_store(self) -> bool:
        """Return whether vectors were ever computed. Cheap."""
        return (self._folder / STORE_FILE).is_file()

    def load_model(self) -> None:
        """Load the model, so that questions need not; it is told by `status` if that fails."""
        self._loaded()

    def lookup(self, reader: IndexReader) -> "TransformerLookup | None":
        """Return what asks the lane of a generation, None where it can't take part."""
        status = self._open(reader)
        if status is None or not status.n_ready:
            return None
        embedder = self._loaded() if self.waits_for_model or self._is_ready else None
        if embedder is None:
            return None
        return lambda text: status.similarity(embedder.embed_queries([text])[0])

    def status(self, reader: IndexReader, *, took_part: bool | None = None) -> RetrieverStatus:
        """Return whether the lane took part in an answer, or (None) whether it would, with how far it is filled."""
        status = self._open(reader)
        n_ready, n_cards = status.n_ready if status is not None else 0, self._n_wanted(reader)
        filled = "" if n_ready >= n_cards else f"{n_ready:,} of {n_cards:,} cards"
        why = self._off or self._error
        if why or not n_ready:
            return RetrieverStatus(NAME, False, why or NOT_BEGUN)
        if took_part is False:
            is_loading = not self._is_ready and not self.waits_for_model
            return RetrieverStatus(NAME, False, LOADING if is_loading else NOT_ASKED)
        return RetrieverStatus(NAME, True, filled)

    def fill(
        self,
        reader: IndexReader,
        texts: "ReadCardTexts",
        progress: Callable[[int, int], None],
        *,
        limit: int | None = None,
        n_threads: int = 1,
    ) -> "Filled":
        """Compute vectors of cards of a generation that have none; see `deep_filling.fill`.

        Raises:
            WriterBusyError: Another process is at it.
            EmbedderError: The model can't be loaded.
            IndexWriteError: Vectors can't be written.
        """
        from codecards.retrieval.vectors.transformer_fill import (  # noqa: PLC0415 - numpy: questions don't wait for it
            EmbeddableCards,
            Filled,
            fill,
        )

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
            store = self._made()
            cards = EmbeddableCards(reader.derived.columns, keys, texts)
            return fill(cards, store, self._model.loaded, progress, limit=limit, n_threads=n_threads)
        finally:
            lock.release()

    # below: how it is done

    def _n_wanted(self, reader: IndexReader) -> int:
        from codecards.retrieval.vectors.transformer_fill import MAX_CARDS  # noqa: PLC0415 - as above

        return min(MAX_CARDS, reader.derived.columns.n_cards)

    def _loaded(self) -> "Embedder | None":
        """Return the model if it is the one that the store was filled by."""
        if self._off or self._error:
            return None
        try:
            embedder = self._model.loaded()
            if (store := self._stored()) is not None:
                self._model.check(store.probe_vectors)
        except EmbedderError as error:
            self._error = str(error)
            return None
        return embedder

    def _open(self, reader: IndexReader) -> "TransformerIndex | None":
        """Return the lane of a generation with all that the store has now; None where there is no store."""
        if self._off or self._error:
            return None
        with self._lock:
            if self._index is None or self._index[0] is not reader or self._index[1] is None:
                try:
                    self._index = (reader, self._new_index(reader))
                except EmbedderError as error:
                    self._error = str(error)
                    return None
            status = self._index[1]
        if status is not None:
            status.load_new()
        return status

    def _new_index(self, reader: IndexReader) -> "TransformerIndex | None":
        store = self._stored()
        keys = reader.card_keys() if store is not None else None
        if store is None or keys is None:
            return None
        from codecards.retrieval.vectors.transformer_vectors import TransformerIndex  # noqa: PLC0415 - as above

        return TransformerIndex(keys, store)

    @property
    def _is_ready(self) -> bool:
        return self._model.is_loaded and self._model.is_checked

    def _stored(self) -> "TransformerStore | None":
        """Return the store if there is one that can be used."""
        if self._store is None and self.has_store():
            assert self._model.identity  # takes a moment: before the lock
        with self._lock:
            if self._store is None:
                self._store = self._model.stored_vectors(self._folder)
            return self._store

    def _made(self) -> "TransformerStore":
        """Return the store, made where there is none that can be used."""
        if (store := self._stored()) is None:
            from codecards.retrieval.embed.drift import probe_vectors  # noqa: PLC0415 - as above
            from codecards.retrieval.vectors.transformer_store import make_store  # noqa: PLC0415

            embedder = self._model.loaded()
            of_model = probe_vectors(embedder)
            with self._lock:
                if self._store is None:
                    self._store = make_store(self._folder / STORE_FILE, embedder.identity, of_model)
                    self._index = None
                store = self._store
        if self._model.is_loaded:
            self._model.check(store.probe_vectors)
        return store
