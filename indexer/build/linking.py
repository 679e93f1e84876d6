"""Resolves the references that an edit can affect: those of changed files, and of files that asked for a changed name.

**Invariant:** the edges are those that resolving all files would give (`tests/indexer/build/test_linking.py`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from codecards.indexer.build.progress import ProgressCallback
from codecards.indexer.facts import FileFacts
from codecards.indexer.graph.asked import path_key
from codecards.indexer.graph.edges import Edge
from codecards.indexer.graph.heads import FileHead
from codecards.indexer.graph.interface import changed_modules, changed_names
from codecards.indexer.graph.owners import OwnerAssignment, apply_assignments
from codecards.indexer.graph.resolver import OwnerFinder, Resolver
from codecards.indexer.graph.symbols import SymbolTable
from codecards.indexer.store.link_rows import unpack_head
from codecards.indexer.store.link_tables import LinkTables
from codecards.indexer.store.rows import IndexedFile
from codecards.indexer.store.stored_symbols import StoredSymbols
from codecards.indexer.store.writer import SnapshotWriter

MANY_FILES = 200
"""Fewer files than this are always resolved one by one."""
SHARE_OF_FILES = 0.25
"""With more files than this share to resolve, loading the facts of all files at once is faster."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that is new, changed or removed."""

    path: str
    before: IndexedFile | None
    after: IndexedFile | None
    cards_before: Mapping[str, list[tuple[str, int]]]
    """`LinkTables.named_cards` before the change."""


class Linker:
    """Resolves references within the transaction that writes a generation.

    Args:
        writer: The writer; the cards of the new generation are stored already.
        progress: Called as files are resolved.
    """

    def __init__(self, writer: SnapshotWriter, progress: ProgressCallback) -> None:
        self._writer = writer
        self._tables: LinkTables = writer.links_tables
        self._progress = progress

    def link_all(self) -> None:
        """Resolve the references of all files."""
        file_ids, heads = self._tables.heads()
        # Load all facts in one pass, so that their memory is contiguous and is freed together.
        facts = dict(self._writer.facts_of_files())
        table = SymbolTable({path: facts[path] for path in heads})
        finder = OwnerFinder(table)
        assignments = [one for path in heads for one in finder.assignments_in(path)]
        resolver = Resolver(table, assignments, finder.asked)
        del finder
        self._tables.put_all_symbols((file_ids[path], path, one) for path, one in facts.items())
        self._tables.put_assignments(file_ids, assignments)
        asked = self._put_edges(resolver, list(heads), file_ids, replaced=None)
        self._tables.put_asked(asked, all_files=True)

    def link(self, changes: Sequence[FileChange]) -> None:
        """Resolve the references that the changes can affect."""
        if not changes:
            return
        file_ids, heads = self._tables.heads()
        names = self._replace_symbols(changes, file_ids)
        if any(_head(one.before) != _head(one.after) for one in changes):
            names |= changed_modules(_heads_before(heads, changes), heads)
        touched = {one.after.path for one in changes if one.after is not None}
        table = StoredSymbols(self._tables, file_ids, heads)
        owners = self._owners(table, changes, names, file_ids)
        paths = sorted(touched | self._paths_asking(names | owners.names, file_ids))
        if len(paths) > max(MANY_FILES, SHARE_OF_FILES * len(heads)):
            self.link_all()
            return
        resolver = Resolver(table, owners.assignments, owners.asked)
        if owners.changed:
            self._tables.put_assignments(file_ids, owners.assignments)
        asked = self._put_edges(resolver, paths, file_ids, replaced=[file_ids[path] for path in paths])
        self._tables.put_asked(asked, all_files=False)

    def _replace_symbols(self, changes: Sequence[FileChange], file_ids: Mapping[str, int]) -> set[str]:
        """Store the symbols of changed files; return the names whose meaning has changed."""
        names: set[str] = set()
        for one in changes:
            before, after = self._facts(one.before), self._facts(one.after)
            entry = one.after or one.before
            assert entry is not None
            file_id = file_ids.get(one.path, one.before.file_id if one.before is not None else 0)
            self._tables.replace_symbols(file_id, one.path, before, after)
            if one.before is None or one.after is None or one.before.interface != one.after.interface:
                names |= changed_names(one.path, before, after)
            cards = self._tables.named_cards(file_id) if one.after is not None else {}
            different = {
                name for name in cards.keys() | one.cards_before if cards.get(name) != one.cards_before.get(name)
            }
            names |= {name or path_key(one.path) for name in different}
        return names

    def _owners(
        self, table: StoredSymbols, changes: Sequence[FileChange], names: set[str], file_ids: Mapping[str, int]
    ) -> "_Owners":
        """Assign the members of files again that asked for a changed name, until no more names change."""
        paths = {file_id: path for path, file_id in file_ids.items()}
        paths |= {one.before.file_id: one.path for one in changes if one.before is not None}
        stored = self._tables.assignments(paths)
        before = apply_assignments(table, stored)
        finder = OwnerFinder(table)
        current: dict[str, list[OwnerAssignment]] = {}
        for one in (one for one in stored if one.ref[0] in file_ids):
            current.setdefault(one.ref[0], []).append(one)
        touched = {one.path for one in changes if one.after is not None}
        done: set[str] = set()
        found_names: set[str] = set()
        while pending := (touched | self._paths_asking(names | found_names, file_ids)) - done:
            if len(pending) > max(MANY_FILES, SHARE_OF_FILES * len(file_ids)):
                break  # all files are resolved again
            for path in sorted(pending):
                current[path] = finder.assignments_in(path)
            done |= pending
            after = apply_assignments(table, [one for each in current.values() for one in each])
            found_names = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        assignments = [one for each in current.values() for one in each]
        return _Owners(assignments, finder.asked, found_names, sorted(assignments) != sorted(stored))

    def _paths_asking(self, names: set[str], file_ids: Mapping[str, int]) -> set[str]:
        ids = self._tables.asking(names)
        return {path for path, file_id in file_ids.items() if file_id in ids} if ids else set()

    def _facts(self, entry: IndexedFile | None) -> FileFacts | None:
        return self._tables.facts(entry.content_key) if entry is not None else None

    def _put_edges(
        self, resolver: Resolver, paths: Sequence[str], file_ids: Mapping[str, int], *, replaced: Sequence[int] | None
    ) -> dict[int, frozenset[str]]:
        """Store the edges of some files; return file id → the names that they asked for."""
        asked: dict[int, frozenset[str]] = {}

        def edges() -> Iterator[Edge]:
            for number, path in enumerate(paths):
                yield from resolver.resolve(path)
                asked[file_ids[path]] = frozenset(resolver.table.asked.names)
                if number % 100 == 0:
                    self._progress("linking", number, len(paths))

        positions = self._writer.positions() if replaced is None else _CardIds(self._tables.card_ids)
        self._writer.put_edges(edges(), file_ids, positions, replaced=replaced)
        return asked


@dataclass(frozen=True, slots=True)
class _Owners:
    """The members that belong to types of another name, after a change."""

    assignments: list[OwnerAssignment]
    asked: Mapping[str, frozenset[str]]
    names: set[str]
    """Names whose meaning has changed with the assignments."""
    changed: bool


class _CardIds(dict[int, Mapping[int, int]]):
    """File id → position of a definition → card id, loaded when a file is first needed."""

    def __init__(self, load: Callable[[int], Mapping[int, int]]) -> None:
        super().__init__()
        self._load = load

    def __missing__(self, file_id: int) -> Mapping[int, int]:
        found = self[file_id] = self._load(file_id)
        return found


def _head(entry: IndexedFile | None) -> bytes | None:
    return entry.head if entry is not None else None


def _heads_before(heads: Mapping[str, FileHead], changes: Iterable[FileChange]) -> dict[str, FileHead]:
    before = dict(heads)
    for one in changes:
        before.pop(one.path, None)
        if one.before is not None:
            before[one.path] = unpack_head(one.before.head)
    return dict(sorted(before.items()))
