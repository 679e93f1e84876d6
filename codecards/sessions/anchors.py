"""Anchors: the code that notes are tied to, found by name and, where that is gone, by its normalised syntax."""

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
"""Cards whose syntax is compared when a symbol is gone; in a larger project a renamed one may count as gone."""


class IndexAnchors:
    """Resolves anchors over the newest generation and the files as they are on disk."""

    def __init__(
        self, root: Path, reader: Callable[[], IndexReader], fresh: Callable[[IndexReader], FreshFiles]
    ) -> None:
        """Take the project, what opens the newest generation, and what looks at its files."""
        self._root, self._reader, self._fresh = root, reader, fresh
        self._by_syntax: tuple[int, dict[str, list[Anchor]]] = (0, {})
        """For which generation, and syntax hash -> what has it."""

    def resolve(self, target: str) -> Anchor:
        """Return the anchor for a symbol, a path, or `path:symbol`.

        Raises:
            TargetNotFoundError: There is no such thing.
            AmbiguousTargetError: There are several.
            OutsideProjectError: It is a path out of the project.
            SnapshotMissingError: Nothing is indexed yet.
        """
        reader = self._reader()
        path, _, symbol = target.rpartition(":")
        named = path.rstrip(":") and symbol and not symbol.isdigit()
        found = find_target(reader.snapshot, self._root, f"{path.rstrip(':')}::{symbol}" if named else target)
        fresh = self._fresh(reader)
        if found.cards:
            card = found.cards[0]
            return Anchor(card.qualified_name, card.path, _hash_of(card, fresh))
        return Anchor("", found.path, _hash_of_file(found.path, reader, fresh))

    def now(self, symbol: str, path: str) -> Anchor | None:
        """Return the anchor as the code is now, None if there is no such symbol at that path."""
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
        """Return what has this normalised syntax now, names aside."""
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
