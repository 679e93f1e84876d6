"""Identifies a stored model by its files, without loading it."""

import hashlib
import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from codecards.errors import EmbedderError
from codecards.indexer.cards.embedded_text import TEXT_FORMAT

TABLE_FILE = "model.safetensors"
STATIC_FILES = (TABLE_FILE, "tokenizer.json")
"""Files of a table of token vectors."""


def hash_files(folder: Path, names: Sequence[str]) -> str:
    """Return 16 hexadecimal digits that depend on every byte of the named files and on `TEXT_FORMAT`."""
    digest = hashlib.sha256(f"text format {TEXT_FORMAT}".encode())
    for name in names:
        with (folder / name).open("rb") as stream:
            digest.update(f"\n{name}\n".encode())
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
    return digest.hexdigest()[:16]


def read_header(path: Path) -> tuple[dict[str, Any], int]:
    """Return the header of a safetensors file, tensor name → description, and the offset of the tensors' bytes.

    Raises:
        EmbedderError: It is not a safetensors file.
    """
    try:
        with path.open("rb") as stream:
            (n_bytes,) = struct.unpack("<Q", stream.read(8))
            if n_bytes > path.stat().st_size:
                raise ValueError("it is truncated")
            header = json.loads(stream.read(n_bytes))
        return dict(header), 8 + n_bytes
    except (OSError, ValueError, struct.error) as error:
        raise unreadable_table(path, error) from error


def table_width(path: Path) -> int:
    """Return the length of the vectors of a table.

    Raises:
        EmbedderError: It is not a table.
    """
    header, _ = read_header(path)
    try:
        entry = header.get("embeddings") or header["embedding.weight"]
        return int(entry["shape"][1])
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise unreadable_table(path, error) from error


def unreadable_table(path: Path, error: Exception) -> EmbedderError:
    """Return the error for a table that can't be read."""
    return EmbedderError(f"{path} can't be read as a table of vectors ({error}); install the model again.")
