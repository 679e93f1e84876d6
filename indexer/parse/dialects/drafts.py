"""Intermediate values between the syntax tree and facts: drafts of definitions, raw imports and bindings."""

from dataclasses import dataclass

import tree_sitter


@dataclass(slots=True)
class Draft:
    """A definition as its match gives it; dialects modify it in place. Byte offsets refer to the source."""

    node: tree_sitter.Node
    kind: str
    name: str
    owner: str
    """Type of a method that is written outside it, else ""."""
    start: int
    """First byte, including decorators; `node.start_byte` excludes them."""
    end: int
    name_row: int
    name_start: int
    """First byte of the name, which identifies the definition."""
    body: tree_sitter.Node | None = None
    bases: tuple[str, ...] = ()
    returns: str = ""
    self_name: str = ""
    """The definition's name for its receiver, if the language has no keyword for it (Go)."""
    first_row: int = -1
    last_row: int = -1


@dataclass(frozen=True, slots=True)
class RawImport:
    """One imported name; fields are those of `facts.Import`."""

    module: str
    name: str
    alias: str
    level: int = 0
    reexported: bool = False


@dataclass(frozen=True, slots=True)
class RawBinding:
    """A binding found by a dialect; fields are those of `facts.Binding`, its scope follows from the node."""

    name: str
    value: str
    node: tree_sitter.Node
