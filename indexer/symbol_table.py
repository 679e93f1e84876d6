"""Symbol table: what the whole repository defines, so that a name can be looked up by where it stands."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from codecards.indexer.facts import Definition, FileFacts
from codecards.indexer.module_paths import ModulePaths

TYPE_KINDS = frozenset({"class", "struct", "interface", "trait", "enum", "record", "object", "impl", "type"})
OPEN_KINDS = frozenset({"namespace", "module", "impl"})
"""Definitions whose members other code reaches without naming them first."""

Place = tuple[str, int]
"""(path, position in the file's definitions); -1 is the file as a whole."""


class SymbolTable:
    """All definitions of a repository."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        """Take path -> facts of every file."""
        self.files = files
        self.modules = ModulePaths(files)
        self.tops: dict[str, dict[str, list[int]]] = {}
        """Path -> name -> positions of what the file defines outside types and functions."""
        self.members: dict[str, dict[str, list[Place]]] = defaultdict(dict)
        """Last name of a type -> member name -> places, over all files."""
        self.types: dict[str, list[Place]] = defaultdict(list)
        """Last name -> types of that name (impl blocks left out)."""
        self.callables: dict[str, list[Place]] = defaultdict(list)
        """Last name -> everything of that name that can be called or constructed."""
        for path, facts in files.items():
            self._add(path, facts)

    def definition(self, place: Place) -> Definition:
        """Return the definition at a place (not for position -1)."""
        return self.files[place[0]].definitions[place[1]]

    def members_of(self, place: Place, name: str) -> list[Place]:
        """Return the members of that name that the type at a place has itself, its partial parts included."""
        kind = self.definition(place)
        found = self.members.get(kind.name, {}).get(name, [])
        if len(self.types.get(kind.name, ())) <= 1:
            return found
        return [one for one in found if self._belongs(one, place)]

    def bases_of(self, place: Place) -> Iterable[tuple[str, str]]:
        """Yield (path, base as written) of the type at a place, its partial parts and impl blocks included."""
        kind = self.definition(place)
        for base in kind.bases:
            yield place[0], base
        for other in self.types.get(kind.name, ()):
            if other != place and self._same_type(other, place):
                yield from ((other[0], base) for base in self.definition(other).bases)

    def _add(self, path: str, facts: FileFacts) -> None:
        tops: dict[str, list[int]] = {}
        for position, one in enumerate(facts.definitions):
            place = (path, position)
            owner = one.qualified_name.rpartition(".")[0]
            parent = facts.definitions[one.parent] if one.parent >= 0 else None
            if parent is None and not owner or parent is not None and self._is_open(facts, one.parent) and parent.kind != "impl":
                tops.setdefault(one.name, []).append(position)
            if owner:
                self.members[owner.rpartition(".")[2]].setdefault(one.name, []).append(place)
            if one.kind in TYPE_KINDS and one.kind != "impl":
                self.types[one.name].append(place)
            if one.kind not in ("variable", "constant", "field", "section", "namespace", "impl", "cell"):
                self.callables[one.name].append(place)
        self.tops[path] = tops

    def _is_open(self, facts: FileFacts, position: int) -> bool:
        """Return whether all definitions around are namespaces or modules."""
        while position >= 0:
            if facts.definitions[position].kind not in OPEN_KINDS:
                return False
            position = facts.definitions[position].parent
        return True

    def _belongs(self, member: Place, kind: Place) -> bool:
        """Return whether a member belongs to this of several types of one name."""
        owner = self.definition(member).qualified_name.rpartition(".")[0]
        wanted = self.definition(kind).qualified_name
        if not (owner == wanted or wanted.endswith("." + owner) or owner.endswith("." + wanted)):
            return False
        return self._near(member[0], kind[0], wanted)

    def _same_type(self, other: Place, place: Place) -> bool:
        mine, theirs = self.definition(place), self.definition(other)
        return mine.qualified_name == theirs.qualified_name and self._near(other[0], place[0], mine.qualified_name)

    def _near(self, one: str, other: str, qualified_name: str) -> bool:
        """Return whether two files may hold parts of one type: the same file, package, folder, or the only type there is."""
        if one == other:
            return True
        mine, theirs = self.files[one], self.files[other]
        if mine.package or theirs.package:
            return mine.package == theirs.package
        types_in_one = any(place[0] == one for place in self.types.get(qualified_name.rpartition(".")[2], ()))
        return not types_in_one  # a file that defines a type of that name itself holds its own members


def interface_digest(path: str, facts: FileFacts) -> bytes:
    """Return a digest of all that resolving other files' references can depend on; lines are no part of it."""
    seen = (
        facts.language,
        facts.package,
        [(d.name, d.qualified_name, d.kind, d.parent, d.bases, d.returns, d.exported) for d in facts.definitions],
        [(i.module, i.name, i.alias, i.level, i.reexported) for i in facts.imports if i.scope < 0],
        [(b.name, b.value, b.scope) for b in facts.bindings if b.scope < 0 or b.name.startswith("self.")],
        facts.exports,
    )
    return hashlib.blake2b(_encode(seen), digest_size=16, key=path.encode("utf-8", "surrogateescape")[:64]).digest()


_encode = msgspec.msgpack.Encoder().encode


def first(places: Sequence[Place]) -> Place | None:
    """Return the first place, None if there is none."""
    return places[0] if places else None
