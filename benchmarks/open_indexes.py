"""Open indexes: a tree is indexed with codecards, and what ranking reads of it is opened."""

from pathlib import Path

from codecards.config import Settings
from codecards.engine import Engine
from codecards.retrieval.derived_index import DerivedIndex
from codecards.retrieval.embedder import load_embedder


def open_index(tree: Path, state: Path, embedder: str) -> DerivedIndex:
    """Return the index of a tree, brought up to date.

    Args:
        tree: The folder.
        state: Where its index lies, or shall lie.
        embedder: As `--embedder` takes it; "none" for no vectors.
    """
    with Engine.open(tree, settings=Settings(index=state, embedder=embedder), build=False) as engine:
        engine.refresh()
        folder = engine.folder.derived(engine.status().generation or 0)
    loaded = load_embedder(embedder)
    return DerivedIndex.open(folder, loaded if loaded.dimensions else None)
