"""The record of one file's content (facts, cards, words, problems) and its stored form.

A record depends on the bytes and the language alone, so the snapshot stores it by content.
"""

import hashlib
import struct
import sys
from dataclasses import dataclass, replace

import msgspec

from codecards.indexer.cards.chunking import CardDraft
from codecards.indexer.cards.words import FileTokens
from codecards.indexer.facts import FileFacts
from codecards.indexer.problems import Coverage, Reason

EXTRACTOR_VERSION = 12
"""Incremented whenever the same bytes would give another record; all stored records are then rebuilt."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The content record without the facts."""

    encoding: str
    """Original encoding, "" if the text was not decoded."""
    drafts: tuple[CardDraft, ...]
    tokens: FileTokens
    problems: tuple[tuple[Reason, str, Coverage], ...]
    """Reason, detail, and coverage."""
    has_text: bool = True
    """False for binary, minified and undecodable content, which has no cards."""


@dataclass(frozen=True, slots=True)
class ContentRecord:
    """Facts, cards, words and problems of one content."""

    facts: FileFacts
    contents: Contents


@dataclass(frozen=True, slots=True)
class PackedRecord:
    """Stored form of a record. The facts are separate because resolving calls needs them alone."""

    facts: bytes
    rest: bytes

    def to_frame(self) -> bytes:
        """Return the record as one byte string for a pipe."""
        return _length.pack(len(self.facts)) + self.facts + self.rest

    @classmethod
    def from_frame(cls, frame: bytes) -> "PackedRecord":
        """Return the record of a frame of `to_frame`."""
        (n_bytes,) = _length.unpack_from(frame)
        return cls(frame[_length.size : _length.size + n_bytes], frame[_length.size + n_bytes :])


@dataclass(frozen=True, slots=True)
class ContentsHead:
    """The fields of `Contents` that are needed before cards and words are."""

    encoding: str
    problems: tuple[tuple[Reason, str, Coverage], ...]
    has_text: bool = True


@dataclass(frozen=True, slots=True)
class PackedContents:
    """A parsed file held in packed form; its facts are re-read from the snapshot for linking."""

    head: ContentsHead
    _rest: bytes

    @property
    def contents(self) -> Contents:
        """Cards and words, unpacked on each access."""
        return _unpack_contents(self._rest)


def content_key(language: str, data: bytes) -> bytes:
    """Return the key of a content: 16 bytes of BLAKE2b over language and bytes."""
    return hashlib.blake2b(data, digest_size=16, key=language.encode()).digest()


def record_without_cards(reason: Reason, detail: str, encoding: str = "") -> ContentRecord:
    """Return the record of a file that has no cards, for one reason."""
    nothing = FileTokens((), b"", b"", b"")
    return ContentRecord(
        FileFacts("", 0), Contents(encoding, (), nothing, ((reason, detail, Coverage.NONE),), has_text=False)
    )


def pack(record: ContentRecord) -> PackedRecord:
    """Return the stored form (MessagePack) of a record."""
    return PackedRecord(_encoder.encode(record.facts), _encoder.encode(record.contents))


def unpack(packed: PackedRecord) -> ContentRecord:
    """Return the record of a stored form.

    Raises:
        msgspec.DecodeError: The bytes are not a record.
    """
    return ContentRecord(unpack_facts(packed.facts), _unpack_contents(packed.rest))


def peek(packed: PackedRecord) -> PackedContents:
    """Return a stored form of which only the head is decoded.

    Raises:
        msgspec.DecodeError: The bytes are not a record.
    """
    return PackedContents(_head.decode(packed.rest), packed.rest)


def unpack_facts(data: bytes) -> FileFacts:
    """Return the facts of a stored form.

    Raises:
        msgspec.DecodeError: The bytes are not facts.
    """
    return _facts.decode(data)


def _unpack_contents(rest: bytes) -> Contents:
    contents = _contents.decode(rest)
    # Files share most of their words, so each word is kept in memory once.
    tokens = replace(contents.tokens, vocabulary=tuple(map(sys.intern, contents.tokens.vocabulary)))
    return replace(contents, tokens=tokens)


_length = struct.Struct(">I")
_encoder = msgspec.msgpack.Encoder()
_facts = msgspec.msgpack.Decoder(FileFacts)
_contents = msgspec.msgpack.Decoder(Contents)
_head = msgspec.msgpack.Decoder(ContentsHead)
