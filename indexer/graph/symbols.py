"""The symbol table: all definitions of the repository, and the names of each file by scope.

Each file belongs to a *scope*, a set of files that share their top-level names: the file alone (Python, TypeScript), its
folder (Go), its crate (Rust), or all files of its language family (Java, C#, C++, Ruby, PHP …). The *full name* of a
definition is its qualified name prefixed with the package or module path of its file; it is unique in the scope, except
for overloads and partial types. Within a file, a scope is given as the position of the enclosing definition.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

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
from codecards.indexer.graph.asked import AskedLookup, AskedNames, ScopedNames, last_part
from codecards.indexer.graph.heads import FileHead, FullName, Packages, head_of, scope_of
from codecards.indexer.graph.module_paths import ModulePaths
from codecards.indexer.graph.scoping import Scoping, scoping_of

MAX_INCLUDED = 5_000
"""Limit on the files that one file includes, directly or not."""

DefinitionRef = tuple[str, int]
"""(path, position in the file's definitions); position -1 is the whole file."""


class FileNames:
    """The names of one file, by scope."""

    __slots__ = ("_asked", "_stars", "bindings", "children", "facts", "imports", "path", "prefix", "scope", "scoping")

    def __init__(self, path: str, facts: FileFacts, asked: AskedNames) -> None:
        """Group the facts of a file by scope and name."""
        self.path = path
        self.facts = facts
        self.scope, self.prefix = scope_of(path, facts.language, facts.package)
        """`prefix` is that of the file's qualified names; "" or ends with a dot."""
        self.scoping: Scoping = scoping_of(facts.language)
        self._asked = asked
        self.children: ScopedNames[int] = ScopedNames(asked)
        """(position of the parent or -1, name) → positions of the definitions."""
        for position, one in enumerate(facts.definitions):
            self.children.add(one.parent, one.name, position)
        self.imports: ScopedNames[Import] = ScopedNames(asked)
        """(scope, bound name) → imports."""
        self._stars: list[Import] = []
        for brought in facts.imports:
            if brought.alias:
                self.imports.add(brought.scope, brought.alias, brought)
                if "." in brought.alias:  # `import a.b` binds a
                    self.imports.add(brought.scope, brought.alias.partition(".")[0], brought)
            else:
                self._stars.append(brought)
        self.bindings: ScopedNames[Binding] = ScopedNames(asked)
        for bound in facts.bindings:
            self.bindings.add(bound.scope, bound.name, bound)

    @property
    def stars(self) -> Sequence[Import]:
        """Imports that bind no single name: star imports, includes, used namespaces."""
        self._asked.names.add(f"stars {self.path}")
        return self._stars

    @property
    def all_imports(self) -> Sequence[Import]:
        """All imports of the file."""
        self._asked.names.add(f"imports {self.path}")
        return self.facts.imports

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
        return innermost_at(self.facts.definitions, line, within)

    def fields(self) -> Iterator[tuple[str, Binding]]:
        """Yield (qualified name of a member, binding that gives its type), without the file's prefix."""
        for bound in self.facts.bindings:
            name = bound.name
            if name.startswith("self."):
                owner = self.type_around(bound.scope)
                name = name[5:]
            elif bound.scope >= 0 and self.facts.definitions[bound.scope].kind in CODE_TYPE_KINDS:
                owner = self.full(bound.scope)
            else:
                continue
            if owner is not None:
                yield f"{owner.name.removeprefix(self.prefix)}.{name}", bound


class SymbolTable:
    """All definitions of a repository; every lookup records what it asked for in `asked`.

    This class holds the facts of all files. `indexer.store.stored_symbols` answers the same lookups from a snapshot.
    """

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        """Build the table from path → facts of every file."""
        ordered = {path: files[path] for path in sorted(files)}
        self._prepare({path: head_of(path, facts) for path, facts in ordered.items()})
        self.files: Mapping[str, FileFacts] = ordered
        self.names: Mapping[str, FileNames] = {
            path: FileNames(path, facts, self.asked) for path, facts in ordered.items()
        }
        self._scopes: dict[str, dict[str, list[DefinitionRef]]] = defaultdict(dict)
        self._fields: dict[FullName, list[tuple[str, Binding]]] = {}
        for path, names in self.names.items():
            known = self._scopes[names.scope]
            for position, one in enumerate(names.facts.definitions):
                known.setdefault(names.prefix + one.qualified_name, []).append((path, position))
            for name, bound in names.fields():
                self._fields.setdefault(FullName(names.scope, names.prefix + name), []).append((path, bound))

    def _prepare(self, heads: Mapping[str, FileHead]) -> None:
        """Create what all tables have, from path → head of every file."""
        self.heads = heads
        self.asked = AskedNames()
        self.modules = ModulePaths(heads, self.asked)
        self.known_packages = Packages(heads)
        self.canonical_names: dict[FullName, FullName] = {}
        """Name of a type as seen from an impl block's file → the type's own full name; see `owners`."""
        self.assigned: dict[FullName, list[DefinitionRef]] = {}
        """Full name → members written outside their types and assigned to them; see `owners`."""
        self.by_name: AskedLookup[tuple[str, str], DefinitionRef] = AskedLookup(self._asked_named)
        """(family, last name) → definitions that can be called or constructed, except functions inside functions."""
        self.fields: AskedLookup[FullName, tuple[str, Binding]] = AskedLookup(self._asked_fields)
        """Full name of a member → (path, binding that gives its type)."""
        self.packages: AskedLookup[FullName, FullName] = AskedLookup(self._asked_package)
        """All packages and namespaces, including outer ones, as full names that end with a dot."""
        self.files_of_package: AskedLookup[FullName, str] = AskedLookup(self._asked_files)
        """Package (full name that ends with a dot, or "") → its files."""
        self._included: dict[str, tuple[frozenset[str], frozenset[str]]] = {}

    def definition(self, ref: DefinitionRef) -> Definition:
        """Return the definition that a reference points to; its position is not -1."""
        return self.files[ref[0]].definitions[ref[1]]

    def at(self, full: FullName) -> Sequence[DefinitionRef]:
        """Return the definitions of a full name."""
        self.asked.names.add(full.name.rpartition(".")[2])
        found = self._at(full)
        return [*found, *self.assigned[full]] if full in self.assigned else found

    def types_at(self, full: FullName) -> list[DefinitionRef]:
        """Return the definitions of a type, including partial parts and impl blocks."""
        return [ref for ref in self.at(full) if self.definition(ref).kind in CONTAINER_KINDS]

    def full(self, ref: DefinitionRef) -> FullName:
        """Return the full name of a definition."""
        return self.names[ref[0]].full(ref[1])

    def canonical(self, full: FullName) -> FullName:
        """Return the type's own full name for the name that a file gives it."""
        self.asked.names.add(full.name.rpartition(".")[2])
        return self.canonical_names.get(full, full)

    def language(self, path: str) -> str:
        """Return the language of a file."""
        return self.heads[path].language

    def n_members(self, ref: DefinitionRef) -> int:
        """Return the number of definitions directly inside a definition."""
        facts = self.files[ref[0]]
        self.asked.names.add(f"members {facts.definitions[ref[1]].name}")
        return sum(one.parent == ref[1] for one in facts.definitions)

    def files_included(self, path: str) -> frozenset[str]:
        """Return a C or C++ file and the files that it includes, directly or not."""
        known = self._included.get(path)
        if known is None:
            outer = self.asked.begin()
            seen, pending = {path}, [path]
            while pending and len(seen) < MAX_INCLUDED:
                one = pending.pop()
                for brought in self.names[one].stars:
                    target = self.modules.file_of(one, brought.module)
                    if target is not None and target not in seen:
                        seen.add(target)
                        pending.append(target)
            known = self._included[path] = frozenset(seen), self.asked.end(outer)
        self.asked.names.update(known[1])
        return known[0]

    def stems_included(self, path: str) -> frozenset[str]:
        """Return the names, without suffixes, of the files that a file includes."""
        return frozenset(stem_of(one) for one in self.files_included(path))

    # what the lookups find, without recording

    def _at(self, full: FullName) -> Sequence[DefinitionRef]:
        return self._scopes[full.scope].get(full.name, ()) if full.scope in self._scopes else ()

    def _named(self, family: str, name: str) -> Sequence[DefinitionRef]:
        return self._by_name.get((family, name), ())

    def _fields_at(self, full: FullName) -> Sequence[tuple[str, Binding]]:
        return self._fields.get(full, ())

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], list[DefinitionRef]]:
        found: dict[tuple[str, str], list[DefinitionRef]] = {}
        for path, names in self.names.items():
            for position in named_positions(names.facts.definitions):
                name = names.facts.definitions[position].name
                found.setdefault((names.scoping.family, name), []).append((path, position))
        return found

    # what the public lookups record

    def _asked_named(self, key: tuple[str, str]) -> Sequence[DefinitionRef]:
        self.asked.names.add(key[1])
        return self._named(*key)

    def _asked_fields(self, full: FullName) -> Sequence[tuple[str, Binding]]:
        self.asked.names.add(last_part(full.name))
        return self._fields_at(full)

    def _asked_package(self, full: FullName) -> Sequence[FullName]:
        self.asked.names.add(f"package {full.scope} {full.name}")
        return (full,) if full in self.known_packages.names else ()

    def _asked_files(self, full: FullName) -> Sequence[str]:
        self.asked.names.add(f"files {full.scope} {full.name}")
        return self.known_packages.files.get(full, ())


def named_positions(definitions: Sequence[Definition]) -> Iterator[int]:
    """Yield the positions of definitions that their name alone can find; functions inside functions are local."""
    for position, one in enumerate(definitions):
        if one.kind not in CALL_TARGET_KINDS or one.kind == "impl":
            continue
        inside_function = one.parent >= 0 and definitions[one.parent].kind in ("function", "method")
        if one.kind != "function" or not inside_function:
            yield position


def unowned_positions(definitions: Sequence[Definition]) -> Iterator[int]:
    """Yield the positions of members that are written outside their types; `owners` assigns them."""
    for position, one in enumerate(definitions):
        if one.kind in MEMBER_KINDS and (one.parent < 0 or definitions[one.parent].kind in ("impl", "namespace")):
            yield position


def stem_of(path: str) -> str:
    """Return the name of a file without its suffixes."""
    return path.rpartition("/")[2].partition(".")[0]


def innermost_at(definitions: Sequence[Definition], line: int, within: int) -> int:
    """Return the position of the innermost definition around a line; `within` if there is none inside it."""
    best = within
    for position, one in enumerate(definitions):
        if one.first_line > line:
            break
        if one.last_line >= line and position > best:
            best = position
    return best
