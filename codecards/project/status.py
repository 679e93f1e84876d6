"""Describes the state of an index."""

from collections.abc import Callable
from dataclasses import replace

from codecards.answers import RetrieverStatus, Status, Storage
from codecards.errors import SnapshotMissingError
from codecards.indexer.build.refresh import UNKNOWN_DIRTY
from codecards.indexer.index_folder import FORMAT
from codecards.indexer.walk.git import git_state
from codecards.project.lifecycle import ProjectIndex
from codecards.project.reader import IndexReader
from codecards.retrieval.embed.embedder import Embedder

NOTHING_INDEXED = Status(
    generation=0,
    format=FORMAT,
    commit=None,
    dirty=None,
    complete=False,
    n_files=0,
    n_cards=0,
    n_edges=0,
    embedder_name="",
    embedder_dimensions=0,
    embedder_identity="",
    retrievers=(RetrieverStatus("words", False, "nothing is indexed yet"),),
    problems=(),
    n_changed=0,
)


def status_of(index: ProjectIndex, reranker: Callable[[], RetrieverStatus]) -> Status:
    """Return the state of an index, also if there is none.

    Args:
        index: The project's index.
        reranker: Returns the reranker's state.
    """
    try:
        reader = index.readers.newest_with_derived()
    except SnapshotMissingError:
        return NOTHING_INDEXED
    status = _generation_status(reader, index.embedder.peek(), index.embedder.error)
    tuned, problem = index.tuned_weights.read() if index.tuned_weights is not None else (None, "")
    return replace(
        status,
        retrievers=(*status.retrievers, index.transformer.status(reader), reranker()),
        dirty=git_state(index.root).dirty if reader.snapshot.meta.get("dirty") == UNKNOWN_DIRTY else status.dirty,
        storage=_storage(index, reader),
        n_changed=index.n_changed(),
        tuned=tuned,
        tuned_problem=problem,
    )


def _storage(index: ProjectIndex, reader: IndexReader) -> Storage:
    size = reader.snapshot.kept_size()
    return Storage(
        live_bytes=size.live_bytes,
        kept_bytes=size.kept_bytes,
        n_kept=size.n_kept,
        max_kept_bytes=index.settings.build.max_kept_bytes,
        memory_mb=index.settings.memory_mb,
        peak_mb=int(reader.snapshot.meta.get("peak_mb", "0")),
    )


def _generation_status(reader: IndexReader, embedder: Embedder | None, embedder_error: str) -> Status:
    """Return the state of an opened generation.

    Args:
        reader: The generation.
        embedder: The configured embedder, None if there is none.
        embedder_error: Why there is none; "" if none is wanted.
    """
    meta = reader.snapshot.meta
    has_vectors = reader.derived.has_vectors
    why_off = "" if has_vectors else embedder_error or "no vectors were made for this generation"
    return Status(
        generation=reader.snapshot.generation,
        format=FORMAT,
        commit=meta.get("commit") or None,
        dirty={"1": True, "0": False}.get(meta.get("dirty", "")),
        complete=meta.get("complete") == "1",
        n_files=int(meta["n_files"]),
        n_cards=int(meta["n_cards"]),
        n_edges=int(meta["n_edges"]),
        embedder_name=embedder.name if embedder else "none",
        embedder_dimensions=embedder.dimensions if embedder else 0,
        embedder_identity=embedder.identity if embedder else "none",
        retrievers=(
            *(RetrieverStatus(name, True, "") for name in ("words", "symbols", "graph")),
            RetrieverStatus("static_vectors", has_vectors, why_off),
        ),
        problems=tuple(reader.snapshot.problems()),
        n_changed=0,
    )
