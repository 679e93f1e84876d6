"""Resolves references to edges of the call graph, each with its evidence.

**Invariant:** an edge is never invented. `exact`: the text determines the definition. `likely`: one step relies on a
convention (a declared result type, the only definition of an uncommon name). `possible`: the name is the only evidence.
`external`: the target is outside the repository. Builtins (`len`, `append`) and names that nothing in the repository
could explain get no edge.
"""

from collections.abc import Iterable, Mapping, Sequence

from codecards.indexer.facts import CODE_TYPE_KINDS, Import, Reference
from codecards.indexer.graph.asked import path_key
from codecards.indexer.graph.candidates import NameCandidates
from codecards.indexer.graph.edges import Edge, ResolvedReference
from codecards.indexer.graph.module_paths import shared_folders
from codecards.indexer.graph.owners import OwnerAssignment, apply_assignments
from codecards.indexer.graph.resolution import SHADOWED, Resolution
from codecards.indexer.graph.scopes import ScopeResolver
from codecards.indexer.graph.scoping import scoping_of
from codecards.indexer.graph.symbols import DefinitionRef, FileNames, SymbolTable, stem_of, unowned_positions

_CALLS = frozenset({"call", "construct", "macro", "decorator"})


class OwnerFinder:
    """Finds the types of members that are written outside them, as if none were assigned yet.

    Attributes:
        asked: Path → names that the members of a file asked for, for files with such members.
    """

    def __init__(self, table: SymbolTable) -> None:
        """Create a finder over a repository's definitions."""
        self.asked: dict[str, frozenset[str]] = {}
        self._table = table
        self._scopes = ScopeResolver(table)

    def assignments_in(self, path: str) -> list[OwnerAssignment]:
        """Return the members of a file that belong to types of another name."""
        table = self._table
        positions = list(unowned_positions(table.files[path].definitions))
        if not positions:
            return []
        table.asked.names = set()
        applied = table.canonical_names, table.assigned
        table.canonical_names, table.assigned = {}, {}
        try:
            found = [one for position in positions if (one := self._scopes.assignment((path, position))) is not None]
        finally:
            table.canonical_names, table.assigned = applied
        self.asked[path] = frozenset(table.asked.names)
        return found


class Resolver:
    """Resolves the references of a repository's files; caches results between files."""

    def __init__(
        self,
        table: SymbolTable,
        assignments: Iterable[OwnerAssignment] | None = None,
        asked_by_owners: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        """Create a resolver over a repository's definitions.

        Args:
            table: The definitions.
            assignments: Of members to types; None to work them out for all files.
            asked_by_owners: `OwnerFinder.asked`.
        """
        self.table = table
        if assignments is None:
            finder = OwnerFinder(table)
            assignments = [one for path in table.files for one in finder.assignments_in(path)]
            asked_by_owners = finder.asked
        self._asked_by_owners = asked_by_owners or {}
        apply_assignments(table, assignments)
        self._scopes = ScopeResolver(table)
        self._types = self._scopes.types
        self._cache = self._scopes.cache
        self._candidates = NameCandidates(self._types)

    def resolve(self, path: str) -> tuple[Edge, ...]:
        """Return the edges of a file's imports and references, by line; `table.asked` has what they asked for."""
        self.table.asked.names = set(self._asked_by_owners.get(path, ()))
        facts = self.table.files[path]
        edges = [edge for one in facts.imports if (edge := self._import_edge(path, one)) is not None]
        known: dict[tuple[int, str, str, str, int], ResolvedReference | None] = {}
        for one in facts.references:
            key = (one.owner, one.receiver, one.name, one.kind, one.n_arguments)
            if key in known:
                resolved = known[key]
            else:
                self._cache.pop_line_dependency()
                resolved = self._resolve(path, one)
                if not self._cache.pop_line_dependency():
                    known[key] = resolved
            if resolved is not None:
                edges.append(_edge(path, one, resolved))
        # Whether a file has a card of its own to point to is asked for by its path.
        wholes = {edge.target[0] for edge in edges if edge.target is not None and edge.target[1] < 0}
        self.table.asked.names.update(map(path_key, wholes))
        edges.sort(key=lambda edge: edge.line)
        return tuple(edges)

    def _import_edge(self, path: str, one: Import) -> Edge | None:
        found = self._scopes.imports.imported(path, one)
        names = self.table.names[path]
        written = ".".join(filter(None, ("." * one.level + one.module, one.name)))
        target: DefinitionRef | None = None
        confidence = "exact"
        if names.scoping.family == "c" and not one.alias and one.name != "*":
            file = self.table.modules.file_of(path, one.module)
            target, confidence = ((file, -1), "exact") if file is not None else (None, "external")
        elif found is None or found.kind == "shadowed":
            return None
        elif found.kind == "external":
            confidence = "external"
        elif found.refs:
            target = self._nearest(path, found.refs, None)[0]
        elif found.kind == "package" and (files := self.table.files_of_package.get(found.full)):
            target = (min(files), -1)
        else:
            return None
        return Edge(path, one.scope, target, written, one.line, "import", confidence, "import")

    def _resolve(self, path: str, one: Reference) -> ResolvedReference | None:
        names = self.table.names[path]
        if not one.receiver:
            found = self._resolve_bare(path, one)
        elif one.receiver == "?":
            found = None
        else:
            receiver_type = self._scopes.resolve_chain(path, one.owner, one.receiver, one.line)
            found = self._scopes.attribute(path, receiver_type, one.name) if receiver_type is not None else None
            if found is None and receiver_type is not None:
                return self._resolve_unknown_member(names, one, receiver_type)
        if found is None:
            return self._candidates.find(names, one)
        if found.kind != "external":
            return self._from_resolution(path, one, found)
        if found.rule == "builtin" or one.kind == "value":
            return None
        if found.is_sure:
            return ResolvedReference(None, "external", found.rule)
        return self._candidates.find(names, one, at_most_possible=True)

    def _resolve_bare(self, path: str, one: Reference) -> Resolution | None:
        """Resolve a reference without a receiver."""
        scoping = self.table.names[path].scoping
        if one.name in scoping.instances and (owner := self._types.type_around(path, one.owner)) is not None:
            return Resolution("type", owner, rule="self")
        if one.name == "super" and one.kind == "call":
            owner = self._types.type_around(path, one.owner)
            ancestors = self._types.ancestors(owner)[0] if owner is not None else ()
            return Resolution("type", ancestors[1], rule="super") if len(ancestors) > 1 else SHADOWED
        scope = one.owner
        if one.kind == "decorator" and scope >= 0:  # a decorator belongs to the scope around what it decorates
            scope = self.table.files[path].definitions[scope].parent
        return self._scopes.resolve_name(path, scope, one.name, one.line)

    def _resolve_unknown_member(
        self, names: FileNames, one: Reference, receiver_type: Resolution
    ) -> ResolvedReference | None:
        """Resolve a member that its receiver's known type does not define."""
        kind = receiver_type.kind
        if one.name == "new" and kind == "type":  # Ruby's constructor, or a Rust type without its own `new`
            return self._from_resolution(names.path, one, receiver_type)
        if kind in ("instance", "type") and one.kind in _CALLS:
            below = self._candidates.find_below(names, one, receiver_type.full)
            if below is not None:
                return below
        if kind in ("external", "value", "instance", "type", "shadowed"):
            return self._candidates.find(names, one, at_most_possible=kind in ("external", "instance", "type"))
        return None

    def _from_resolution(self, path: str, one: Reference, found: Resolution) -> ResolvedReference | None:
        """Return the target of a resolution inside the repository."""
        if found.kind == "value" and one.kind in _CALLS:
            value_type = self._types.value_type(found)
            if value_type is not None and value_type.kind in ("callable", "type") and value_type.refs:
                found = value_type
            elif value_type is not None and value_type.kind == "external" and not found.refs:
                return ResolvedReference(None, "external", value_type.rule)
        if found.kind == "module" and one.kind in _CALLS:
            found = self._scopes.attribute(path, found, "default") or found
        refs: Sequence[DefinitionRef] = found.refs
        if found.kind == "type":
            refs = self.table.types_at(found.full) or refs
            refs = [ref for ref in refs if self.table.definition(ref).kind != "impl"] or refs
        if not refs or found.kind in ("instance", "super", "package", "dotted", "shadowed"):
            return None
        if found.kind == "module":
            return ResolvedReference((refs[0][0], -1), "exact", found.rule) if one.kind != "call" else None
        refs = self._nearest(path, refs, one)
        is_unique = len(refs) == 1 or found.kind == "type" or self._are_equivalent(refs)
        confidence = "exact" if found.is_sure and is_unique else "likely"
        return ResolvedReference(refs[0], confidence, found.rule or "scope")

    def _nearest(self, path: str, refs: Sequence[DefinitionRef], one: Reference | None) -> list[DefinitionRef]:
        """Return the best of several definitions of a name: with a body, in the nearest file, matching the arguments.

        Args:
            path: The file of the reference.
            refs: At least one.
            one: The reference; None for an import.
        """
        if len(refs) == 1:
            return list(refs)
        definition = self.table.definition
        kept = [ref for ref in refs if ref[1] < 0 or definition(ref).kind != "declaration"] or list(refs)
        ranks = {ref: self._distance(path, ref) for ref in kept}
        best = min(ranks.values())
        kept = [ref for ref in kept if ranks[ref] == best]
        if len(kept) > 1 and scoping_of(self.table.language(kept[0][0])).last_wins:
            properties = [ref for ref in kept if ref[1] >= 0 and definition(ref).kind == "property"]
            return properties[:1] or kept[-1:]
        if len(kept) > 1 and all(ref[1] >= 0 and definition(ref).kind in CODE_TYPE_KINDS for ref in kept):
            # Among the parts of a partial type prefer the one with bases, then the one with the most members.
            return sorted(kept, key=lambda ref: (not definition(ref).bases, -self.table.n_members(ref), ref))
        if len(kept) > 1 and one is not None and one.n_arguments >= 0:
            kept = [ref for ref in kept if self._types.parameters(ref).fit(one.n_arguments)] or kept
        return kept

    def _distance(self, path: str, ref: DefinitionRef) -> tuple[bool, bool, bool, int]:
        """Return how far a definition is from a file, the nearest first: file, include, header name, folder."""
        target = ref[0]
        is_other, n_shared = target != path, shared_folders(target, path)
        if scoping_of(self.table.language(path)).family != "c":
            return is_other, False, False, -n_shared
        is_not_included = target not in self.table.files_included(path)
        return is_other, is_not_included, stem_of(target) not in self.table.stems_included(path), -n_shared

    def _are_equivalent(self, refs: Sequence[DefinitionRef]) -> bool:
        """Return whether several definitions are one thing: prototypes, a getter and its setter, macro branches."""
        definitions = [self.table.definition(ref) for ref in refs]
        if all(one.kind in ("declaration", "property", "macro") for one in definitions):
            return True
        # C has no overloading: several functions of one name in a file are branches of an #if.
        paths = {path for path, _ in refs}
        return len(paths) == 1 and all(self.table.language(path) == "c" for path in paths)


def _edge(path: str, one: Reference, resolved: ResolvedReference) -> Edge:
    written = f"{one.receiver}.{one.name}" if one.receiver else one.name
    return Edge(
        path,
        one.owner,
        resolved.target,
        written,
        one.line,
        one.kind,
        resolved.confidence,
        resolved.rule,
        resolved.candidates,
        resolved.n_candidates,
    )
