"""Embeds texts by the mean of their tokens' rows in a table.

sentence-transformers loads the same folder as a `StaticEmbedding`. With numpy and tokenizers alone the first query costs 0.1 s
of CPU instead of 6 s.
"""

import mmap
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from codecards.errors import EmbedderError
from codecards.indexer.cards.embedded_text import split_identifiers
from codecards.retrieval.embed.model_files import STATIC_FILES, TABLE_FILE, hash_files, read_header, unreadable_table
from codecards.retrieval.embed.word_pieces import WordPieces, special_texts

_BULK_TEXTS = 64
"""Number of texts from which the whole table is unpacked to float32, which costs as much as 100 texts."""
_DTYPES = {"I8": "<i1", "F16": "<f2", "F32": "<f4"}


class StaticEmbedder:
    """Embeds with a table of token vectors. Thread-safe: only a cache changes after loading.

    Args:
        folder: Holds `tokenizer.json` and `model.safetensors`, the latter with either `embedding.weight`, or int8
            `embeddings` with one factor per token in `weights` (model2vec's layout).
        name: Its name in status reports and in the identity.

    Raises:
        EmbedderError: The folder does not hold such a model.
    """

    def __init__(self, folder: Path, name: str = "static") -> None:
        self.name = name
        self._folder = folder
        self._tokenizer = _read_tokenizer(folder)
        self._rows, self._factors = _read_table(folder / TABLE_FILE)
        self.dimensions = int(self._rows.shape[1])
        if len(self._rows) < self._tokenizer.get_vocab_size():
            raise EmbedderError(f"{folder}: the table has fewer rows than its tokenizer has tokens; install it again.")

    @cached_property
    def identity(self) -> str:
        """Name and a hash of weights, tokenizer and text format."""
        return f"{self.name}-{hash_files(self._folder, STATIC_FILES)}"

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimensions): rows of length 1; zeros for a text without known tokens."""
        bulk = len(texts) >= _BULK_TEXTS
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, ids in enumerate(self._bulk_ids(texts) if bulk else self._ids(texts)):
            if ids:  # text by text, so that its rows stay in the processor's cache
                rows = self._unpacked[ids] if bulk else self._unpack(np.array(ids))
                rows.sum(axis=0, out=vectors[row])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        lengths[lengths == 0] = 1
        vectors /= lengths
        return vectors

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimensions): rows of length 1; identifiers in the queries are split into words."""
        return self.embed_documents([split_identifiers(text) for text in texts])

    @cached_property
    def _unpacked(self) -> NDArray[np.float32]:
        """The whole table in float32."""
        return self._unpack(slice(None))

    def _unpack(self, which: slice | NDArray[np.int64]) -> NDArray[np.float32]:
        rows = self._rows[which].astype(np.float32)
        if self._factors is not None:
            rows *= self._factors[which][:, None]
        return rows

    def _ids(self, texts: Sequence[str]) -> Iterator[list[int]]:
        for encoding in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False):
            yield encoding.ids

    def _bulk_ids(self, texts: Sequence[str]) -> Iterator[list[int]]:
        return map(self._word_pieces.ids, texts) if self._word_pieces is not None else self._ids(texts)

    @cached_property
    def _word_pieces(self) -> WordPieces | None:
        """The fast tokenizer for many texts; None if this model's tokenizer is of another kind."""
        special = special_texts(self._folder / "tokenizer.json")
        return WordPieces(self._cut, special) if special is not None else None

    def _cut(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids


def _read_tokenizer(folder: Path) -> Tokenizer:
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise EmbedderError(f"There is no tokenizer.json in {folder}: not a model folder, or not fully installed.")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises bare Exception only
        raise EmbedderError(f"{path} can't be read as a tokenizer ({error}); install the model again.") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _read_table(path: Path) -> tuple[NDArray[Any], NDArray[np.float32] | None]:
    """Return the (n_tokens, d) rows of a safetensors file, memory-mapped, and their factors if there are any."""
    header, start = read_header(path)
    try:
        with path.open("rb") as stream:
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        tensors = {
            name: np.frombuffer(
                data,
                _DTYPES[entry["dtype"]],
                count=int(np.prod(entry["shape"])),
                offset=start + entry["data_offsets"][0],
            ).reshape(entry["shape"])
            for name, entry in header.items()
            if name != "__metadata__"
        }
        if "embeddings" in tensors:
            return tensors["embeddings"], tensors["weights"].astype(np.float32)
        return tensors["embedding.weight"], None
    except (OSError, ValueError, KeyError) as error:
        raise unreadable_table(path, error) from error
