"""The rows by which a snapshot answers the lookups of the symbol table without the facts of all files."""

from typing import NamedTuple

import msgspec

from codecards.indexer.facts import Binding, Definition, FileFacts
from codecards.indexer.graph.asked import AskedNames, last_part
from codecards.indexer.graph.heads import FileHead, head_of
from codecards.indexer.graph.scoping import scoping_of
from codecards.indexer.graph.symbols import FileNames, named_positions


class SymbolRow(NamedTuple):
    """One row of `symbols`, without its file."""

    name: str
    """The last part of the name, by which it is asked for."""
    position: int
    """In `FileFacts.definitions`; for a binding, -1 less its position in `FileFacts.bindings`."""
    is_named: int
    """1 if the name alone can find the definition."""
    entry: bytes
    """See `definition_of_entry` and `field_of_entry`."""


def symbol_rows(path: str, facts: FileFacts) -> dict[tuple[str, int], SymbolRow]:
    """Return (name, position) → row of everything that other files can look up across the files of a scope."""
    shares_names = scoping_of(facts.language).reach != "file"
    named = set(named_positions(facts.definitions))
    rows: list[SymbolRow] = []
    for position, one in enumerate(facts.definitions):
        if shares_names or position in named:
            entry = _encode([getattr(one, field) for field in _STORED])
            rows += [
                SymbolRow(name, position, int(position in named), entry)
                for name in sorted({one.name, last_part(one.qualified_name)})
            ]
    if shares_names:
        for number, (name, bound) in enumerate(FileNames(path, facts, AskedNames()).fields()):
            entry = _encode((name, bound.name, bound.value, bound.line, bound.scope))
            rows.append(SymbolRow(last_part(name), -1 - number, 0, entry))
    return {(row.name, row.position): row for row in rows}


def definition_of_entry(entry: bytes) -> Definition:
    """Return the definition of a row; its documentation is left out."""
    name, qualified_name, kind, parent, lead, first, name_line, last, signature, bases, returns, exported = (
        _definition.decode(entry)
    )
    return Definition(
        name,
        qualified_name,
        kind,
        parent,
        lead,
        first,
        name_line,
        last,
        signature,
        bases=bases,
        returns=returns,
        exported=exported,
    )


def field_of_entry(entry: bytes) -> tuple[str, Binding]:
    """Return (qualified name of a member, binding that gives its type) of a row."""
    member, name, value, line, scope = _field.decode(entry)
    return member, Binding(name, value, line, scope)


def pack_head(path: str, facts: FileFacts) -> bytes:
    """Return the stored form of a file's head."""
    return _encode(head_of(path, facts))


def unpack_head(data: bytes) -> FileHead:
    """Return the head of a stored form."""
    return FileHead(*_head.decode(data))


_STORED = (
    "name",
    "qualified_name",
    "kind",
    "parent",
    "lead_line",
    "first_line",
    "name_line",
    "last_line",
    "signature",
    "bases",
    "returns",
    "exported",
)
_encode = msgspec.msgpack.Encoder().encode
_definition = msgspec.msgpack.Decoder(tuple[str, str, str, int, int, int, int, int, str, tuple[str, ...], str, bool])
_field = msgspec.msgpack.Decoder(tuple[str, str, str, int, int])
_head = msgspec.msgpack.Decoder(tuple[str, str, tuple[str, ...]])
