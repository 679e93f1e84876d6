"""Resolves the anchors of notes: by name, and by normalised syntax if the name is gone."""

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from codecards.features.targets import find_target
from codecards.indexer.cards.card import Card
from codecards.indexer.parse.fingerprint import syntax_hash
from codecards.project.freshness import FreshFiles
from codecards.project.reader import IndexReader
from codecards.router.notes.note import Anchor

MAX_SEARCHED_CARDS = 20_000
"""Cards whose syntax is compared when a symbol is gone. In larger projects a renamed symbol may count as gone."""
MAX_SEARCHED_FILES = 5_000
"""Files whose syntax is compared when a file is gone. In larger projects a renamed file may count as gone."""


class IndexAnchors:
    """Resolves anchors over the newest generation of the index and the files on disk."""

    def __init__(
        self, root: Path, reader: Callable[[], IndexReader], fresh: Callable[[IndexReader], FreshFiles]
    ) -> None:
        """Take the project's root, and functions that return the newest generation and the files that it indexed."""
        self._root, self._reader, self._fresh = root, reader, fresh
        self._by_syntax: tuple[int, dict[str, list[Anchor]]] = (0, {})
        """Generation, and syntax hash → anchors of the code that has it."""

    def resolve(self, target: str) -> Anchor:
        """Return the anchor for a symbol, a path, or `path:symbol`.

        Raises:
            TargetNotFoundError: Nothing matches.
            AmbiguousTargetError: Several things match.
            OutsideProjectError: The path leads out of the project.
            SnapshotMissingError: The project is not indexed yet.
        """
        reader = self._reader()
        path, _, symbol = target.rpartition(":")
        has_symbol = path.rstrip(":") and symbol and not symbol.isdigit()
        found = find_target(reader.snapshot, self._root, f"{path.rstrip(':')}::{symbol}" if has_symbol else target)
        fresh = self._fresh(reader)
        if found.cards:
            card = found.cards[0]
            return Anchor(card.qualified_name, card.path, _hash_of(card, fresh))
        return Anchor("", found.path, _hash_of_file(found.path, reader, fresh))

    def now(self, symbol: str, path: str) -> Anchor | None:
        """Return the anchor of the current code, None if the path does not have the symbol."""
        reader = self._reader()
        fresh = self._fresh(reader)
        if not symbol:
            value = _hash_of_file(path, reader, fresh)
            return Anchor("", path, value) if value else None
        for card in reader.snapshot.cards_in(path):
            if card.qualified_name == symbol and (value := _hash_of(card, fresh)):
                return Anchor(symbol, path, value)
        return None

    def with_syntax(self, syntax_hash: str) -> Sequence[Anchor]:
        """Return the anchors of all current code with this normalised syntax, whatever its name."""
        reader = self._reader()
        generation = reader.snapshot.generation
        if self._by_syntax[0] != generation:
            self._by_syntax = (generation, _anchors_by_syntax(reader, self._fresh(reader)))
        return self._by_syntax[1].get(syntax_hash, [])


def _anchors_by_syntax(reader: IndexReader, fresh: FreshFiles) -> dict[str, list[Anchor]]:
    found: dict[str, list[Anchor]] = {}
    for card in islice(reader.snapshot.symbols(), MAX_SEARCHED_CARDS):
        value = _hash_of(card, fresh)
        if value:
            found.setdefault(value, []).append(Anchor(card.qualified_name, card.path, value))
    for file in islice(reader.snapshot.files(), MAX_SEARCHED_FILES):
        if value := _hash_of_file(file.path, reader, fresh):
            found.setdefault(value, []).append(Anchor("", file.path, value))
    return found


def _hash_of(card: Card, fresh: FreshFiles) -> str:
    """Return the hash of a card as it is on disk, "" if it is gone."""
    for checked in fresh.check([card]):
        lines = checked.lines[checked.card.first_line - 1 : checked.card.last_line]
        return syntax_hash("\n".join(lines), card.language, card.name)
    return ""


def _hash_of_file(path: str, reader: IndexReader, fresh: FreshFiles) -> str:
    read, entry = fresh.lines(path), reader.snapshot.file_at(path)
    return "" if read is None or entry is None else syntax_hash("\n".join(read[0]), entry.language)
