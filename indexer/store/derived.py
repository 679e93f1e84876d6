"""The interface between a new generation and the indexes derived from it: columns, word index and vectors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol, overload

from codecards.indexer.cards.card import Card
from codecards.indexer.cards.embedded_text import unpack_texts, with_heading
from codecards.indexer.cards.words import FileTokens
from codecards.indexer.store.rows import IndexedFile


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that is new or changed in a generation."""

    entry: IndexedFile
    cards: tuple[Card, ...]
    tokens: FileTokens
    embedded: bytes
    """As `Contents.embedded`."""

    def embedded_texts(self) -> list[str]:
        """Return the text that is embedded of each card, in the order of the cards."""
        contents = zip(self.cards, unpack_texts(self.embedded), strict=True)
        return [with_heading(card.path, card.qualified_name, content) for card, content in contents]


class LazyLinks(Sequence[tuple[int, int, int]]):
    """The links of a generation, counted on first use: that takes longer than resolving an edited file."""

    def __init__(self, count: Callable[[], Sequence[tuple[int, int, int]]]) -> None:
        self._count = count

    @cached_property
    def _links(self) -> Sequence[tuple[int, int, int]]:
        return self._count()

    def __len__(self) -> int:
        return len(self._links)

    @overload
    def __getitem__(self, index: int) -> tuple[int, int, int]: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[int, int, int]]: ...

    def __getitem__(self, index: int | slice) -> tuple[int, int, int] | Sequence[tuple[int, int, int]]:
        return self._links[index]


TextReader = Callable[[IndexedFile], str | None]
"""Returns the text of a file as it was indexed, None if the file has changed since."""


@dataclass(frozen=True, slots=True)
class GenerationDiff:
    """The difference between a generation and the one before."""

    old_folder: Path | None
    """The derived files of the generation before; None to derive everything anew (`changed` then has every file)."""
    new_folder: Path
    """The folder for the new derived files; it does not exist yet."""
    changed: Sequence[ChangedFile]
    removed_ids: frozenset[int]
    """Ids of the files that are no longer indexed."""
    links: Sequence[tuple[int, int, int]]
    """(source file id, target file id, number of edges) for all files of the generation."""
    read_text: TextReader
    """For message catalogs, of which cards and words hold too little."""


class Deriver(Protocol):
    """Builds the derived files of a generation."""

    identity: str
    """Changes with everything that makes older derived files unusable: their format, the embedder."""

    def derive(self, change: GenerationDiff) -> None:
        """Fill `change.new_folder`."""

    def usable(self, folder: Path) -> bool:
        """Return whether the files of a derived folder are complete and undamaged."""
