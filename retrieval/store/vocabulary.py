"""The words of a generation, sorted for binary search, by word or by prefix."""

import mmap
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WORDS_FILE = "words.bin"
OFFSETS_FILE = "word_offsets.npy"


class Vocabulary:
    """Words sorted by their UTF-8 bytes; a word's id is its position. Read from memory-mapped files."""

    def __init__(self, words: bytes | mmap.mmap, offsets: NDArray[np.int64]) -> None:
        """Take all words, concatenated, and the start of each; the last offset is the end."""
        self._words = words
        self._offsets = offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, word_id: int) -> str:
        return self._bytes(word_id).decode("utf-8", "surrogatepass")

    def find(self, word: str) -> int:
        """Return the id of a word, -1 if it does not occur."""
        wanted = word.encode("utf-8", "surrogatepass")
        word_id = self._bisect(wanted)
        return word_id if word_id < len(self) and self._bytes(word_id) == wanted else -1

    def starting_with(self, prefix: str) -> range:
        """Return the ids of the words with a prefix."""
        wanted = prefix.encode("utf-8", "surrogatepass")
        # 0xFF occurs in no UTF-8 text, so every word with the prefix sorts below.
        return range(self._bisect(wanted), self._bisect(wanted + b"\xff"))

    def between(self, first: str, last: str) -> range:
        """Return the ids of the words from `first`, inclusive, to `last`, exclusive."""
        return range(self._bisect(first.encode("utf-8")), self._bisect(last.encode("utf-8")))

    def all_words(self) -> list[str]:
        """Return every word, sorted."""
        return [self[word_id] for word_id in range(len(self))]

    def _bytes(self, word_id: int) -> bytes:
        return self._words[self._offsets[word_id] : self._offsets[word_id + 1]]

    def _bisect(self, wanted: bytes) -> int:
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._bytes(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    @classmethod
    def of(cls, words: Iterable[str]) -> "Vocabulary":
        """Return the vocabulary of distinct words, given in any order."""
        encoded = sorted(word.encode("utf-8", "surrogatepass") for word in words)
        return cls(b"".join(encoded), _offsets_of(encoded))

    def save(self, folder: Path) -> None:
        """Write the words into a folder.

        Raises:
            OSError: A file can't be written.
        """
        (folder / WORDS_FILE).write_bytes(self._words[: int(self._offsets[-1])])
        np.save(folder / OFFSETS_FILE, self._offsets)

    @classmethod
    def open(cls, folder: Path) -> "Vocabulary":
        """Return the vocabulary that was saved in a folder.

        Raises:
            OSError: A file can't be read.
            ValueError: A file is damaged.
        """
        offsets: NDArray[np.int64] = np.load(folder / OFFSETS_FILE)
        with (folder / WORDS_FILE).open("rb") as file:
            size = file.seek(0, 2)
            if len(offsets) == 0 or size != offsets[-1]:
                raise ValueError(f"{folder / WORDS_FILE} is truncated")
            words = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        return cls(words, offsets)


def _offsets_of(encoded: Sequence[bytes]) -> NDArray[np.int64]:
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(word) for word in encoded], out=offsets[1:])
    return offsets
