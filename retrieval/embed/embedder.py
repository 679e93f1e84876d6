"""The protocol of embedders, which turn texts into unit vectors, and their loading by a short specification.

Nothing here uses the network: a model ships with the package or is on disk.
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
NAMES = ("static", "minilm", "none")
"""Embedders that ship with the package."""
_TRANSFORMERS_PREFIX = "sentence-transformers:"


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their similarity."""

    @property
    def name(self) -> str:
        """Short name for status reports: "static", "minilm"."""
        ...

    @property
    def identity(self) -> str:
        """Changes with weights, tokenizer or text format; stored vectors belong to one identity."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return (n, dimensions): rows of length 1, for texts made by `embedded_text`."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return (n, dimensions): rows of length 1, for questions as they were typed."""
        ...


class NoEmbedder:
    """An embedder without vectors."""

    name = "none"
    identity = "none"
    dimensions = 0

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return an array of shape (n, 0)."""
        import numpy as np

        return np.zeros((len(texts), 0), np.float32)

    embed_queries = embed_documents


class LazyStaticEmbedder:
    """A `StaticEmbedder` that is loaded for its first text: its identity costs 6 ms of CPU, loading it 120 ms.

    Args:
        folder: As for `StaticEmbedder`.
        name: Its name in status reports and in the identity.

    Raises:
        EmbedderError: The folder does not hold such a model. Errors that only loading finds are raised by `loaded`.
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
        """Name and a hash of weights, tokenizer and text format, equal to that of the loaded `StaticEmbedder`."""
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
    """Return the same as `load_embedder`, but with the static embedder not loaded yet."""
    return LazyStaticEmbedder(STATIC_MODEL) if spec == "static" else load_embedder(spec)


def load_embedder(spec: str) -> Embedder:
    """Return the embedder that a specification names.

    Args:
        spec: "static" (a table of token vectors), "minilm" (a transformer in int8), "none", or "sentence-transformers:"
            followed by a folder or by a name in the local model cache.

    Raises:
        UsageError: The specification names no known embedder.
        EmbedderError: The model is missing or damaged, or needs a package that is not installed; the message says which.
    """
    check_spec(spec)
    if spec == "none":
        return NoEmbedder()
    # Each branch imports its own module, so that the static embedder does not wait for onnxruntime or torch.
    if spec == "static":
        static: Embedder = import_module("codecards.retrieval.embed.static").StaticEmbedder(STATIC_MODEL)
        return static
    if spec == "minilm":
        transformer: Embedder = import_module("codecards.retrieval.embed.onnx").OnnxEmbedder(MODELS / "minilm-code")
        return transformer
    module = import_module("codecards.retrieval.embed.sentence_transformers")
    users: Embedder = module.TransformersEmbedder(spec.removeprefix(_TRANSFORMERS_PREFIX))
    return users


def check_spec(spec: str) -> None:
    """Raise unless a specification names an embedder; nothing is loaded.

    Raises:
        UsageError: It names none, or a folder that does not exist.
    """
    model = spec.removeprefix(_TRANSFORMERS_PREFIX)
    if spec not in NAMES and (model in ("", spec) or (Path(model).is_absolute() and not Path(model).is_dir())):
        raise UsageError(f"There is no embedder {spec!r}; use {', '.join(NAMES)}, or {_TRANSFORMERS_PREFIX}FOLDER.")
