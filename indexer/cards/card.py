"""A card is one retrievable piece of a file; each line of a file belongs to exactly one of its cards."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Card:
    """One definition, document section, run of module code, or stretch of a long definition."""

    card_id: int
    """Row in the snapshot; it stays while path and symbol id stay, and is never reused for another card."""
    symbol_id: str
    """Path, `::`, qualified name, and `~2`, `~3` … from the second card of a name on: "src/auth.py::TokenStore.purge"."""
    path: str
    """Relative to the root, with slashes."""
    language: str
    kind: str
    """A value of `codecards.indexer.facts.Kind`."""
    name: str
    """Last part of the qualified name; "" for module code and windows."""
    qualified_name: str
    """With dots, starting at the outermost definition of the file: "TokenStore.purge"; "<module>" for module code."""
    parent: str
    """Qualified name of the enclosing card, "" at the top."""
    module: str
    """Name under which other files import this one, "" if the language has none: "shop.pricing"."""
    lead_line: int
    """First line, including the comment, decorators and attributes above. 1-based, like all lines here."""
    first_line: int
    """First line of the decorators, attributes or the definition."""
    name_line: int
    last_line: int
    """Inclusive."""
    own_lines: tuple[tuple[int, int], ...]
    """Runs of lines that belong to no inner card, (first, last) inclusive, ascending."""
    signature: str
    doc: str
    bases: tuple[str, ...]
    content_hash: bytes
    """BLAKE2b, 16 bytes, of the text of lead_line to last_line."""

    @property
    def label(self) -> str:
        """Name beside the kind, which it does not repeat: "1" of `<window 1>`, "2 of TokenStore" of `TokenStore<part 2>`."""
        before, opened, rest = self.qualified_name.rpartition("<")
        if not opened or not rest.endswith(">") or not rest.startswith(self.kind):
            return self.qualified_name
        number = rest.removeprefix(self.kind).strip(" >")
        return f"{number} of {before}" if before else number


@dataclass(frozen=True, slots=True)
class CardFields:
    """Text of a card by the fields that ranking weighs; line ends are LF."""

    name: str
    parent: str
    signature: str
    doc: str
    body: str
    """The card's own lines as written, signature and doc included."""
