"""Builds the derived index of one generation: columns, word index, glossary and vectors."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from codecards.errors import SnapshotDamagedError
from codecards.retrieval.embed.embedder import Embedder
from codecards.retrieval.store.folder import FORMAT, check_contents, read_languages, write_contents

if TYPE_CHECKING:
    from codecards.indexer.store.derived import GenerationDiff


class DerivedIndexBuilder:
    """Builds columns, word index, glossary and, with an embedder, vectors; implements `indexer.store.derived.Deriver`.

    Args:
        embedder: Makes the vectors; None, or an embedder without dimensions, for no vectors.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder if embedder is not None and embedder.dimensions else None
        self.identity = f"{FORMAT}/{self._embedder.identity if self._embedder is not None else 'none'}"

    def derive(self, change: "GenerationDiff") -> None:
        """Fill `change.new_folder`.

        Raises:
            OSError: The folder can't be written.
            ValueError: The old folder is damaged.
            EmbedderError: The model can't be loaded.
        """
        # Loaded here: a refresh without changes does not wait for numpy, tantivy and FAISS.
        from codecards.retrieval.store.build_glossary import build_glossary
        from codecards.retrieval.store.build_words import build_words
        from codecards.retrieval.vectors.build_card_vectors import build_card_vectors

        if change.new_folder.exists():
            shutil.rmtree(change.new_folder)  # left by a writer that died before its commit
        build_words(change)
        build_glossary(change)
        if self._embedder is not None:
            build_card_vectors(change, self._embedder)
        write_contents(change.new_folder)

    def usable(self, folder: Path) -> bool:
        """Return whether the files of a derived folder are complete and undamaged."""
        try:
            check_contents(folder)
            read_languages(folder)
        except (SnapshotDamagedError, OSError, ValueError, KeyError):
            return False
        return True
