"""Reader: one committed generation, opened: the snapshot and all that is derived from it.

**Invariant:** all answers of one reader come from one generation.
"""

from dataclasses import dataclass
from functools import cached_property

from codecards.errors import SnapshotMissingError
from codecards.indexer.index_folder import IndexFolder
from codecards.indexer.problems import Kept
from codecards.indexer.snapshot import Snapshot
from codecards.retrieval.derived_folder import check_contents
from codecards.retrieval.derived_index import DerivedIndex
from codecards.retrieval.embedder import Embedder


@dataclass(frozen=True)
class Reader:
    """One generation, opened."""

    snapshot: Snapshot
    derived: DerivedIndex

    @cached_property
    def left_out(self) -> dict[str, int]:
        """Reason -> number of files that are not indexed whole, and so can't be searched whole."""
        counts: dict[str, int] = {}
        for problem in self.snapshot.problems():
            if problem.kept is not Kept.WHOLE:
                counts[problem.reason.value] = counts.get(problem.reason.value, 0) + 1
        return counts


def open_reader(folder: IndexFolder, embedder: Embedder | None) -> Reader:
    """Open the newest generation.

    Args:
        folder: The project's index.
        embedder: The one that is wanted; vectors of another one are not used.

    Raises:
        SnapshotMissingError: Nothing was indexed yet.
        SnapshotFormatError: The index is of another version.
        SnapshotDamagedError: Something of it is missing or broken, or a writer replaced it meanwhile.
    """
    if not folder.manifest_path.exists():
        raise SnapshotMissingError(f"nothing is indexed in {folder.path}; run `codecards index` first")
    manifest = folder.read_manifest()
    snapshot = Snapshot(folder.database)
    try:
        if manifest.database != folder.database_stamp() and not folder.has_open_log():
            snapshot.check()
        derived_folder = folder.derived(snapshot.generation)
        check_contents(derived_folder)
        derived = DerivedIndex.open(derived_folder, embedder)
    except BaseException:
        snapshot.close()
        raise
    return Reader(snapshot, derived)
