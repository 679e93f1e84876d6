"""Code card: what stands for a file that is not shown whole: dependencies, signatures, exports, important comments."""

import re
from collections.abc import Sequence

from codecards.indexer.cards.card import Card
from codecards.indexer.facts import FileFacts
from codecards.router.compress.digests import REMARK

MAX_IMPORTS = 16
MAX_COMMENTS = 12
MAX_ROW_CHARACTERS = 160
OUTLINE_KINDS = frozenset({"section", "cell"})
"""Kinds that are shown by name, for they have no signature."""
_comment = re.compile(r"(?:#|//|/\*|\*|--|;|<!--)(.*)")


def file_digest(lines: Sequence[str], cards: Sequence[Card], facts: FileFacts | None) -> str:
    """Return a file's digest, a row a thing, each with its 1-based line; nested by indentation.

    Args:
        lines: The file as it is.
        cards: Its cards, in order of their place, with the lines that they have in `lines`.
        facts: What its text says; None if that is not known.
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
    """Return the modules that a file imports, with the names that it takes from them."""
    names: dict[str, list[str]] = {}
    for one in facts.imports:
        taken = names.setdefault("." * one.level + one.module, [])
        if one.name:
            taken.append(one.name if one.alias in ("", one.name) else f"{one.name} as {one.alias}")
    parts = [f"{module} ({', '.join(taken)})" if taken else module for module, taken in names.items()]
    more = f"; {len(parts) - MAX_IMPORTS} more" if len(parts) > MAX_IMPORTS else ""
    return _one_line("; ".join(parts[:MAX_IMPORTS]), 3 * MAX_ROW_CHARACTERS) + more


def _exported(facts: FileFacts | None) -> frozenset[str]:
    """Return the names that only some definitions of the file export; none where that tells nothing apart."""
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
