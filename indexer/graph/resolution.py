"""The result of resolving a name, and the cache that all resolvers share.

**Invariant:** results do not depend on the order of queries: a file resolved alone has the same edges as in a whole run.
A result cut short by a cycle is therefore cached only for the query that started the cycle.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Protocol

from codecards.indexer.graph.asked import AskedNames
from codecards.indexer.graph.heads import FullName
from codecards.indexer.graph.symbols import DefinitionRef

MAX_DEPTH = 40
"""Nested queries (binding → base → import → …) after which resolution gives up."""
_NO_CYCLE = 1_000_000
"""Greater than any depth of nested queries."""
NO_NAME = FullName("", "")


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a name refers to."""

    kind: str
    """"type", "instance" (a value of the type), "super" (the bases of the type), "callable", "value" (a variable or
    member), "module" (a file), "package", "dotted" (a Python package that leads to a module), "external", or "shadowed"
    (a parameter or local variable of unknown type, which shadows outer names)."""
    full: FullName = NO_NAME
    """For a module, the scope is its path; for a package, the name is empty or ends with a dot."""
    refs: tuple[DefinitionRef, ...] = ()
    """Its definitions, in no order of preference."""
    is_sure: bool = True
    """False if a step relies on a convention, such as a declared result type."""
    rule: str = ""
    """The evidence; see `Edge.rule`."""

    def unsure(self) -> "Resolution":
        """Return a copy that is marked as relying on a convention."""
        return replace(self, is_sure=False)


EXTERNAL: Final = Resolution("external", rule="import")
SHADOWED: Final = Resolution("shadowed")
EXTERNAL_BASE: Final = Resolution("external", rule="outside-base")


class ScopeQueries(Protocol):
    """The queries about scopes that types and imports need; `ScopeResolver` answers them."""

    def resolve_chain(self, path: str, scope: int, written: str, line: int) -> Resolution | None:
        """Resolve a dotted expression such as "self.store" or "Foo()" at a place in a file."""

    def attribute(self, path: str, receiver: Resolution, name: str) -> Resolution | None:
        """Resolve `receiver.name` for the file `path`."""


class ResolutionCache:
    """Finished results with the names that they asked for, and the queries in progress, by which cycles are detected."""

    def __init__(self, asked: AskedNames) -> None:
        self._asked = asked
        self._results: dict[tuple[object, ...], tuple[Resolution | None, frozenset[str]]] = {}
        self._running: dict[tuple[object, ...], int] = {}
        """Query → its depth."""
        self._cycle_start = _NO_CYCLE
        """Depth of the outermost query that a cycle led back to; -1 if the depth limit was reached."""
        self._depends_on_line = False

    def hit_cycle(self) -> bool:
        """Return whether a cycle or the depth limit has cut short a query in progress."""
        return self._cycle_start != _NO_CYCLE

    def mark_line_dependency(self) -> None:
        """Record that the result in progress depends on the line of the query, so that it is not cached."""
        self._depends_on_line = True

    def pop_line_dependency(self) -> bool:
        """Return whether a result since the last call depended on the line of its query, and reset the mark."""
        depends, self._depends_on_line = self._depends_on_line, False
        return depends

    def cached(
        self, key: tuple[object, ...], compute: Callable[[], Resolution | None], line: int = 0
    ) -> Resolution | None:
        """Return the cached result or compute it.

        Args:
            key: Identifies the query.
            compute: Answers it.
            line: Distinguishes uses of one name on different lines.
        """
        known = self._results.get(key)
        if known is not None:
            self._asked.names |= known[1]
            return known[0]
        depth = len(self._running)
        query = (*key, line)
        if query in self._running or depth > MAX_DEPTH:
            self._cycle_start = min(self._cycle_start, self._running.get(query, -1))
            return None
        outer_depends, self._depends_on_line = self._depends_on_line, False
        self._running[query] = depth
        outer = self._asked.begin()
        found = compute()
        names = self._asked.end(outer)
        del self._running[query]
        if self._cycle_start >= depth or not depth:
            if self._cycle_start >= 0 and not self._depends_on_line:
                self._results[key] = found, names
            self._cycle_start = _NO_CYCLE
        self._depends_on_line = self._depends_on_line or outer_depends
        return found
