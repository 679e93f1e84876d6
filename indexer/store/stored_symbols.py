"""The symbol table of a snapshot: it loads the facts of a file when they are first needed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from codecards.indexer.facts import Binding, Definition, FileFacts
from codecards.indexer.graph.heads import FileHead, FullName, scope_of
from codecards.indexer.graph.scoping import scoping_of
from codecards.indexer.graph.symbols import DefinitionRef, FileNames, SymbolTable
from codecards.indexer.store.link_rows import definition_of_entry, field_of_entry
from codecards.indexer.store.link_tables import LinkTables

Value = TypeVar("Value")


class StoredSymbols(SymbolTable):
    """Answers the lookups of a `SymbolTable` from a snapshot."""

    def __init__(self, tables: LinkTables, file_ids: Mapping[str, int], heads: Mapping[str, FileHead]) -> None:
        """Take the results of `LinkTables.heads`."""
        self._prepare(heads)
        self._tables = tables
        self._paths = {file_id: path for path, file_id in file_ids.items()}
        self._rows: dict[str, list[tuple[str, int, int, bytes]]] = {}
        self._definitions: dict[DefinitionRef, Definition] = {}
        self._own_definitions: dict[str, dict[str, list[DefinitionRef]]] = {}
        self._loaded: dict[str, FileFacts] = {}
        self.files = _Lazy(heads, self._facts)
        self.names = _Lazy(heads, lambda path: FileNames(path, self.files[path], self.asked))

    def definition(self, ref: DefinitionRef) -> Definition:
        """Return the definition that a reference points to; its documentation may be left out."""
        facts = self._loaded.get(ref[0])
        if facts is None and ref in self._definitions:
            return self._definitions[ref]
        return self.files[ref[0]].definitions[ref[1]]

    def full(self, ref: DefinitionRef) -> FullName:
        """Return the full name of a definition."""
        scope, prefix = self._scope_of(ref[0])
        return FullName(scope, prefix + self.definition(ref).qualified_name)

    def _facts(self, path: str) -> FileFacts:
        found = self._loaded[path] = self._tables.facts_at(path) or FileFacts("", 0)
        return found

    def _scope_of(self, path: str) -> tuple[str, str]:
        head = self.heads[path]
        return scope_of(path, head.language, head.package)

    def _rows_named(self, name: str) -> list[tuple[str, int, int, bytes]]:
        """Return (path, position, is_named, entry) of what is asked for by a name, by path and position."""
        rows = self._rows.get(name)
        if rows is None:
            found = self._tables.symbols_named(name)
            rows = self._rows[name] = sorted((self._paths[one[0]], *one[1:]) for one in found)
            for path, position, _, entry in rows:
                if position >= 0 and (path, position) not in self._definitions:
                    self._definitions[path, position] = definition_of_entry(entry)
        return rows

    def _at(self, full: FullName) -> Sequence[DefinitionRef]:
        if full.scope in self.heads:  # the scope is one file
            return self._own(full.scope).get(full.name, ())
        rows = self._rows_named(full.name.rpartition(".")[2])
        refs = [(path, position) for path, position, *_ in rows if position >= 0]
        return [ref for ref in refs if self.full(ref) == full]

    def _own(self, path: str) -> dict[str, list[DefinitionRef]]:
        """Return qualified name → definitions of a file that shares its names with no other."""
        known = self._own_definitions.get(path)
        if known is None:
            known = self._own_definitions[path] = {}
            if scoping_of(self.language(path)).reach == "file":
                for position, one in enumerate(self.files[path].definitions):
                    known.setdefault(one.qualified_name, []).append((path, position))
        return known

    def _named(self, family: str, name: str) -> Sequence[DefinitionRef]:
        refs = [(path, position) for path, position, is_named, _ in self._rows_named(name) if is_named]
        return [
            ref
            for ref in refs
            if scoping_of(self.language(ref[0])).family == family and self.definition(ref).name == name
        ]

    def _fields_at(self, full: FullName) -> Sequence[tuple[str, Binding]]:
        if full.scope in self.heads:
            names = self.names[full.scope]
            return [(names.path, bound) for name, bound in names.fields() if name == full.name]
        found: list[tuple[str, int, Binding]] = []
        for path, position, _, entry in self._rows_named(full.name.rpartition(".")[2]):
            if position < 0:
                scope, prefix = self._scope_of(path)
                name, bound = field_of_entry(entry)
                if (scope, prefix + name) == full:
                    found.append((path, -position, bound))
        return [(path, bound) for path, _, bound in sorted(found, key=lambda one: one[:2])]


class _Lazy(Mapping[str, Value]):
    """Path → value of every file, made on first access."""

    def __init__(self, paths: Mapping[str, object], make: Callable[[str], Value]) -> None:
        self._paths, self._make = paths, make
        self._made: dict[str, Value] = {}

    def __getitem__(self, path: str) -> Value:
        if path not in self._made:
            if path not in self._paths:
                raise KeyError(path)
            self._made[path] = self._make(path)
        return self._made[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)
