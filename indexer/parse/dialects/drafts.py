"""Values on their way from a syntax tree to facts: drafts of definitions, raw imports and bindings."""

from dataclasses import dataclass

import tree_sitter


@dataclass(slots=True)
class Draft:
    """A definition on its way: what its match says. Bytes count in the source."""

    node: tree_sitter.Node
    kind: str
    name: str
    owner: str
    """Type that it is written for, "" if it is written inside it."""
    start: int
    """First byte, decorators and the like included; `node.start_byte` is the definition's own."""
    end: int
    name_row: int
    name_start: int
    """First byte of the name: what tells definitions apart."""
    body: tree_sitter.Node | None = None
    bases: tuple[str, ...] = ()
    returns: str = ""
    self_name: str = ""
    """What the definition calls its receiver, where that is no word of the language (Go)."""
    first_row: int = -1
    last_row: int = -1


@dataclass(frozen=True, slots=True)
class RawImport:
    """One imported name; the fields are those of `facts.Import`."""

    module: str
    name: str
    alias: str
    level: int = 0
    reexported: bool = False


@dataclass(frozen=True, slots=True)
class RawBinding:
    """What a dialect found out of the type of a local name, to be placed by the byte where it stands."""

    name: str
    value: str
    node: tree_sitter.Node
