"""Name meanings: what a name or a chain of names stands for at the place where it is written.

**Invariant:** what a question gives does not depend on the questions asked before: a file resolved alone has the same
edges as in a whole run. So an answer that a cycle cut short is never remembered, except by the question that began it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from codecards.indexer.common_names import OUTSIDE_ROOTS
from codecards.indexer.facts import Binding, Import
from codecards.indexer.parameters import Parameters, read_parameters
from codecards.indexer.symbol_table import (
    CALLED_KINDS,
    HOLDER_KINDS,
    MEMBER_KINDS,
    FileNames,
    FullName,
    Place,
    SymbolTable,
)

MAX_DEPTH = 40
"""Steps from one binding, base or import to the next before an answer is given up."""
_UNCUT = 1_000_000
_VALUE_KINDS = frozenset({"variable", "constant", "field", "property"})
_NOWHERE = FullName("", "")
_OWN = frozenset({"Self", "self", "static", "this", "$this", "typing.Self", "cls"})


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a name stands for.

    `kind` is one of "type", "instance" (a value of the type), "super" (the bases of the type), "callable", "value" (a
    variable or member), "module" (a file), "package", "dotted" (a Python package on the way to a module), "external",
    and "hidden" (a parameter or local about which nothing is known, which hides what is outside).
    """

    kind: str
    full: FullName = _NOWHERE
    places: tuple[Place, ...] = ()
    is_sure: bool = True
    rule: str = ""

    def unsure(self) -> "Meaning":
        """Return the same with one step that rests on a convention."""
        return replace(self, is_sure=False)


EXTERNAL: Final = Meaning("external", rule="import")
HIDDEN: Final = Meaning("hidden")
OUTSIDE_BASE: Final = Meaning("external", rule="outside-base")
_type_order = (
    "class",
    "struct",
    "interface",
    "trait",
    "enum",
    "record",
    "object",
    "type",
    "namespace",
    "module",
    "impl",
)


class NameMeanings:
    """Answers what names mean in a repository. Remembers its answers."""

    def __init__(self, table: SymbolTable) -> None:
        """Take the table and find the types of the members that are written outside them."""
        self.table = table
        self._known: dict[tuple[object, ...], Meaning | None] = {}
        self._running: dict[tuple[object, ...], int] = {}
        self._cut = _UNCUT
        self._by_line = False
        self._lines: dict[FullName, tuple[tuple[FullName, ...], bool]] = {}
        self._parameters: dict[Place, Parameters] = {}
        self._passed_on: dict[str, dict[str, str]] = {}
        self._other_names: dict[FullName, FullName] = {}
        for place in table.unowned:
            self._adopt(place)

    # entry points

    def bare(self, path: str, scope: int, name: str, line: int) -> Meaning | None:
        """Return what a name without receiver means; None if no scope explains it."""
        key = ("bare", path, scope, name)
        return self._once(key, lambda: self._look_up(path, scope, name, line), line)

    def chain(self, path: str, scope: int, written: str, line: int) -> Meaning | None:
        """Return what a receiver means: "self.store", "pkg.mod", "Foo()"."""
        return self._once(("chain", path, scope, written), lambda: self._follow(path, scope, written, line), line)

    def attribute(self, path: str, holder: Meaning, name: str) -> Meaning | None:
        """Return what `holder.name` means; `path` is the file that asks."""
        kind = holder.kind
        if kind == "external":
            return holder
        if kind == "module":
            return self._module_attribute(holder, name)
        if kind == "dotted":
            return self._submodule(path, f"{holder.full.name}.{name}") or None
        if kind == "package":
            return self._package_member(holder.full, name)
        if kind in ("type", "instance", "super"):
            found = self._member(holder, name)
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
                return self._of(tuple(places), holder.full, name, holder.is_sure, "member")
            settled = self.settle(path, holder)
            return (
                self.attribute(path, settled, name)
                if settled is not None and settled.kind not in ("callable", "value")
                else None
            )
        return None

    def settle(self, path: str, one: Meaning) -> Meaning | None:
        """Return what the value of a variable, field or property is."""
        if one.kind == "callable" and one.places and self.table.definition(one.places[0]).kind == "property":
            return self._result(path, one)
        if one.kind != "value":
            return one
        key = ("settle", one.full, one.places[:1])
        found = self._once(key, lambda: self._value_of(path, one))
        return found if found is None or one.is_sure else found.unsure()

    def called(self, path: str, one: Meaning | None) -> Meaning | None:
        """Return what a call of it gives: a new instance of a type, or a function's declared result."""
        settled = self.settle(path, one) if one is not None and one.kind == "value" else one
        if settled is None or settled.kind in ("hidden", "instance", "value"):
            return None
        if settled.kind == "external":
            return settled.unsure()
        if settled.kind == "type":
            return replace(settled, kind="instance")
        if settled.kind == "module":
            default = self._module_attribute(settled, "default")
            return self.called(path, default) if default is not None else None
        return self._result(path, settled) if settled.kind == "callable" else None

    def type_around(self, path: str, scope: int) -> FullName | None:
        """Return the type whose instance `self` is at a scope."""
        found = self.table.names[path].type_around(scope)
        return self._other_names.get(found, found) if found is not None else None

    def parameters(self, place: Place) -> Parameters:
        """Return what the head of a definition says about its arguments."""
        known = self._parameters.get(place)
        if known is None:
            one = self.table.definition(place)
            known = read_parameters(one.signature, one.name, self.table.files[place[0]].language)
            self._parameters[place] = known
        return known

    def imported(self, path: str, one: Import) -> Meaning | None:
        """Return what an import brings in; None where a relative one leads nowhere."""
        key = ("import", path, one.module, one.name, one.alias, one.level, one.scope)
        return self._once(key, lambda: self._import(path, one))

    def take_line_mark(self) -> bool:
        """Return whether an answer since the last call depended on the line, and forget it."""
        mark, self._by_line = self._by_line, False
        return mark

    # memory

    def _once(self, key: tuple[object, ...], compute: "Callable[[], Meaning | None]", line: int = 0) -> Meaning | None:
        """Return a remembered answer, or work it out; `line` tells apart questions about a name at several places."""
        if key in self._known:
            return self._known[key]
        depth = len(self._running)
        asked = (*key, line)
        if asked in self._running or depth > MAX_DEPTH:
            self._cut = min(self._cut, self._running.get(asked, -1))
            return None
        marked, self._by_line = self._by_line, False
        self._running[asked] = depth
        found = compute()
        del self._running[asked]
        if self._cut >= depth:
            self._cut = _UNCUT
            if not self._by_line:
                self._known[key] = found
        self._by_line = self._by_line or marked
        return found

    # bare names

    def _look_up(self, path: str, scope: int, name: str, line: int) -> Meaning | None:
        names = self.table.names[path]
        definitions, scoping = names.facts.definitions, names.scoping
        at = scope
        while at >= 0:
            one = definitions[at]
            if one.kind in HOLDER_KINDS:
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

    def _in_holder(self, names: FileNames, at: int, name: str, *, is_here: bool) -> Meaning | None:
        """Return what a type or namespace around a place says about a name."""
        one = names.facts.definitions[at]
        if one.kind in ("namespace", "module"):
            full = FullName(names.space, f"{names.prefix}{one.qualified_name}.{name}")
            if places := self.table.at(full):
                return self._of(tuple(places), full, "", True, "scope")
        elif names.scoping.implicit_self:
            found = self._member(Meaning("type", self.type_around(names.path, at) or names.full(at)), name)
            if found is not None and found.kind != "external":
                return self._implicit(found)
        elif is_here and names.scoping.family == "python" and (inner := names.children.get((at, name))):
            return self._of(
                tuple((names.path, position) for position in inner), names.full(inner[0]), "", True, "scope"
            )
        for brought in names.imports.get((at, name), ()):
            return self.imported(names.path, brought) or HIDDEN
        return None

    def _implicit(self, found: Meaning) -> Meaning:
        """Return what a bare name means that is a member of the type around; a constructor's name is its type's."""
        if found.places and self.table.definition(found.places[0]).kind == "constructor":
            owner = FullName(found.full.space, found.full.name.rpartition(".")[0])
            return Meaning("type", owner, tuple(self.table.types_at(owner)), found.is_sure, "scope")
        return replace(found, rule="implicit-self")

    def _in_function(self, names: FileNames, at: int, name: str, line: int) -> Meaning | None:
        """Return what a function around a place says about a name; line 0 stands for any."""
        one = names.facts.definitions[at]
        inner = [
            p
            for p in names.children.get((at, name), ())
            if names.facts.definitions[p].qualified_name == f"{one.qualified_name}.{name}"
        ]
        if inner:
            return self._of(tuple((names.path, p) for p in inner), names.full(inner[0]), "", True, "scope")
        for brought in names.imports.get((at, name), ()):
            return self.imported(names.path, brought) or HIDDEN
        bound = names.bindings.get((at, name))
        if bound:
            return self._bound(names.path, bound, line) or HIDDEN
        if name in self.parameters((names.path, at)).names:
            return HIDDEN
        return None

    def _is_outside(self, names: FileNames, at: int) -> bool:
        parent = names.facts.definitions[at].parent
        return parent < 0 or names.facts.definitions[parent].kind in ("impl", "namespace", "module")

    def _in_owner(self, path: str, at: int, name: str) -> Meaning | None:
        """Return the member of the type that a method written outside it belongs to, or of a namespace around that."""
        owner = self.type_around(path, at)
        if owner is None:
            return None
        found = self._member(Meaning("type", owner), name)
        if found is not None and found.kind != "external":
            return self._implicit(found)
        around = owner.name
        while around := around.rpartition(".")[0]:
            full = FullName(owner.space, f"{around}.{name}")
            if places := self.table.at(full):
                return self._of(tuple(places), full, "", True, "scope")
        return None

    def _at_top(self, names: FileNames, name: str) -> Meaning | None:
        """Return what a file says about a name outside its definitions."""
        definitions = names.facts.definitions
        own = [p for p in names.children.get((-1, name), ()) if definitions[p].qualified_name == name]
        if own:
            return self._of(tuple((names.path, p) for p in own), names.full(own[0]), "", True, "same-file")
        for brought in names.imports.get((-1, name), ()):
            return self.imported(names.path, brought) or HIDDEN
        bound = names.bindings.get((-1, name))
        return (self._bound(names.path, bound, 0) or HIDDEN) if bound else None

    def _from_neighbours(self, names: FileNames, name: str) -> Meaning | None:
        """Return what a file reaches without naming where it is: its package, star imports, includes."""
        prefix = names.prefix
        while names.scoping.space != "file":
            full = FullName(names.space, prefix + name)
            if places := [place for place in self.table.at(full) if not self._is_private(names, place)]:
                return self._of(tuple(places), full, "", True, "package")
            if (
                full.name + "." in (one.name for one in ())
                or FullName(names.space, full.name + ".") in self.table.packages
            ):
                return Meaning("package", FullName(names.space, full.name + "."), rule="package")
            if not prefix or not names.scoping.outer_packages:
                break
            prefix = "".join(part + "." for part in prefix.split(".")[:-2])
        found = self._through_stars(names, name, -1)
        if found is not None:
            return found
        if names.scoping.space == "all" and FullName(names.space, name + ".") in self.table.packages:
            return Meaning("package", FullName(names.space, name + "."), rule="package")
        if names.facts.language == "go":
            return self._go_package_named(names, name)
        if names.facts.language == "rust" and (crate := self.table.modules.crate_named(name)) is not None:
            return Meaning("package", FullName(f"rust:{crate}", ""), rule="crate")
        return None

    def _is_private(self, names: FileNames, place: Place) -> bool:
        """Return whether a C function is static in another file."""
        one = self.table.definition(place)
        return (
            names.scoping.family == "c"
            and place[0] != names.path
            and one.kind == "function"
            and not one.exported
            and not place[0].endswith((".h", ".hpp"))
        )

    def _holds(self, names: FileNames, outer: int, scope: int) -> bool:
        while scope >= 0 and scope != outer:
            scope = names.facts.definitions[scope].parent
        return scope == outer

    def _through_stars(self, names: FileNames, name: str, scope: int) -> Meaning | None:
        """Return what the star imports of the file (scope -1), or of the definitions around a scope, bring in."""
        for brought in names.stars:
            if brought.scope < 0 if scope < 0 else brought.scope >= 0 and self._holds(names, brought.scope, scope):
                found = self._through_star(names, brought, name)
                if found is not None:
                    return replace(found, rule="star-import")
        return None

    def _through_star(self, names: FileNames, one: Import, name: str) -> Meaning | None:
        if names.scoping.space == "file":
            target = self._module_file(names, one)
            if one.name != "*" or target is None or names.scoping.family == "python" and name.startswith("_"):
                return None
            return self._module_member(target, name)
        whole = self._import(names.path, replace(one, name="") if one.name == "*" else one)
        if whole is None or whole.kind not in ("package", "type"):
            return None
        found = self.attribute(names.path, whole, name)
        return found if found is not None and found.kind != "external" else None

    def _go_package_named(self, names: FileNames, name: str) -> Meaning | None:
        """Return the imported Go package that calls itself so, where the path ends otherwise."""
        for brought in names.facts.imports:
            unit = self.table.modules.go_import(brought.module)
            if unit is not None and unit.rpartition("#")[2] == name:
                return Meaning("package", FullName(unit, ""), rule="import")
        return None

    # bindings

    def _bound(self, path: str, bindings: list[Binding], line: int) -> Meaning | None:
        """Return what the binding that holds at a line gives; line 0 stands for after all of them."""
        before = [one for one in bindings if one.line <= line] if line else bindings
        chosen = before or bindings
        latest = chosen[-1]
        for one in chosen:  # `x: Foo = make()` is two bindings of one line: what is written wins
            if one.line == latest.line and not one.value.endswith("()") and not one.value.startswith("="):
                latest = one
        found = self._bound_value(path, latest)
        if len({one.value for one in bindings}) > 1 and len({one.line for one in bindings}) > 1:
            self._by_line = True
            return found.unsure() if found is not None else None
        return found

    def _bound_value(self, path: str, one: Binding) -> Meaning | None:
        value, scope = one.value, one.scope
        if one.name.startswith("self."):
            scope = self.table.names[path].scope_at(one.line, scope)
        if value.startswith("="):
            return self._local_rule(self._chain_before(path, scope, value[1:], one))
        if value.endswith("()"):
            made = self._local_rule(self._chain_before(path, scope, value, one))
            # `self.store = store or Store()`: what is made here is only what the parameter is if it is not given.
            is_default = scope >= 0 and one.name.removeprefix("self.") in self.parameters((path, scope)).names
            return made.unsure() if made is not None and is_default else made
        found = self._type_named(path, scope, value, one.line)
        if found is None:
            return None
        return self._local_rule(replace(found, kind="instance") if found.kind == "type" else found)

    def _chain_before(self, path: str, scope: int, written: str, one: Binding) -> Meaning | None:
        """Return what a chain meant before a binding: `x = x.parent()` asks for the older x."""
        if written.partition(".")[0].removesuffix("()") == one.name:
            older = [b for b in self.table.names[path].bindings.get((one.scope, one.name), ()) if b.line < one.line]
            if not older:
                return self.chain(path, self._parent(path, scope), written, one.line) if "." not in written else None
        return self.chain(path, scope, written, max(one.line - 1, 1))

    def _parent(self, path: str, scope: int) -> int:
        return self.table.files[path].definitions[scope].parent if scope >= 0 else -1

    def _local_rule(self, one: Meaning | None) -> Meaning | None:
        return replace(one, rule="local-type") if one is not None and one.kind == "instance" else one

    def _value_of(self, path: str, one: Meaning) -> Meaning | None:
        """Return what a variable or member holds."""
        for where, bound in self.table.fields.get(one.full, ()):
            found = self._bound_value(where, bound)
            if found is not None:
                return (
                    found
                    if len(self.table.fields[one.full]) == 1
                    else found.unsure()
                    if self._differ(one.full)
                    else found
                )
        for where, position in one.places:
            definition = self.table.definition((where, position))
            bindings = self.table.names[where].bindings.get((definition.parent, definition.name))
            if bindings and (found := self._bound(where, bindings, 0)) is not None:
                return found
            if definition.returns:
                return self._result(path, one)
            if definition.parent >= 0 and self.table.definition((where, definition.parent)).kind == "enum":
                return Meaning("instance", self.table.full((where, definition.parent)), rule="enum")
        return None

    def _differ(self, full: FullName) -> bool:
        return len({bound.value for _, bound in self.table.fields[full]}) > 1

    def _result(self, path: str, one: Meaning) -> Meaning | None:
        """Return an instance of the declared result type of a function."""
        if not one.places:
            return None
        where, position = one.places[-1] if self.table.names[one.places[0][0]].scoping.last_wins else one.places[0]
        definition = self.table.definition((where, position))
        owner = self.type_around(where, position) if definition.kind in MEMBER_KINDS else None
        if definition.kind == "constructor" and owner is not None:
            return Meaning("instance", owner, rule="construct")
        returned = _one_type(definition.returns)
        if returned in _OWN and owner is not None:
            return Meaning("instance", owner, is_sure=False, rule="result-type")
        found = self._type_named(where, definition.parent, returned, definition.first_line) if returned else None
        if found is None or found.kind not in ("type", "external"):
            return None
        return Meaning(
            "instance" if found.kind == "type" else "external", found.full, is_sure=False, rule="result-type"
        )

    def _type_named(self, path: str, scope: int, written: str, line: int) -> Meaning | None:
        """Return the type that a name means where it is written, an external one, or None."""
        if written in _OWN or written == "Self":
            owner = self.type_around(path, scope)
            return Meaning("type", owner, rule="self") if owner is not None else None
        found = self.chain(path, scope, written, line)
        if found is not None and found.kind == "value":
            found = self.settle(path, found)
        if found is not None:
            return found if found.kind in ("type", "external") else None
        family = self.table.names[path].scoping.family
        only = {
            self.table.full(one)
            for one in self.table.by_name.get((family, written.rpartition(".")[2]), ())
            if self.table.definition(one).kind in HOLDER_KINDS
        }
        return (
            Meaning("type", only.pop(), is_sure=False, rule="only-type")
            if len(only) == 1 and len(written) > 2
            else None
        )

    # chains

    def _follow(self, path: str, scope: int, written: str, line: int) -> Meaning | None:
        head, *steps = written.split(".")
        found = self._head(path, scope, head, line, steps)
        for step in steps:
            if found is None or found.kind == "hidden":
                return None
            name = step.removesuffix("()")
            found = self.attribute(path, found, name)
            if step.endswith("()"):
                found = self.called(path, found)
        return found

    def _head(self, path: str, scope: int, head: str, line: int, steps: list[str]) -> Meaning | None:
        names = self.table.names[path]
        if names.facts.language == "rust" and head in ("crate", "super", "self"):
            owner = self.type_around(path, scope) if head == "self" else None
            return (
                Meaning("instance", owner, rule="self")
                if owner is not None
                else self._rust_root(names, scope, head, steps)
            )
        if head in ("self", "super", "Self"):
            owner = self.type_around(path, scope)
            if owner is None:
                return None
            return Meaning({"self": "instance", "super": "super"}.get(head, "type"), owner, rule=head.lower())
        name = head.removesuffix("()")
        found: Meaning | None
        if name in names.scoping.instances and (owner := self.type_around(path, scope)) is not None:
            found = Meaning("type", owner, rule="self")
        else:
            found = self.bare(path, scope, name, line)
        if found is None:
            found = self._unexplained(names, name)
        return self.called(path, found) if head.endswith("()") else found

    def _unexplained(self, names: FileNames, name: str) -> Meaning | None:
        """Return what the first name of a chain means that no scope explains."""
        if name in OUTSIDE_ROOTS:
            return Meaning("external", rule="builtin")
        if (
            names.scoping.space in ("all", "crate")
            and name[:1].isupper()
            or names.facts.language == "rust"
            and name.islower()
        ):
            family = names.scoping.family
            if not any(
                self.table.definition(one).kind in HOLDER_KINDS for one in self.table.by_name.get((family, name), ())
            ):
                return Meaning("external", rule="outside")
        return None

    def _rust_root(self, names: FileNames, scope: int, head: str, steps: list[str]) -> Meaning:
        """Return the module that `crate`, `self` or `super` means; takes further `super` off the steps."""
        if head == "crate":
            return Meaning("package", FullName(names.space, ""), rule="path")
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
        return Meaning("package", FullName(names.space, "".join(part + "." for part in inside)), rule="path")

    # members

    def _of(self, places: tuple[Place, ...], full: FullName, name: str, is_sure: bool, rule: str) -> Meaning:
        """Return the meaning of definitions of one full name (`name` is what is added to `full`)."""
        if name:
            full = FullName(full.space, f"{full.name}.{name}")
        kinds = {self.table.definition(place).kind for place in places}
        if kinds & HOLDER_KINDS:
            return Meaning("type", self._other_names.get(full, full), places, is_sure, rule)
        if kinds & CALLED_KINDS and kinds != {"property"}:
            return Meaning("callable", full, places, is_sure, rule)
        return Meaning("value" if kinds & _VALUE_KINDS else "callable", full, places, is_sure, rule)

    def _member(self, holder: Meaning, name: str) -> Meaning | None:
        """Return a member of a type or its instance, inherited ones included."""
        line, is_open = self.line_of(holder.full)
        for depth, full in enumerate(line):
            if holder.kind == "super" and not depth:
                continue
            member = FullName(full.space, f"{full.name}.{name}")
            places = self.table.at(member)
            rule = holder.rule if not depth else "inherited"
            if places:
                return self._of(tuple(places), member, "", holder.is_sure, rule or "member")
            if member in self.table.fields:
                return Meaning("value", member, (), holder.is_sure, rule or "member")
        return OUTSIDE_BASE if is_open else None

    def line_of(self, full: FullName) -> tuple[tuple[FullName, ...], bool]:
        """Return (a type and what it inherits from, nearest first; whether a base is outside the repository)."""
        known = self._lines.get(full)
        if known is not None:
            return known
        line: list[FullName] = []
        is_open, cut = False, self._cut
        pending = [full]
        while pending and len(line) < 60:
            one = pending.pop()
            if one in line:
                line.remove(one)  # of a diamond the later place counts, as in Python's order
            line.append(one)
            if len(pending) > 60:
                break
            bases = [base for base in self._bases(one) if base is None or base.full not in line or base.full != full]
            is_open = is_open or any(base is None or base.kind == "external" for base in bases)
            pending += [
                base.full
                for base in reversed(bases)
                if base is not None and base.kind == "type" and base.full not in line[:1]
            ]
        found = tuple(line), is_open
        if self._cut == cut:
            self._lines[full] = found
        return found

    def _bases(self, full: FullName) -> Iterator[Meaning | None]:
        for path, position in self.table.types_at(full):
            one = self.table.definition((path, position))
            for written in one.bases:
                base = _one_type(written)
                found = self._type_named(path, one.parent, base, one.first_line) if base else None
                if found is None and base in ("object", "Object", "ABC", "Protocol", "Generic", "Enum"):
                    continue
                yield found

    def _adopt(self, place: Place) -> None:
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
        found = self._once(
            ("adopt", path, parent, short), lambda: self._owner_named(path, parent, short, one.first_line)
        )
        if found is None or found.kind != "type" or found.full == owner:
            return
        self._other_names[owner] = found.full
        own = found.full.name if one.kind == "impl" else f"{found.full.name}.{one.name}"
        self.table.spaces[found.full.space].setdefault(own, []).append(place)

    def _owner_named(self, path: str, parent: int, name: str, line: int) -> Meaning | None:
        names = self.table.names[path]
        found: Meaning | None = None
        for brought in names.imports.get((parent, name.partition(".")[0]), ()) or names.imports.get(
            (-1, name.partition(".")[0]), ()
        ):
            found = self.imported(path, brought)
        if found is None:
            found = self._from_neighbours(names, name) or (self._through_stars(names, name, parent) if parent >= 0 else None)
        return found

    # imports

    def _import(self, path: str, one: Import) -> Meaning | None:
        names = self.table.names[path]
        language, scoping = names.facts.language, names.scoping
        if scoping.family == "python":
            return self._python_import(path, one)
        if language == "go":
            unit = self.table.modules.go_import(one.module)
            return Meaning("package", FullName(unit, ""), rule="import") if unit is not None else EXTERNAL
        if scoping.space == "file":
            target = self._module_file(names, one)
            if target is None:
                return None if one.module.startswith(".") else EXTERNAL
            if one.name in ("", "*"):
                return Meaning("module", FullName(target, ""), ((target, -1),), rule="import")
            found = self._module_member(target, one.name)
            return replace(found, rule="import") if found is not None else None
        whole = ".".join(filter(None, (one.module, one.name)))
        found = self._rust_import(names, one, whole) if language == "rust" else self._by_full_name(names, whole)
        return replace(found, rule="import") if found is not None else EXTERNAL

    def _python_import(self, path: str, one: Import) -> Meaning | None:
        if not one.name:
            if one.alias == one.module and "." in one.module:
                return self._submodule(path, one.module.partition(".")[0], near=one.module) or EXTERNAL
            return self._submodule(path, one.module) or EXTERNAL
        target = self.table.modules.python(path, one.module, one.level)
        if target is not None:
            found = (
                self._module_member(target, one.name)
                if one.name != "*"
                else Meaning("module", FullName(target, ""), ((target, -1),))
            )
            return replace(found, rule="import") if found is not None else None
        if one.level:
            within = self.table.modules.python(path, f"{one.module}.{one.name}".lstrip("."), one.level)
            return Meaning("module", FullName(within, ""), ((within, -1),), rule="import") if within else None
        return self._submodule(path, f"{one.module}.{one.name}") or EXTERNAL

    def _submodule(self, path: str, dotted: str, near: str = "") -> Meaning | None:
        """Return a Python module by its dotted name, or the package on the way to one."""
        target = self.table.modules.python(path, dotted, 0)
        if target is not None:
            return Meaning("module", FullName(target, ""), ((target, -1),), rule="import")
        if self.table.modules.is_python_package(dotted):
            return Meaning("dotted", FullName("", dotted), rule="import")
        return None

    def _by_full_name(self, names: FileNames, whole: str) -> Meaning | None:
        """Return what a full name, as imports write it, means."""
        for prefix in ("", names.prefix) if names.scoping.outer_packages else ("",):
            full = FullName(names.space, prefix + whole)
            if places := self.table.at(full):
                return self._of(tuple(places), full, "", True, "import")
            if FullName(names.space, full.name + ".") in self.table.packages:
                return Meaning("package", FullName(names.space, full.name + "."), rule="import")
            head, _, last = full.name.rpartition(".")
            if head and self.table.types_at(FullName(names.space, head)):
                return self._member(Meaning("type", FullName(names.space, head), rule="import"), last)
        return None

    def _rust_import(self, names: FileNames, one: Import, whole: str) -> Meaning | None:
        head, *steps = whole.split(".")
        scope = one.scope
        found: Meaning | None
        if head in ("crate", "self", "super"):
            found = self._rust_root(names, scope, head, steps)
        else:
            found = self._package_member(self._rust_root(names, scope, "self", []).full, head, imports=False)
            if found is None:
                crate = self.table.modules.crate_named(head)
                found = Meaning("package", FullName(f"rust:{crate}", ""), rule="import") if crate is not None else None
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

    def _own_library(self, names: FileNames, head: str) -> Meaning | None:
        """Return the library of a Rust package whose name no file tells, for its programs and tests.

        It is taken for that if all that they import under the name is there; sure from the second import on.
        """
        library = self.table.modules.library_of(names.path)
        if library is None:
            return None
        root = FullName(f"rust:{library}", "")
        asked: set[str] = set()
        for path, others in self.table.names.items():
            if others.facts.language == "rust" and self.table.modules.library_of(path) == library:
                wholes = (".".join(filter(None, (one.module, one.name))) for one in others.facts.imports)
                asked.update(whole.partition(".")[2] for whole in wholes if whole.partition(".")[0] == head)
        asked.discard("*")
        if not asked or not all(self._has(root, inside.removesuffix(".*")) for inside in asked):
            return None
        return Meaning("package", root, is_sure=len(asked) > 1, rule="import")

    def _has(self, package: FullName, inside: str) -> bool:
        found: Meaning | None = Meaning("package", package)
        for step in inside.split("."):
            found = self.attribute("", found, step) if found is not None and step != "self" else found
        return found is not None

    def _package_member(self, package: FullName, name: str, *, imports: bool = True) -> Meaning | None:
        """Return what a package has under a name; `package.name` is "" or ends with a dot."""
        full = FullName(package.space, package.name + name)
        if places := self.table.at(full):
            return self._of(tuple(places), full, "", True, "import")
        inner = FullName(full.space, full.name + ".")
        if inner in self.table.packages:
            return Meaning("package", inner, rule="import")
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

    def _star_once(self, names: FileNames, one: Import, name: str) -> Meaning | None:
        key = ("star", names.path, one.module, one.scope, name)
        return self._once(key, lambda: self._through_star(names, one, name))

    # modules that are files

    def _module_file(self, names: FileNames, one: Import) -> str | None:
        if names.scoping.family == "python":
            return self.table.modules.python(names.path, one.module, one.level)
        return self.table.modules.file_of(names.path, one.module)

    def _module_attribute(self, module: Meaning, name: str) -> Meaning | None:
        found = self._module_member(module.full.space, name)
        return replace(found, rule="module", is_sure=found.is_sure and module.is_sure) if found is not None else None

    def _module_member(self, path: str, name: str) -> Meaning | None:
        """Return what importers of a file get under a name, followed through re-exports, each file asked once."""
        return self._once(("module", path, name), lambda: self._search_modules(path, name))

    def _search_modules(self, path: str, name: str) -> Meaning | None:
        pending, seen = [(path, name)], set[tuple[str, str]]()
        while pending:
            one = pending.pop()
            if one in seen:
                continue
            seen.add(one)
            found, more = self._one_module(*one)
            if found is not None:
                return found
            pending += reversed(more)
        return None

    def _one_module(self, path: str, name: str) -> tuple[Meaning | None, list[tuple[str, str]]]:
        """Return what one file defines under a name, else the (file, name) pairs that it passes on."""
        names = self.table.names[path]
        is_python = names.scoping.family == "python"
        for export in names.facts.exports:
            if export.name == name and export.local != name:
                found = self.chain(path, -1, export.local, 0)
                if found is not None:
                    return found, []
        own = [p for p in names.children.get((-1, name), ()) if names.facts.definitions[p].qualified_name == name]
        if own:
            return self._of(tuple((path, p) for p in own), names.full(own[0]), "", True, "same-file"), []
        more: list[tuple[str, str]] = []
        for brought in names.imports.get((-1, name), ()):
            target = self._module_file(names, brought)
            if target is not None and brought.name not in ("", "*"):
                more.append((target, brought.name))
            elif brought.name in ("", "*") or target is None:
                whole = self.imported(path, brought)
                if whole is not None:
                    return whole, []
        if names.bindings.get((-1, name)) and (found := self._bound(path, names.bindings[-1, name], 0)) is not None:
            return found, []
        if not more and not (is_python and name.startswith("_")) and (target := self._starred(path).get(name)) is not None:
            more.append((target, name))
        if is_python and (inside := self.table.modules.python_inside(path, name)) is not None:
            if not more:
                return Meaning("module", FullName(inside, ""), ((inside, -1),), rule="import"), []
            more.append((inside, ""))
        if is_python and not name:
            return Meaning("module", FullName(path, ""), ((path, -1),), rule="import"), []
        if not is_python and name != "default" and not more:
            return self._of_default(path, name), []
        return None, more

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

    def _of_default(self, path: str, name: str) -> Meaning | None:
        """Return a member of what a CommonJS file exports as a whole."""
        if not any(export.name == "default" for export in self.table.files[path].exports):
            return None
        default = self._module_member(path, "default")
        return (
            self.attribute(path, default, name)
            if default is not None and default.kind in ("value", "type", "callable")
            else None
        )


def _one_type(written: str) -> str:
    """Return the one type that is not the empty one: "Foo|None" → "Foo"; "" where there are several."""
    parts: Iterable[str] = (part.strip().removesuffix("()") for part in written.split("|"))
    kept = [part for part in parts if part not in ("None", "null", "undefined", "nil", "")]
    return kept[0].strip("?*&") if len(kept) == 1 else ""
