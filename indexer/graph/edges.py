"""Edges of the call graph: between definitions, as resolved, and between cards, as stored."""

from dataclasses import dataclass

from codecards.indexer.graph.symbols import DefinitionRef


@dataclass(frozen=True, slots=True)
class CallEdge:
    """One use of a name, as stored."""

    edge_id: int
    caller_id: int | None
    """Card that contains the use; None if the file has no card there."""
    caller_path: str
    target_id: int | None
    target_path: str | None
    """File of the target, also if the target is the whole file."""
    name: str
    """As written, receiver included."""
    line: int
    """1-based, in the caller's file."""
    kind: str
    """As in `facts.Reference`, or "import"."""
    confidence: str
    """"exact", "likely", "possible" or "external"."""
    rule: str
    candidate_ids: tuple[int, ...]
    """Cards that an ambiguous name may refer to, best first, at most 8."""
    n_candidates: int


@dataclass(frozen=True, slots=True)
class Edge:
    """One resolved reference."""

    caller_path: str
    caller: int
    """Position in the file's definitions; -1 for module-level code."""
    target: DefinitionRef | None
    """None if the target is external or only possible; position -1 is a whole file."""
    name: str
    """As written, receiver included."""
    line: int
    kind: str
    """As in `facts.Reference`, or "import"."""
    confidence: str
    """"exact", "likely", "possible" or "external"."""
    rule: str
    """The evidence: "import", "self", "same-file", "only-name", …"""
    candidates: tuple[DefinitionRef, ...] = ()
    """Possible targets, best first, at most 8."""
    n_candidates: int = 0
    """Number of possible targets, also those not listed."""


@dataclass(frozen=True, slots=True)
class ResolvedReference:
    """The target of a reference, without its line and caller; the fields are those of `Edge`."""

    target: DefinitionRef | None
    confidence: str
    rule: str
    candidates: tuple[DefinitionRef, ...] = ()
    n_candidates: int = 0
