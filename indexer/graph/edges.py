"""Edges of the call graph: a reference as it was resolved, and the same edge between cards."""

from dataclasses import dataclass

from codecards.indexer.graph.symbols import (
    DefinitionRef,
)


@dataclass(frozen=True, slots=True)
class CallEdge:
    """One use of a name, resolved as far as the evidence goes."""

    edge_id: int
    caller_id: int | None
    """Card that holds it; None where the file has no card there."""
    caller_path: str
    target_id: int | None
    target_path: str | None
    """File of the target, also where the target is the file as a whole."""
    name: str
    """As written, receiver included."""
    line: int
    kind: str
    confidence: str
    """"exact", "likely", "possible" or "external"."""
    rule: str
    candidate_ids: tuple[int, ...]
    """Cards that an ambiguous name may mean, best first, cut at 8."""
    n_candidates: int


@dataclass(frozen=True, slots=True)
class Edge:
    """One reference, resolved as far as the evidence goes."""

    caller_path: str
    caller: int
    """Position in the file's definitions, -1 for module code."""
    target: DefinitionRef | None
    """None where it is external or only possible; position -1 is a file as a whole."""
    name: str
    """As written, receiver included."""
    line: int
    kind: str
    """As in `facts.Reference`, or "import"."""
    confidence: str
    rule: str
    """What spoke for it, in a word: "import", "self", "same-file", "only-name"."""
    candidates: tuple[DefinitionRef, ...] = ()
    """What a possible edge may lead to, best first, cut at 8."""
    n_candidates: int = 0


@dataclass(frozen=True, slots=True)
class ResolvedReference:
    """What a reference leads to, whatever its line and caller; the fields are those of `Edge`."""

    target: DefinitionRef | None
    confidence: str
    rule: str
    candidates: tuple[DefinitionRef, ...] = ()
    n_candidates: int = 0
