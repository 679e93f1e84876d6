"""Trigram signatures: which of many texts may hold a given text, without reading them.

A signature is a bit array with one bit for each trigram of a text, by a hash of it; ASCII letters are folded. Where a needed bit is
missing, the text is not there: that is certain. Where all bits are there, the text has to be read. A signature has about four bits a
trigram, so that one text in several thousand is read in vain.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

GRAM = 3
"""Bytes of a trigram."""
BITS_A_GRAM = 4
LEAST_BITS = 64
_FOLDED = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz")
_SPREAD = np.uint32(2654435761)
"""Knuth's multiplicative hash: 2 ** 32 divided by the golden ratio."""

Uint32s = NDArray[np.uint32]


def folded_bytes(text: str) -> bytes:
    """Return the bytes whose trigrams count: UTF-8, ASCII letters in lower case."""
    return text.encode("utf-8", "surrogatepass").translate(_FOLDED)


def grams_of(data: bytes) -> Uint32s:
    """Return the hashes of the trigrams of some bytes, ascending, each once; none for less than three bytes."""
    codes = np.frombuffer(data, np.uint8).astype(np.uint32)
    if len(codes) < GRAM:
        return np.zeros(0, np.uint32)
    numbers = (codes[:-2] << np.uint32(16)) | (codes[1:-1] << np.uint32(8)) | codes[2:]
    return np.unique(numbers) * _SPREAD


def signature_of(text: str) -> bytes:
    """Return the signature of a text, a power of two of bits."""
    grams = grams_of(folded_bytes(text))
    n_bits = LEAST_BITS
    while n_bits < BITS_A_GRAM * len(grams):
        n_bits *= 2
    bits = np.zeros(n_bits, np.bool_)
    bits[_places(grams, np.uint32(n_bits.bit_length() - 1))] = True
    return np.packbits(bits, bitorder="little").tobytes()


class Signatures:
    """Many signatures in one array, asked together.

    Args:
        signatures: One for each text.
    """

    def __init__(self, signatures: Sequence[bytes]) -> None:
        self._bytes = np.frombuffer(b"".join(signatures), np.uint8)
        lengths = np.fromiter(map(len, signatures), np.int64, len(signatures))
        self._first = np.cumsum(lengths) - lengths
        self._log_bits = np.log2(np.maximum(lengths, 1) * 8).astype(np.uint32)

    def __len__(self) -> int:
        return len(self._first)

    def may_hold(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Return which texts may hold all of some texts; all of them where none of these has three bytes."""
        found = np.ones(len(self), np.bool_)
        for text in texts:
            for gram in grams_of(folded_bytes(text)):
                rows = np.flatnonzero(found)
                places = _places(gram, self._log_bits[rows]).astype(np.int64)
                held = self._bytes[self._first[rows] + (places >> 3)] >> (places & 7).astype(np.uint8)
                found[rows] = (held & 1).astype(np.bool_)
        return found


def _places(grams: Any, log_bits: Any) -> NDArray[np.uint32]:  # noqa: ANN401 - scalars and arrays of numpy
    """Return the bit of each hash: its highest bits, which the multiplication has mixed best."""
    return np.asarray(np.uint32(grams) >> (np.uint32(32) - np.uint32(log_bits)), np.uint32)
