"""Checks cards against the files on disk before they are shown.

**Invariant:** no line number that leaves the engine points past the end of its file.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, overload

from codecards.indexer.build.changes import same_stamp
from codecards.indexer.cards.card import Card
from codecards.indexer.cards.chunking import CardDraft, text_lines
from codecards.indexer.cards.record import content_key
from codecards.indexer.parse.languages import HEAD_BYTES, detect_language
from codecards.indexer.problems import Problem
from codecards.indexer.store.rows import IndexedFile
from codecards.indexer.store.snapshot import Snapshot
from codecards.indexer.text.decoding import DecodedText, decode
from codecards.indexer.walk.files import DiscoverySettings, SourceFile, read_stamped

if TYPE_CHECKING:
    from codecards.indexer.build.worker_pool import Workers


@dataclass(frozen=True)
class CurrentFile:
    """A file as it was on disk when it was checked; its bytes are decoded on demand."""

    data: bytes
    drafts: dict[tuple[str, int], CardDraft] | None
    """Its current cards, by name and ordinal; None if the file is as it was indexed."""

    @cached_property
    def lines(self) -> Sequence[str]:
        """All lines; none if it is not text."""
        decoded = decode(self.data)
        return text_lines(decoded.text) if isinstance(decoded, DecodedText) else []


class LazyLines(Sequence[str]):
    """Some lines of a file, sliced on demand.

    Args:
        file: The file.
        first: First line, 1-based.
        last: Last line, inclusive.
    """

    def __init__(self, file: CurrentFile, first: int, last: int) -> None:
        self._file, self._first, self._last = file, first, last

    @cached_property
    def _lines(self) -> Sequence[str]:
        return self._file.lines[self._first - 1 : self._last]

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._lines[index]


@dataclass(frozen=True, slots=True)
class CheckedCard:
    """A card as it is on disk now."""

    card: Card
    """With its current lines."""
    fresh: bool
    """False if its text has changed since it was indexed."""
    file: CurrentFile

    @property
    def lines(self) -> Sequence[str]:
        """All lines of the file."""
        return self.file.lines

    @property
    def card_lines(self) -> Sequence[str]:
        """The lines of the card, its leading comment included."""
        return LazyLines(self.file, self.card.lead_line, self.card.last_line)


class FreshFiles:
    """Checks each file once for one answer.

    A file whose size, times and inode match the index counts as unchanged; otherwise its content hash decides.

    Args:
        root: The project's folder.
        snapshot: The generation that the cards come from.
        workers: Returns the processes that parse changed files.
        settings: Which files may be read.
    """

    def __init__(
        self, root: Path, snapshot: Snapshot, workers: "Callable[[], Workers]", settings: DiscoverySettings
    ) -> None:
        self._root, self._snapshot, self._workers, self._settings = root, snapshot, workers, settings
        self._seen: dict[str, CurrentFile | None] = {}
        self._entries: dict[str, IndexedFile | None] = {}

    def prefetch(self, paths: Collection[str]) -> None:
        """Load the index entries of some files in one query, which is faster than one query a file."""
        self._entries = dict.fromkeys(paths) | self._snapshot.files_at(paths)

    def check(self, cards: Iterable[Card]) -> Iterator[CheckedCard]:
        """Yield the cards that still exist, with their current lines; moved cards are found again."""
        for card in cards:
            file = self._file(card.path)
            if file is None:
                continue
            if file.drafts is None:
                yield CheckedCard(card, True, file)
                continue
            ordinal = int(card.symbol_id.rpartition("~")[2]) if "~" in card.symbol_id.rpartition("::")[2] else 1
            draft = file.drafts.get((card.qualified_name, ordinal)) or file.drafts.get((card.qualified_name, 1))
            if draft is not None:
                moved = replace(
                    card,
                    lead_line=draft.lead_line,
                    first_line=draft.first_line,
                    name_line=draft.name_line,
                    last_line=min(draft.last_line, len(file.lines)),
                    own_lines=draft.own_lines,
                    signature=draft.signature,
                )
                yield CheckedCard(moved, draft.content_hash == card.content_hash, file)

    def lines(self, path: str) -> tuple[Sequence[str], bool] | None:
        """Return (a file's lines, whether it has changed since it was indexed); None if it can't be read."""
        file = self._file(path)
        return None if file is None else (file.lines, file.drafts is not None)

    def _file(self, path: str) -> CurrentFile | None:
        """Return a file as it is now; None if it is gone or is not text any more."""
        if path not in self._seen:
            self._seen[path] = self._read(path)
        return self._seen[path]

    def _read(self, path: str) -> CurrentFile | None:
        entry = self._entries[path] if path in self._entries else self._snapshot.file_at(path)
        if entry is None:
            return None
        read = read_stamped(self._root, SourceFile(path, 0, 0, 0), self._settings)
        if isinstance(read, Problem):
            return None
        data, stamp = read
        if not entry.racy and same_stamp(stamp, entry):
            return CurrentFile(data, None)
        language = detect_language(path, data[:HEAD_BYTES])
        key = content_key(language, data)
        if key == entry.content_key:
            return CurrentFile(data, None)
        if not isinstance(decode(data), DecodedText):
            return None
        from codecards.indexer.build.worker_pool import Content

        answer = next(iter(self._workers().read([Content(key, language, data)])))
        drafts = {(draft.qualified_name, draft.ordinal): draft for draft in answer.record.contents.drafts}
        return CurrentFile(data, drafts)
