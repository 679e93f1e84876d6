"""Name meanings: what a name or a chain of names stands for at the place where it is written."""

from dataclasses import replace

from codecards.indexer.facts import CONTAINER_KINDS, MEMBER_KINDS
from codecards.indexer.graph.builtins import C_LIBRARY, OUTSIDE_ROOTS
from codecards.indexer.graph.imports import ModuleMeanings
from codecards.indexer.graph.resolution import SHADOWED, Resolution
from codecards.indexer.graph.symbols import (
    DefinitionRef,
    FileNames,
    FullName,
    SymbolTable,
    stem_of,
)


class NameMeanings(ModuleMeanings):
    """Answers what names mean in a repository. Remembers its answers."""

    def __init__(self, table: SymbolTable) -> None:
        """Take the table and find the types of the members that are written outside them."""
        super().__init__(table)
        for place in table.unowned:
            self._adopt(place)

    def bare(self, path: str, scope: int, name: str, line: int) -> Resolution | None:
        """Return what a name without receiver means; None if no scope explains it."""
        key = ("bare", path, scope, name)
        return self.once(key, lambda: self._look_up(path, scope, name, line), line)

    def chain(self, path: str, scope: int, written: str, line: int) -> Resolution | None:
        """Return what a receiver means: "self.store", "pkg.mod", "Foo()"."""
        return self.once(("chain", path, scope, written), lambda: self._follow(path, scope, written, line), line)

    def _look_up(self, path: str, scope: int, name: str, line: int) -> Resolution | None:
        names = self.table.names[path]
        definitions, scoping = names.facts.definitions, names.scoping
        at = scope
        while at >= 0:
            one = definitions[at]
            if one.kind in CONTAINER_KINDS:
                found = self._in_holder(names, at, name, is_here=at == scope)
            else:
                found = self._in_function(names, at, name, line if at == scope else 0)
                if found is None and scoping.implicit_self and one.kind in MEMBER_KINDS and self._is_outside(names, at):
                    found = self._in_owner(path, at, name)
            if found is not None:
                return found
            at = one.parent
        if scope < 0:
            return self._at_top(names, name) or self._from_neighbours(names, name)
        found = self.bare(path, -1, name, 0)
        return found if found is not None else self._through_stars(names, name, scope)

    def _in_holder(self, names: FileNames, at: int, name: str, *, is_here: bool) -> Resolution | None:
        """Return what a type or namespace around a place says about a name."""
        one = names.facts.definitions[at]
        if one.kind in ("namespace", "module"):
            full = FullName(names.space, f"{names.prefix}{one.qualified_name}.{name}")
            shared = self._shared_name(names, full, "scope")
            if shared is not None:
                return shared
        elif names.scoping.implicit_self:
            found = self.member(Resolution("type", self.type_around(names.path, at) or names.full(at)), name)
            if found is not None and found.kind != "external":
                return self._implicit(found)
        elif is_here and names.scoping.family == "python" and (inner := names.children.get((at, name))):
            return self.meaning_of(
                tuple((names.path, position) for position in inner), names.full(inner[0]), "", True, "scope"
            )
        for brought in names.imports.get((at, name), ()):
            return self.imported(names.path, brought) or SHADOWED
        return None

    def _implicit(self, found: Resolution) -> Resolution:
        """Return what a bare name means that is a member of the type around; a constructor's name is its type's."""
        if found.places and self.table.definition(found.places[0]).kind == "constructor":
            owner = FullName(found.full.space, found.full.name.rpartition(".")[0])
            return Resolution("type", owner, tuple(self.table.types_at(owner)), found.is_sure, "scope")
        return replace(found, rule="implicit-self")

    def _in_function(self, names: FileNames, at: int, name: str, line: int) -> Resolution | None:
        """Return what a function around a place says about a name; line 0 stands for any."""
        one = names.facts.definitions[at]
        inner = [
            p
            for p in names.children.get((at, name), ())
            if names.facts.definitions[p].qualified_name == f"{one.qualified_name}.{name}"
        ]
        if inner:
            return self.meaning_of(tuple((names.path, p) for p in inner), names.full(inner[0]), "", True, "scope")
        for brought in names.imports.get((at, name), ()):
            return self.imported(names.path, brought) or SHADOWED
        bound = names.bindings.get((at, name))
        if bound:
            return self.bound(names.path, bound, line) or SHADOWED
        if name in self.parameters((names.path, at)).names:
            return SHADOWED
        return None

    def _is_outside(self, names: FileNames, at: int) -> bool:
        parent = names.facts.definitions[at].parent
        return parent < 0 or names.facts.definitions[parent].kind in ("impl", "namespace", "module")

    def _in_owner(self, path: str, at: int, name: str) -> Resolution | None:
        """Return the member of the type that a method written outside it belongs to, or of a namespace around that."""
        owner = self.type_around(path, at)
        if owner is None:
            return None
        found = self.member(Resolution("type", owner), name)
        if found is not None and found.kind != "external":
            return self._implicit(found)
        around = owner.name
        while around := around.rpartition(".")[0]:
            full = FullName(owner.space, f"{around}.{name}")
            if places := self.table.at(full):
                return self.meaning_of(tuple(places), full, "", True, "scope")
        return None

    def _at_top(self, names: FileNames, name: str) -> Resolution | None:
        """Return what a file says about a name outside its definitions."""
        definitions = names.facts.definitions
        own = [p for p in names.children.get((-1, name), ()) if definitions[p].qualified_name == name]
        if own:
            return self.meaning_of(tuple((names.path, p) for p in own), names.full(own[0]), "", True, "same-file")
        for brought in names.imports.get((-1, name), ()):
            return self.imported(names.path, brought) or SHADOWED
        bound = names.bindings.get((-1, name))
        return (self.bound(names.path, bound, 0) or SHADOWED) if bound else None

    def _from_neighbours(self, names: FileNames, name: str) -> Resolution | None:
        """Return what a file reaches without naming where it is: its package, star imports, includes."""
        prefix = names.prefix
        while names.scoping.space != "file":
            full = FullName(names.space, prefix + name)
            found = self._shared_name(names, full, "package")
            if found is not None:
                return found
            if FullName(names.space, full.name + ".") in self.table.packages:
                return Resolution("package", FullName(names.space, full.name + "."), rule="package")
            if not prefix or not names.scoping.outer_packages:
                break
            prefix = "".join(part + "." for part in prefix.split(".")[:-2])
        found = self._through_stars(names, name, -1)
        if found is not None:
            return found
        if names.scoping.space == "all" and FullName(names.space, name + ".") in self.table.packages:
            return Resolution("package", FullName(names.space, name + "."), rule="package")
        if names.facts.language == "go":
            return self._go_package_named(names, name)
        if names.facts.language == "rust" and (crate := self.table.modules.crate_named(name)) is not None:
            return Resolution("package", FullName(f"rust:{crate}", ""), rule="crate")
        return None

    def _shared_name(self, names: FileNames, full: FullName, rule: str) -> Resolution | None:
        """Return what a name means that all files of a space share; in C a file sees only what it includes."""
        places = self.table.at(full)
        if not places:
            return None
        if names.scoping.family != "c":
            return self.meaning_of(tuple(places), full, "", True, rule)
        included = self.table.files_included(names.path)
        # A prototype may hide behind a macro; that its header is included says enough.
        stems = self.table.stems_included(names.path)
        is_seen = any(place[0] in included or stem_of(place[0]) in stems for place in places)
        definitions = [(place, self.table.definition(place)) for place in places]
        kept = tuple(
            place
            for place, one in definitions
            if place[0] in included or (one.kind != "macro" and (one.exported or one.kind != "function"))
        )
        if not kept or (not is_seen and full.name in C_LIBRARY):
            return None
        return self.meaning_of(kept, full, "", is_seen, rule if is_seen else "only-name")

    def _holds(self, names: FileNames, outer: int, scope: int) -> bool:
        while scope >= 0 and scope != outer:
            scope = names.facts.definitions[scope].parent
        return scope == outer

    def _through_stars(self, names: FileNames, name: str, scope: int) -> Resolution | None:
        """Return what the star imports of the file (scope -1), or of the definitions around a scope, bring in."""
        for brought in names.stars:
            if brought.scope < 0 if scope < 0 else brought.scope >= 0 and self._holds(names, brought.scope, scope):
                found = self.through_star(names, brought, name)
                if found is not None:
                    return replace(found, rule="star-import")
        return None

    def _go_package_named(self, names: FileNames, name: str) -> Resolution | None:
        """Return the imported Go package that calls itself so, where the path ends otherwise."""
        for brought in names.facts.imports:
            unit = self.table.modules.go_import(brought.module)
            if unit is not None and unit.rpartition("#")[2] == name:
                return Resolution("package", FullName(unit, ""), rule="import")
        return None

    def _follow(self, path: str, scope: int, written: str, line: int) -> Resolution | None:
        head, *steps = written.split(".")
        found = self._head(path, scope, head, line, steps)
        for step in steps:
            if found is None or found.kind == "hidden":
                return None
            name = step.removesuffix("()")
            holder, found = found, self.attribute(path, found, name)
            if found is None and name == "new" and holder.kind == "type":  # Ruby's constructor
                found = holder
            if step.endswith("()"):
                found = self.called(path, found)
        return found

    def _head(self, path: str, scope: int, head: str, line: int, steps: list[str]) -> Resolution | None:
        names = self.table.names[path]
        if names.facts.language == "rust" and head in ("crate", "super", "self"):
            owner = self.type_around(path, scope) if head == "self" else None
            return (
                Resolution("instance", owner, rule="self")
                if owner is not None
                else self.rust_root(names, scope, head, steps)
            )
        if head in ("self", "super", "Self"):
            owner = self.type_around(path, scope)
            if owner is None:
                return None
            return Resolution({"self": "instance", "super": "super"}.get(head, "type"), owner, rule=head.lower())
        name = head.removesuffix("()")
        found: Resolution | None
        if name in names.scoping.instances and (owner := self.type_around(path, scope)) is not None:
            found = Resolution("type", owner, rule="self")
        else:
            found = self.bare(path, scope, name, line)
        if found is None:
            found = self._unexplained(names, name)
        return self.called(path, found) if head.endswith("()") else found

    def _unexplained(self, names: FileNames, name: str) -> Resolution | None:
        """Return what the first name of a chain means that no scope explains."""
        if name in OUTSIDE_ROOTS:
            return Resolution("external", rule="builtin")
        if (names.scoping.space in ("all", "crate") and name[:1].isupper()) or (
            names.facts.language == "rust" and name.islower()
        ):
            family = names.scoping.family
            if not any(
                self.table.definition(one).kind in CONTAINER_KINDS for one in self.table.by_name.get((family, name), ())
            ):
                return Resolution("external", rule="outside")
        return None

    def _adopt(self, place: DefinitionRef) -> None:
        """Give a member (or impl block) that is written outside its type to the type that its file means."""
        path, position = place
        names = self.table.names[path]
        one = names.facts.definitions[position]
        owner_name = one.qualified_name if one.kind == "impl" else one.qualified_name.rpartition(".")[0]
        owner = FullName(names.space, names.prefix + owner_name)
        if not owner_name or any(self.table.definition(other).kind != "impl" for other in self.table.types_at(owner)):
            return
        parent = one.parent
        while parent >= 0 and names.facts.definitions[parent].kind == "impl":
            parent = names.facts.definitions[parent].parent
        short = owner_name.rpartition(".")[2] if parent >= 0 else owner_name
        found = self.once(
            ("adopt", path, parent, short), lambda: self._owner_named(path, parent, short, one.first_line)
        )
        if found is None or found.kind != "type" or found.full == owner:
            return
        self.other_names[owner] = found.full
        own = found.full.name if one.kind == "impl" else f"{found.full.name}.{one.name}"
        self.table.spaces[found.full.space].setdefault(own, []).append(place)

    def _owner_named(self, path: str, parent: int, name: str, line: int) -> Resolution | None:
        names = self.table.names[path]
        found: Resolution | None = None
        for brought in names.imports.get((parent, name.partition(".")[0]), ()) or names.imports.get(
            (-1, name.partition(".")[0]), ()
        ):
            found = self.imported(path, brought)
        if found is None:
            found = self._from_neighbours(names, name) or (
                self._through_stars(names, name, parent) if parent >= 0 else None
            )
        return found
