"""The scoping rules of each language: how far names reach across files and folders."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scoping:
    """The scoping rules of a language."""

    family: str
    """Name of the language family; languages of one family can call each other."""
    reach: str = "file"
    """Which files share their top-level names: "file", "folder" (Go), "crate" (Rust), or "all" (packages, globals)."""
    implicit_self: bool = False
    """Whether methods use members of their type by bare names."""
    outer_packages: bool = False
    """Whether a bare name is also looked up in the outer packages."""
    last_wins: bool = False
    """Whether the last of several definitions of a name in one file counts (overload stubs come first)."""
    bare_by_name: bool = False
    """Whether a bare name may come from another file without an import that names it."""
    instances: frozenset[str] = frozenset()
    """Words besides `self` that refer to the enclosing type when called."""


_c = Scoping("c", "all", implicit_self=True, outer_packages=True, bare_by_name=True)
_python = Scoping("python", last_wins=True, instances=frozenset({"cls"}))
_script = Scoping("javascript", last_wins=True)

SCOPING = {
    "python": _python,
    "jupyter": _python,
    "javascript": _script,
    "typescript": _script,
    "tsx": _script,
    "vue": _script,
    "svelte": _script,
    "html": _script,
    "go": Scoping("go", "folder"),
    "rust": Scoping("rust", "crate", instances=frozenset({"Self"})),
    "java": Scoping("java", "all", implicit_self=True),
    "kotlin": Scoping("java", "all", implicit_self=True),
    "scala": Scoping("java", "all", implicit_self=True, outer_packages=True),
    "csharp": Scoping("csharp", "all", implicit_self=True, outer_packages=True),
    "c": _c,
    "cpp": _c,
    "ruby": Scoping(
        "ruby",
        "all",
        implicit_self=True,
        outer_packages=True,
        last_wins=True,
        bare_by_name=True,
        instances=frozenset({"new"}),
    ),
    "php": Scoping("php", "all", outer_packages=True, instances=frozenset({"self", "static"})),
    "swift": Scoping("swift", "all", implicit_self=True, outer_packages=True, instances=frozenset({"Self"})),
    "elixir": Scoping("elixir", "all", implicit_self=True, outer_packages=True),
    "haskell": Scoping("haskell", "all"),
    "bash": Scoping("bash", "all", outer_packages=True, last_wins=True),
    "sql": Scoping("sql", "all", outer_packages=True),
    "lua": Scoping("lua", last_wins=True, bare_by_name=True),
    "zig": Scoping("zig"),
}

OTHER = Scoping("", bare_by_name=True)
"""The rules of all other languages."""


def scoping_of(language: str) -> Scoping:
    """Return the scoping rules of a language."""
    return SCOPING.get(language, OTHER)
