"""Repositories on disk with an index, for tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codecards.indexer.build.refresh import BuildSettings, IndexReport, refresh
from codecards.indexer.build.worker_pool import Workers
from codecards.indexer.index_folder import IndexFolder
from codecards.indexer.store.derived import GenerationDiff
from codecards.indexer.store.snapshot import Snapshot
from tests.support.repo_text import split_files


class NoDerivation:
    """Derives nothing, for tests of the snapshot only."""

    identity = "none"

    def derive(self, change: GenerationDiff) -> None:
        """Create the folder."""
        change.new_folder.mkdir(parents=True)

    def usable(self, folder: Path) -> bool:
        """Return whether the folder exists."""
        return folder.exists()


def write_repository(root: Path, text: str) -> Path:
    """Write a repository that is one string with `#- path` lines; return its root."""
    for path, source in split_files(text).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(source, encoding="utf-8", newline="")
    return root


def index_of(root: Path) -> IndexFolder:
    """Return the index folder of a repository."""
    return IndexFolder(root / ".codecards" / "index")


def build(root: Path, workers: Workers, *, full: bool = False, wait_s: float = 0.0) -> IndexReport:
    """Bring the snapshot of a repository up to date."""
    settings = BuildSettings(wait_for_writer_s=wait_s)
    return refresh(root, index_of(root), NoDerivation(), lambda: workers, settings, full=full)


@contextmanager
def snapshot_of(root: Path) -> Iterator[Snapshot]:
    """Open the newest generation of a repository."""
    snapshot = Snapshot(index_of(root).database)
    try:
        yield snapshot
    finally:
        snapshot.close()


def exported(root: Path) -> dict[str, object]:
    """Return the content of an index without ids and times: equal for equal trees."""
    with snapshot_of(root) as snapshot:
        ids = {card.card_id: card.symbol_id for path in snapshot.files() for card in snapshot.cards_in(path.path)}
        cards = sorted(
            (
                card.symbol_id,
                card.kind,
                card.first_line,
                card.last_line,
                card.own_lines,
                card.signature,
                card.content_hash,
            )
            for path in snapshot.files()
            for card in snapshot.cards_in(path.path)
        )
        edges = sorted(
            (
                edge.caller_path,
                edge.line,
                edge.name,
                edge.kind,
                edge.confidence,
                edge.rule,
                ids.get(edge.caller_id or 0, ""),
                ids.get(edge.target_id or 0, ""),
                edge.target_path or "",
                tuple(ids[one] for one in edge.candidate_ids),
            )
            for edge in snapshot.all_edges()
        )
        files = [(one.path, one.language, one.role, one.encoding, one.n_lines) for one in snapshot.files()]
        return {"files": files, "cards": cards, "edges": edges, "problems": snapshot.problems()}
