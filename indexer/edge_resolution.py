"""Edge resolution: references become edges of the call graph, each with the evidence for it.

**Invariant:** an edge is never invented. `exact`: the text says which definition it is. `likely`: one step rests on a
convention (a declared result type, the only definition of an uncommon name). `possible`: only the name speaks for it.
`external`: it comes from outside the repository, or from the language.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from codecards.indexer.common_names import COMMON_NAMES, GLOBAL_LANGUAGES, IMPLICIT_SELF, UNIT_LANGUAGES
from codecards.indexer.facts import Import, Reference
from codecards.indexer.module_paths import BY_PACKAGE
from codecards.indexer.symbol_table import TYPE_KINDS, Place, SymbolTable

MAX_CANDIDATES = 8
MAX_STEPS = 12
"""Imports followed from file to file, and bases upwards; cycles end here too."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One reference, resolved as far as the evidence goes."""

    caller_path: str
    caller: int
    """Position in the file's definitions, -1 for module code."""
    target: Place | None
    """None where it is external or ambiguous."""
    name: str
    """As written, receiver included."""
    line: int
    kind: str
    """As in `facts.Reference`."""
    confidence: str
    rule: str
    candidates: tuple[Place, ...] = ()
    """What an ambiguous name may mean, best first, cut at `MAX_CANDIDATES`."""
    n_candidates: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """What a name or a chain of names stands for."""

    places: tuple[Place, ...]
    """More than one where a name has several definitions: overloads, parts of a module."""
    is_instance: bool = False
    """Whether it is a value of the type, not the type itself."""
    is_sure: bool = True
    rule: str = ""
    is_external: bool = False


NOTHING = Found(())
EXTERNAL = Found((), rule="import", is_external=True)


@dataclass(slots=True)
class Resolver:
    """Resolves the references of a repository's files. Remembers what it has looked up."""

    table: SymbolTable
    _imports: dict[str, dict[str, list[Import]]] = field(default_factory=dict)
    _bindings: dict[str, dict[tuple[int, str], str]] = field(default_factory=dict)
    _exported: dict[tuple[str, str], Found] = field(default_factory=dict)
    _known: dict[tuple[str, int, str], Found] = field(default_factory=dict)

    def resolve(self, path: str) -> tuple[Edge, ...]:
        """Return the edges of a file's references, in their order."""
        facts = self.table.files[path]
        return tuple(edge for one in facts.references if (edge := self._edge(path, one)) is not None)

    def _edge(self, path: str, one: Reference) -> Edge | None:
        language = self.table.files[path].language
        written = f"{one.receiver}.{one.name}" if one.receiver else one.name
        edge = Edge(path, one.owner, None, written, one.line, one.kind, "external", "builtin")
        found = self._reference(path, one)
        places = self._fitting(found.places, one)
        if places:
            if len(places) > 1 and not self._are_one(places):
                shown = tuple(places[:MAX_CANDIDATES])
                return replace(edge, confidence="possible", rule=found.rule, candidates=shown, n_candidates=len(places))
            confidence = "exact" if found.is_sure else "likely"
            return replace(edge, target=places[0], confidence=confidence, rule=found.rule)
        if one.kind in ("value", "type"):
            return None  # most are locals and builtins; a name that nothing defines says nothing
        if found.is_external:
            return replace(edge, rule=found.rule or "import")
        return self._by_name(path, one, edge, language)

    def _reference(self, path: str, one: Reference) -> Found:
        if not one.receiver:
            return self._bare(path, one.owner, one.name)
        if one.receiver == "?":
            return NOTHING
        holder = self._chain(path, one.owner, one.receiver)
        return self._member(holder, one.name) if holder.places else holder

    def _by_name(self, path: str, one: Reference, edge: Edge, language: str) -> Edge | None:
        """Return what only the name speaks for."""
        if one.name in COMMON_NAMES or (not one.receiver and language not in GLOBAL_LANGUAGES):
            common = True
        else:
            common = False
        found = [place for place in self.table.callables.get(one.name, ()) if self._same_family(path, place[0])]
        if one.receiver:
            found = [place for place in found if "." in self.table.definition(place).qualified_name]
        found = self._fitting(found, one)
        if not found:
            return edge
        if len(found) == 1 and not common and len(one.name) > 3:
            return replace(edge, target=found[0], confidence="likely", rule="only-name")
        if not one.receiver and language not in GLOBAL_LANGUAGES and not self._has_star(path):
            return edge  # a bare name that is not in scope is a builtin or a local value
        found.sort(key=lambda place: (place[0] != path, place[0].rpartition("/")[0] != path.rpartition("/")[0]))
        shown = tuple(found[:MAX_CANDIDATES])
        return replace(edge, confidence="possible", rule="name", candidates=shown, n_candidates=len(found))

    # names

    def _bare(self, path: str, scope: int, name: str) -> Found:
        """Return what a name without receiver stands for where it is written."""
        key = (path, scope, name)
        if key not in self._known:
            self._known[key] = NOTHING  # a cycle finds nothing
            self._known[key] = self._look_up(path, scope, name)
        return self._known[key]

    def _look_up(self, path: str, scope: int, name: str) -> Found:
        facts, language = self.table.files[path], self.table.files[path].language
        at = scope
        while at >= 0:
            one = facts.definitions[at]
            if one.kind not in TYPE_KINDS or language in IMPLICIT_SELF:
                inner = [(path, p) for p in self._children(path, at) if facts.definitions[p].name == name]
                if inner:
                    return Found(tuple(inner), rule="scope")
            if one.kind in TYPE_KINDS and language in IMPLICIT_SELF or "." in one.qualified_name and language in IMPLICIT_SELF:
                holder = self._enclosing_type(path, at)
                found = self._member(Found((holder,)), name) if holder else NOTHING
                if found.places:
                    return replace(found, rule="implicit-self")
            bound = self._binding(path, at, name)
            if bound is not None:
                return self._value(path, at, bound)
            imported = self._imported(path, at, name)
            if imported is not None:
                return imported
            at = one.parent
        same_file = self.table.tops[path].get(name)
        if same_file:
            return Found(tuple((path, position) for position in same_file), rule="same-file")
        imported = self._imported(path, -1, name)
        if imported is not None:
            return imported
        bound = self._binding(path, -1, name)
        if bound is not None:
            return self._value(path, -1, bound)
        return self._from_neighbours(path, name, language)

    def _from_neighbours(self, path: str, name: str, language: str) -> Found:
        """Return what the file reaches without naming where it comes from: its package, star imports, includes."""
        facts = self.table.files[path]
        if language == "go":
            neighbours = [one for one in self.table.modules.in_folder(path) if self.table.files[one].package == facts.package]
        elif language in BY_PACKAGE and facts.package:
            neighbours = self.table.modules.in_package(facts.package)
        elif language in UNIT_LANGUAGES:
            neighbours = [place[0] for place in self.table.callables.get(name, ()) if self._same_family(path, place[0])]
        else:
            neighbours = []
        found = [(one, p) for one in dict.fromkeys(neighbours) for p in self.table.tops[one].get(name, ())]
        if found:
            return Found(tuple(found), rule="package")
        sure = True
        for one in self._imports_of(path).get("", ()):
            for target in self.table.modules.find(path, one):
                exported = self._export(target, name, 0)
                if exported.places:
                    return replace(exported, rule="star-import" if one.name == "*" else "include", is_sure=sure)
        return NOTHING

    def _imported(self, path: str, scope: int, name: str) -> Found | None:
        """Return what an import in this scope binds the name to, None if none does."""
        for one in self._imports_of(path).get(name, ()):
            if one.scope != scope:
                continue
            return self._import_target(path, one, 0)
        return None

    def _import_target(self, path: str, one: Import, depth: int) -> Found:
        files = self.table.modules.find(path, one)
        if one.name in ("", "*"):
            return Found(tuple((target, -1) for target in files), rule="import") if files else self._type_import(path, one)
        for target in files:
            exported = self._export(target, one.name, depth + 1)
            if exported.places:
                return replace(exported, rule="import")
        below = self.table.modules.submodule(path, one)
        if below:
            return Found(tuple((target, -1) for target in below), rule="import")
        return self._type_import(path, one)

    def _type_import(self, path: str, one: Import) -> Found:
        """Return the member of a type that an import names (`import static a.B.c`, `use a::B::c`), else external."""
        owner_module, _, owner = one.module.rpartition(".")
        if owner and one.name and self.table.types.get(owner):
            holder = self._import_target(path, replace(one, module=owner_module, name=owner), MAX_STEPS - 1)
            found = self._member(holder, one.name) if holder.places else NOTHING
            if found.places:
                return replace(found, rule="import")
        return EXTERNAL

    def _export(self, path: str, name: str, depth: int) -> Found:
        """Return what importers of a file get under a name."""
        key = (path, name)
        if key in self._exported:
            return self._exported[key]
        self._exported[key] = NOTHING
        found = self._find_export(path, name, depth)
        self._exported[key] = found
        return found

    def _find_export(self, path: str, name: str, depth: int) -> Found:
        facts = self.table.files[path]
        for one in facts.exports:
            if one.name == name:
                return self._bare(path, -1, one.local) if "." not in one.local else self._chain(path, -1, one.local)
        positions = self.table.tops[path].get(name)
        if positions:
            return Found(tuple((path, position) for position in positions))
        if depth > MAX_STEPS:
            return NOTHING
        passed_on = facts.language == "python"
        for one in self._imports_of(path).get(name, ()):
            if one.scope < 0 and (one.reexported or passed_on):
                return self._import_target(path, one, depth + 1)
        for one in self._imports_of(path).get("", ()):
            if one.name == "*" and (one.reexported or passed_on):
                for target in self.table.modules.find(path, one):
                    found = self._export(target, name, depth + 1)
                    if found.places:
                        return found
        return NOTHING

    # chains and members

    def _chain(self, path: str, scope: int, written: str) -> Found:
        """Return what a receiver stands for: "self.store", "pkg.mod", "Foo()"."""
        steps = written.split(".")
        found, start = self._first_step(path, scope, steps)
        for step in steps[start:]:
            if not found.places:
                return found
            name = step.removesuffix("()")
            found = self._member(found, name)
            if step.endswith("()"):
                found = self._called(found)
            elif found.places and not self._is_module_or_type(found):
                found = self._declared(found)
        return found

    def _first_step(self, path: str, scope: int, steps: Sequence[str]) -> tuple[Found, int]:
        """Return what the chain begins with, and how many of its steps that takes."""
        head = steps[0]
        if head in ("self", "super"):
            holder = self._enclosing_type(path, scope)
            if holder is None:
                return NOTHING, 1
            if head == "super":
                bases = [base for _, base in self._bases(holder)]
                return (Found(tuple(bases), rule="super"), 1) if bases else (EXTERNAL if self._has_bases(holder) else NOTHING, 1)
            if len(steps) > 1 and not steps[1].endswith("()"):
                bound = self._member_binding(holder, f"self.{steps[1]}")
                if bound is not None:
                    return bound, 2
            return Found((holder,), is_instance=True, rule="self"), 1
        for length in range(len(steps), 1, -1):  # import a.b.c binds the chain a.b.c
            dotted = ".".join(steps[:length])
            for one in self._imports_of(path).get(dotted, ()):
                return self._import_target(path, one, 0), length
        name = head.removesuffix("()")
        found = self._bare(path, scope, name)
        if not found.places and not found.is_external:
            holder = self._type(path, scope, name)
            found = Found((holder,), is_sure=False, rule="type-name") if holder and name[:1].isupper() else found
        return (self._called(found) if head.endswith("()") else self._declared_value(found)), 1

    def _declared_value(self, found: Found) -> Found:
        """Return the type's instance for a variable that is a definition itself, else what was found."""
        return found if self._is_module_or_type(found) or found.is_instance else self._declared(found)

    def _is_module_or_type(self, found: Found) -> bool:
        return all(position < 0 or self.table.definition((path, position)).kind in TYPE_KINDS | {"namespace", "module"}
                   for path, position in found.places)  # fmt: skip

    def _called(self, found: Found) -> Found:
        """Return what a call of it gives: a new instance of a type, or a function's declared result."""
        if not found.places or found.places[0][1] < 0:
            return NOTHING if not found.is_external else EXTERNAL
        one = self.table.definition(found.places[0])
        if one.kind in TYPE_KINDS:
            return replace(found, is_instance=True)
        if one.kind == "constructor":
            holder = self._enclosing_type(*found.places[0])
            return replace(found, places=(holder,), is_instance=True) if holder else NOTHING
        return self._declared(found)

    def _declared(self, found: Found) -> Found:
        """Return an instance of the declared (result) type of a function or variable."""
        path, position = found.places[0]
        if position < 0:
            return found
        one = self.table.definition((path, position))
        returned = one.returns
        if returned in ("Self", "self", "static", "this", "typing.Self", one.qualified_name.rpartition(".")[0].rpartition(".")[2]):
            holder = self._enclosing_type(path, position)
            return replace(found, places=(holder,), is_instance=True, is_sure=False) if holder else NOTHING
        if not returned:
            bound = self._binding(path, one.parent, one.name)
            return self._value(path, one.parent, bound) if bound is not None else NOTHING
        holder = self._type(path, one.parent, returned)
        return replace(found, places=(holder,), is_instance=True, is_sure=False) if holder else NOTHING

    def _member(self, holder: Found, name: str) -> Found:
        """Return the member of a module, type or instance; of a type also what it inherits."""
        for path, position in holder.places:
            if position < 0:
                exported = self._export(path, name, 0)
                if exported.places:
                    return replace(exported, rule="module", is_sure=holder.is_sure)
                continue
            found = self._own_or_inherited((path, position), name)
            if found:
                return Found(tuple(found), is_sure=holder.is_sure, rule=holder.rule or "member")
        if holder.is_external:
            return EXTERNAL
        outside = any(position >= 0 and self._has_outside_base((path, position)) for path, position in holder.places)
        return EXTERNAL if outside else NOTHING

    def _own_or_inherited(self, place: Place, name: str) -> list[Place]:
        pending, seen = [place], set[Place]()
        while pending and len(seen) < 50:
            one = pending.pop(0)
            if one in seen:
                continue
            seen.add(one)
            if self.table.definition(one).kind in ("namespace", "module"):
                children = [(one[0], p) for p in self._children(*one) if self.table.definition((one[0], p)).name == name]
                if children:
                    return children
            found = self.table.members_of(one, name)
            if found:
                return found
            pending += [base for _, base in self._bases(one)]
        return []

    def _bases(self, place: Place) -> Iterator[tuple[str, Place]]:
        """Yield the bases of a type that the repository defines."""
        for path, written in self.table.bases_of(place):
            found = self._type(path, self.table.definition(place).parent if path == place[0] else -1, written)
            if found is not None and found != place:
                yield written, found

    def _has_bases(self, place: Place) -> bool:
        return any(True for _ in self.table.bases_of(place))

    def _has_outside_base(self, place: Place) -> bool:
        known = sum(1 for _ in self._bases(place))
        return known < sum(1 for _ in self.table.bases_of(place))

    def _type(self, path: str, scope: int, written: str) -> Place | None:
        """Return the type that a name means where it is written, None if the repository does not define it."""
        head, _, rest = written.partition(".")
        found = self._bare(path, scope, head)
        if not found.places and not found.is_external:
            only = [one for one in self.table.types.get(written.rpartition(".")[2], ()) if self._same_family(path, one[0])]
            return only[0] if len(only) == 1 else None
        for step in rest.split(".") if rest else ():
            found = self._member(found, step)
        types = [one for one in found.places if one[1] >= 0 and self.table.definition(one).kind in TYPE_KINDS]
        return types[0] if types else None

    def _value(self, path: str, scope: int, bound: str) -> Found:
        """Return what a binding's value stands for: an instance of its type."""
        if bound.startswith("="):
            return self._chain(path, scope, bound[1:]) if "." in bound else self._bare(path, scope, bound[1:])
        if bound.endswith("()"):
            found = self._chain(path, scope, bound)
            return replace(found, rule="local-type") if found.places else (found if found.is_external else NOTHING)
        holder = self._type(path, scope, bound)
        if holder is None:
            return EXTERNAL if self._bare(path, scope, bound.partition(".")[0]).is_external else NOTHING
        return Found((holder,), is_instance=True, rule="local-type")

    def _member_binding(self, holder: Place, name: str) -> Found | None:
        """Return the type of a member of a type (`self.store = Store()`), looked for in its methods and bases."""
        pending, seen = [holder], set[Place]()
        while pending and len(seen) < 20:
            one = pending.pop(0)
            if one in seen:
                continue
            seen.add(one)
            path = one[0]
            for scope in (one[1], *self._children(*one)):
                bound = self._own_binding(path, scope, name) or self._own_binding(path, scope, name.removeprefix("self.")) if scope == one[1] else self._own_binding(path, scope, name)
                if bound is not None:
                    found = self._value(path, scope, bound)
                    if found.places or found.is_external:
                        return found
            pending += [base for _, base in self._bases(one)]
        return None

    # small look-ups

    def _binding(self, path: str, scope: int, name: str) -> str | None:
        return self._own_binding(path, scope, name)

    def _own_binding(self, path: str, scope: int, name: str) -> str | None:
        if path not in self._bindings:
            table: dict[tuple[int, str], str] = {}
            for one in self.table.files[path].bindings:
                known = table.get((one.scope, one.name))
                if known is None or known.startswith("="):
                    table[one.scope, one.name] = one.value
            self._bindings[path] = table
        return self._bindings[path].get((scope, name))

    def _imports_of(self, path: str) -> dict[str, list[Import]]:
        """Return alias -> imports of a file; under "" those that bind no name (star imports, includes)."""
        if path not in self._imports:
            table: dict[str, list[Import]] = {}
            for one in self.table.files[path].imports:
                table.setdefault(one.alias, []).append(one)
            self._imports[path] = table
        return self._imports[path]

    def _has_star(self, path: str) -> bool:
        return any(one.name == "*" for one in self._imports_of(path).get("", ()))

    def _children(self, path: str, scope: int) -> list[int]:
        return self._children_of(path).get(scope, [])

    def _children_of(self, path: str) -> dict[int, list[int]]:
        cached = _children_cache.get(id(self.table.files[path]))
        if cached is None or cached[0] is not self.table.files[path]:
            table: dict[int, list[int]] = {}
            for position, one in enumerate(self.table.files[path].definitions):
                table.setdefault(one.parent, []).append(position)
            cached = _children_cache[id(self.table.files[path])] = (self.table.files[path], table)
        return cached[1]

    def _enclosing_type(self, path: str, scope: int) -> Place | None:
        """Return the type whose instance `self` is at a scope."""
        facts = self.table.files[path]
        at = scope
        while at >= 0:
            one = facts.definitions[at]
            if one.kind in TYPE_KINDS and one.kind != "impl":
                return path, at
            owner = one.qualified_name.rpartition(".")[0]
            parent = facts.definitions[one.parent] if one.parent >= 0 else None
            if owner and (parent is None or parent.kind in ("impl", "namespace", "module")):
                name = owner.rpartition(".")[2] if parent is None or parent.kind != "impl" else parent.name
                found = self._type_named(path, name)
                if found is not None:
                    return found
            at = one.parent
        return None

    def _type_named(self, path: str, name: str) -> Place | None:
        """Return the type of that name that is nearest to a file."""
        found = [one for one in self.table.types.get(name, ()) if self._same_family(path, one[0])]
        folder = path.rpartition("/")[0]
        found.sort(key=lambda one: (one[0] != path, one[0].rpartition(".")[0] != path.rpartition(".")[0], one[0].rpartition("/")[0] != folder))
        return found[0] if found else None

    def _same_family(self, one: str, other: str) -> bool:
        mine, theirs = self.table.files[one].language, self.table.files[other].language
        return _FAMILIES.get(mine, mine) == _FAMILIES.get(theirs, theirs)

    def _fitting(self, places: Sequence[Place], one: Reference) -> list[Place]:
        """Return the places that the kind of reference allows, the definition itself before its prototype."""
        kept = [place for place in places if place[1] >= 0 and self.table.definition(place).kind not in _UNCALLABLE] if one.kind in ("call", "construct") else [
            place for place in places if place[1] >= 0]  # fmt: skip
        bodies = [place for place in kept if self.table.definition(place).kind != "declaration"]
        return bodies or kept

    def _are_one(self, places: Sequence[Place]) -> bool:
        """Return whether several definitions are one thing: overloads, a getter and its setter, parts of a class."""
        names = {self.table.definition(place).qualified_name for place in places}
        return len(names) == 1 and len({place[0] for place in places}) == 1 or (
            len(names) == 1 and all(self.table.definition(place).kind in TYPE_KINDS for place in places)
            and len({self.table.files[place[0]].package or place[0] for place in places}) == 1
        )  # fmt: skip


_UNCALLABLE = frozenset({"field", "constant", "section", "namespace", "table", "view", "index", "cell", "impl"})
_FAMILIES = {
    "typescript": "javascript", "tsx": "javascript", "vue": "javascript", "svelte": "javascript", "html": "javascript",
    "c": "cpp", "kotlin": "java", "scala": "java", "jupyter": "python",
}  # fmt: skip
_children_cache: dict[int, tuple[object, dict[int, list[int]]]] = {}
