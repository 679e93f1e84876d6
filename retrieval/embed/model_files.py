"""Model files: who a stored model is, told from its files without loading it."""

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
"""What a table of token vectors is made of."""


def hash_files(folder: Path, names: Sequence[str]) -> str:
    """Return 16 hexadecimal digits that change with any byte of the named files, and with `TEXT_FORMAT`."""
    digest = hashlib.sha256(f"text format {TEXT_FORMAT}".encode())
    for name in names:
        with (folder / name).open("rb") as stream:
            digest.update(f"\n{name}\n".encode())
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
    return digest.hexdigest()[:16]


def read_header(path: Path) -> tuple[dict[str, Any], int]:
    """Return what a safetensors file says of its tensors by name, and where their bytes begin.

    Raises:
        EmbedderError: It is no such file.
    """
    try:
        with path.open("rb") as stream:
            (n_bytes,) = struct.unpack("<Q", stream.read(8))
            if n_bytes > path.stat().st_size:
                raise ValueError("it is cut off")
            header = json.loads(stream.read(n_bytes))
        return dict(header), 8 + n_bytes
    except (OSError, ValueError, struct.error) as error:
        raise unreadable_table(path, error) from error


def table_width(path: Path) -> int:
    """Return the length of the vectors of a table.

    Raises:
        EmbedderError: It is no table.
    """
    header, _ = read_header(path)
    try:
        entry = header.get("embeddings") or header["embedding.weight"]
        return int(entry["shape"][1])
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise unreadable_table(path, error) from error


def unreadable_table(path: Path, error: Exception) -> EmbedderError:
    """Return the error that says that a table can't be used."""
    return EmbedderError(f"{path} can't be read as a table of vectors ({error}); install the model again.")
