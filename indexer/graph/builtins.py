"""Names that languages and common libraries define, which are no evidence for a definition of the repository."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("builtins.toml")


@dataclass(frozen=True, slots=True)
class Builtins:
    """The lists of `builtins.toml`."""

    methods: frozenset[str]
    """Methods of builtin types: on a receiver of unknown type they are no evidence."""
    common_names: frozenset[str]
    """These methods and names that most libraries use: a definition of such a name is at most `possible`."""
    external_roots: frozenset[str]
    """First names of chains that no repository defines unless a scope does."""
    functions: frozenset[str]
    """Builtin functions: a bare call is no evidence for a function of the repository."""
    c_library: frozenset[str]
    """Functions of the C library: a function of the repository is meant only if its header is included."""


@cache
def builtins() -> Builtins:
    """Return the lists, read once per process on first use (1 ms)."""
    lists: dict[str, list[str]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    methods = frozenset(lists["builtin_methods"])
    return Builtins(
        methods=methods,
        common_names=methods.union(lists["common_names"]),
        external_roots=frozenset(lists["external_roots"]),
        functions=frozenset(lists["python_functions"]).union(lists["other_functions"]),
        c_library=frozenset(lists["c_library"]),
    )
