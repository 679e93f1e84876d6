"""Resolves members of types, inheritance, and the types of values.

A base class may be reached through any import, and a value's type through any chain of names; for these the resolver
asks the scopes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from codecards.indexer.facts import (
    CALL_TARGET_KINDS,
    CODE_TYPE_KINDS,
    CONTAINER_KINDS,
    MEMBER_KINDS,
    TYPED_VALUE_KINDS,
    Binding,
)
from codecards.indexer.graph.heads import FullName
from codecards.indexer.graph.parameters import UNKNOWN, Parameters, read_parameters
from codecards.indexer.graph.resolution import EXTERNAL_BASE, Resolution, ResolutionCache, ScopeQueries
from codecards.indexer.graph.scoping import scoping_of
from codecards.indexer.graph.symbols import DefinitionRef, SymbolTable

MAX_BASES = 200
"""Base types visited from one type; this also ends cycles of bases."""
MIN_TYPE_NAME = 3
"""Characters a type's name needs to be resolved by name alone."""
_SELF_TYPES = frozenset({"Self", "self", "static", "this", "$this", "typing.Self", "cls"})
_ANY_TYPES = frozenset({"Any", "object", "Object", "auto", "var", "let", "dynamic", "any", "unknown", "mixed", "id"})
"""Declared types that say nothing about the value."""
_EMPTY_BASES = frozenset({"object", "Object", "ABC", "Protocol", "Generic", "Enum"})
"""Bases without members of interest."""


class TypeResolver:
    """Resolves members and the types of values."""

    def __init__(self, table: SymbolTable, cache: ResolutionCache, scopes: ScopeQueries) -> None:
        """Create a resolver.

        Args:
            table: The repository's definitions.
            cache: Shared by all resolvers of one repository.
            scopes: Resolves names where they are written.
        """
        self.table = table
        self._cache = cache
        self._scopes = scopes
        self._ancestors: dict[FullName, tuple[tuple[tuple[FullName, ...], bool], frozenset[str]]] = {}
        self._parameters: dict[DefinitionRef, Parameters] = {}

    def parameters(self, ref: DefinitionRef) -> Parameters:
        """Return the parameters that a definition's signature declares."""
        known = self._parameters.get(ref)
        if known is None:
            one = self.table.definition(ref)
            language = self.table.language(ref[0])
            takes_any = (
                one.kind in CODE_TYPE_KINDS or one.kind not in CALL_TARGET_KINDS
            )  # their brackets have another meaning
            known = UNKNOWN if takes_any else read_parameters(one.signature, one.name, language)
            self._parameters[ref] = known
        return known

    def type_around(self, path: str, scope: int) -> FullName | None:
        """Return the type whose instance `self` is in a scope."""
        found = self.table.names[path].type_around(scope)
        return self.table.canonical(found) if found is not None else None

    def resolution_of(
        self, refs: tuple[DefinitionRef, ...], full: FullName, *, is_sure: bool = True, rule: str
    ) -> Resolution:
        """Return the resolution of the definitions that share a full name."""
        kinds = {self.table.definition(ref).kind for ref in refs}
        if kinds & CONTAINER_KINDS:
            return Resolution("type", self.table.canonical(full), refs, is_sure, rule)
        if kinds & CALL_TARGET_KINDS and kinds != {"property"}:
            return Resolution("callable", full, refs, is_sure, rule)
        return Resolution("value" if kinds & TYPED_VALUE_KINDS else "callable", full, refs, is_sure, rule)

    def member(self, receiver: Resolution, name: str) -> Resolution | None:
        """Return a member of a type or its instance, inherited members included."""
        ancestors, has_external_base = self.ancestors(receiver.full)
        for depth, full in enumerate(ancestors):
            if receiver.kind == "super" and not depth:
                continue
            member = FullName(full.scope, f"{full.name}.{name}")
            refs = self.table.at(member)
            rule = (receiver.rule if not depth else "inherited") or "member"
            if refs:
                return self.resolution_of(tuple(refs), member, is_sure=receiver.is_sure, rule=rule)
            if member in self.table.fields:
                return Resolution("value", member, (), receiver.is_sure, rule)
        return EXTERNAL_BASE if has_external_base else None

    def ancestors(self, full: FullName) -> tuple[tuple[FullName, ...], bool]:
        """Return (a type and its bases, nearest first; whether a base is outside the repository)."""
        known = self._ancestors.get(full)
        if known is not None:
            self.table.asked.names.update(known[1])
            return known[0]
        outer = self.table.asked.begin()
        ancestors: list[FullName] = []
        has_external_base = False
        pending = [full]
        for _ in range(MAX_BASES):
            if not pending:
                break
            one = pending.pop()
            if one in ancestors:
                ancestors.remove(one)  # in a diamond the later position counts, as in Python's resolution order
            ancestors.append(one)
            bases = [b for b in self._bases(one) if b is None or b.full not in ancestors or b.full != full]
            has_external_base = has_external_base or any(base is None or base.kind == "external" for base in bases)
            pending += [
                base.full
                for base in reversed(bases)
                if base is not None and base.kind == "type" and base.full not in ancestors[:1]
            ]
        found = tuple(ancestors), has_external_base
        names = self.table.asked.end(outer)
        if not self._cache.hit_cycle():
            self._ancestors[full] = found, names
        return found

    def _bases(self, full: FullName) -> Iterator[Resolution | None]:
        for path, position in self.table.types_at(full):
            one = self.table.definition((path, position))
            for written in one.bases:
                base = _single_type(written)
                found = self._type_named(path, one.parent, base, one.first_line) if base else None
                if found is None and base in _EMPTY_BASES:
                    continue
                yield found

    def value_type(self, one: Resolution) -> Resolution | None:
        """Return the type of a variable, field or property; any other resolution is returned unchanged."""
        if one.kind == "callable" and one.refs and self.table.definition(one.refs[0]).kind == "property":
            return self._declared_result(one)
        if one.kind != "value":
            return one
        key = ("value-type", one.full, one.refs[:1])
        found = self._cache.cached(key, lambda: self._type_of_value(one))
        return found if found is None or one.is_sure else found.unsure()

    def call_result(self, path: str, one: Resolution | None) -> Resolution | None:
        """Return the result of a call: a new instance of a type, or the declared result of a function."""
        callee = self.value_type(one) if one is not None and one.kind == "value" else one
        if callee is None or callee.kind in ("shadowed", "instance", "value"):
            return None
        if callee.kind == "external":
            return callee.unsure()
        if callee.kind == "type":
            return replace(callee, kind="instance")
        if callee.kind == "module":
            default = self._scopes.attribute(path, callee, "default")
            return self.call_result(path, default) if default is not None else None
        return self._declared_result(callee) if callee.kind == "callable" else None

    def binding_type(self, path: str, bindings: Sequence[Binding], line: int) -> Resolution | None:
        """Return the type of the binding in effect at a line; 0 is the end of the scope."""
        before = [one for one in bindings if one.line <= line] if line else bindings
        candidates = before or bindings
        latest = candidates[-1]
        for one in candidates:  # `x: Foo = make()` gives two bindings on one line: the annotation wins
            if one.line == latest.line and not one.value.endswith("()") and not one.value.startswith("="):
                latest = one
        found = self._type_of_binding(path, latest)
        if len({one.value for one in bindings}) > 1 and len({one.line for one in bindings}) > 1:
            self._cache.mark_line_dependency()
            return found.unsure() if found is not None else None
        return found

    def _type_of_binding(self, path: str, one: Binding) -> Resolution | None:
        value, scope = one.value, one.scope
        if one.name.startswith("self."):
            scope = self.table.names[path].scope_at(one.line, scope)
        if value.startswith("="):
            return _as_local(self._chain_before(path, scope, value[1:], one))
        if value.endswith("()"):
            made = _as_local(self._chain_before(path, scope, value, one))
            # `self.store = store or Store()`: the parameter has the type made here only if it is not passed.
            is_default = scope >= 0 and one.name.removeprefix("self.") in self.parameters((path, scope)).names
            return made.unsure() if made is not None and is_default else made
        found = self._type_named(path, scope, value, one.line)
        if found is None:
            return None
        return _as_local(replace(found, kind="instance") if found.kind == "type" else found)

    def _chain_before(self, path: str, scope: int, written: str, one: Binding) -> Resolution | None:
        """Resolve a chain as of just before a binding: `x = x.parent()` refers to the older x."""
        if written.partition(".")[0].removesuffix("()") == one.name:
            older = [b for b in self.table.names[path].bindings.get((one.scope, one.name), ()) if b.line < one.line]
            if not older:
                if "." in written:
                    return None
                parent = self.table.files[path].definitions[scope].parent if scope >= 0 else -1
                return self._scopes.resolve_chain(path, parent, written, one.line)
        return self._scopes.resolve_chain(path, scope, written, max(one.line - 1, 1))

    def _type_of_value(self, one: Resolution) -> Resolution | None:
        """Return the type of a variable or member, by its bindings or its declaration."""
        fields = self.table.fields.get(one.full, ())
        for where, binding in fields:
            found = self._type_of_binding(where, binding)
            if found is not None:
                return found.unsure() if len({other.value for _, other in fields}) > 1 else found
        for where, position in one.refs:
            definition = self.table.definition((where, position))
            bindings = self.table.names[where].bindings.get((definition.parent, definition.name))
            if bindings and (found := self.binding_type(where, bindings, 0)) is not None:
                return found
            if definition.returns:
                return self._declared_result(one)
            if definition.parent >= 0 and self.table.definition((where, definition.parent)).kind == "enum":
                return Resolution("instance", self.table.full((where, definition.parent)), rule="enum")
        return None

    def _declared_result(self, one: Resolution) -> Resolution | None:
        """Return an instance of a function's declared result type."""
        if not one.refs:
            return None
        where, position = one.refs[-1] if scoping_of(self.table.language(one.refs[0][0])).last_wins else one.refs[0]
        definition = self.table.definition((where, position))
        owner = self.type_around(where, position) if definition.kind in MEMBER_KINDS else None
        if definition.kind == "constructor" and owner is not None:
            return Resolution("instance", owner, rule="construct")
        returned = _single_type(definition.returns)
        if returned in _SELF_TYPES and owner is not None:
            return Resolution("instance", owner, is_sure=False, rule="result-type")
        found = self._type_named(where, definition.parent, returned, definition.first_line) if returned else None
        if found is None or found.kind not in ("type", "external"):
            return None
        kind = "instance" if found.kind == "type" else "external"
        return Resolution(kind, found.full, is_sure=False, rule="result-type")

    def _type_named(self, path: str, scope: int, written: str, line: int) -> Resolution | None:
        """Resolve a type's name as it is written; return the type, an external one, or None."""
        if written in _SELF_TYPES:
            owner = self.type_around(path, scope)
            return Resolution("type", owner, rule="self") if owner is not None else None
        found = self._scopes.resolve_chain(path, scope, written, line)
        if found is not None and found.kind == "value":
            found = self.value_type(found)
        if found is not None:
            return found if found.kind in ("type", "external") else None
        family, last = self.table.names[path].scoping.family, written.rpartition(".")[2]
        if len(last) < MIN_TYPE_NAME or last in _ANY_TYPES:
            return None
        refs = self.table.by_name.get((family, last), ())
        types = {self.table.full(ref) for ref in refs if self.table.definition(ref).kind in CONTAINER_KINDS}
        if not types:
            return Resolution("external", is_sure=False, rule="outside")
        return Resolution("type", types.pop(), is_sure=False, rule="only-type") if len(types) == 1 else None


def _as_local(one: Resolution | None) -> Resolution | None:
    return replace(one, rule="local-type") if one is not None and one.kind == "instance" else one


def _single_type(written: str) -> str:
    """Return the only type of a union besides null: "Foo|None" → "Foo"; "" if there are several."""
    parts: Iterable[str] = (part.strip().removesuffix("()") for part in written.split("|"))
    kept = [part for part in parts if part not in ("None", "null", "undefined", "nil", "")]
    return kept[0].strip("?*&") if len(kept) == 1 else ""
