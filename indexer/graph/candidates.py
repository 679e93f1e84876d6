"""Name candidates: what a use may mean that only its name speaks for.

**Invariant:** a name that every library has is never more than `possible`, however few the candidates.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from codecards.indexer.facts import CALL_TARGET_KINDS, CONTAINER_KINDS, Definition, Reference
from codecards.indexer.graph.builtins import (
    BUILTIN_FUNCTIONS,
    BUILTIN_METHODS,
    C_LIBRARY,
    COMMON_NAMES,
    OUTSIDE_ROOTS,
)
from codecards.indexer.graph.edges import ResolvedReference
from codecards.indexer.graph.scopes import NameMeanings
from codecards.indexer.graph.symbols import DefinitionRef, FileNames, FullName

MAX_CANDIDATES = 8
MANY = 50
"""From this many candidates on, which of them are shown is not worth ranking them by their folders."""
_TYPES = frozenset({"type", "inherit", "construct"})


@dataclass(frozen=True, slots=True)
class _Named:
    """Definitions of one name that a kind of reference could mean."""

    all: tuple[DefinitionRef, ...]
    fitting: tuple[DefinitionRef, ...]
    """Those that take as many arguments as are given."""
    owners: tuple[str, ...]
    """Of each fitting one, the last name of the type that holds it, in lower case."""


class NameCandidates:
    """Looks definitions up by their name alone."""

    def __init__(self, meanings: NameMeanings) -> None:
        """Take what knows the definitions' parameters."""
        self._meanings = meanings
        self._table = meanings.table
        self._named: dict[tuple[str, str, str, int, bool], _Named] = {}

    def find(self, names: FileNames, one: Reference, *, at_most_possible: bool = False) -> ResolvedReference | None:
        """Return what a reference in a file may mean; None where nothing speaks for the repository.

        Args:
            names: The file that holds the reference.
            one: The reference.
            at_most_possible: Whether what is known of the receiver speaks against every definition of that name.
        """
        if self._says_nothing(names, one):
            return None
        named = self._of_name(names, one)
        if not named.all:
            return None
        word = one.receiver.rpartition(".")[2].removesuffix("()").replace("_", "").lower()
        hinted = [
            place for place, owner in zip(named.fitting, named.owners, strict=True) if _is_named_like(word, owner)
        ]
        places: Sequence[DefinitionRef] = named.all
        if one.receiver and one.name in BUILTIN_METHODS:
            places = hinted
        elif not at_most_possible:
            likely = self._likely(names, one, named, hinted)
            if likely is not None:
                return likely
        if not places:
            return None
        best = self._best(names.path, places, named.fitting, hinted)
        return ResolvedReference(None, "possible", "name", tuple(best), len(places))

    def find_below(self, names: FileNames, one: Reference, holder: FullName) -> ResolvedReference | None:
        """Return what a member means that a type lacks, but types below it have: template methods, mixins."""
        places = self._of_name(names, one).all
        if not places or len(places) > MANY:
            return None
        below = [place for place in places if holder in self._meanings.line_of(self._owner_of(place))[0]]
        if len(below) == 1:
            return ResolvedReference(below[0], "likely", "subclass")
        if not below:
            return None
        return ResolvedReference(None, "possible", "subclass", tuple(below[:MAX_CANDIDATES]), len(below))

    def _owner_of(self, place: DefinitionRef) -> FullName:
        full = self._table.full(place)
        owner = FullName(full.space, full.name.rpartition(".")[0])
        return self._meanings.other_names.get(owner, owner)

    def _says_nothing(self, names: FileNames, one: Reference) -> bool:
        """Return whether the name is a local value's or the language's, as far as anybody can tell."""
        if one.kind in ("value", "type"):
            return True
        if one.receiver:
            return one.receiver.partition(".")[0] in OUTSIDE_ROOTS
        scoping = names.scoping
        brought = scoping.bare_by_name or names.stars or scoping.space != "file"
        if one.name in (C_LIBRARY if scoping.family == "c" else BUILTIN_FUNCTIONS):
            return True
        # Where nothing brings a bare name in, it is a local value; or an import was forgotten, or comes another way.
        return not brought and (one.name in COMMON_NAMES or len(one.name) <= 3 or _is_parameter(names, one))

    def _likely(
        self, names: FileNames, one: Reference, named: _Named, hinted: Sequence[DefinitionRef]
    ) -> ResolvedReference | None:
        if one.name in COMMON_NAMES or len(one.name) <= 3:
            return None
        if len(named.all) == 1 and named.fitting and (one.receiver or names.scoping.bare_by_name):
            return ResolvedReference(named.all[0], "likely", "only-name")
        return ResolvedReference(hinted[0], "likely", "receiver-name") if len(hinted) == 1 else None

    def _of_name(self, names: FileNames, one: Reference) -> _Named:
        key = (names.facts.language, one.name, one.kind, one.n_arguments, bool(one.receiver))
        known = self._named.get(key)
        if known is None:
            places = self._table.by_name.get((names.scoping.family, one.name), ())
            found = tuple(place for place in places if _could_be(names, one, self._table.definition(place)))
            fitting = tuple(place for place in found if self._fits(place, one))
            known = self._named[key] = _Named(found, fitting, tuple(self._owner(place) for place in fitting))
        return known

    def _owner(self, place: DefinitionRef) -> str:
        return self._table.definition(place).qualified_name.rpartition(".")[0].rpartition(".")[2].lower()

    def _fits(self, place: DefinitionRef, one: Reference) -> bool:
        """Return whether a call with so many arguments is possible."""
        return one.kind not in ("call", "construct") or self._meanings.parameters(place).fit(one.n_arguments)

    def _best(
        self,
        path: str,
        places: Sequence[DefinitionRef],
        fitting: Sequence[DefinitionRef],
        hinted: Sequence[DefinitionRef],
    ) -> Sequence[DefinitionRef]:
        """Return the best candidates first: called like the receiver, fitting, in the file, in a near folder."""
        if len(places) > MANY:
            own = [place for place in places if place[0] == path]
            return list(dict.fromkeys([*hinted, *own, *fitting[:MAX_CANDIDATES], *places]))[:MAX_CANDIDATES]
        fit, hint = set(fitting), set(hinted)

        def rank(place: DefinitionRef) -> tuple[bool, bool, bool, int, DefinitionRef]:
            return place not in hint, place not in fit, place[0] != path, -shared_folders(place[0], path), place

        return sorted(places, key=rank)[:MAX_CANDIDATES]


def shared_folders(one: str, other: str) -> int:
    """Return the number of folders, from the root, that two files share."""
    count = 0
    for mine, theirs in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _is_parameter(names: FileNames, one: Reference) -> bool:
    """Return whether a head around the reference names it: then it is a value that was handed in."""
    word = re.compile(rf"\b{re.escape(one.name)}\b")
    at = one.owner
    while at >= 0:
        definition = names.facts.definitions[at]
        if word.search(definition.signature.partition("(")[2]):
            return True
        at = definition.parent
    return False


def _could_be(names: FileNames, one: Reference, definition: Definition) -> bool:
    """Return whether a definition is of the kind that a reference asks for."""
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
    # A mixin's method calls what the classes that take it in define, without a receiver.
    return not is_member or kind == "macro" or names.facts.language == "ruby"


def _is_named_like(word: str, owner: str) -> bool:
    """Return whether a receiver is called like a type, both as one lower-case word: tokenstore; store, tokenstore."""
    return len(word) > 2 and owner.endswith(word) and len(word) * 2 >= len(owner)
