"""Type meanings: members of types, what they inherit, and the types of values.

A base may be written in any file and reached through any import, and a value's type through any chain; so this asks the
classes built on it, `module_meanings` and `name_meanings`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace

from codecards.indexer.facts import (
    CALL_TARGET_KINDS,
    CODE_TYPE_KINDS,
    CONTAINER_KINDS,
    MEMBER_KINDS,
    TYPED_VALUE_KINDS,
    Binding,
)
from codecards.indexer.graph.parameters import UNKNOWN, Parameters, read_parameters
from codecards.indexer.graph.resolution import EXTERNAL_BASE, Resolution, ResolutionCache
from codecards.indexer.graph.symbols import (
    DefinitionRef,
    FullName,
    SymbolTable,
)

MAX_BASES = 200
"""Steps upwards from a type; cycles of bases end here."""
_OWN = frozenset({"Self", "self", "static", "this", "$this", "typing.Self", "cls"})
_SAYS_NOTHING = frozenset({"Any", "object", "Object", "auto", "var", "let", "dynamic", "any", "unknown", "mixed", "id"})
"""Types whose values may be anything."""
_EMPTY_BASES = frozenset({"object", "Object", "ABC", "Protocol", "Generic", "Enum"})
"""Bases that bring no members of their own to look for."""


class TypeMeanings(ResolutionCache, ABC):
    """Answers what members and values mean."""

    def __init__(self, table: SymbolTable) -> None:
        """Take what the repository defines."""
        super().__init__()
        self.table = table
        self.other_names: dict[FullName, FullName] = {}
        """Full name as an impl block's file would have it -> the type's own."""
        self._lines: dict[FullName, tuple[tuple[FullName, ...], bool]] = {}
        self._parameters: dict[DefinitionRef, Parameters] = {}

    @abstractmethod
    def chain(self, path: str, scope: int, written: str, line: int) -> Resolution | None:
        """Return what a chain of names means where it is written."""

    @abstractmethod
    def attribute(self, path: str, holder: Resolution, name: str) -> Resolution | None:
        """Return what `holder.name` means; `path` is the file that asks."""

    def parameters(self, place: DefinitionRef) -> Parameters:
        """Return what the head of a definition says about its arguments."""
        known = self._parameters.get(place)
        if known is None:
            one = self.table.definition(place)
            language = self.table.files[place[0]].language
            takes_any = (
                one.kind in CODE_TYPE_KINDS or one.kind not in CALL_TARGET_KINDS
            )  # brackets there mean something else
            known = UNKNOWN if takes_any else read_parameters(one.signature, one.name, language)
            self._parameters[place] = known
        return known

    def type_around(self, path: str, scope: int) -> FullName | None:
        """Return the type whose instance `self` is at a scope."""
        found = self.table.names[path].type_around(scope)
        return self.other_names.get(found, found) if found is not None else None

    def meaning_of(
        self, places: tuple[DefinitionRef, ...], full: FullName, name: str, is_sure: bool, rule: str
    ) -> Resolution:
        """Return the meaning of definitions of one full name (`name` is what is added to `full`)."""
        if name:
            full = FullName(full.space, f"{full.name}.{name}")
        kinds = {self.table.definition(place).kind for place in places}
        if kinds & CONTAINER_KINDS:
            return Resolution("type", self.other_names.get(full, full), places, is_sure, rule)
        if kinds & CALL_TARGET_KINDS and kinds != {"property"}:
            return Resolution("callable", full, places, is_sure, rule)
        return Resolution("value" if kinds & TYPED_VALUE_KINDS else "callable", full, places, is_sure, rule)

    def member(self, holder: Resolution, name: str) -> Resolution | None:
        """Return a member of a type or its instance, inherited ones included."""
        line, is_open = self.line_of(holder.full)
        for depth, full in enumerate(line):
            if holder.kind == "super" and not depth:
                continue
            member = FullName(full.space, f"{full.name}.{name}")
            places = self.table.at(member)
            rule = holder.rule if not depth else "inherited"
            if places:
                return self.meaning_of(tuple(places), member, "", holder.is_sure, rule or "member")
            if member in self.table.fields:
                return Resolution("value", member, (), holder.is_sure, rule or "member")
        return EXTERNAL_BASE if is_open else None

    def line_of(self, full: FullName) -> tuple[tuple[FullName, ...], bool]:
        """Return (a type and what it inherits from, nearest first; whether a base is outside the repository)."""
        known = self._lines.get(full)
        if known is not None:
            return known
        line: list[FullName] = []
        is_open = False
        pending = [full]
        for _ in range(MAX_BASES):
            if not pending:
                break
            one = pending.pop()
            if one in line:
                line.remove(one)  # of a diamond the later place counts, as in Python's order
            line.append(one)
            bases = [base for base in self._bases(one) if base is None or base.full not in line or base.full != full]
            is_open = is_open or any(base is None or base.kind == "external" for base in bases)
            pending += [
                base.full
                for base in reversed(bases)
                if base is not None and base.kind == "type" and base.full not in line[:1]
            ]
        found = tuple(line), is_open
        if not self.hit_cycle():
            self._lines[full] = found
        return found

    def _bases(self, full: FullName) -> Iterator[Resolution | None]:
        for path, position in self.table.types_at(full):
            one = self.table.definition((path, position))
            for written in one.bases:
                base = _one_type(written)
                found = self._type_named(path, one.parent, base, one.first_line) if base else None
                if found is None and base in _EMPTY_BASES:
                    continue
                yield found

    def settle(self, path: str, one: Resolution) -> Resolution | None:
        """Return what the value of a variable, field or property is."""
        if one.kind == "callable" and one.places and self.table.definition(one.places[0]).kind == "property":
            return self._result(path, one)
        if one.kind != "value":
            return one
        key = ("settle", one.full, one.places[:1])
        found = self.once(key, lambda: self._value_of(path, one))
        return found if found is None or one.is_sure else found.unsure()

    def called(self, path: str, one: Resolution | None) -> Resolution | None:
        """Return what a call of it gives: a new instance of a type, or a function's declared result."""
        settled = self.settle(path, one) if one is not None and one.kind == "value" else one
        if settled is None or settled.kind in ("hidden", "instance", "value"):
            return None
        if settled.kind == "external":
            return settled.unsure()
        if settled.kind == "type":
            return replace(settled, kind="instance")
        if settled.kind == "module":
            default = self.attribute(path, settled, "default")
            return self.called(path, default) if default is not None else None
        return self._result(path, settled) if settled.kind == "callable" else None

    def bound(self, path: str, bindings: list[Binding], line: int) -> Resolution | None:
        """Return what the binding that holds at a line gives; line 0 stands for after all of them."""
        before = [one for one in bindings if one.line <= line] if line else bindings
        chosen = before or bindings
        latest = chosen[-1]
        for one in chosen:  # `x: Foo = make()` is two bindings of one line: what is written wins
            if one.line == latest.line and not one.value.endswith("()") and not one.value.startswith("="):
                latest = one
        found = self._bound_value(path, latest)
        if len({one.value for one in bindings}) > 1 and len({one.line for one in bindings}) > 1:
            self.mark_line()
            return found.unsure() if found is not None else None
        return found

    def _bound_value(self, path: str, one: Binding) -> Resolution | None:
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

    def _chain_before(self, path: str, scope: int, written: str, one: Binding) -> Resolution | None:
        """Return what a chain meant before a binding: `x = x.parent()` asks for the older x."""
        if written.partition(".")[0].removesuffix("()") == one.name:
            older = [b for b in self.table.names[path].bindings.get((one.scope, one.name), ()) if b.line < one.line]
            if not older:
                return self.chain(path, self._parent(path, scope), written, one.line) if "." not in written else None
        return self.chain(path, scope, written, max(one.line - 1, 1))

    def _parent(self, path: str, scope: int) -> int:
        return self.table.files[path].definitions[scope].parent if scope >= 0 else -1

    def _local_rule(self, one: Resolution | None) -> Resolution | None:
        return replace(one, rule="local-type") if one is not None and one.kind == "instance" else one

    def _value_of(self, path: str, one: Resolution) -> Resolution | None:
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
            if bindings and (found := self.bound(where, bindings, 0)) is not None:
                return found
            if definition.returns:
                return self._result(path, one)
            if definition.parent >= 0 and self.table.definition((where, definition.parent)).kind == "enum":
                return Resolution("instance", self.table.full((where, definition.parent)), rule="enum")
        return None

    def _differ(self, full: FullName) -> bool:
        return len({bound.value for _, bound in self.table.fields[full]}) > 1

    def _result(self, path: str, one: Resolution) -> Resolution | None:
        """Return an instance of the declared result type of a function."""
        if not one.places:
            return None
        where, position = one.places[-1] if self.table.names[one.places[0][0]].scoping.last_wins else one.places[0]
        definition = self.table.definition((where, position))
        owner = self.type_around(where, position) if definition.kind in MEMBER_KINDS else None
        if definition.kind == "constructor" and owner is not None:
            return Resolution("instance", owner, rule="construct")
        returned = _one_type(definition.returns)
        if returned in _OWN and owner is not None:
            return Resolution("instance", owner, is_sure=False, rule="result-type")
        found = self._type_named(where, definition.parent, returned, definition.first_line) if returned else None
        if found is None or found.kind not in ("type", "external"):
            return None
        return Resolution(
            "instance" if found.kind == "type" else "external", found.full, is_sure=False, rule="result-type"
        )

    def _type_named(self, path: str, scope: int, written: str, line: int) -> Resolution | None:
        """Return the type that a name means where it is written, an external one, or None."""
        if written in _OWN or written == "Self":
            owner = self.type_around(path, scope)
            return Resolution("type", owner, rule="self") if owner is not None else None
        found = self.chain(path, scope, written, line)
        if found is not None and found.kind == "value":
            found = self.settle(path, found)
        if found is not None:
            return found if found.kind in ("type", "external") else None
        family, last = self.table.names[path].scoping.family, written.rpartition(".")[2]
        known = self.table.by_name.get((family, last), ())
        only = {self.table.full(one) for one in known if self.table.definition(one).kind in CONTAINER_KINDS}
        if len(last) < 3 or last in _SAYS_NOTHING:
            return None
        if not only:  # no type of the repository is called so
            return Resolution("external", is_sure=False, rule="outside")
        return Resolution("type", only.pop(), is_sure=False, rule="only-type") if len(only) == 1 else None


def _one_type(written: str) -> str:
    """Return the one type that is not the empty one: "Foo|None" → "Foo"; "" where there are several."""
    parts: Iterable[str] = (part.strip().removesuffix("()") for part in written.split("|"))
    kept = [part for part in parts if part not in ("None", "null", "undefined", "nil", "")]
    return kept[0].strip("?*&") if len(kept) == 1 else ""
