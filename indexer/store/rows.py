"""The rows of the snapshot's tables as values."""

import os
from dataclasses import dataclass
from typing import Any

import msgspec

from codecards.indexer.cards.card import Card
from codecards.indexer.cards.chunking import symbol_id
from codecards.indexer.graph.edges import CallEdge
from codecards.indexer.problems import Coverage, Problem, Reason

CARD_COLUMNS = (
    "c.card_id, f.path, f.language, c.kind, c.name, c.qualified_name, c.ordinal, c.parent, f.module, c.lead_line, "
    "c.first_line, c.name_line, c.last_line, c.own_lines, c.signature, c.doc, c.bases, c.content_hash"
)
EDGE_COLUMNS = (
    "e.edge_id, e.caller_id, s.path, e.target_id, t.path, e.name, e.line, e.kind, e.confidence, e.rule, "
    "e.candidates, e.n_candidates"
)
Stamp = tuple[str, int, int, int, int, int]
"""The state of a file by which a change is detected: path, size in bytes, mtime_ns, ctime_ns, inode, and 1 if racy."""
STAMPS = "SELECT path, size_bytes, mtime_ns, ctime_ns, inode, racy FROM files ORDER BY path"


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """One indexed file; the fields are the columns of `files` in schema.sql."""

    file_id: int
    path: str
    """Relative to the root, with slashes; bytes that are not UTF-8 are surrogates (PEP 383)."""
    content_key: bytes
    """Digest of language and content."""
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    racy: bool
    """Whether the file changed so shortly before it was read that an equal time stamp does not prove it unchanged."""
    language: str
    encoding: str
    role: str
    """One of `roles.ROLES`."""
    module: str
    """The name by which other files import it."""
    n_lines: int
    leading_comment: str
    interface: bytes
    """`interface.interface_digest`."""
    head: bytes
    """`link_rows.pack_head`."""


_REASONS = {one.value: one for one in Reason}
_COVERAGES = {one.value: one for one in Coverage}
_line_ranges = msgspec.msgpack.Decoder(tuple[tuple[int, int], ...])
_names = msgspec.msgpack.Decoder(tuple[str, ...])
_ids = msgspec.msgpack.Decoder(tuple[int, ...])


def file_of_row(row: tuple[Any, ...]) -> IndexedFile:
    """Return the file of a row of `files` with all columns."""
    values = list(row)
    values[1], values[7] = os.fsdecode(values[1]), bool(values[7])
    return IndexedFile(*values)


def stamp_of_row(row: tuple[Any, ...]) -> Stamp:
    """Return the stamp of a row of `STAMPS`."""
    return (os.fsdecode(row[0]), *row[1:])


def card_of_row(row: tuple[Any, ...]) -> Card:
    """Return the card of a row with `CARD_COLUMNS`."""
    (card_id, path_bytes, language, kind, name, qualified_name, ordinal, parent, module, *lines) = row
    lead_line, first_line, name_line, last_line, own_lines, signature, doc, bases, content_hash = lines
    path = os.fsdecode(path_bytes)
    return Card(
        card_id=card_id,
        symbol_id=symbol_id(path, qualified_name, ordinal),
        path=path,
        language=language,
        kind=kind,
        name=name,
        qualified_name=qualified_name,
        parent=parent,
        module=module,
        lead_line=lead_line,
        first_line=first_line,
        name_line=name_line,
        last_line=last_line,
        own_lines=_line_ranges.decode(own_lines),
        signature=signature,
        doc=doc,
        bases=_names.decode(bases),
        content_hash=content_hash,
    )


def problem_of_row(row: tuple[Any, ...]) -> Problem:
    """Return the problem of a row whose first columns are path, reason, detail and kept."""
    return Problem(os.fsdecode(row[0]), _REASONS[row[1]], row[2], _COVERAGES[row[3]])


def edge_of_row(row: tuple[Any, ...]) -> CallEdge:
    """Return the edge of a row with `EDGE_COLUMNS`."""
    edge_id, caller_id, source, target_id, target, name, line, kind, confidence, rule, candidates, n_candidates = row
    return CallEdge(
        edge_id=edge_id,
        caller_id=caller_id,
        caller_path=os.fsdecode(source),
        target_id=target_id,
        target_path=os.fsdecode(target) if target is not None else None,
        name=name,
        line=line,
        kind=kind,
        confidence=confidence,
        rule=rule,
        candidate_ids=_ids.decode(candidates) if candidates else (),
        n_candidates=n_candidates,
    )
