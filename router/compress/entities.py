"""Entities: strings that a compaction must keep verbatim (paths, errors, commits, symbols)."""

import re
from dataclasses import dataclass

from codecards.indexer.parse.languages import FILE_SUFFIXES

_PATTERNS = (
    ("error", r"\b[A-Za-z_][\w.]{0,200}(?:Error|Exception|Panic|Fault)\b(?::[^\n]{1,160})?"),
    ("error", r"\b(?:error|fatal|panic)(?:\[[A-Z]?\d+\])?:[^\n]{1,160}"),
    ("error", r"\b(?:[A-Z]{1,5}-?\d{3,5}|E[A-Z]{4,})\b"),
    ("path", r"(?<![\w/.:-])(?:[A-Za-z]:\\|\.{0,2}/)?(?:[\w.+@-]{1,200}[/\\]){1,40}[\w.+@-]{0,200}\w(?::\d+)?"),
    ("path", rf"(?<![\w/.-])[\w+@-]{{1,200}}\.(?:{FILE_SUFFIXES})(?::\d+)?(?!\w)"),
    ("commit", r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b"),
    ("symbol", r"\b[A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)+(?:\(\))?"),
    ("symbol", r"\b[A-Za-z_]\w*\(\)"),
    ("symbol", r"\b(?:[a-z]+_\w+|_\w+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z]+(?:[A-Z][a-z0-9]+)+)\b"),
)
_entity = re.compile("|".join(f"(?P<{kind}_{number}>{pattern})" for number, (kind, pattern) in enumerate(_PATTERNS)))
KINDS = ("path", "error", "commit", "symbol")


@dataclass(frozen=True, slots=True)
class Entity:
    """One exact string and its kind."""

    kind: str
    """One of `KINDS`."""
    text: str


def find_entities(text: str) -> tuple[Entity, ...]:
    """Return the entities of a text without duplicates, in the order of their first use."""
    return tuple(_counted(text))


def entities_by_rarity(text: str) -> tuple[Entity, ...]:
    """Return the entities of a text by kind, and of each kind the rarest first: what occurs once says the most."""
    counted = _counted(text)
    return tuple(sorted(counted, key=lambda entity: (KINDS.index(entity.kind), counted[entity])))


def _counted(text: str) -> dict[Entity, int]:
    found: dict[Entity, int] = {}
    for match in _entity.finditer(text):
        kind = (match.lastgroup or "").partition("_")[0]
        value = match.group().strip().rstrip(".,;")
        if value:
            entity = Entity(kind, value)
            found[entity] = found.get(entity, 0) + 1
    return found


def survival(source: str, compacted: str) -> float:
    """Return the share of the source's entities that the compacted text contains verbatim, 1 if there are none.

    Args:
        source: The text before.
        compacted: The text after; of a `Compaction`, the values of its fields.
    """
    wanted = find_entities(source)
    return sum(entity.text in compacted for entity in wanted) / len(wanted) if wanted else 1.0
