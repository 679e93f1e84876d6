"""Cards: one retrievable piece of a repository each; together a file's cards hold each of its lines exactly once."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Card:
    """One definition, document section, run of module code, or stretch of a long definition."""

    card_id: int
    """Row in the snapshot; kept while path and symbol id stay, never used again for another card."""
    symbol_id: str
    """Path, `::`, qualified name, and `~2`, `~3` … for later ones of the same name: "src/auth.py::TokenStore.purge"."""
    path: str
    """The normalised path to copy: from the root, with slashes."""
    language: str
    kind: str
    """A value of `codecards.indexer.facts.Kind`."""
    name: str
    """The last part of the qualified name; "" for module code and windows."""
    qualified_name: str
    """With dots, from the file's outermost definition on: "TokenStore.purge"; for module code "<module>"."""
    parent: str
    """Qualified name of the enclosing card, "" at the top."""
    module: str
    """The name by which other files reach this one, "" if the language has none: "shop.pricing"."""
    lead_line: int
    """First line with the comment, decorators and attributes above. 1-based, like all lines here."""
    first_line: int
    """First line of decorators, attributes or the definition."""
    name_line: int
    last_line: int
    """Inclusive."""
    own_lines: tuple[tuple[int, int], ...]
    """Runs of lines that no inner card owns, (first, last) inclusive, ascending."""
    signature: str
    doc: str
    bases: tuple[str, ...]
    content_hash: bytes
    """BLAKE2b, 16 bytes, of the text of lead_line to last_line."""


@dataclass(frozen=True, slots=True)
class CardFields:
    """A card's text by field, as ranking weighs it; line ends are LF."""

    name: str
    parent: str
    signature: str
    doc: str
    body: str
    """The lines that the card owns, as written (signature and doc are in it too)."""
