"""Assigns members that are written outside their types to these types: Go methods, Rust impl blocks, Kotlin extensions.

**Invariant:** an assignment depends on no other assignment, so their order does not matter; chains of names that lead to one
another are followed when all are known.
"""

from collections.abc import Iterable
from typing import NamedTuple

from codecards.indexer.graph.heads import FullName
from codecards.indexer.graph.symbols import DefinitionRef, SymbolTable

MAX_CHAIN = 8
"""Names of one type that are followed from one to the next."""


class OwnerAssignment(NamedTuple):
    """A member or impl block, and the type that its file means."""

    ref: DefinitionRef
    owner: FullName
    """The type's name as the file of the member gives it."""
    found: FullName
    """The type's own full name."""
    member: str
    """Name of the member; "" for an impl block."""


def apply_assignments(table: SymbolTable, assignments: Iterable[OwnerAssignment]) -> dict[str, set[object]]:
    """Enter the assignments into a table, instead of those before; return last name → what it means now."""
    ordered = sorted(assignments)
    meant = {one.owner: one.found for one in ordered}
    table.canonical_names = {owner: _end_of_chain(meant, owner) for owner in meant}
    table.assigned = {}
    told: dict[str, set[object]] = {}
    for owner, found in table.canonical_names.items():
        told.setdefault(owner.name.rpartition(".")[2], set()).add((owner, found))
    for ref, owner, _, member in ordered:
        found = table.canonical_names[owner]
        full = FullName(found.scope, f"{found.name}.{member}") if member else found
        table.assigned.setdefault(full, []).append(ref)
        told.setdefault(full.name.rpartition(".")[2], set()).add((full, ref))
    return told


def _end_of_chain(meant: dict[FullName, FullName], owner: FullName) -> FullName:
    for _ in range(MAX_CHAIN):
        following = meant.get(owner)
        if following is None or following == owner:
            break
        owner = following
    return owner
