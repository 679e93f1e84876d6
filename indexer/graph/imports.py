"""Resolves imports, and the names that modules and packages provide."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from codecards.indexer.facts import Import
from codecards.indexer.graph.heads import FullName
from codecards.indexer.graph.interface import rust_heads
from codecards.indexer.graph.resolution import EXTERNAL, Resolution, ResolutionCache, ScopeQueries
from codecards.indexer.graph.symbols import FileNames, SymbolTable
from codecards.indexer.graph.types import TypeResolver


class ImportResolver:
    """Resolves imported names."""

    def __init__(self, table: SymbolTable, cache: ResolutionCache, types: TypeResolver, scopes: ScopeQueries) -> None:
        """Create a resolver.

        Args:
            table: The repository's definitions.
            cache: Shared by all resolvers of one repository.
            types: Resolves the members of imported types.
            scopes: Resolves names where they are written.
        """
        self.table = table
        self._cache = cache
        self._types = types
        self._scopes = scopes
        self._star_exports_of: dict[str, tuple[dict[str, str], frozenset[str]]] = {}

    def imported(self, path: str, one: Import) -> Resolution | None:
        """Resolve an import; None if a relative import leads nowhere."""
        key = ("import", path, one.module, one.name, one.alias, one.level, one.scope)
        return self._cache.cached(key, lambda: self._resolve_import(path, one))

    def module_attribute(self, module: Resolution, name: str) -> Resolution | None:
        """Resolve a name in a file that is a module."""
        found = self._module_member(module.full.scope, name)
        return replace(found, rule="module", is_sure=found.is_sure and module.is_sure) if found is not None else None

    def python_module(self, path: str, dotted: str) -> Resolution | None:
        """Resolve a dotted name to a Python module, or to a package that leads to one.

        Args:
            path: The importing file.
            dotted: For example "shop.pricing".
        """
        target = self.table.modules.python(path, dotted, 0)
        if target is not None:
            return _module(target)
        if self.table.modules.is_python_package(dotted):
            return Resolution("dotted", FullName("", dotted), rule="import")
        return None

    def package_member(self, package: FullName, name: str, *, follow_imports: bool = True) -> Resolution | None:
        """Resolve a name in a package.

        Args:
            package: Its `name` is "" or ends with a dot.
            name: Without dots.
            follow_imports: Whether names that the package itself imports count (Rust's `use`).
        """
        full = FullName(package.scope, package.name + name)
        if refs := self.table.at(full):
            return self._types.resolution_of(tuple(refs), full, rule="import")
        inner = FullName(full.scope, full.name + ".")
        if inner in self.table.packages:
            return Resolution("package", inner, rule="import")
        if not follow_imports or not package.scope.startswith("rust:"):
            return None
        for path in self.table.files_of_package.get(package, ()):
            names = self.table.names[path]
            for imported in names.imports.get((-1, name), ()):
                found = self.imported(path, imported)
                if found is not None and found.kind != "external":
                    return found
            for imported in names.stars:
                if imported.reexported and (found := self._cached_star(names, imported, name)) is not None:
                    return found
        return None

    def through_star(self, names: FileNames, one: Import, name: str) -> Resolution | None:
        """Resolve a name through a star import, an include or a used namespace."""
        if names.scoping.reach == "file":
            target = self._module_file(names, one)
            if one.name != "*" or target is None or (names.scoping.family == "python" and name.startswith("_")):
                return None
            return self._module_member(target, name)
        whole = self._resolve_import(names.path, replace(one, name="") if one.name == "*" else one)
        if whole is None or whole.kind not in ("package", "type"):
            return None
        found = self._scopes.attribute(names.path, whole, name)
        return found if found is not None and found.kind != "external" else None

    def rust_root(self, names: FileNames, scope: int, head: str, steps: list[str]) -> Resolution:
        """Return the module that `crate`, `self` or `super` refers to; removes further `super` from `steps`."""
        if head == "crate":
            return Resolution("package", FullName(names.scope, ""), rule="path")
        inside = names.prefix.split(".")[:-1]
        while scope >= 0:
            one = names.facts.definitions[scope]
            if one.kind in ("module", "namespace"):
                inside += one.qualified_name.split(".")
                break
            scope = one.parent
        if head == "super":
            inside = inside[:-1]
        while steps and steps[0] == "super":
            steps.pop(0)
            inside = inside[:-1]
        return Resolution("package", FullName(names.scope, "".join(part + "." for part in inside)), rule="path")

    # imports of each language

    def _resolve_import(self, path: str, one: Import) -> Resolution | None:
        names = self.table.names[path]
        language, scoping = names.facts.language, names.scoping
        if scoping.family == "python":
            return self._python_import(path, one)
        if language == "go":
            unit = self.table.modules.go_import(one.module)
            return Resolution("package", FullName(unit, ""), rule="import") if unit is not None else EXTERNAL
        if scoping.reach == "file":
            target = self._module_file(names, one)
            if target is None:
                return None if one.module.startswith(".") else EXTERNAL
            if one.name in ("", "*"):
                return _module(target)
            found = self._module_member(target, one.name)
            return replace(found, rule="import") if found is not None else None
        whole = ".".join(filter(None, (one.module, one.name)))
        found = self._rust_import(names, one, whole) if language == "rust" else self._by_full_name(names, whole)
        return replace(found, rule="import") if found is not None else EXTERNAL

    def _python_import(self, path: str, one: Import) -> Resolution | None:
        if not one.name:
            binds_first_part = one.alias == one.module and "." in one.module
            return (
                self.python_module(path, one.module.partition(".")[0] if binds_first_part else one.module) or EXTERNAL
            )
        target = self.table.modules.python(path, one.module, one.level)
        if target is not None:
            if one.name == "*":
                return _module(target)
            found = self._module_member(target, one.name)
            return replace(found, rule="import") if found is not None else None
        if one.level:
            inside = self.table.modules.python(path, f"{one.module}.{one.name}".lstrip("."), one.level)
            return _module(inside) if inside else None
        return self.python_module(path, f"{one.module}.{one.name}") or EXTERNAL

    def _by_full_name(self, names: FileNames, whole: str) -> Resolution | None:
        """Resolve a full name as imports of Java, C# or PHP spell it."""
        for prefix in ("", names.prefix) if names.scoping.outer_packages else ("",):
            full = FullName(names.scope, prefix + whole)
            if refs := self.table.at(full):
                return self._types.resolution_of(tuple(refs), full, rule="import")
            if FullName(names.scope, full.name + ".") in self.table.packages:
                return Resolution("package", FullName(names.scope, full.name + "."), rule="import")
            head, _, last = full.name.rpartition(".")
            if head and self.table.types_at(FullName(names.scope, head)):
                return self._types.member(Resolution("type", FullName(names.scope, head), rule="import"), last)
        return None

    def _rust_import(self, names: FileNames, one: Import, whole: str) -> Resolution | None:
        head, *steps = whole.split(".")
        found: Resolution | None
        if head in ("crate", "self", "super"):
            found = self.rust_root(names, one.scope, head, steps)
        else:
            found = self._rust_head(names, one, head, steps)
        for step in steps:
            if found is None:
                return None
            if step == "self":
                continue
            found = self._scopes.attribute(names.path, found, step)
        return found

    def _rust_head(self, names: FileNames, one: Import, head: str, steps: Sequence[str]) -> Resolution | None:
        """Resolve the first name of a Rust path: a name of the same module, a crate, or another import."""
        found = self.package_member(self.rust_root(names, one.scope, "self", []).full, head, follow_imports=False)
        if found is None and (crate := self.table.modules.crate_named(head)) is not None:
            found = Resolution("package", FullName(f"rust:{crate}", ""), rule="import")
        if found is None and steps:
            found = self._own_library(names, head)
        if found is None and (head != one.alias or steps):
            others = (other for other in names.imports.get((-1, head), ()) if other is not one)
            found = next((self.imported(names.path, other) for other in others), None)
        return found

    # the library of a Rust package, which its binaries and tests import

    def _own_library(self, names: FileNames, head: str) -> Resolution | None:
        """Return the library of the file's Rust package if `head` can be its name.

        The sources do not name the library. `head` is its name if the library has everything that the package's files
        import under `head`; the result is sure if they import at least two things.
        """
        library = self.table.modules.library_of(names.path)
        if library is None:
            return None
        self.table.asked.names.add(f"head {library} {head}")
        wanted = self._imports_by_head.get((library, head), frozenset())
        return self._cache.cached(("library", library, head), lambda: self._library_with(library, wanted))

    def _library_with(self, library: str, wanted: frozenset[str]) -> Resolution | None:
        root = FullName(f"rust:{library}", "")
        if not wanted or not all(self._has(root, inside.removesuffix(".*")) for inside in wanted):
            return None
        return Resolution("package", root, is_sure=len(wanted) > 1, rule="import")

    @cached_property
    def _imports_by_head(self) -> dict[tuple[str, str], frozenset[str]]:
        """(library, first name of an import path) → the rest of those paths in the package's files."""
        outer = self.table.asked.begin()  # asking for one key must not depend on all files
        found = rust_heads(self.table.modules, self.table.known_packages)
        self.table.asked.names = outer
        return found

    def _has(self, package: FullName, inside: str) -> bool:
        found: Resolution | None = Resolution("package", package)
        for step in inside.split("."):
            found = self._scopes.attribute("", found, step) if found is not None and step != "self" else found
        return found is not None

    # members of files that are modules

    def _cached_star(self, names: FileNames, one: Import, name: str) -> Resolution | None:
        key = ("star", names.path, one.module, one.scope, name)
        return self._cache.cached(key, lambda: self.through_star(names, one, name))

    def _module_file(self, names: FileNames, one: Import) -> str | None:
        if names.scoping.family == "python":
            return self.table.modules.python(names.path, one.module, one.level)
        return self.table.modules.file_of(names.path, one.module)

    def _module_member(self, path: str, name: str) -> Resolution | None:
        """Resolve a name for importers of a file; re-exports are followed, and each file is visited once."""
        return self._cache.cached(("module", path, name), lambda: self._search_modules(path, name))

    def _search_modules(self, path: str, name: str) -> Resolution | None:
        pending, seen = [(path, name)], dict[tuple[str, str], None]()
        while pending:
            one = pending.pop()
            if one in seen:
                continue
            seen[one] = None
            found = self._own_member(*one)
            if found is not None:
                return found
            pending += reversed(self._reexported_from(*one))
        return next(filter(None, (self._implicit_member(*one) for one in seen)), None)

    def _own_member(self, path: str, name: str) -> Resolution | None:
        """Resolve a name in one file, without its re-exports; modules imported as a whole count as its own."""
        names = self.table.names[path]
        self.table.asked.names.add(name)
        for export in names.facts.exports:
            if export.name == name and export.local != name:
                found = self._scopes.resolve_chain(path, -1, export.local, 0)
                if found is not None:
                    return found
        own = [p for p in names.children.get((-1, name), ()) if names.facts.definitions[p].qualified_name == name]
        if own:
            return self._types.resolution_of(tuple((path, p) for p in own), names.full(own[0]), rule="same-file")
        for imported in names.imports.get((-1, name), ()):
            if imported.name in ("", "*") or self._module_file(names, imported) is None:
                whole = self.imported(path, imported)
                if whole is not None:
                    return whole
        bindings = names.bindings.get((-1, name))
        return self._types.binding_type(path, bindings, 0) if bindings else None

    def _reexported_from(self, path: str, name: str) -> list[tuple[str, str]]:
        """Return the (file, name) pairs from which a file re-exports a name."""
        names = self.table.names[path]
        found = [
            (target, imported.name)
            for imported in names.imports.get((-1, name), ())
            if imported.name not in ("", "*") and (target := self._module_file(names, imported)) is not None
        ]
        is_private = names.scoping.family == "python" and name.startswith("_")
        if not found and not is_private and (target := self._star_exports(path).get(name)) is not None:
            found.append((target, name))
        return found

    def _implicit_member(self, path: str, name: str) -> Resolution | None:
        """Resolve a submodule of a Python package, or a member of the object that a CommonJS file exports."""
        facts = self.table.files[path]
        self.table.asked.names.update((name, "default"))
        if self.table.names[path].scoping.family == "python":
            inside = self.table.modules.python_inside(path, name)
            return _module(inside) if inside else None
        if name == "default" or not any(export.name == "default" for export in facts.exports):
            return None
        default = self._module_member(path, "default")
        if default is None or default.kind not in ("value", "type", "callable"):
            return None
        return self._scopes.attribute(path, default, name)

    def _star_exports(self, path: str) -> dict[str, str]:
        """Return name → file that defines it, for all names that a file passes on by star imports, directly or not."""
        found = self._star_exports_of.get(path)
        if found is None:
            outer = self.table.asked.begin()
            known: dict[str, str] = {}
            seen, pending = {path}, [path]
            while pending:
                names = self.table.names[pending.pop()]
                if names.path != path:
                    for scope, name in (*names.children, *names.imports, *names.bindings):
                        if scope < 0:
                            known.setdefault(name, names.path)
                for imported in reversed(names.stars):
                    if imported.name == "*" and (imported.reexported or names.scoping.family == "python"):
                        target = self._module_file(names, imported)
                        if target is not None and target not in seen:
                            seen.add(target)
                            pending.append(target)
            found = self._star_exports_of[path] = known, self.table.asked.end(outer)
        self.table.asked.names.update(found[1])
        return found[0]


def _module(path: str) -> Resolution:
    return Resolution("module", FullName(path, ""), ((path, -1),), rule="import")
