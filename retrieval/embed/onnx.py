"""Embeds texts with a small transformer through onnxruntime, without torch."""

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from codecards.errors import EmbedderError
from codecards.indexer.cards.embedded_text import split_identifiers
from codecards.retrieval.embed.model_files import hash_files

MODEL_FILE = "onnx/model_qint8.onnx"
MAX_TOKENS = 128  # 256 measured worse on code, and half as fast


class OnnxEmbedder:
    """Embeds with a BERT-like encoder: the mean of the token states, scaled to length 1. Thread-safe and deterministic.

    Texts run one by one: the int8 model scales its activations by the largest one in a batch, so a text's vector would
    depend on its neighbours. Without padding, single texts cost no more than a batch.

    Args:
        folder: A sentence-transformers folder with `onnx/model_qint8.onnx` and `tokenizer.json`.
        name: Its name in status reports and in the identity.
        n_threads: Processor threads of one run.

    Raises:
        EmbedderError: The folder does not hold such a model, or onnxruntime can't load it.
    """

    def __init__(self, folder: Path, name: str = "minilm", *, n_threads: int = 1) -> None:
        self.name = name
        self._folder = folder
        if not (folder / MODEL_FILE).is_file() or not (folder / "tokenizer.json").is_file():
            raise EmbedderError(
                f"The model {name!r} is not installed: {folder / MODEL_FILE} or its tokenizer is missing."
            )
        # Padding and truncation are set once, so encoding never changes the tokenizer.
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._session = _open_session(folder / MODEL_FILE, n_threads)
        self._input_names = [node.name for node in self._session.get_inputs()]
        self.dimensions = int(self._session.get_outputs()[0].shape[-1])

    @cached_property
    def identity(self) -> str:
        """Name and a hash of weights, tokenizer and text format."""
        return f"{self.name}-{hash_files(self._folder, (MODEL_FILE, 'tokenizer.json'))}"

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimensions): rows of length 1."""
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for index, encoding in enumerate(self._tokenizer.encode_batch_fast(list(texts))):
            ids = np.array([encoding.ids], np.int64)
            inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            states = self._session.run(None, {name: inputs[name] for name in self._input_names})[0]
            mean = states[0].mean(axis=0)
            rows[index] = mean / np.linalg.norm(mean)
        return rows

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimensions): rows of length 1; identifiers in the queries are split into words."""
        return self.embed_documents([split_identifiers(text) for text in texts])


def _open_session(path: Path, n_threads: int) -> Any:  # noqa: ANN401 - onnxruntime has no types
    # Imported here, because it costs 0.2 s of CPU.
    try:
        onnxruntime: Any = import_module("onnxruntime")
    except ImportError as error:
        raise EmbedderError(f"Transformer vectors need onnxruntime, which can't be loaded ({error}).") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = n_threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Spinning threads slow down a busy machine, and gain nothing for one text at a time.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own errors derive from nothing narrower
        raise EmbedderError(f"{path} can't be loaded by onnxruntime ({error}); install the model again.") from error
