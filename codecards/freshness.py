"""Freshness: no hit is shown before its file was looked at.

**Invariant:** no line number that leaves the engine points past the end of its file.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from codecards.indexer.cards import Card
from codecards.indexer.file_record import content_key
from codecards.indexer.languages import HEAD_BYTES, detect_language
from codecards.indexer.partition import CardDraft, text_lines
from codecards.indexer.problems import Problem
from codecards.indexer.snapshot import FileEntry, Snapshot
from codecards.indexer.source_files import DiscoverySettings, SourceFile, read_file
from codecards.indexer.text_decoding import DecodedText, decode

if TYPE_CHECKING:
    from codecards.indexer.workers import Workers


@dataclass(frozen=True, slots=True)
class Looked:
    """A card as it stands on disk."""

    card: Card
    """With the lines of today."""
    fresh: bool
    lines: Sequence[str]
    """The whole file."""


class FreshFiles:
    """Looks at files once for one answer."""

    def __init__(
        self, root: Path, snapshot: Snapshot, workers: "Callable[[], Workers]", settings: DiscoverySettings
    ) -> None:
        """Take the project's root, the generation that named the cards, what gives the readers of changed files, and what is read."""
        self._root, self._snapshot, self._workers, self._settings = root, snapshot, workers, settings
        self._seen: dict[str, tuple[FileEntry, list[str], dict[tuple[str, int], CardDraft] | None] | None] = {}

    def look(self, cards: Iterable[Card]) -> Iterator[Looked]:
        """Yield the cards that are still there, with today's lines; moved ones are found again."""
        for card in cards:
            file = self._file(card.path)
            if file is None:
                continue
            _, lines, drafts = file
            if drafts is None:
                yield Looked(card, True, lines)
                continue
            ordinal = int(card.symbol_id.rpartition("~")[2]) if "~" in card.symbol_id.rpartition("::")[2] else 1
            draft = drafts.get((card.qualified_name, ordinal)) or drafts.get((card.qualified_name, 1))
            if draft is not None:
                moved = replace(
                    card, lead_line=draft.lead_line, first_line=draft.first_line, name_line=draft.name_line,
                    last_line=min(draft.last_line, len(lines)), own_lines=draft.own_lines, signature=draft.signature,
                )  # fmt: skip
                yield Looked(moved, draft.content_hash == card.content_hash, lines)

    def lines(self, path: str) -> tuple[list[str], bool] | None:
        """Return (a file's lines, whether it has changed since it was indexed); None if it can't be read."""
        file = self._file(path)
        return None if file is None else (file[1], file[2] is not None)

    def _file(self, path: str) -> tuple[FileEntry, list[str], dict[tuple[str, int], CardDraft] | None] | None:
        """Return entry, lines, and the drafts of today where the file has changed; None if it is gone."""
        if path not in self._seen:
            self._seen[path] = self._read(path)
        return self._seen[path]

    def _read(self, path: str) -> tuple[FileEntry, list[str], dict[tuple[str, int], CardDraft] | None] | None:
        entry = self._snapshot.file_at(path)
        if entry is None:
            return None
        data = read_file(self._root, SourceFile(path, 0, 0, 0), self._settings)
        if isinstance(data, Problem):
            return None
        decoded = decode(data)
        if not isinstance(decoded, DecodedText):
            return None
        lines = text_lines(decoded.text)
        language = detect_language(path, data[:HEAD_BYTES])
        key = content_key(language, data)
        if key == entry.content_key:
            return entry, lines, None
        from codecards.indexer.workers import Content  # noqa: PLC0415 - few hits lie in changed files

        answer = next(iter(self._workers().read([Content(key, language, data)], 1)))
        drafts = {(draft.qualified_name, draft.ordinal): draft for draft in answer.record.contents.drafts}
        return entry, lines, drafts


def text_reader(root: Path, entry: FileEntry, settings: DiscoverySettings) -> str | None:
    """Return a file's text if it is the one that was indexed, else None."""
    data = read_file(root, SourceFile(entry.path, 0, 0, 0), settings)
    if (
        isinstance(data, Problem)
        or content_key(detect_language(entry.path, data[:HEAD_BYTES]), data) != entry.content_key
    ):
        return None
    decoded = decode(data)
    return decoded.text if isinstance(decoded, DecodedText) else None
