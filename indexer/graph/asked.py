"""Records the names that resolving a file asks for, so that an edit resolves again only the files that it can affect.

**Invariant:** whatever a resolver reads of a definition, import or binding, it has asked for by its last name; whatever it
reads of the list of files, it has asked for by a module key, which contains a space, as no name does.
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class AskedNames:
    """The names that were asked for since the last reset; results that are cached keep theirs."""

    __slots__ = ("_interned", "names")

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._interned: dict[frozenset[str], frozenset[str]] = {}

    def begin(self) -> set[str]:
        """Begin a result of its own; return what `end` needs."""
        outer, self.names = self.names, set()
        return outer

    def end(self, outer: set[str]) -> frozenset[str]:
        """Return the names of the result that was begun; they count for the result around it too."""
        inner = frozenset(self.names)
        outer |= inner
        self.names = outer
        return self._interned.setdefault(inner, inner)


class ScopedNames(Generic[Value]):
    """The values of one file by (scope, name); every access asks for the name."""

    __slots__ = ("_asked", "_values")

    def __init__(self, asked: AskedNames) -> None:
        self._asked = asked
        self._values: dict[tuple[int, str], list[Value]] = {}

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Yield every (scope, name); whoever iterates asks for the names that matter."""
        return iter(self._values)

    def add(self, scope: int, name: str, value: Value) -> None:
        """Add a value."""
        self._values.setdefault((scope, name), []).append(value)

    def get(self, key: tuple[int, str], default: Sequence[Value] = ()) -> Sequence[Value]:
        """Return the values of (scope, name), `default` if there are none."""
        self._asked.names.add(key[1])
        return self._values.get(key, default)


class AskedLookup(Generic[Key, Value]):
    """A table that can only be asked; the function that answers records the key."""

    __slots__ = ("_find",)

    def __init__(self, find: Callable[[Key], Sequence[Value]]) -> None:
        self._find = find

    def __contains__(self, key: Key) -> bool:
        """Return whether there is a value."""
        return bool(self._find(key))

    def get(self, key: Key, default: Sequence[Value] = ()) -> Sequence[Value]:
        """Return the values of a key, `default` if there are none."""
        return self._find(key) or default


def last_part(name: str) -> str:
    """Return the last part of a full or qualified name, by which it is asked for."""
    return name.rpartition(".")[2]


def path_key(path: str) -> str:
    """Return the module key by which the existence of a file is asked for; suffixes are left out."""
    folder, slash, name = path.rpartition("/")
    return f"path {folder}{slash}{name.partition('.')[0]}"


def key_number(key: str) -> int:
    """Return a stable number of 32 bits for a name or module key; a collision resolves a file in vain."""
    return zlib.crc32(key.encode("utf-8", "surrogatepass"))
