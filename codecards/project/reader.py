"""An opened generation of an index: the snapshot and the index derived from it.

**Invariant:** all answers of one reader come from one generation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from codecards.errors import SnapshotDamagedError, SnapshotMissingError
from codecards.indexer.index_folder import IndexFolder
from codecards.indexer.problems import Coverage
from codecards.indexer.store.snapshot import Snapshot
from codecards.retrieval.embed.embedder import Embedder
from codecards.retrieval.store.folder import check_contents, read_languages

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from codecards.retrieval.index import DerivedIndex


@dataclass(frozen=True)
class IndexReader:
    """One generation, opened."""

    snapshot: Snapshot
    extractor: int
    """Version of the extractor that read the files; see `EXTRACTOR_VERSION` in `indexer/cards/record.py`."""
    _derived_folder: Path
    _embedder: Callable[[], Embedder | None]

    @cached_property
    def derived(self) -> "DerivedIndex":
        """The derived index, opened on first use; see `open_derived`."""
        from codecards.retrieval.index import DerivedIndex

        return DerivedIndex.open(self._derived_folder, self._embedder())

    def open_derived(self) -> None:
        """Open the derived index, which ranking reads.

        Raises:
            SnapshotMissingError: A writer has removed it in the meantime.
            SnapshotDamagedError: It is damaged.
        """
        assert self.derived is not None

    def card_keys(self) -> "NDArray[np.uint64] | None":
        """Return the keys of the cards' embedded texts, (n_cards, 2) by row; None if nothing was embedded."""
        from codecards.retrieval.vectors.transformer_vectors import card_keys

        return card_keys(self._derived_folder)

    @cached_property
    def left_out(self) -> dict[str, int]:
        """Reason -> number of files that are not fully indexed, and so can't be fully searched."""
        counts: dict[str, int] = {}
        for problem in self.snapshot.problems():
            if problem.kept is not Coverage.WHOLE:
                counts[problem.reason.value] = counts.get(problem.reason.value, 0) + 1
        return counts


def open_reader(folder: IndexFolder, embedder: Callable[[], Embedder | None]) -> IndexReader:
    """Open the newest generation.

    Args:
        folder: The project's index.
        embedder: Returns the configured embedder; vectors of a different one are not used.

    Raises:
        SnapshotMissingError: Nothing is indexed yet.
        SnapshotFormatError: Another version wrote the index.
        SnapshotDamagedError: A part of it is missing or broken, or a writer replaced it in the meantime.
    """
    if not folder.manifest_path.exists():
        raise SnapshotMissingError(f"nothing is indexed in {folder.path}; run `codecards index` first")
    if links := folder.links():
        raise SnapshotDamagedError(
            f"{links[0]} is a link, and codecards never makes links there; run `codecards index` to rebuild"
        )
    manifest = folder.read_manifest()
    snapshot = Snapshot(folder.database)
    try:
        if manifest.database != folder.database_stamp() and not folder.has_open_log():
            snapshot.check()
        derived_folder = folder.derived(snapshot.generation)
        check_contents(derived_folder)
        read_languages(derived_folder)
    except (OSError, ValueError, KeyError) as error:
        snapshot.close()
        raise SnapshotDamagedError(
            f"the index in {derived_folder} is damaged ({error}); run `codecards index`"
        ) from error
    except BaseException:
        snapshot.close()
        raise
    return IndexReader(snapshot, manifest.extractor, derived_folder, embedder)
