"""The head of a file: what the names of modules and packages depend on, and the scope of the file's own names."""

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from codecards.indexer.facts import FileFacts
from codecards.indexer.graph.scoping import scoping_of


class FullName(NamedTuple):
    """The name of a definition in the whole repository."""

    scope: str
    """The files that share the name: a path, "folder#package" (Go), "rust:" and a crate, or "all:" and a family."""
    name: str
    """Qualified name, prefixed with the package or module path of the file."""


class FileHead(NamedTuple):
    """What the names of modules and packages depend on, besides the path."""

    language: str
    package: str
    """As in `facts.FileFacts`."""
    uses: tuple[str, ...] = ()
    """What else the file adds to the names of modules: "go MODULE" and "rust PATH" for its imports, "namespace NAME"."""


def head_of(path: str, facts: FileFacts) -> FileHead:
    """Return the head of a file."""
    uses: set[str] = set()
    if facts.language == "go":
        uses.update(f"go {one.module}" for one in facts.imports)
    elif facts.language == "rust":
        uses.update("rust " + ".".join(filter(None, (one.module, one.name))) for one in facts.imports)
    prefix = scope_of(path, facts.language, facts.package)[1]
    uses.update(f"namespace {prefix}{one.qualified_name}." for one in facts.definitions if one.kind == "namespace")
    return FileHead(facts.language, facts.package, tuple(sorted(uses)))


def scope_of(path: str, language: str, package: str) -> tuple[str, str]:
    """Return (scope, prefix of full names) of a file."""
    scoping = scoping_of(language)
    if scoping.reach == "folder":
        return f"{path.rpartition('/')[0]}#{package}", ""
    if scoping.reach == "crate":
        crate, inside = crate_of(path)
        return f"rust:{crate}", "".join(part + "." for part in inside)
    if scoping.reach == "all":
        return f"all:{scoping.family}", package + "." if package else ""
    return path, ""


def crate_of(path: str) -> tuple[str, tuple[str, ...]]:
    """Return (source folder of the crate, module path inside) of a Rust file."""
    parts = path.removesuffix(".rs").split("/")
    top = max((index for index, part in enumerate(parts[:-1]) if part == "src"), default=-1)
    if (
        top < 0
        and (test := next((n for n, part in enumerate(parts[:-1]) if part in ("tests", "examples", "benches")), -1))
        >= 0
    ):
        return "/".join(parts[: test + 2]), tuple(parts[test + 2 :])  # each of these files is its own crate
    crate, inside = "/".join(parts[: top + 1]), parts[top + 1 :]
    if inside[:1] == ["bin"] and len(inside) > 1:
        return "/".join([crate, *inside[:2]]), tuple(inside[2:])
    if inside and inside[-1] in ("lib", "main", "mod"):
        inside = inside[:-1]
    return crate, tuple(inside)


class Packages:
    """The packages and namespaces of all files."""

    def __init__(self, files: Mapping[str, FileHead]) -> None:
        """Create the tables, lazily, for path → head of all files."""
        self._files = files

    @cached_property
    def names(self) -> set[FullName]:
        """All packages and namespaces, including outer ones, as full names that end with a dot."""
        found: set[FullName] = set()
        for path, head in self._files.items():
            scope, prefix = scope_of(path, head.language, head.package)
            prefixes = [use.removeprefix("namespace ") for use in head.uses if use.startswith("namespace ")]
            for one in (prefix, *prefixes) if prefix else prefixes:
                parts = one.split(".")[:-1]
                found.update(FullName(scope, ".".join(parts[: n + 1]) + ".") for n in range(len(parts)))
        return found

    @cached_property
    def files(self) -> dict[FullName, list[str]]:
        """Package (full name that ends with a dot, or "") → its files, by path."""
        found: dict[FullName, list[str]] = {}
        for path in sorted(self._files):
            head = self._files[path]
            found.setdefault(FullName(*scope_of(path, head.language, head.package)), []).append(path)
        return found

    @cached_property
    def rust_imports(self) -> dict[str, list[str]]:
        """Path of a Rust file → the whole paths that it imports."""
        rust = ((path, head) for path, head in self._files.items() if head.language == "rust")
        return {
            path: [use.removeprefix("rust ") for use in head.uses if use.startswith("rust ")] for path, head in rust
        }
