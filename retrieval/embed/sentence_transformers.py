"""Embeds texts with a model of the user's choice through sentence-transformers (the extra `codecards[transformers]`).

Importing the library costs six seconds of CPU, so only `load_embedder` imports this module.
"""

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codecards.environment import set_default_variables
from codecards.errors import EmbedderError
from codecards.indexer.cards.embedded_text import split_identifiers
from codecards.retrieval.embed.model_files import hash_files


class TransformersEmbedder:
    """Embeds with a sentence-transformers model from disk.

    Args:
        place: A model folder, or the name of a model in the local cache ("sentence-transformers/all-mpnet-base-v2").

    Raises:
        EmbedderError: The library is not installed, or the model is not on this machine.
    """

    def __init__(self, place: str) -> None:
        try:
            library = import_offline()
        except ImportError as error:
            raise EmbedderError(
                f"The embedder sentence-transformers:{place} needs a package that is not installed ({error}); "
                "install codecards[transformers]."
            ) from error
        self._folder = _model_folder(place)
        try:
            self._model: Any = library.SentenceTransformer(str(self._folder), device="cpu", local_files_only=True)
        except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
            raise EmbedderError(
                f"The model in {self._folder} can't be loaded by sentence-transformers: {error}"
            ) from error
        self.name = f"sentence-transformers:{place}"
        self.dimensions = len(self.embed_queries(["size"])[0])

    @cached_property
    def identity(self) -> str:
        """Name and a hash of every file of the model."""
        names = sorted(path.relative_to(self._folder).as_posix() for path in self._folder.rglob("*") if path.is_file())
        return f"{self.name}-{hash_files(self._folder, names)}"

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimensions): rows of length 1, with the model's document prompt if it has one."""
        return self._encode(texts, "document")

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimensions): rows of length 1, with the model's query prompt if it has one."""
        return self._encode([split_identifiers(text) for text in texts], "query")

    def _encode(self, texts: Sequence[str], prompt: str) -> NDArray[np.float32]:
        rows = self._model.encode(
            list(texts),
            prompt_name=prompt if self._model.prompts.get(prompt) else None,
            normalize_embeddings=True,
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return np.asarray(rows, np.float32).reshape(len(texts), -1)


def import_offline() -> Any:  # noqa: ANN401 - the library has no types
    """Return the library `sentence_transformers`, set to look for models on this machine only.

    Raises:
        ImportError: The library is not installed.
    """
    # The import reads these: without them, a model that is not in the cache would be looked for on the network.
    set_default_variables(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    return import_module("sentence_transformers")


def _model_folder(place: str) -> Path:
    """Return the folder of a model, given by its path or by a name in the local cache."""
    folder = Path(place).expanduser()
    if folder.is_dir():
        return folder
    try:
        hub: Any = import_module("huggingface_hub")
        return Path(hub.snapshot_download(place, local_files_only=True))
    except (ImportError, OSError, ValueError) as error:
        raise EmbedderError(
            f"There is no model {place!r} on this machine; name the folder of a sentence-transformers model. "
            "codecards downloads nothing."
        ) from error
