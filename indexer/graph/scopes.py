"""Resolves names and chains of names where they are written, by the scopes around them."""

from collections.abc import Sequence
from dataclasses import replace

from codecards.indexer.facts import CONTAINER_KINDS, MEMBER_KINDS
from codecards.indexer.graph.builtins import builtins
from codecards.indexer.graph.heads import FullName
from codecards.indexer.graph.imports import ImportResolver
from codecards.indexer.graph.owners import OwnerAssignment
from codecards.indexer.graph.resolution import SHADOWED, Resolution, ResolutionCache
from codecards.indexer.graph.symbols import DefinitionRef, FileNames, SymbolTable, stem_of
from codecards.indexer.graph.types import TypeResolver


class ScopeResolver:
    """Resolves names in a repository and caches the results; holds the resolvers of types and imports."""

    def __init__(self, table: SymbolTable) -> None:
        """Create the resolvers."""
        self.table = table
        self.cache = ResolutionCache(table.asked)
        self.types = TypeResolver(table, self.cache, self)
        self.imports = ImportResolver(table, self.cache, self.types, self)

    def resolve_name(self, path: str, scope: int, name: str, line: int) -> Resolution | None:
        """Resolve a name without a receiver; None if no scope explains it.

        Args:
            path: The file.
            scope: Position of the definition around the name; -1 for module level.
            name: Without dots.
            line: Where the name is used; 0 for the end of the scope.
        """
        key = ("name", path, scope, name)
        return self.cache.cached(key, lambda: self._look_up(path, scope, name, line), line)

    def resolve_chain(self, path: str, scope: int, written: str, line: int) -> Resolution | None:
        """Resolve a dotted expression: "self.store", "pkg.mod", "Foo()"; arguments as in `resolve_name`."""
        key = ("chain", path, scope, written)
        return self.cache.cached(key, lambda: self._follow(path, scope, written, line), line)

    def attribute(self, path: str, receiver: Resolution, name: str) -> Resolution | None:
        """Resolve `receiver.name` for the file `path`."""
        kind = receiver.kind
        if kind == "external":
            return receiver
        if kind == "module":
            return self.imports.module_attribute(receiver, name)
        if kind == "dotted":
            return self.imports.python_module(path, f"{receiver.full.name}.{name}")
        if kind == "package":
            return self.imports.package_member(receiver.full, name)
        if kind in ("type", "instance", "super"):
            found = self.types.member(receiver, name)
            if found is None and kind == "type":
                package = FullName(receiver.full.scope, receiver.full.name + ".")
                if package in self.table.packages:
                    return self.imports.package_member(package, name)
            return found
        return self._value_attribute(path, receiver, name) if kind in ("callable", "value") else None

    def _value_attribute(self, path: str, receiver: Resolution, name: str) -> Resolution | None:
        """Resolve an attribute of a function or value: what is defined inside it, else a member of its type."""
        if receiver.full.name:
            full = FullName(receiver.full.scope, f"{receiver.full.name}.{name}")
            refs = self.table.at(full)
            positions = [position for _, position in receiver.refs]
            is_local = receiver.kind == "callable" and refs and self.table.definition(refs[0]).parent in positions
            if refs and not is_local:
                return self.types.resolution_of(tuple(refs), full, is_sure=receiver.is_sure, rule="member")
        value_type = self.types.value_type(receiver)
        if value_type is None or value_type.kind in ("callable", "value"):
            return None
        return self.attribute(path, value_type, name)

    # a name and the scopes around it

    def _look_up(self, path: str, scope: int, name: str, line: int) -> Resolution | None:
        names = self.table.names[path]
        definitions, scoping = names.facts.definitions, names.scoping
        at = scope
        while at >= 0:
            one = definitions[at]
            if one.kind in CONTAINER_KINDS:
                found = self._in_type(names, at, name, is_here=at == scope)
            else:
                found = self._in_function(names, at, name, line if at == scope else 0)
                if found is None and scoping.implicit_self and one.kind in MEMBER_KINDS and _is_outside(names, at):
                    found = self._in_owner(path, at, name)
            if found is not None:
                return found
            at = one.parent
        if scope < 0:
            return self._at_top(names, name) or self._from_neighbours(names, name)
        found = self.resolve_name(path, -1, name, 0)
        return found if found is not None else self._through_stars(names, name, scope)

    def _in_type(self, names: FileNames, at: int, name: str, *, is_here: bool) -> Resolution | None:
        """Resolve a name in a type or namespace.

        Args:
            names: The file.
            at: Position of the type or namespace.
            name: The name.
            is_here: Whether the name is used directly in its body.
        """
        one = names.facts.definitions[at]
        if one.kind in ("namespace", "module"):
            full = FullName(names.scope, f"{names.prefix}{one.qualified_name}.{name}")
            shared = self._shared_name(names, full, "scope")
            if shared is not None:
                return shared
        elif names.scoping.implicit_self:
            owner = self.types.type_around(names.path, at) or names.full(at)
            found = self.types.member(Resolution("type", owner), name)
            if found is not None and found.kind != "external":
                return self._implicit_member(found)
        elif is_here and names.scoping.family == "python" and (inner := names.children.get((at, name))):
            return self._own(names, inner, "scope")
        return self._imported(names, at, name)

    def _implicit_member(self, found: Resolution) -> Resolution:
        """Resolve a bare name that is a member of the type around it; the name of a constructor refers to the type."""
        if found.refs and self.table.definition(found.refs[0]).kind == "constructor":
            owner = FullName(found.full.scope, found.full.name.rpartition(".")[0])
            return Resolution("type", owner, tuple(self.table.types_at(owner)), found.is_sure, "scope")
        return replace(found, rule="implicit-self")

    def _in_function(self, names: FileNames, at: int, name: str, line: int) -> Resolution | None:
        """Resolve a name in a function: its inner definitions, imports, bindings and parameters."""
        definitions = names.facts.definitions
        qualified_name = f"{definitions[at].qualified_name}.{name}"
        inner = [p for p in names.children.get((at, name), ()) if definitions[p].qualified_name == qualified_name]
        if inner:
            return self._own(names, inner, "scope")
        found = self._imported(names, at, name)
        if found is not None:
            return found
        bindings = names.bindings.get((at, name))
        if bindings:
            return self.types.binding_type(names.path, bindings, line) or SHADOWED
        if name in self.types.parameters((names.path, at)).names:
            return SHADOWED
        return None

    def _own(self, names: FileNames, positions: Sequence[int], rule: str) -> Resolution:
        """Return the resolution of definitions of the file itself."""
        refs = tuple((names.path, position) for position in positions)
        return self.types.resolution_of(refs, names.full(positions[0]), rule=rule)

    def _imported(self, names: FileNames, scope: int, name: str) -> Resolution | None:
        """Resolve a name that an import of a scope binds; None if there is no such import."""
        imports = names.imports.get((scope, name))
        return (self.imports.imported(names.path, imports[0]) or SHADOWED) if imports else None

    def _in_owner(self, path: str, at: int, name: str) -> Resolution | None:
        """Resolve a name in a method written outside its type: a member of the type or of a namespace around it."""
        owner = self.types.type_around(path, at)
        if owner is None:
            return None
        found = self.types.member(Resolution("type", owner), name)
        if found is not None and found.kind != "external":
            return self._implicit_member(found)
        around = owner.name
        while around := around.rpartition(".")[0]:
            full = FullName(owner.scope, f"{around}.{name}")
            if refs := self.table.at(full):
                return self.types.resolution_of(tuple(refs), full, rule="scope")
        return None

    def _at_top(self, names: FileNames, name: str) -> Resolution | None:
        """Resolve a name at module level: definitions, imports and bindings of the file."""
        definitions = names.facts.definitions
        own = [p for p in names.children.get((-1, name), ()) if definitions[p].qualified_name == name]
        if own:
            return self._own(names, own, "same-file")
        found = self._imported(names, -1, name)
        if found is not None:
            return found
        bindings = names.bindings.get((-1, name))
        return (self.types.binding_type(names.path, bindings, 0) or SHADOWED) if bindings else None

    # names that other files provide without an import that names them

    def _from_neighbours(self, names: FileNames, name: str) -> Resolution | None:
        """Resolve a name through the file's package, star imports and includes."""
        prefix = names.prefix
        while names.scoping.reach != "file":
            full = FullName(names.scope, prefix + name)
            found = self._shared_name(names, full, "package")
            if found is not None:
                return found
            if FullName(names.scope, full.name + ".") in self.table.packages:
                return Resolution("package", FullName(names.scope, full.name + "."), rule="package")
            if not prefix or not names.scoping.outer_packages:
                break
            prefix = "".join(part + "." for part in prefix.split(".")[:-2])
        found = self._through_stars(names, name, -1)
        if found is not None:
            return found
        if names.scoping.reach == "all" and FullName(names.scope, name + ".") in self.table.packages:
            return Resolution("package", FullName(names.scope, name + "."), rule="package")
        if names.facts.language == "go":
            return self._go_package_named(names, name)
        if names.facts.language == "rust" and (crate := self.table.modules.crate_named(name)) is not None:
            return Resolution("package", FullName(f"rust:{crate}", ""), rule="crate")
        return None

    def _shared_name(self, names: FileNames, full: FullName, rule: str) -> Resolution | None:
        """Resolve a name that all files of a scope share; a C file sees only what it includes."""
        refs = self.table.at(full)
        if not refs:
            return None
        if names.scoping.family != "c":
            return self.types.resolution_of(tuple(refs), full, rule=rule)
        included = self.table.files_included(names.path)
        # A macro may hide the prototype; an included header of the definition's name is evidence enough.
        stems = self.table.stems_included(names.path)
        is_seen = any(ref[0] in included or stem_of(ref[0]) in stems for ref in refs)
        definitions = [(ref, self.table.definition(ref)) for ref in refs]
        visible = tuple(
            ref
            for ref, one in definitions
            if ref[0] in included or (one.kind != "macro" and (one.exported or one.kind != "function"))
        )
        if not visible or (not is_seen and full.name in builtins().c_library):
            return None
        return self.types.resolution_of(visible, full, is_sure=is_seen, rule=rule if is_seen else "only-name")

    def _through_stars(self, names: FileNames, name: str, scope: int) -> Resolution | None:
        """Resolve a name through the star imports of the file (scope -1) or of the definitions around a scope."""
        for imported in names.stars:
            if imported.scope < 0 if scope < 0 else imported.scope >= 0 and _encloses(names, imported.scope, scope):
                found = self.imports.through_star(names, imported, name)
                if found is not None:
                    return replace(found, rule="star-import")
        return None

    def _go_package_named(self, names: FileNames, name: str) -> Resolution | None:
        """Return the imported Go package that declares this name although its import path ends differently."""
        for imported in names.all_imports:
            unit = self.table.modules.go_import(imported.module)
            if unit is not None and unit.rpartition("#")[2] == name:
                return Resolution("package", FullName(unit, ""), rule="import")
        return None

    # chains

    def _follow(self, path: str, scope: int, written: str, line: int) -> Resolution | None:
        head, *steps = written.split(".")
        found = self._head(path, scope, head, line, steps)
        for step in steps:
            if found is None or found.kind == "shadowed":
                return None
            name = step.removesuffix("()")
            receiver, found = found, self.attribute(path, found, name)
            if found is None and name == "new" and receiver.kind == "type":  # Ruby's constructor
                found = receiver
            if step.endswith("()"):
                found = self.types.call_result(path, found)
        return found

    def _head(self, path: str, scope: int, head: str, line: int, steps: list[str]) -> Resolution | None:
        """Resolve the first name of a chain; of a Rust path, `super` is removed from `steps`."""
        names = self.table.names[path]
        if names.facts.language == "rust" and head in ("crate", "super", "self"):
            owner = self.types.type_around(path, scope) if head == "self" else None
            if owner is not None:
                return Resolution("instance", owner, rule="self")
            return self.imports.rust_root(names, scope, head, steps)
        if head in ("self", "super", "Self"):
            owner = self.types.type_around(path, scope)
            if owner is None:
                return None
            return Resolution({"self": "instance", "super": "super"}.get(head, "type"), owner, rule=head.lower())
        name = head.removesuffix("()")
        found: Resolution | None
        if name in names.scoping.instances and (owner := self.types.type_around(path, scope)) is not None:
            found = Resolution("type", owner, rule="self")
        else:
            found = self.resolve_name(path, scope, name, line)
        if found is None:
            found = self._external_head(names, name)
        return self.types.call_result(path, found) if head.endswith("()") else found

    def _external_head(self, names: FileNames, name: str) -> Resolution | None:
        """Return an external resolution if an unexplained first name can only come from outside the repository."""
        if name in builtins().external_roots:
            return Resolution("external", rule="builtin")
        is_rust_crate = names.facts.language == "rust" and name.islower()
        if is_rust_crate or (names.scoping.reach in ("all", "crate") and name[:1].isupper()):
            refs = self.table.by_name.get((names.scoping.family, name), ())
            if not any(self.table.definition(ref).kind in CONTAINER_KINDS for ref in refs):
                return Resolution("external", rule="outside")
        return None

    # members written outside their types

    def assignment(self, ref: DefinitionRef) -> OwnerAssignment | None:
        """Return the type that a file means by the owner of a member or impl block; None if it is the type of that name."""
        path, position = ref
        names = self.table.names[path]
        one = names.facts.definitions[position]
        owner_name = one.qualified_name if one.kind == "impl" else one.qualified_name.rpartition(".")[0]
        owner = FullName(names.scope, names.prefix + owner_name)
        if not owner_name or any(self.table.definition(other).kind != "impl" for other in self.table.types_at(owner)):
            return None
        parent = one.parent
        while parent >= 0 and names.facts.definitions[parent].kind == "impl":
            parent = names.facts.definitions[parent].parent
        short = owner_name.rpartition(".")[2] if parent >= 0 else owner_name
        key = ("owner", path, parent, short)
        found = self.cache.cached(key, lambda: self._owner_named(path, parent, short))
        if found is None or found.kind != "type" or found.full == owner:
            return None
        return OwnerAssignment(ref, owner, found.full, "" if one.kind == "impl" else one.name)

    def _owner_named(self, path: str, parent: int, name: str) -> Resolution | None:
        names = self.table.names[path]
        head = name.partition(".")[0]
        found: Resolution | None = None
        for imported in names.imports.get((parent, head), ()) or names.imports.get((-1, head), ()):
            found = self.imports.imported(path, imported)
        if found is None:
            found = self._from_neighbours(names, name)
        if found is None and parent >= 0:
            found = self._through_stars(names, name, parent)
        return found


def _is_outside(names: FileNames, at: int) -> bool:
    """Return whether a method is written outside its type."""
    parent = names.facts.definitions[at].parent
    return parent < 0 or names.facts.definitions[parent].kind in ("impl", "namespace", "module")


def _encloses(names: FileNames, outer: int, scope: int) -> bool:
    while scope >= 0 and scope != outer:
        scope = names.facts.definitions[scope].parent
    return scope == outer
