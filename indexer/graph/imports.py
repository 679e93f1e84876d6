"""Module meanings: what imports bring in, and what modules and packages have under a name."""

from dataclasses import replace
from functools import cached_property

from codecards.indexer.facts import Import
from codecards.indexer.graph.resolution import EXTERNAL, Resolution
from codecards.indexer.graph.symbols import FileNames, FullName, SymbolTable
from codecards.indexer.graph.types import TypeMeanings


class ModuleMeanings(TypeMeanings):
    """Answers what imported names mean."""

    def __init__(self, table: SymbolTable) -> None:
        """Take what the repository defines."""
        super().__init__(table)
        self._passed_on: dict[str, dict[str, str]] = {}

    def imported(self, path: str, one: Import) -> Resolution | None:
        """Return what an import brings in; None where a relative one leads nowhere."""
        key = ("import", path, one.module, one.name, one.alias, one.level, one.scope)
        return self.once(key, lambda: self._import(path, one))

    def attribute(self, path: str, holder: Resolution, name: str) -> Resolution | None:
        """Return what `holder.name` means; `path` is the file that asks."""
        kind = holder.kind
        if kind == "external":
            return holder
        if kind == "module":
            return self.module_attribute(holder, name)
        if kind == "dotted":
            return self._submodule(path, f"{holder.full.name}.{name}") or None
        if kind == "package":
            return self._package_member(holder.full, name)
        if kind in ("type", "instance", "super"):
            found = self.member(holder, name)
            if (
                found is None
                and kind == "type"
                and (package := FullName(holder.full.space, holder.full.name + ".")) in self.table.packages
            ):
                found = self._package_member(package, name)
            return found
        if kind in ("callable", "value"):
            places = (
                self.table.at(FullName(holder.full.space, f"{holder.full.name}.{name}")) if holder.full.name else []
            )
            if places and not (
                kind == "callable" and self.table.definition(places[0]).parent in [p for _, p in holder.places]
            ):
                return self.meaning_of(tuple(places), holder.full, name, holder.is_sure, "member")
            settled = self.settle(path, holder)
            return (
                self.attribute(path, settled, name)
                if settled is not None and settled.kind not in ("callable", "value")
                else None
            )
        return None

    def _import(self, path: str, one: Import) -> Resolution | None:
        names = self.table.names[path]
        language, scoping = names.facts.language, names.scoping
        if scoping.family == "python":
            return self._python_import(path, one)
        if language == "go":
            unit = self.table.modules.go_import(one.module)
            return Resolution("package", FullName(unit, ""), rule="import") if unit is not None else EXTERNAL
        if scoping.space == "file":
            target = self._module_file(names, one)
            if target is None:
                return None if one.module.startswith(".") else EXTERNAL
            if one.name in ("", "*"):
                return Resolution("module", FullName(target, ""), ((target, -1),), rule="import")
            found = self._module_member(target, one.name)
            return replace(found, rule="import") if found is not None else None
        whole = ".".join(filter(None, (one.module, one.name)))
        found = self._rust_import(names, one, whole) if language == "rust" else self._by_full_name(names, whole)
        return replace(found, rule="import") if found is not None else EXTERNAL

    def _python_import(self, path: str, one: Import) -> Resolution | None:
        if not one.name:
            if one.alias == one.module and "." in one.module:
                return self._submodule(path, one.module.partition(".")[0], near=one.module) or EXTERNAL
            return self._submodule(path, one.module) or EXTERNAL
        target = self.table.modules.python(path, one.module, one.level)
        if target is not None:
            found = (
                self._module_member(target, one.name)
                if one.name != "*"
                else Resolution("module", FullName(target, ""), ((target, -1),))
            )
            return replace(found, rule="import") if found is not None else None
        if one.level:
            within = self.table.modules.python(path, f"{one.module}.{one.name}".lstrip("."), one.level)
            return Resolution("module", FullName(within, ""), ((within, -1),), rule="import") if within else None
        return self._submodule(path, f"{one.module}.{one.name}") or EXTERNAL

    def _submodule(self, path: str, dotted: str, near: str = "") -> Resolution | None:
        """Return a Python module by its dotted name, or the package on the way to one."""
        target = self.table.modules.python(path, dotted, 0)
        if target is not None:
            return Resolution("module", FullName(target, ""), ((target, -1),), rule="import")
        if self.table.modules.is_python_package(dotted):
            return Resolution("dotted", FullName("", dotted), rule="import")
        return None

    def _by_full_name(self, names: FileNames, whole: str) -> Resolution | None:
        """Return what a full name, as imports write it, means."""
        for prefix in ("", names.prefix) if names.scoping.outer_packages else ("",):
            full = FullName(names.space, prefix + whole)
            if places := self.table.at(full):
                return self.meaning_of(tuple(places), full, "", True, "import")
            if FullName(names.space, full.name + ".") in self.table.packages:
                return Resolution("package", FullName(names.space, full.name + "."), rule="import")
            head, _, last = full.name.rpartition(".")
            if head and self.table.types_at(FullName(names.space, head)):
                return self.member(Resolution("type", FullName(names.space, head), rule="import"), last)
        return None

    def _rust_import(self, names: FileNames, one: Import, whole: str) -> Resolution | None:
        head, *steps = whole.split(".")
        scope = one.scope
        found: Resolution | None
        if head in ("crate", "self", "super"):
            found = self.rust_root(names, scope, head, steps)
        else:
            found = self._package_member(self.rust_root(names, scope, "self", []).full, head, imports=False)
            if found is None:
                crate = self.table.modules.crate_named(head)
                found = (
                    Resolution("package", FullName(f"rust:{crate}", ""), rule="import") if crate is not None else None
                )
            if found is None and steps:
                found = self._own_library(names, head)
            if found is None and (head != one.alias or steps):
                brought = names.imports.get((-1, head), ())
                found = next((self.imported(names.path, other) for other in brought if other is not one), None)
        for step in steps:
            if found is None:
                return None
            if step == "self":
                continue
            found = self.attribute(names.path, found, step)
        return found

    def rust_root(self, names: FileNames, scope: int, head: str, steps: list[str]) -> Resolution:
        """Return the module that `crate`, `self` or `super` means; takes further `super` off the steps."""
        if head == "crate":
            return Resolution("package", FullName(names.space, ""), rule="path")
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
        return Resolution("package", FullName(names.space, "".join(part + "." for part in inside)), rule="path")

    def _own_library(self, names: FileNames, head: str) -> Resolution | None:
        """Return the library of a Rust package whose name no file tells, for its programs and tests.

        It is taken for that if all that they import under the name is there; sure from the second import on.
        """
        library = self.table.modules.library_of(names.path)
        if library is None:
            return None
        asked = self._asked_of_libraries.get((library, head), frozenset())
        return self.once(("library", library, head), lambda: self._library_with(library, asked))

    def _library_with(self, library: str, asked: frozenset[str]) -> Resolution | None:
        root = FullName(f"rust:{library}", "")
        if not asked or not all(self._has(root, inside.removesuffix(".*")) for inside in asked):
            return None
        return Resolution("package", root, is_sure=len(asked) > 1, rule="import")

    @cached_property
    def _asked_of_libraries(self) -> dict[tuple[str, str], frozenset[str]]:
        """(library, first name of paths) -> what the package's files import under that name."""
        found: dict[tuple[str, str], set[str]] = {}
        for path, names in self.table.names.items():
            if names.facts.language == "rust" and (library := self.table.modules.library_of(path)) is not None:
                for one in names.facts.imports:
                    head, _, inside = ".".join(filter(None, (one.module, one.name))).partition(".")
                    if inside not in ("", "*"):
                        found.setdefault((library, head), set()).add(inside)
        return {key: frozenset(insides) for key, insides in found.items()}

    def _has(self, package: FullName, inside: str) -> bool:
        found: Resolution | None = Resolution("package", package)
        for step in inside.split("."):
            found = self.attribute("", found, step) if found is not None and step != "self" else found
        return found is not None

    def _package_member(self, package: FullName, name: str, *, imports: bool = True) -> Resolution | None:
        """Return what a package has under a name; `package.name` is "" or ends with a dot."""
        full = FullName(package.space, package.name + name)
        if places := self.table.at(full):
            return self.meaning_of(tuple(places), full, "", True, "import")
        inner = FullName(full.space, full.name + ".")
        if inner in self.table.packages:
            return Resolution("package", inner, rule="import")
        if not imports or not package.space.startswith("rust:"):
            return None
        for path in self.table.files_of_package.get(package, ()):
            names = self.table.names[path]
            for brought in names.imports.get((-1, name), ()):
                found = self.imported(path, brought)
                if found is not None and found.kind != "external":
                    return found
            for brought in names.stars:
                if brought.reexported and (found := self._star_once(names, brought, name)) is not None:
                    return found
        return None

    def _star_once(self, names: FileNames, one: Import, name: str) -> Resolution | None:
        key = ("star", names.path, one.module, one.scope, name)
        return self.once(key, lambda: self.through_star(names, one, name))

    def through_star(self, names: FileNames, one: Import, name: str) -> Resolution | None:
        """Return what a star import, an include or a used namespace brings in under a name."""
        if names.scoping.space == "file":
            target = self._module_file(names, one)
            if one.name != "*" or target is None or (names.scoping.family == "python" and name.startswith("_")):
                return None
            return self._module_member(target, name)
        whole = self._import(names.path, replace(one, name="") if one.name == "*" else one)
        if whole is None or whole.kind not in ("package", "type"):
            return None
        found = self.attribute(names.path, whole, name)
        return found if found is not None and found.kind != "external" else None

    def _module_file(self, names: FileNames, one: Import) -> str | None:
        if names.scoping.family == "python":
            return self.table.modules.python(names.path, one.module, one.level)
        return self.table.modules.file_of(names.path, one.module)

    def module_attribute(self, module: Resolution, name: str) -> Resolution | None:
        """Return what a file that is a module has under a name."""
        found = self._module_member(module.full.space, name)
        return replace(found, rule="module", is_sure=found.is_sure and module.is_sure) if found is not None else None

    def _module_member(self, path: str, name: str) -> Resolution | None:
        """Return what importers of a file get under a name, followed through re-exports, each file asked once."""
        return self.once(("module", path, name), lambda: self._search_modules(path, name))

    def _search_modules(self, path: str, name: str) -> Resolution | None:
        pending, seen = [(path, name)], dict[tuple[str, str], None]()
        while pending:
            one = pending.pop()
            if one in seen:
                continue
            seen[one] = None
            found = self._own_of_module(*one)
            if found is not None:
                return found
            pending += reversed(self._passed_to(*one))
        return next(filter(None, (self._last_resort(*one) for one in seen)), None)

    def _own_of_module(self, path: str, name: str) -> Resolution | None:
        """Return what one file itself has under a name; modules that it imports as a whole are its own too."""
        names = self.table.names[path]
        for export in names.facts.exports:
            if export.name == name and export.local != name:
                found = self.chain(path, -1, export.local, 0)
                if found is not None:
                    return found
        own = [p for p in names.children.get((-1, name), ()) if names.facts.definitions[p].qualified_name == name]
        if own:
            return self.meaning_of(tuple((path, p) for p in own), names.full(own[0]), "", True, "same-file")
        for brought in names.imports.get((-1, name), ()):
            if brought.name in ("", "*") or self._module_file(names, brought) is None:
                whole = self.imported(path, brought)
                if whole is not None:
                    return whole
        bindings = names.bindings.get((-1, name))
        return self.bound(path, bindings, 0) if bindings else None

    def _passed_to(self, path: str, name: str) -> list[tuple[str, str]]:
        """Return the (file, name) pairs under which other files have what this one passes on."""
        names = self.table.names[path]
        found = [
            (target, brought.name)
            for brought in names.imports.get((-1, name), ())
            if brought.name not in ("", "*") and (target := self._module_file(names, brought)) is not None
        ]
        hidden = names.scoping.family == "python" and name.startswith("_")
        if not found and not hidden and (target := self._starred(path).get(name)) is not None:
            found.append((target, name))
        return found

    def _last_resort(self, path: str, name: str) -> Resolution | None:
        """Return a module inside a Python package, or a member of what a CommonJS file exports as a whole."""
        facts = self.table.files[path]
        if self.table.names[path].scoping.family == "python":
            inside = self.table.modules.python_inside(path, name)
            return Resolution("module", FullName(inside, ""), ((inside, -1),), rule="import") if inside else None
        if name == "default" or not any(export.name == "default" for export in facts.exports):
            return None
        default = self._module_member(path, "default")
        if default is None or default.kind not in ("value", "type", "callable"):
            return None
        return self.attribute(path, default, name)

    def _starred(self, path: str) -> dict[str, str]:
        """Return name -> file that has it, for all that a file passes on by star imports, directly or not."""
        known = self._passed_on.get(path)
        if known is None:
            known = self._passed_on[path] = {}
            seen, pending = {path}, [path]
            while pending:
                names = self.table.names[pending.pop()]
                if names.path != path:
                    for scope, name in (*names.children, *names.imports, *names.bindings):
                        if scope < 0:
                            known.setdefault(name, names.path)
                for brought in reversed(names.stars):
                    if brought.name == "*" and (brought.reexported or names.scoping.family == "python"):
                        target = self._module_file(names, brought)
                        if target is not None and target not in seen:
                            seen.add(target)
                            pending.append(target)
        return known
