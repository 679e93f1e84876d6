"""Deep model: the transformer that is shipped, known by its files and loaded when something is to be embedded."""

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
"""Name of the file in the index folder that holds its vectors; see `deep_store`."""
FOLDER = MODELS / "minilm-code"


class TransformerModel:
    """One model, loaded once. Safe for several threads.

    Args:
        folder: Where it lies.
        name: What status calls it.
    """

    def __init__(self, folder: Path = FOLDER, name: str = "minilm") -> None:
        self._folder, self._name = folder, name
        self._lock = threading.Lock()
        self._embedder: Embedder | None = None
        self._agrees: bool | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether a text can be embedded at once."""
        return self._embedder is not None

    @property
    def is_checked(self) -> bool:
        """Whether it is known if it gives the vectors that are stored."""
        return self._agrees is not None

    @cached_property
    def identity(self) -> str:
        """As the loaded model tells it; 20 ms.

        Raises:
            EmbedderError: There is no such model.
        """
        from codecards.retrieval.embed.onnx import MODEL_FILE  # noqa: PLC0415 - loads tokenizers

        try:
            return f"{self._name}-{hash_files(self._folder, (MODEL_FILE, 'tokenizer.json'))}"
        except OSError as error:
            raise EmbedderError(
                f"The model {self._name!r} is not installed whole in {self._folder} ({error})."
            ) from error

    def loaded(self) -> Embedder:
        """Return the model, ready to embed; the first time costs 0.2 s.

        Raises:
            EmbedderError: It can't be had.
        """
        with self._lock:
            if self._embedder is None:
                module = import_module("codecards.retrieval.embed.onnx")
                self._embedder = module.OnnxEmbedder(self._folder, self._name)
            return self._embedder

    def check(self, stored: "NDArray[np.float32]") -> None:
        """Check the loaded model, once, against the canary vectors of a store.

        Raises:
            EmbedderError: It gives other vectors than those that are stored.
        """
        from codecards.retrieval.embed.drift import probe_vectors, same_model  # noqa: PLC0415 - numpy

        embedder = self.loaded()
        with self._lock:
            if self._agrees is None:
                self._agrees = same_model(stored, probe_vectors(embedder))
            if not self._agrees:
                raise EmbedderError(
                    f"The model {self._name!r} gives other vectors than those that are stored, though its files are the "
                    "same; `codecards clean` removes them."
                )

    def stored_vectors(self, folder: Path) -> "TransformerStore | None":
        """Return the store of this model's vectors in an index folder, None if there is none.

        Raises:
            EmbedderError: There is no such model.
        """
        path = folder / STORE_FILE
        if not path.is_file():
            return None
        from codecards.retrieval.vectors.transformer_store import open_store  # noqa: PLC0415 - numpy

        return open_store(path, self.identity)
