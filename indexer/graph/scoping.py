"""How the names of each language reach over files and folders."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scoping:
    """How far the names of a language reach, and what a bare name may mean."""

    family: str
    """Languages of one family can call each other."""
    reach: str = "file"
    """What shares one set of top-level names: "file", "folder" (Go), "crate" (Rust), or "all" (packages, globals)."""
    implicit_self: bool = False
    """Whether a method reaches its type's members by their bare names."""
    outer_packages: bool = False
    """Whether a bare name is looked for in the packages around its own, too."""
    last_wins: bool = False
    """Whether of several definitions of one name in one file the last is meant (overload stubs come first)."""
    bare_by_name: bool = False
    """Whether a bare name may come from another file without a statement that names it."""
    instances: frozenset[str] = frozenset()
    """Words, beside `self`, that stand for the type around them when called."""


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
"""For languages without a row."""


def scoping_of(language: str) -> Scoping:
    """Return how a language's names reach."""
    return SCOPING.get(language, OTHER)
