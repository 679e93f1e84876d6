"""Shows symbols, files and lines with their current text on disk, and lists symbols and files."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from codecards.answers import FileSummary, ShownTarget, excerpt
from codecards.errors import TargetNotFoundError
from codecards.features.calls import calls_in, imports_used
from codecards.features.targets import ResolvedTarget, find_file, find_symbol, find_target
from codecards.indexer.cards.card import Card
from codecards.indexer.store.snapshot import Snapshot
from codecards.indexer.walk.files import resolve_inside
from codecards.project.freshness import FreshFiles

MAX_LINES = 2_000
MAX_CHARACTERS = 60_000


def show_target(snapshot: Snapshot, root: Path, fresh: FreshFiles, target: str, path: str | None) -> ShownTarget:
    """Return a symbol, file or line with its text.

    Raises:
        TargetNotFoundError: Nothing matches, or the file was deleted.
        AmbiguousTargetError: Several things match.
        OutsideProjectError: The target is a path outside the project.
    """
    found = find_target(snapshot, root, target, path)
    if not found.cards:
        return _show_lines(snapshot, fresh, found)
    checked = next(iter(fresh.check(found.cards[:1])), None)
    if checked is None:
        raise TargetNotFoundError(target, what="symbol any more")
    card, indexed = checked.card, found.cards[0]
    return ShownTarget(
        card=card,
        path=card.path,
        first_line=card.lead_line,
        last_line=card.last_line,
        text=_text(checked.lines, card.lead_line, card.last_line),
        stale=not checked.fresh,
        imports=imports_used(snapshot, indexed),
        calls=calls_in(snapshot, indexed),
    )


def outline_of(snapshot: Snapshot, root: Path, target: str) -> list[Card]:
    """Return the symbols of a file, or those inside a symbol, by line.

    Raises:
        TargetNotFoundError: Nothing matches.
    """
    found = find_target(snapshot, root, target)
    if not found.cards:
        return list(snapshot.symbols(found.path))
    outer = found.cards[0]
    prefix = outer.qualified_name + "."
    return [card for card in snapshot.symbols(outer.path) if card == outer or card.qualified_name.startswith(prefix)]


def symbols_of(snapshot: Snapshot, path: str | None, name: str | None) -> list[Card]:
    """Return the symbols of the project, of one file, or of one name (its last part, or qualified)."""
    if name is not None:
        found = [card for group in find_symbol(snapshot, name, path) for card in group]
        return sorted(found, key=lambda card: (card.path, card.first_line))
    return list(snapshot.symbols(None if path is None else find_file(snapshot, path).path))


def files_of(snapshot: Snapshot) -> list[FileSummary]:
    """Return every indexed file, by path."""
    counts = snapshot.card_counts()
    return [
        FileSummary(file.path, file.language, file.role, file.encoding, counts.get(file.file_id, 0))
        for file in snapshot.files()
        if file.encoding
    ]


def card_at(snapshot: Snapshot, root: Path, path: str, line: int) -> Card:
    """Return the card that owns a line (1-based).

    Raises:
        TargetNotFoundError: There is no such file or line.
        OutsideProjectError: The path leads outside the project.
    """
    resolve_inside(root, path)
    card = snapshot.card_at(find_file(snapshot, path).path, line)
    if card is None:
        raise TargetNotFoundError(f"{path}:{line}", what="indexed line")
    return card


def _show_lines(snapshot: Snapshot, fresh: FreshFiles, found: ResolvedTarget) -> ShownTarget:
    read = fresh.lines(found.path)
    if read is None:
        raise TargetNotFoundError(found.path, what="readable file any more")
    lines, changed = read
    card = snapshot.card_at(found.path, found.first_line) if found.first_line and not changed else None
    if card is not None and found.last_line == found.first_line:
        first, last = card.lead_line, card.last_line
    else:
        first = min(max(1, found.first_line), max(1, len(lines)))
        last = min(found.last_line or len(lines), len(lines))
    shown = ShownTarget(card, found.path, first, max(first, last), _text(lines, first, last), changed)
    if card is None:
        return shown
    return replace(shown, imports=imports_used(snapshot, card), calls=calls_in(snapshot, card))


def _text(lines: Sequence[str], first: int, last: int) -> str:
    return excerpt(lines[first - 1 : last], max_lines=MAX_LINES, max_characters=MAX_CHARACTERS)
