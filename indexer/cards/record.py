"""File record: all that one file's content says, and its stored form.

A record depends on the bytes and the language alone, so the snapshot keeps it by content.
"""

import hashlib
import struct
import sys
from dataclasses import dataclass, replace

import msgspec

from codecards.indexer.cards.chunking import CardDraft
from codecards.indexer.cards.embedded_text import pack_texts, unpack_texts
from codecards.indexer.cards.words import FileTokens
from codecards.indexer.facts import FileFacts
from codecards.indexer.problems import Coverage, Reason

EXTRACTOR_VERSION = 12
"""Raised by one whenever the same bytes would give another record; every stored record is then made anew."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What is made of a file beside its facts."""

    encoding: str
    """The original one, "" where the text was not decoded."""
    drafts: tuple[CardDraft, ...]
    tokens: FileTokens
    embedded: bytes
    """The lines below the heading of each card's embedded text, in the order of the drafts; see `embedded_text.pack_texts`."""
    problems: tuple[tuple[Reason, str, Coverage], ...]
    """Reason, detail, and how much of the file is in the index."""
    has_text: bool = True
    """False for binary, minified and undecodable content: the file has no cards."""


@dataclass(frozen=True, slots=True)
class ContentRecord:
    """What a file's content says: facts, cards, words, and what could not be read."""

    facts: FileFacts
    contents: Contents


@dataclass(frozen=True, slots=True)
class PackedRecord:
    """The stored form of a record; the facts are apart because resolving calls needs them alone."""

    facts: bytes
    rest: bytes

    def to_frame(self) -> bytes:
        """Return one run of bytes for a pipe."""
        return _length.pack(len(self.facts)) + self.facts + self.rest

    @classmethod
    def from_frame(cls, frame: bytes) -> "PackedRecord":
        """Return the record of a frame made by `to_frame`."""
        (n_bytes,) = _length.unpack_from(frame)
        return cls(frame[_length.size : _length.size + n_bytes], frame[_length.size + n_bytes :])


@dataclass(frozen=True, slots=True)
class ContentsHead:
    """What of a file's `Contents` is needed before its cards and words are."""

    encoding: str
    problems: tuple[tuple[Reason, str, Coverage], ...]
    has_text: bool = True


@dataclass(frozen=True, slots=True)
class _EmbeddedPart:
    """The field of `Contents` that embedding needs."""

    embedded: bytes


@dataclass(frozen=True, slots=True)
class PackedContents:
    """A record as it waits in memory, most of it packed; its facts are read from the snapshot when all are needed."""

    head: ContentsHead
    _rest: bytes

    @property
    def contents(self) -> Contents:
        """Cards and words; unpacked each time."""
        return _unpack_contents(self._rest)


def content_key(language: str, data: bytes) -> bytes:
    """Return what a content is kept by: 16 bytes of BLAKE2b over language and bytes."""
    return hashlib.blake2b(data, digest_size=16, key=language.encode()).digest()


def unread(reason: Reason, detail: str, encoding: str = "") -> ContentRecord:
    """Return the record of a file that gives no cards."""
    nothing = FileTokens((), b"", b"", b"")
    return ContentRecord(
        FileFacts("", 0),
        Contents(encoding, (), nothing, pack_texts(()), ((reason, detail, Coverage.NONE),), has_text=False),
    )


def pack(record: ContentRecord) -> PackedRecord:
    """Return the record's stored form (MessagePack)."""
    return PackedRecord(_encoder.encode(record.facts), _encoder.encode(record.contents))


def unpack(packed: PackedRecord) -> ContentRecord:
    """Return the record of a stored form.

    Raises:
        msgspec.DecodeError: The bytes are not a record.
    """
    return ContentRecord(unpack_facts(packed.facts), _unpack_contents(packed.rest))


def hold(packed: PackedRecord) -> PackedContents:
    """Return a stored form as it waits in memory.

    Raises:
        msgspec.DecodeError: The bytes are not a record.
    """
    return PackedContents(_head.decode(packed.rest), packed.rest)


def unpack_facts(data: bytes) -> FileFacts:
    """Return the facts of a stored form.

    Raises:
        msgspec.DecodeError: The bytes are no facts.
    """
    return _facts.decode(data)


def unpack_embedded(rest: bytes) -> list[str]:
    """Return the lines below the heading of each card's embedded text, from the `rest` of a stored form.

    Raises:
        msgspec.DecodeError: The bytes are not a record.
    """
    return unpack_texts(_embedded.decode(rest).embedded)


def _unpack_contents(rest: bytes) -> Contents:
    contents = _contents.decode(rest)
    # Files share most of their words: a whole repository in memory holds each once.
    tokens = replace(contents.tokens, vocabulary=tuple(map(sys.intern, contents.tokens.vocabulary)))
    return replace(contents, tokens=tokens)


_length = struct.Struct(">I")
_encoder = msgspec.msgpack.Encoder()
_facts = msgspec.msgpack.Decoder(FileFacts)
_contents = msgspec.msgpack.Decoder(Contents)
_head = msgspec.msgpack.Decoder(ContentsHead)
_embedded = msgspec.msgpack.Decoder(_EmbeddedPart)
