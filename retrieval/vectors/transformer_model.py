"""The transformer that ships with the package: identified by its files, loaded for the first text."""

import threading
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from codecards.errors import EmbedderError
from codecards.retrieval.embed.embedder import MODELS, Embedder
from codecards.retrieval.embed.model_files import hash_files

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from codecards.retrieval.vectors.transformer_store import TransformerStore

STORE_FILE = "transformer_vectors.db"
"""File of the transformer vectors in the index folder; see `transformer_store`."""
FOLDER = MODELS / "minilm-code"


class TransformerModel:
    """One model, loaded once. Safe for several threads.

    Args:
        folder: Folder of the model.
        name: Its name in status reports.
    """

    def __init__(self, folder: Path = FOLDER, name: str = "minilm") -> None:
        self._folder, self._name = folder, name
        self._lock = threading.Lock()
        self._embedder: Embedder | None = None
        self._agrees: bool | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether a text can be embedded without loading the model first."""
        return self._embedder is not None

    @property
    def is_checked(self) -> bool:
        """Whether `check` has compared the model with the stored vectors."""
        return self._agrees is not None

    @cached_property
    def identity(self) -> str:
        """The identity of the loaded model, without loading it; costs 20 ms.

        Raises:
            EmbedderError: The model is not installed.
        """
        from codecards.retrieval.embed.onnx import MODEL_FILE

        try:
            return f"{self._name}-{hash_files(self._folder, (MODEL_FILE, 'tokenizer.json'))}"
        except OSError as error:
            raise EmbedderError(
                f"The model {self._name!r} is not fully installed in {self._folder} ({error}); install codecards again."
            ) from error

    def loaded(self) -> Embedder:
        """Return the model, loaded at the first call, which costs 0.2 s.

        Raises:
            EmbedderError: The model can't be loaded.
        """
        with self._lock:
            if self._embedder is None:
                module = import_module("codecards.retrieval.embed.onnx")
                self._embedder = module.OnnxEmbedder(self._folder, self._name)
            return self._embedder

    def check(self, stored: "NDArray[np.float32]") -> None:
        """Check once that the model still gives the probe vectors of a store.

        Raises:
            EmbedderError: The model gives other vectors.
        """
        from codecards.retrieval.embed.drift import probe_vectors, same_model

        embedder = self.loaded()
        with self._lock:
            if self._agrees is None:
                self._agrees = same_model(stored, probe_vectors(embedder))
            if not self._agrees:
                raise EmbedderError(
                    f"The model {self._name!r} gives other vectors than the stored ones although its files are unchanged; "
                    "`codecards clean` removes the index with its vectors."
                )

    def stored_vectors(self, folder: Path) -> "TransformerStore | None":
        """Return the store of this model's vectors in an index folder, None if there is none.

        Raises:
            EmbedderError: The model is not installed.
        """
        path = folder / STORE_FILE
        if not path.is_file():
            return None
        from codecards.retrieval.vectors.transformer_store import open_store

        return open_store(path, self.identity)
