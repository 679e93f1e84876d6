"""Edge resolution: references become edges of the call graph, each with the evidence for it.

**Invariant:** an edge is never invented. `exact`: the text says which definition it is. `likely`: one step rests on a
convention (a declared result type, the only definition of an uncommon name). `possible`: only the name speaks for it.
`external`: it comes from outside the repository. What the language itself brings (`len`, `append`) and names that
nothing in the repository could explain give no edge.
"""

from collections.abc import Sequence

from codecards.indexer.facts import CODE_TYPE_KINDS, Import, Reference
from codecards.indexer.graph.candidates import NameCandidates, shared_folders
from codecards.indexer.graph.edges import Edge, ResolvedReference
from codecards.indexer.graph.resolution import Resolution
from codecards.indexer.graph.scopes import NameMeanings
from codecards.indexer.graph.symbols import DefinitionRef, FileNames, SymbolTable, stem_of

_CALLS = frozenset({"call", "construct", "macro", "decorator"})


class Resolver:
    """Resolves the references of a repository's files. Remembers what it has looked up."""

    def __init__(self, table: SymbolTable) -> None:
        """Take what the repository defines."""
        self.table = table
        self.meanings = NameMeanings(table)
        self._candidates = NameCandidates(self.meanings)

    def resolve(self, path: str) -> tuple[Edge, ...]:
        """Return the edges of a file's imports and references, in the order of their lines."""
        facts = self.table.files[path]
        edges = [edge for one in facts.imports if (edge := self._import_edge(path, one)) is not None]
        known: dict[tuple[int, str, str, str, int], ResolvedReference | None] = {}
        for one in facts.references:
            key = (one.owner, one.receiver, one.name, one.kind, one.n_arguments)
            if key in known:
                outcome = known[key]
            else:
                self.meanings.pop_line_dependency()
                outcome = self._outcome(path, one)
                if not self.meanings.pop_line_dependency():
                    known[key] = outcome
            if outcome is not None:
                written = f"{one.receiver}.{one.name}" if one.receiver else one.name
                edges.append(
                    Edge(path, one.owner, outcome.target, written, one.line, one.kind, outcome.confidence, outcome.rule,
                         outcome.candidates, outcome.n_candidates)
                )  # fmt: skip
        edges.sort(key=lambda edge: edge.line)
        return tuple(edges)

    def _import_edge(self, path: str, one: Import) -> Edge | None:
        found = self.meanings.imported(path, one)
        names = self.table.names[path]
        written = ".".join(filter(None, ("." * one.level + one.module, one.name)))
        target: DefinitionRef | None = None
        confidence = "exact"
        if names.scoping.family == "c" and not one.alias and one.name != "*":
            file = self.table.modules.file_of(path, one.module)
            target, confidence = ((file, -1), "exact") if file is not None else (None, "external")
        elif found is None or found.kind == "hidden":
            return None
        elif found.kind == "external":
            confidence = "external"
        elif found.places:
            target = self._nearest(path, found.places, None)[0]
        elif found.kind == "package" and (files := self.table.files_of_package.get(found.full)):
            target = (min(files), -1)
        else:
            return None
        return Edge(path, one.scope, target, written, one.line, "import", confidence, "import")

    def _outcome(self, path: str, one: Reference) -> ResolvedReference | None:
        names = self.table.names[path]
        meanings = self.meanings
        if not one.receiver:
            found = self._bare(path, one)
        elif one.receiver == "?":
            found = None
        else:
            holder = meanings.chain(path, one.owner, one.receiver, one.line)
            found = meanings.attribute(path, holder, one.name) if holder is not None else None
            if found is None and holder is not None:
                return self._on_known_holder(names, one, holder)
        if found is None:
            return self._candidates.find(names, one)
        if found.kind == "external":
            if found.rule == "builtin" or one.kind == "value":
                return None
            return (
                ResolvedReference(None, "external", found.rule)
                if found.is_sure
                else self._candidates.find(names, one, at_most_possible=True)
            )
        return self._settled(path, one, found)

    def _bare(self, path: str, one: Reference) -> Resolution | None:
        scoping = self.table.names[path].scoping
        if one.name in scoping.instances and (owner := self.meanings.type_around(path, one.owner)) is not None:
            return Resolution("type", owner, rule="self")
        if one.name in ("super", "self", "this") and one.kind == "call":
            owner = self.meanings.type_around(path, one.owner)
            line = self.meanings.line_of(owner)[0] if owner is not None else ()
            if one.name == "super":
                return Resolution("type", line[1], rule="super") if len(line) > 1 else Resolution("hidden")
        if one.kind == "decorator" and one.owner >= 0:  # it stands outside the definition that it decorates
            return self.meanings.bare(path, self.table.files[path].definitions[one.owner].parent, one.name, one.line)
        return self.meanings.bare(path, one.owner, one.name, one.line)

    def _on_known_holder(self, names: FileNames, one: Reference, holder: Resolution) -> ResolvedReference | None:
        """Return what a member means that its holder, as far as it is known, does not have."""
        if one.name == "new" and holder.kind == "type":  # Ruby, Rust without a `new` of its own
            return self._settled(names.path, one, holder)
        if holder.kind in ("instance", "type") and one.kind in _CALLS:
            below = self._candidates.find_below(names, one, holder.full)
            if below is not None:
                return below
        if holder.kind in ("external", "value", "instance", "type", "hidden"):
            return self._candidates.find(names, one, at_most_possible=holder.kind in ("external", "instance", "type"))
        return None

    def _settled(self, path: str, one: Reference, found: Resolution) -> ResolvedReference | None:
        """Return the outcome of a meaning inside the repository."""
        if found.kind == "value" and one.kind in _CALLS:
            held = self.meanings.settle(path, found)
            if held is not None and held.kind in ("callable", "type") and held.places:
                found = held
            elif held is not None and held.kind == "external" and not found.places:
                return ResolvedReference(None, "external", held.rule)
        if found.kind == "module" and one.kind in _CALLS:
            found = self.meanings.attribute(path, found, "default") or found
        places: Sequence[DefinitionRef] = found.places
        if found.kind == "type":
            places = self.table.types_at(found.full) or places
            bodies = [place for place in places if self.table.definition(place).kind != "impl"]
            places = bodies or places
        if not places or found.kind in ("instance", "super", "package", "dotted", "hidden"):
            return None
        if found.kind == "module":
            return ResolvedReference((places[0][0], -1), "exact", found.rule) if one.kind != "call" else None
        places = self._nearest(path, places, one)
        is_one = len(places) == 1 or found.kind == "type" or self._are_one(places)
        confidence = "exact" if found.is_sure and is_one else "likely"
        return ResolvedReference(places[0], confidence, found.rule or "scope")

    def _nearest(self, path: str, places: Sequence[DefinitionRef], one: Reference | None) -> list[DefinitionRef]:
        """Return what of several definitions of one name is meant, best first: bodies, near files, fitting heads."""
        if len(places) == 1:
            return list(places)
        definition = self.table.definition
        kept = [place for place in places if place[1] < 0 or definition(place).kind != "declaration"] or list(places)
        family = self.table.names[path].scoping.family
        if family == "c":
            near = self.table.files_included(path)
            stems = self.table.stems_included(path)
            ranks = {
                place: (
                    place[0] != path,
                    place[0] not in near,
                    stem_of(place[0]) not in stems,
                    -shared_folders(place[0], path),
                )
                for place in kept
            }
        else:
            ranks = {place: (place[0] != path, False, False, -shared_folders(place[0], path)) for place in kept}
        best = min(ranks.values())
        kept = [place for place in kept if ranks[place] == best]
        if len(kept) > 1 and self.table.names[kept[0][0]].scoping.last_wins:
            properties = [place for place in kept if place[1] >= 0 and definition(place).kind == "property"]
            return properties[:1] or kept[-1:]
        if len(kept) > 1 and all(place[1] >= 0 and definition(place).kind in CODE_TYPE_KINDS for place in kept):
            # Of a type in parts, the one that says what it extends, else the one with the most members.
            return sorted(kept, key=lambda place: (not definition(place).bases, -self._n_members(place), place))
        if len(kept) > 1 and one is not None and one.n_arguments >= 0:
            kept = [place for place in kept if self.meanings.parameters(place).fit(one.n_arguments)] or kept
        return kept

    def _n_members(self, place: DefinitionRef) -> int:
        return sum(one.parent == place[1] for one in self.table.files[place[0]].definitions)

    def _are_one(self, places: Sequence[DefinitionRef]) -> bool:
        """Return whether several definitions are one thing for a reader: prototypes, a getter and its setter, macros."""
        definitions = [self.table.definition(place) for place in places]
        if all(one.kind in ("declaration", "property", "macro") for one in definitions):
            return True
        # C has no overloads: several of one name in one file are the branches of an #if.
        paths = {path for path, _ in places}
        return len(paths) == 1 and all(self.table.files[path].language == "c" for path in paths)
