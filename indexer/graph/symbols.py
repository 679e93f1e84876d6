"""The symbol table: all definitions of the repository, and the names of each file by scope.

Each file belongs to a *scope*, a set of files that share their top-level names: the file alone (Python, TypeScript), its
folder (Go), its crate (Rust), or all files of its language family (Java, C#, C++, Ruby, PHP …). The *full name* of a
definition is its qualified name prefixed with the package or module path of its file; it is unique in the scope, except
for overloads and partial types. Within a file, a scope is given as the position of the enclosing definition.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec

from codecards.indexer.facts import (
    CALL_TARGET_KINDS,
    CODE_TYPE_KINDS,
    CONTAINER_KINDS,
    MEMBER_KINDS,
    Binding,
    Definition,
    FileFacts,
    Import,
)
from codecards.indexer.graph.module_paths import ModulePaths, crate_of
from codecards.indexer.graph.scoping import Scoping, scoping_of

MAX_INCLUDED = 5_000
"""Limit on the files that one file includes, directly or not."""

DefinitionRef = tuple[str, int]
"""(path, position in the file's definitions); position -1 is the whole file."""


class FullName(NamedTuple):
    """The name of a definition in the whole repository."""

    scope: str
    """The files that share the name: a path, "folder#package" (Go), "rust:" and a crate, or "all:" and a family."""
    name: str
    """Qualified name, prefixed with the package or module path of the file."""


class FileNames:
    """The names of one file, by scope."""

    __slots__ = ("bindings", "children", "facts", "imports", "path", "prefix", "scope", "scoping", "stars")

    def __init__(self, path: str, facts: FileFacts, scope: str, prefix: str) -> None:
        """Group the facts of a file by scope and name."""
        self.path = path
        self.facts = facts
        self.scope = scope
        self.prefix = prefix
        """Prefix of the file's qualified names; "" or ends with a dot."""
        self.scoping: Scoping = scoping_of(facts.language)
        self.children: dict[tuple[int, str], list[int]] = {}
        """(position of the parent or -1, name) → positions of the definitions."""
        for position, one in enumerate(facts.definitions):
            self.children.setdefault((one.parent, one.name), []).append(position)
        self.imports: dict[tuple[int, str], list[Import]] = {}
        """(scope, bound name) → imports."""
        self.stars: list[Import] = []
        """Imports that bind no single name: star imports, includes, used namespaces."""
        for brought in facts.imports:
            if brought.alias:
                self.imports.setdefault((brought.scope, brought.alias), []).append(brought)
                if "." in brought.alias:  # `import a.b` binds a
                    self.imports.setdefault((brought.scope, brought.alias.partition(".")[0]), []).append(brought)
            else:
                self.stars.append(brought)
        self.bindings: dict[tuple[int, str], list[Binding]] = {}
        for bound in facts.bindings:
            self.bindings.setdefault((bound.scope, bound.name), []).append(bound)

    def full(self, position: int) -> FullName:
        """Return the full name of a definition."""
        return FullName(self.scope, self.prefix + self.facts.definitions[position].qualified_name)

    def type_around(self, scope: int) -> FullName | None:
        """Return the type whose instance `self` is in a scope; None outside of types."""
        definitions = self.facts.definitions
        while scope >= 0:
            one = definitions[scope]
            if one.kind in CODE_TYPE_KINDS:
                return FullName(self.scope, self.prefix + one.qualified_name)
            owner = one.qualified_name.rpartition(".")[0]
            parent = definitions[one.parent] if one.parent >= 0 else None
            outside = parent is None or owner != parent.qualified_name
            if (
                owner
                and (one.kind in MEMBER_KINDS or outside)
                and (outside or parent is None or parent.kind not in CALL_TARGET_KINDS)
            ):
                return FullName(self.scope, self.prefix + owner)
            scope = one.parent
        return None

    def scope_at(self, line: int, within: int) -> int:
        """Return the innermost definition around a line; `within` if there is none inside it."""
        return _scope_at(self.facts.definitions, line, within)


class SymbolTable:
    """All definitions of a repository."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        """Build the table from path → facts of every file."""
        self.files = {path: files[path] for path in sorted(files)}
        self.modules = ModulePaths(self.files)
        self.names: dict[str, FileNames] = {}
        self.scopes: dict[str, dict[str, list[DefinitionRef]]] = defaultdict(dict)
        """Scope → full name → definitions, by path and position."""
        self.fields: dict[FullName, list[tuple[str, Binding]]] = defaultdict(list)
        """Full name of a member → (path, binding that gives its type)."""
        self._included: dict[str, frozenset[str]] = {}
        self._stems: dict[str, frozenset[str]] = {}
        self.unowned: list[DefinitionRef] = []
        """Members written outside their types; `ScopeResolver` assigns them to their types."""
        for path, facts in self.files.items():
            self._add(path, facts)

    def definition(self, ref: DefinitionRef) -> Definition:
        """Return the definition that a reference points to; its position is not -1."""
        return self.files[ref[0]].definitions[ref[1]]

    def at(self, full: FullName) -> list[DefinitionRef]:
        """Return the definitions of a full name."""
        return self.scopes[full.scope].get(full.name, []) if full.scope in self.scopes else []

    def types_at(self, full: FullName) -> list[DefinitionRef]:
        """Return the definitions of a type, including partial parts and impl blocks."""
        return [ref for ref in self.at(full) if self.definition(ref).kind in CONTAINER_KINDS]

    def full(self, ref: DefinitionRef) -> FullName:
        """Return the full name of a definition."""
        return self.names[ref[0]].full(ref[1])

    @cached_property
    def by_name(self) -> dict[tuple[str, str], list[DefinitionRef]]:
        """(family, last name) → definitions that can be called or constructed, except functions inside functions."""
        found: dict[tuple[str, str], list[DefinitionRef]] = {}
        for path, names in self.names.items():
            family, definitions = names.scoping.family, names.facts.definitions
            for position, one in enumerate(definitions):
                if one.kind not in CALL_TARGET_KINDS or one.kind == "impl":
                    continue
                local = (
                    one.kind == "function"
                    and one.parent >= 0
                    and definitions[one.parent].kind in ("function", "method")
                )
                if not local:
                    found.setdefault((family, one.name), []).append((path, position))
        return found

    @cached_property
    def packages(self) -> set[FullName]:
        """All packages and namespaces, including outer ones, as full names that end with a dot."""
        found: set[FullName] = set()
        for names in self.names.values():
            prefixes = {names.prefix}
            prefixes.update(
                names.prefix + one.qualified_name + "." for one in names.facts.definitions if one.kind == "namespace"
            )
            for prefix in prefixes:
                parts = prefix.split(".")[:-1]
                found.update(FullName(names.scope, ".".join(parts[: n + 1]) + ".") for n in range(len(parts)))
        return found

    @cached_property
    def files_of_package(self) -> dict[FullName, list[str]]:
        """Package (full name that ends with a dot, or "") → its files."""
        found: dict[FullName, list[str]] = {}
        for path, names in self.names.items():
            found.setdefault(FullName(names.scope, names.prefix), []).append(path)
        return found

    def files_included(self, path: str) -> frozenset[str]:
        """Return a C or C++ file and the files that it includes, directly or not."""
        if path not in self._included:
            seen, pending = {path}, [path]
            while pending and len(seen) < MAX_INCLUDED:
                one = pending.pop()
                for brought in self.names[one].stars:
                    target = self.modules.file_of(one, brought.module)
                    if target is not None and target not in seen:
                        seen.add(target)
                        pending.append(target)
            self._included[path] = frozenset(seen)
        return self._included[path]

    def stems_included(self, path: str) -> frozenset[str]:
        """Return the names, without suffixes, of the files that a file includes."""
        if path not in self._stems:
            self._stems[path] = frozenset(stem_of(one) for one in self.files_included(path))
        return self._stems[path]

    def _add(self, path: str, facts: FileFacts) -> None:
        scope, prefix = _scope_of(path, facts, self.modules)
        names = self.names[path] = FileNames(path, facts, scope, prefix)
        known = self.scopes[scope]
        for position, one in enumerate(facts.definitions):
            known.setdefault(prefix + one.qualified_name, []).append((path, position))
            if one.kind in MEMBER_KINDS and (
                one.parent < 0 or facts.definitions[one.parent].kind in ("impl", "namespace")
            ):
                self.unowned.append((path, position))
        for bound in facts.bindings:
            name = bound.name
            if name.startswith("self."):
                owner = names.type_around(bound.scope)
                name = name[5:]
            elif bound.scope >= 0 and facts.definitions[bound.scope].kind in CODE_TYPE_KINDS:
                owner = names.full(bound.scope)
            else:
                continue
            if owner is not None:
                self.fields[FullName(scope, f"{owner.name}.{name}")].append((path, bound))


def stem_of(path: str) -> str:
    """Return the name of a file without its suffixes."""
    return path.rpartition("/")[2].partition(".")[0]


def interface_digest(path: str, facts: FileFacts) -> bytes:
    """Return a digest of everything in a file that resolving other files' references can depend on, except lines.

    If an edit leaves the digest equal, the edges of all other files stay the same, except for the lines and positions of
    their targets.
    """
    definitions = facts.definitions
    shared = [
        one
        for one in facts.bindings
        if one.scope < 0 or "." in one.name or definitions[one.scope].kind in CODE_TYPE_KINDS
    ]
    # `self.store = store` depends on the type of the parameter `store`, and so on through other local names.
    wanted = {word for one in shared for word in _words(one.value)}
    while more := {word for one in facts.bindings if one.name in wanted for word in _words(one.value)} - wanted:
        wanted |= more
    seen = (
        path.encode("utf-8", "surrogateescape"),
        facts.language,
        facts.package,
        [
            (d.name, d.qualified_name, d.kind, d.parent, d.bases, d.returns, d.exported, d.signature)
            for d in definitions
        ],
        [(i.module, i.name, i.alias, i.level, i.scope, i.reexported) for i in facts.imports],
        _seen(shared, definitions),
        _seen([one for one in facts.bindings if one.name in wanted], definitions),
        facts.exports,
    )
    return hashlib.blake2b(_encode(seen), digest_size=16).digest()


def _seen(bindings: Sequence[Binding], definitions: Sequence[Definition]) -> list[tuple[object, ...]]:
    """Return the parts of bindings that matter to other files: of their lines only whether neighbours share one."""
    lines = [0, *(one.line for one in bindings)]
    return [
        (one.name, one.value, one.scope, _scope_at(definitions, one.line, one.scope), one.line == before)
        for one, before in zip(bindings, lines, strict=False)
    ]


def _scope_at(definitions: Sequence[Definition], line: int, within: int) -> int:
    best = within
    for position, one in enumerate(definitions):
        if one.first_line > line:
            break
        if one.last_line >= line and position > best:
            best = position
    return best


_encode = msgspec.msgpack.Encoder().encode


def _words(value: str) -> tuple[str, ...]:
    return (value.lstrip("=").partition(".")[0].removesuffix("()"),)


def _scope_of(path: str, facts: FileFacts, modules: ModulePaths) -> tuple[str, str]:
    """Return (scope, prefix of full names) of a file."""
    scoping = scoping_of(facts.language)
    if scoping.reach == "folder":
        return modules.go_unit(path), ""
    if scoping.reach == "crate":
        crate, inside = crate_of(path)
        return f"rust:{crate}", "".join(part + "." for part in inside)
    if scoping.reach == "all":
        return f"all:{scoping.family}", facts.package + "." if facts.package else ""
    return path, ""
