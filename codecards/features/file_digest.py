"""Summarises a file as a digest: dependencies, signatures, exports and important comments."""

import re
from collections.abc import Sequence
from pathlib import Path

from codecards.errors import TargetNotFoundError
from codecards.features.targets import find_target
from codecards.indexer.cards.card import Card
from codecards.indexer.facts import FileFacts
from codecards.indexer.store.snapshot import Snapshot
from codecards.indexer.text.secrets import mask_secrets
from codecards.project.freshness import FreshFiles
from codecards.router.compress.digests import REMARK

MAX_IMPORTS = 16
MAX_COMMENTS = 12
MAX_ROW_CHARACTERS = 160
OUTLINE_KINDS = frozenset({"section", "cell"})
"""Kinds that are shown by name, because they have no signature."""
_comment = re.compile(r"(?:#|//|/\*|\*|--|;|<!--)(.*)")


def digest_of(snapshot: Snapshot, root: Path, fresh: FreshFiles, target: str) -> str:
    """Return the digest of a file, or of the file that holds a symbol, as it is on disk now; secrets masked.

    Raises:
        TargetNotFoundError: Nothing matches, or the file can't be read any more.
    """
    found = find_target(snapshot, root, target)
    path = found.cards[0].path if found.cards else found.path
    read, entry = fresh.lines(path), snapshot.file_at(path)
    if read is None or entry is None:
        raise TargetNotFoundError(path, what="readable file any more")
    cards = [checked.card for checked in fresh.check(snapshot.cards_in(path))]
    return mask_secrets(file_digest(read[0], cards, snapshot.facts(entry.content_key)))


def file_digest(lines: Sequence[str], cards: Sequence[Card], facts: FileFacts | None) -> str:
    """Return a file's digest: one item a row with its 1-based line, nested by indentation.

    Args:
        lines: The current lines of the file.
        cards: Its cards by line, with their positions in `lines`.
        facts: The facts extracted from it; None if there are none.
    """
    rows = []
    if facts is not None and facts.leading_comment:
        rows.append(f"about: {_one_line(facts.leading_comment)}")
    if facts is not None and facts.imports:
        rows.append(f"needs: {_needs(facts)}")
    exported = _exported(facts)
    numbered = [(card.name_line, _card_row(card, exported)) for card in cards if card.name]
    numbered += _comments(lines)
    rows += [f"{number}: {row}" for number, row in sorted(numbered)]
    return "\n".join(rows) or "\n".join(line[:MAX_ROW_CHARACTERS] for line in lines[:5])


def _needs(facts: FileFacts) -> str:
    """Return the modules that a file imports, with the names that it imports from them."""
    names: dict[str, list[str]] = {}
    for one in facts.imports:
        imported = names.setdefault("." * one.level + one.module, [])
        if one.name:
            imported.append(one.name if one.alias in ("", one.name) else f"{one.name} as {one.alias}")
    parts = [f"{module} ({', '.join(imported)})" if imported else module for module, imported in names.items()]
    more = f"; {len(parts) - MAX_IMPORTS} more" if len(parts) > MAX_IMPORTS else ""
    return _one_line("; ".join(parts[:MAX_IMPORTS]), 3 * MAX_ROW_CHARACTERS) + more


def _exported(facts: FileFacts | None) -> frozenset[str]:
    """Return the names that only some definitions of the file export; none if all or no definitions are exported."""
    if facts is None:
        return frozenset()
    top = [one for one in facts.definitions if one.parent < 0 and one.kind not in OUTLINE_KINDS]
    exported = frozenset(one.qualified_name for one in top if one.exported)
    return exported if 0 < len(exported) < len({one.qualified_name for one in top}) else frozenset()


def _card_row(card: Card, exported: frozenset[str]) -> str:
    depth = (
        card.qualified_name.count(".") if card.kind not in OUTLINE_KINDS else card.parent.count(".") + bool(card.parent)
    )
    text = card.name if card.kind in OUTLINE_KINDS else card.signature or f"{card.kind} {card.name}"
    mark = "export " if card.qualified_name in exported and not text.startswith(("export", "pub", "public")) else ""
    said = _one_line(next((line for line in card.doc.split("\n") if line.strip() and not REMARK.search(line)), ""), 100)
    return (
        "  " * min(depth, 6)
        + _one_line(mark + text)
        + (f"  # {said}" if said and card.kind not in OUTLINE_KINDS else "")
    )


def _comments(lines: Sequence[str]) -> list[tuple[int, str]]:
    found = [
        (number, _one_line(line.strip()))
        for number, line in enumerate(lines, 1)
        if len(line) < 1_000 and (said := _comment.search(line)) and REMARK.search(said[1])
    ]
    return found[:MAX_COMMENTS]


def _one_line(text: str, limit: int = MAX_ROW_CHARACTERS) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
