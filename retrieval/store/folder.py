"""The layout of the derived folder of one generation, and the check that its files are complete.

    derived/7/
        meta.json       format and languages
        columns/        `Columns`
        words.bin …     `Vocabulary`
        keywords/       tantivy
        vectors/        `CardVectors`, if there was an embedder
        contents.json   size and digest of every file; written last

The folder of the previous generation is only read: readers still use it.
"""

import hashlib
import json
from pathlib import Path

from codecards.errors import SnapshotDamagedError

FORMAT = 4
"""Raised by one when older derived files can no longer be read."""
META_FILE = "meta.json"
CONTENTS_FILE = "contents.json"
COLUMNS_FOLDER = "columns"
KEYWORDS_FOLDER = "keywords"
VECTORS_FOLDER = "vectors"


def read_languages(folder: Path) -> list[str]:
    """Return the languages by the number that the columns store.

    Raises:
        OSError: The folder is not a derived index.
        ValueError: The folder has another format.
    """
    meta = json.loads((folder / META_FILE).read_text(encoding="utf-8"))
    if meta["format"] != FORMAT:
        raise ValueError(f"{folder} has format {meta['format']}, this version reads {FORMAT}")
    return [str(language) for language in meta["languages"]]


def check_contents(folder: Path) -> None:
    """Check that the derived files are unchanged since they were written.

    A file with the recorded size and time stamp is trusted; any other is compared by its digest.

    Raises:
        SnapshotDamagedError: A file is missing or differs.
    """
    try:
        recorded = json.loads((folder / CONTENTS_FILE).read_text(encoding="utf-8"))
        for name, (size, mtime_ns, digest) in recorded.items():
            path = folder / name
            status = path.stat()
            if status.st_size == size and status.st_mtime_ns == mtime_ns:
                continue
            if status.st_size != size or _digest(path) != digest:
                raise SnapshotDamagedError(f"{path} is damaged; run `codecards index` to rebuild it")
    except (OSError, ValueError, TypeError, AttributeError) as error:
        message = f"the index in {folder} is damaged ({error}); run `codecards index` to rebuild it"
        raise SnapshotDamagedError(message) from error


def write_contents(folder: Path) -> None:
    """Record size, time stamp and digest of all derived files; call this last."""
    recorded = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.endswith(".lock"):
            status = path.stat()
            recorded[path.relative_to(folder).as_posix()] = (status.st_size, status.st_mtime_ns, _digest(path))
    (folder / CONTENTS_FILE).write_text(json.dumps(recorded), encoding="utf-8")


def _digest(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
