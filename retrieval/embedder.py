"""Embedders: texts become unit vectors. One protocol, loaded by a short specification.

Nothing here touches the network: a model is shipped with the package, or lies on disk.
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from codecards.errors import EmbedderError, UsageError
from codecards.retrieval.embedded_text import TEXT_FORMAT, card_text, split_identifiers

__all__ = [
    "TEXT_FORMAT",
    "Embedder",
    "NoEmbedder",
    "canaries_agree",
    "canary",
    "card_text",
    "load_embedder",
    "require_agreement",
    "split_identifiers",
]

MODELS = Path(__file__).parent / "models"
_TRANSFORMERS_PREFIX = "sentence-transformers:"
_LEAST_CANARY_COSINE = 0.98
"""The int8 model differs by up to 0.01 between processors with and without VNNI; another model is below 0.9."""
_CANARY_DOCUMENTS = (
    card_text(
        "src/auth/token_store.py",
        "TokenStore.purge_expired",
        "def purge_expired(self, now: float) -> int",
        "Remove tokens that are older than the timeout.",
        "stale = [key for key, token in self._tokens.items() if token.expires < now]",
    ),
    card_text("lib/http/retry.js", "retryRequest", "function retryRequest(url, options)", "", "return fetch(url)"),
)
_CANARY_QUERIES = ("where is the login timeout handled", "parseHTTPHeader", "缓存在哪里清理")


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

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimensions) rows of length 1 for texts as `card_text` makes them."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimensions) rows of length 1 for questions as they were typed."""
        ...


class NoEmbedder:
    """The choice of no vectors at all."""

    name = "none"
    identity = "none"
    dimensions = 0

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, 0) rows."""
        return np.zeros((len(texts), 0), np.float32)

    embed_queries = embed_documents


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
        static: Embedder = import_module("codecards.retrieval.static_embedder").StaticEmbedder(MODELS / "static-code")
        return static
    if spec == "minilm":
        deep: Embedder = import_module("codecards.retrieval.onnx_embedder").OnnxEmbedder(MODELS / "minilm-code")
        return deep
    if spec.startswith(_TRANSFORMERS_PREFIX) and spec != _TRANSFORMERS_PREFIX:
        module = import_module("codecards.retrieval.transformers_embedder")
        users: Embedder = module.TransformersEmbedder(spec.removeprefix(_TRANSFORMERS_PREFIX))
        return users
    raise UsageError(f"No embedder {spec!r}: use static, minilm, none, or sentence-transformers: and a folder or name.")


def canary(embedder: Embedder) -> NDArray[np.float32]:
    """Return (5, dimensions) vectors of fixed texts, stored with an index to notice a model that silently changed."""
    documents = embedder.embed_documents(_CANARY_DOCUMENTS)
    return np.concatenate([documents, embedder.embed_queries(_CANARY_QUERIES)])


def canaries_agree(stored: NDArray[np.float32], fresh: NDArray[np.float32]) -> bool:
    """Return whether two results of `canary` come from the same model, up to what processors differ in.

    Vectors of the one must not be searched with queries of the other where this is False.
    """
    if stored.shape != fresh.shape:
        return False
    cosines = (stored * fresh).sum(axis=1)
    present = (np.abs(stored).sum(axis=1) > 0) | (np.abs(fresh).sum(axis=1) > 0)
    return bool(np.all(cosines[present] >= _LEAST_CANARY_COSINE))


def require_agreement(embedder: Embedder, stored: NDArray[np.float32]) -> None:
    """Check an embedder against the canary vectors of an index.

    Raises:
        EmbedderError: It gives other vectors than those that are stored.
    """
    if not canaries_agree(stored, canary(embedder)):
        raise EmbedderError(
            f"The embedder {embedder.name!r} gives other vectors than those in the index: the model was changed. "
            "Index again with --full."
        )
