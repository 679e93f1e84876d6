"""Embedders: texts become unit vectors. One protocol, loaded by a short specification.

Nothing here touches the network: a model is shipped with the package, or lies on disk.
"""

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from codecards.errors import EmbedderError, UsageError
from codecards.retrieval.embed.model_files import STATIC_FILES, TABLE_FILE, hash_files, table_width

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODELS = Path(__file__).parent / "models"
STATIC_MODEL = MODELS / "static-code"
_TRANSFORMERS_PREFIX = "sentence-transformers:"


class Embedder(Protocol):
    """Turns texts into vectors whose dot product says how near they are."""

    @property
    def name(self) -> str:
        """Short name for people: "static", "minilm"."""
        ...

    @property
    def identity(self) -> str:
        """Changes with any change of weights, tokenizer or embedded text: stored vectors belong to one identity."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return (n, dimensions) rows of length 1 for texts as `embedded_text` makes them."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return (n, dimensions) rows of length 1 for questions as they were typed."""
        ...


class NoEmbedder:
    """The choice of no vectors at all."""

    name = "none"
    identity = "none"
    dimensions = 0

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return (n, 0) rows."""
        import numpy as np  # noqa: PLC0415 - costs 0.1 s of CPU

        return np.zeros((len(texts), 0), np.float32)

    embed_queries = embed_documents


class LazyStaticEmbedder:
    """The table of the instant lane, loaded when it first embeds: who it is costs 6 ms of CPU, loading it 120.

    Args:
        folder: As for `StaticEmbedder`.
        name: What status and manifest call it.

    Raises:
        EmbedderError: The folder holds no such model; what only loading tells is told by `loaded`.
    """

    def __init__(self, folder: Path, name: str = "static") -> None:
        self.name = name
        self._folder = folder
        for file in STATIC_FILES:
            if not (folder / file).is_file():
                raise EmbedderError(f"There is no {file} in {folder}: not a model folder, or not fully installed.")
        self.dimensions = table_width(folder / TABLE_FILE)

    @cached_property
    def identity(self) -> str:
        """Name and a hash of weights, tokenizer and text format, as `StaticEmbedder` tells it."""
        return f"{self.name}-{hash_files(self._folder, STATIC_FILES)}"

    @cached_property
    def loaded(self) -> Embedder:
        """The model.

        Raises:
            EmbedderError: The folder is not such a model.
        """
        module = import_module("codecards.retrieval.embed.static")
        static: Embedder = module.StaticEmbedder(self._folder, self.name)
        return static

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return (n, dimensions) rows of length 1."""
        return self.loaded.embed_documents(texts)

    def embed_queries(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return (n, dimensions) rows of length 1."""
        return self.loaded.embed_queries(texts)


def choose_embedder(spec: str) -> Embedder:
    """Return the same as `load_embedder`, the instant lane not loaded yet."""
    return LazyStaticEmbedder(STATIC_MODEL) if spec == "static" else load_embedder(spec)


def load_embedder(spec: str) -> Embedder:
    """Return the embedder that a specification names.

    Args:
        spec: "static" (table of token vectors, the instant lane), "minilm" (transformer in int8, the deep lane),
            "none", or "sentence-transformers:" and a folder, or a name that is in the local cache of models.

    Raises:
        UsageError: The specification names no kind of embedder.
        EmbedderError: The model is missing, damaged, or needs a package that is not installed; it says which.
    """
    if spec == "none":
        return NoEmbedder()
    # The modules of the other lanes are not imported: each costs what the instant lane would have to wait for.
    if spec == "static":
        static: Embedder = import_module("codecards.retrieval.embed.static").StaticEmbedder(STATIC_MODEL)
        return static
    if spec == "minilm":
        transformer: Embedder = import_module("codecards.retrieval.embed.onnx").OnnxEmbedder(MODELS / "minilm-code")
        return transformer
    if spec.startswith(_TRANSFORMERS_PREFIX) and spec != _TRANSFORMERS_PREFIX:
        module = import_module("codecards.retrieval.embed.sentence_transformers")
        users: Embedder = module.TransformersEmbedder(spec.removeprefix(_TRANSFORMERS_PREFIX))
        return users
    raise UsageError(f"No embedder {spec!r}: use static, minilm, none, or sentence-transformers: and a folder or name.")
