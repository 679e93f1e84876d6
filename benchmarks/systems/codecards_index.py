"""Indexes a tree with codecards and opens its derived index, for benchmarks of the ranking alone."""

from pathlib import Path

from codecards.config import DEFAULT_EMBEDDER, Settings
from codecards.engine import Engine
from codecards.retrieval.embed.embedder import load_embedder
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.vectors.transformer_model import TransformerModel
from codecards.retrieval.vectors.transformer_vectors import TransformerIndex, TransformerLookup, card_keys


def open_index(tree: Path, state: Path, embedder: str) -> DerivedIndex:
    """Return the up-to-date index of a tree.

    Args:
        tree: The folder.
        state: Folder of its index, created if it is missing.
        embedder: A value of `--embedder`; "none" for no vectors.
    """
    with Engine.open(tree, settings=Settings(index=state, embedder=embedder), build=False) as engine:
        engine.refresh()
        folder = engine.folder.derived(engine.status().generation or 0)
    loaded = load_embedder(embedder)
    return DerivedIndex.open(folder, loaded if loaded.dimensions else None)


def open_transformer_index(tree: Path, state: Path) -> tuple[DerivedIndex, TransformerLookup]:
    """Return the index of a tree with static vectors, and the lookup of its transformer vectors, all of them computed.

    Args:
        tree: The folder.
        state: Folder of its index, created if it is missing.
    """
    with Engine.open(tree, settings=Settings(index=state, embedder=DEFAULT_EMBEDDER), build=False) as engine:
        engine.refresh()
        engine.backfill_vectors()
        folder = engine.folder.derived(engine.status().generation or 0)
    model = TransformerModel()
    store, keys = model.stored_vectors(state), card_keys(folder)
    if store is None or keys is None:
        raise RuntimeError(f"{state}: the transformer vectors could not be computed")
    vectors = TransformerIndex(keys, store)
    vectors.load_new()
    store.close()
    index = DerivedIndex.open(folder, load_embedder(DEFAULT_EMBEDDER))
    return index, lambda text: vectors.similarity(model.loaded().embed_queries([text])[0])
