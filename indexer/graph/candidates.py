"""Name-only resolution: candidates for a reference that scopes and types do not explain.

**Invariant:** a name that most libraries use is never more than `possible`, however few candidates it has.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from codecards.indexer.facts import CALL_TARGET_KINDS, CONTAINER_KINDS, Definition, Reference
from codecards.indexer.graph.builtins import builtins
from codecards.indexer.graph.edges import ResolvedReference
from codecards.indexer.graph.heads import FullName
from codecards.indexer.graph.module_paths import shared_folders
from codecards.indexer.graph.symbols import DefinitionRef, FileNames
from codecards.indexer.graph.types import TypeResolver

MAX_CANDIDATES = 8
"""Candidates listed in an edge."""
MANY = 50
"""Above this number, candidates are not ranked by folder distance: which of them are listed matters little."""
MAX_SHORT_NAME = 3
"""Names of at most so many characters are too short to be evidence by themselves."""
_TYPES = frozenset({"type", "inherit", "construct"})


@dataclass(frozen=True, slots=True)
class _Named:
    """The definitions of a name that fit one kind of reference."""

    all: tuple[DefinitionRef, ...]
    fitting: tuple[DefinitionRef, ...]
    """Those that accept the number of arguments."""
    owners: tuple[str, ...]
    """For each fitting definition, the last name of its type, in lower case."""


class NameCandidates:
    """Finds definitions by their name alone."""

    def __init__(self, types: TypeResolver) -> None:
        """Create a finder over the definitions that `types` knows."""
        self._types = types
        self._table = types.table
        self._named: dict[tuple[str, str, str, int, bool], _Named] = {}

    def find(self, names: FileNames, one: Reference, *, at_most_possible: bool = False) -> ResolvedReference | None:
        """Resolve a reference by its name; None if nothing suggests a definition of the repository.

        Args:
            names: The file that contains the reference.
            one: The reference.
            at_most_possible: Whether the type of the receiver contradicts every definition of the name.
        """
        if _is_noise(names, one):
            return None
        named = self._definitions_named(names, one)
        if not named.all:
            return None
        word = one.receiver.rpartition(".")[2].removesuffix("()").replace("_", "").lower()
        hinted = [ref for ref, owner in zip(named.fitting, named.owners, strict=True) if _is_named_like(word, owner)]
        refs: Sequence[DefinitionRef] = named.all
        if one.receiver and one.name in builtins().methods:
            refs = hinted
        elif not at_most_possible:
            likely = self._likely(names, one, named, hinted)
            if likely is not None:
                return likely
        if not refs:
            return None
        best = self._best(names.path, refs, named.fitting, hinted)
        return ResolvedReference(None, "possible", "name", tuple(best), len(refs))

    def find_below(self, names: FileNames, one: Reference, receiver_type: FullName) -> ResolvedReference | None:
        """Resolve a member that the type lacks but subclasses define (template methods, mixins)."""
        refs = self._definitions_named(names, one).all
        if not refs or len(refs) > MANY:
            return None
        below = [ref for ref in refs if receiver_type in self._types.ancestors(self._owner_of(ref))[0]]
        if len(below) == 1:
            return ResolvedReference(below[0], "likely", "subclass")
        if not below:
            return None
        return ResolvedReference(None, "possible", "subclass", tuple(below[:MAX_CANDIDATES]), len(below))

    def _owner_of(self, ref: DefinitionRef) -> FullName:
        full = self._table.full(ref)
        owner = FullName(full.scope, full.name.rpartition(".")[0])
        return self._table.canonical(owner)

    def _likely(
        self, names: FileNames, one: Reference, named: _Named, hinted: Sequence[DefinitionRef]
    ) -> ResolvedReference | None:
        """Return the only definition of an uncommon name, or the only one whose type is named like the receiver."""
        if one.name in builtins().common_names or len(one.name) <= MAX_SHORT_NAME:
            return None
        if len(named.all) == 1 and named.fitting and (one.receiver or names.scoping.bare_by_name):
            return ResolvedReference(named.all[0], "likely", "only-name")
        return ResolvedReference(hinted[0], "likely", "receiver-name") if len(hinted) == 1 else None

    def _definitions_named(self, names: FileNames, one: Reference) -> _Named:
        self._table.asked.names.add(one.name)
        key = (names.facts.language, one.name, one.kind, one.n_arguments, bool(one.receiver))
        known = self._named.get(key)
        if known is None:
            refs = self._table.by_name.get((names.scoping.family, one.name), ())
            found = tuple(ref for ref in refs if _could_be(names, one, self._table.definition(ref)))
            fitting = tuple(ref for ref in found if self._accepts_arguments(ref, one))
            known = self._named[key] = _Named(found, fitting, tuple(self._owner_word(ref) for ref in fitting))
        return known

    def _owner_word(self, ref: DefinitionRef) -> str:
        return self._table.definition(ref).qualified_name.rpartition(".")[0].rpartition(".")[2].lower()

    def _accepts_arguments(self, ref: DefinitionRef, one: Reference) -> bool:
        return one.kind not in ("call", "construct") or self._types.parameters(ref).fit(one.n_arguments)

    def _best(
        self,
        path: str,
        refs: Sequence[DefinitionRef],
        fitting: Sequence[DefinitionRef],
        hinted: Sequence[DefinitionRef],
    ) -> Sequence[DefinitionRef]:
        """Return the best candidates first: type named like the receiver, arguments, same file, nearest folder."""
        if len(refs) > MANY:
            own = [ref for ref in refs if ref[0] == path]
            return list(dict.fromkeys([*hinted, *own, *fitting[:MAX_CANDIDATES], *refs]))[:MAX_CANDIDATES]
        fit, hint = set(fitting), set(hinted)

        def rank(ref: DefinitionRef) -> tuple[bool, bool, bool, int, DefinitionRef]:
            return ref not in hint, ref not in fit, ref[0] != path, -shared_folders(ref[0], path), ref

        return sorted(refs, key=rank)[:MAX_CANDIDATES]


def _is_noise(names: FileNames, one: Reference) -> bool:
    """Return whether the name probably belongs to a local value or to the language."""
    if one.kind in ("value", "type"):
        return True
    if one.receiver:
        return one.receiver.partition(".")[0] in builtins().external_roots
    scoping = names.scoping
    if one.name in (builtins().c_library if scoping.family == "c" else builtins().functions):
        return True
    if scoping.bare_by_name or names.stars or scoping.reach != "file":
        return False
    # No statement brings the bare name in, so it is probably a local value.
    return one.name in builtins().common_names or len(one.name) <= MAX_SHORT_NAME or _is_parameter(names, one)


def _is_parameter(names: FileNames, one: Reference) -> bool:
    """Return whether a signature around the reference contains the name: then it is a value that was passed in."""
    word = re.compile(rf"\b{re.escape(one.name)}\b")
    at = one.owner
    while at >= 0:
        definition = names.facts.definitions[at]
        if word.search(definition.signature.partition("(")[2]):
            return True
        at = definition.parent
    return False


def _could_be(names: FileNames, one: Reference, definition: Definition) -> bool:
    """Return whether a definition is of the kind that a reference needs."""
    kind = definition.kind
    if one.kind == "macro":
        return kind == "macro"
    if one.kind in _TYPES:
        return kind in CONTAINER_KINDS
    if kind not in CALL_TARGET_KINDS:
        return False
    is_member = "." in definition.qualified_name
    if one.receiver:
        return is_member and kind != "constructor"
    # A Ruby mixin calls methods of the classes that include it without a receiver.
    return not is_member or kind == "macro" or names.facts.language == "ruby"


def _is_named_like(word: str, owner: str) -> bool:
    """Return whether a receiver is named like a type, both as one lower-case word: "store" and "tokenstore"."""
    return len(word) > 2 and owner.endswith(word) and len(word) * 2 >= len(owner)
