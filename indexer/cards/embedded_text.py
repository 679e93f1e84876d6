"""The text of a card that embedding models read: its place and name as words, then signature, documentation and code.

The heading depends on the file's path. The rest depends on the file's content alone, so a worker makes it beside the words
and it is stored with the record of that content.
"""

import hashlib
import re
import zlib
from collections.abc import Iterable

import msgspec

TEXT_FORMAT = 1
"""Raised by one whenever the same card gives another text; raise `record.EXTRACTOR_VERSION` with it."""
MAX_DOC_CHARS = 400
MAX_BODY_CHARS = 1_000  # more text makes both models worse and slower (128 tokens did better than 256)
N_PATH_PARTS = 4
_SAME_SIGNATURE_CHARS = 40
_COMPRESSION_LEVEL = 1
"""Level 6 takes twice the time to save another 15 %."""

# Where a lower-case letter or digit meets an upper-case one, or the last capital of several starts a word.
_BEFORE_NEW_WORD = re.compile(r"[a-z0-9](?=[A-Z])|[A-Z](?=[A-Z][a-z])")
_SEPARATORS = str.maketrans({"_": " ", "\t": " "})


def split_identifiers(text: str) -> str:
    """Return text with identifiers split into words: "parseHTTPHeader" → "parse HTTP Header", "max_age" → "max age".

    Punctuation stays, because the transformer does better with it. Splitting twice changes nothing.
    """
    return _BEFORE_NEW_WORD.sub(r"\g<0> ", text).translate(_SEPARATORS)


def with_heading(path: str, qualified_name: str, content: str) -> str:
    """Return the whole embedded text of a card: its place and name in one line, then the content.

    Args:
        path: From the root, with slashes; its last four parts are used.
        qualified_name: With dots, "" for a card without a name; the brackets of "<module>" are dropped.
        content: As `embedded_content` makes it.
    """
    folder, _, file_name = path.rpartition("/")
    place = " ".join([*folder.split("/"), file_name.rpartition(".")[0] or file_name][-N_PATH_PARTS:])
    heading = _as_words(f"{place} {qualified_name.strip('<>').replace('.', ' ')}".strip())
    return f"{heading}\n{content}"


def embedded_content(signature: str, doc: str, body: str) -> str:
    """Return the lines of a card's embedded text below the heading.

    Args:
        signature: On one line, "" if none; left out where the body shows it.
        doc: Documentation without comment signs, "" if none.
        body: The card's code, which may repeat the documentation.
    """
    body = body[:MAX_BODY_CHARS]
    parts = [signature] if signature and signature[:_SAME_SIGNATURE_CHARS] not in body else []
    if doc:
        parts.append(doc[:MAX_DOC_CHARS])
    return _as_words("\n".join([*parts, body]))


def embedded_text(path: str, qualified_name: str, signature: str, doc: str, body: str) -> str:
    """Return the whole text that is embedded for a card; see `with_heading` and `embedded_content`."""
    return with_heading(path, qualified_name, embedded_content(signature, doc, body))


def text_key(text: str) -> bytes:
    """Return the 16 bytes that identify the vector of a text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def pack_texts(texts: Iterable[str]) -> bytes:
    """Return some texts compressed (zlib over MessagePack)."""
    return zlib.compress(_encoder.encode(list(texts)), _COMPRESSION_LEVEL)


def unpack_texts(packed: bytes) -> list[str]:
    """Return the texts that `pack_texts` compressed.

    Raises:
        msgspec.DecodeError: The bytes are damaged.
    """
    try:
        return _decoder.decode(zlib.decompress(packed))
    except zlib.error as error:
        raise msgspec.DecodeError(f"the embedded texts are damaged: {error}") from error


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[str])


def _as_words(text: str) -> str:
    # A path need not be UTF-8, and tokenizers accept nothing else.
    return split_identifiers(text).encode("utf-8", "replace").decode()
