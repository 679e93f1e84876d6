"""Archives with a fixed clock and counted ids, and code as a table."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from codecards.router.notes.archive import Archive
from codecards.router.notes.note import Anchor, NoteDraft


def ticking() -> Iterator[datetime]:
    start = datetime(2025, 11, 3, 10, tzinfo=UTC)
    return (start + timedelta(seconds=second) for second in count())


def archive_in(folder: Path) -> Archive:
    times, ids = ticking(), count(1)
    return Archive(folder / "archive", clock=lambda: next(times), new_id=lambda: f"{next(ids):08x}")


def filled(folder: Path, *texts: str) -> Archive:
    archive = archive_in(folder)
    for text in texts:
        archive.add(NoteDraft("", text))
    return archive


@dataclass
class Code:
    """Code as a table: (symbol, path) → hash of its syntax."""

    symbols: dict[tuple[str, str], str] = field(default_factory=dict)

    def resolve(self, target: str) -> Anchor:
        """Return the anchor of `path:symbol`."""
        path, _, symbol = target.partition(":")
        return Anchor(symbol, path, self.symbols[symbol, path])

    def now(self, symbol: str, path: str) -> Anchor | None:
        """Return the current anchor."""
        found = self.symbols.get((symbol, path))
        return None if found is None else Anchor(symbol, path, found)

    def with_syntax(self, syntax_hash: str) -> list[Anchor]:
        """Return the anchors of the code with this syntax."""
        return [Anchor(symbol, path, found) for (symbol, path), found in self.symbols.items() if found == syntax_hash]
