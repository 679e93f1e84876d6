"""Deriving: what a generation changes, as told to whatever is derived from it: columns, word index, vectors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from codecards.indexer.cards.card import Card
from codecards.indexer.cards.embedded_text import unpack_texts, with_heading
from codecards.indexer.cards.words import FileTokens
from codecards.indexer.store.rows import IndexedFile


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that this generation holds anew, for what is derived from it."""

    entry: IndexedFile
    cards: tuple[Card, ...]
    tokens: FileTokens
    embedded: bytes
    """As `Contents.embedded`."""

    def embedded_texts(self) -> list[str]:
        """Return the text that is embedded of each card, in the order of the cards."""
        contents = zip(self.cards, unpack_texts(self.embedded), strict=True)
        return [with_heading(card.path, card.qualified_name, content) for card, content in contents]


TextReader = Callable[[IndexedFile], str | None]
"""Returns the text of a file as it was indexed, None if the file has changed since."""


@dataclass(frozen=True, slots=True)
class GenerationDiff:
    """What a generation changes, for what is derived from it."""

    old_folder: Path | None
    """What was derived from the generation before; None to derive all anew (`changed` then holds every file)."""
    new_folder: Path
    """Where to put what is derived now; does not exist yet."""
    changed: Sequence[ChangedFile]
    removed_ids: frozenset[int]
    """Ids of files that are gone."""
    links: Sequence[tuple[int, int, int]]
    """(source file id, target file id, number of edges), whole."""
    read_text: TextReader
    """For message catalogs, of which cards and words hold too little."""


class Deriver(Protocol):
    """Makes what is derived from a generation: columns, word index, vectors."""

    identity: str
    """Changes with anything that makes older derived files useless: their format, the embedder."""

    def derive(self, change: GenerationDiff) -> None:
        """Fill `change.new_folder`."""

    def usable(self, folder: Path) -> bool:
        """Return whether the files of a derived folder are whole."""
