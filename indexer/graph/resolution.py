"""Meanings: what a name can stand for, and the memory of answered questions.

**Invariant:** what a question gives does not depend on the questions asked before: a file resolved alone has the same
edges as in a whole run. So an answer that a cycle cut short is never remembered, except by the question that began it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from codecards.indexer.graph.symbols import DefinitionRef, FullName

MAX_DEPTH = 40
"""Steps from one binding, base or import to the next before an answer is given up."""
_UNCUT = 1_000_000
NOWHERE = FullName("", "")


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a name stands for."""

    kind: str
    """"type", "instance" (a value of the type), "super" (the bases of the type), "callable", "value" (a variable or
    member), "module" (a file), "package", "dotted" (a Python package on the way to a module), "external", or "hidden"
    (a parameter or local about which nothing is known, which hides what is outside)."""
    full: FullName = NOWHERE
    """Of a module, the space is its path; of a package, the name ends with a dot or is empty."""
    places: tuple[DefinitionRef, ...] = ()
    """Where it is defined, in no order of preference."""
    is_sure: bool = True
    """False once a step rests on a convention, such as a declared result type."""
    rule: str = ""
    """What spoke for it; see `Edge.rule`."""

    def unsure(self) -> "Resolution":
        """Return the same with one step that rests on a convention."""
        return replace(self, is_sure=False)


EXTERNAL: Final = Resolution("external", rule="import")
SHADOWED: Final = Resolution("hidden")
EXTERNAL_BASE: Final = Resolution("external", rule="outside-base")


class ResolutionCache:
    """Answered questions, and those that are being answered."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Resolution | None] = {}
        self._running: dict[tuple[object, ...], int] = {}
        self._cut = _UNCUT
        self._by_line = False

    def hit_cycle(self) -> bool:
        """Return whether a cycle has cut short something in the answers under way."""
        return self._cut != _UNCUT

    def mark_line(self) -> None:
        """Say that the answer under way depends on the line of the question."""
        self._by_line = True

    def pop_line_dependency(self) -> bool:
        """Return whether an answer since the last call depended on the line, and forget it."""
        mark, self._by_line = self._by_line, False
        return mark

    def once(
        self, key: tuple[object, ...], compute: Callable[[], Resolution | None], line: int = 0
    ) -> Resolution | None:
        """Return a remembered answer, or work it out; `line` tells apart questions about a name at several places."""
        if key in self._known:
            return self._known[key]
        depth = len(self._running)
        asked = (*key, line)
        if asked in self._running or depth > MAX_DEPTH:
            self._cut = min(self._cut, self._running.get(asked, -1))
            return None
        marked, self._by_line = self._by_line, False
        self._running[asked] = depth
        found = compute()
        del self._running[asked]
        if self._cut >= depth or not depth:
            if self._cut >= 0 and not self._by_line:
                self._known[key] = found
            self._cut = _UNCUT
        self._by_line = self._by_line or marked
        return found
