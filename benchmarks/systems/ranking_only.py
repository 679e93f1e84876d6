"""Answers queries by the ranking alone, in one process, on indexes that are kept between runs.

After a change of weights, an issue set with one tree per instance takes a minute, because nothing is read or derived again. The
systems with and without vectors share the indexes. Only the order is measured; the whole product, with its checks and texts,
answers through `Codecards`.
"""

import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.processes import Usage
from benchmarks.sets.queries import LabelledQuery, Span
from benchmarks.systems.answers import RecordedAnswer
from benchmarks.systems.rivals import RivalUnavailableError, index_names
from codecards.config import DEFAULT_EMBEDDER, Settings
from codecards.engine import Engine
from codecards.indexer.cards.record import EXTRACTOR_VERSION
from codecards.retrieval.embed.embedder import load_embedder
from codecards.retrieval.evidence.similarity import query_similarity
from codecards.retrieval.evidence.translation import translate
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.query import read_query
from codecards.retrieval.rank.card_ranking import rank_cards
from codecards.retrieval.rank.filters import Filters
from codecards.retrieval.rank.ranking import rank
from codecards.retrieval.store.folder import FORMAT

_WHOLE = "whole"
"""Name of the file that marks a completely copied folder."""


@dataclass(slots=True)
class RankingOnly:
    """The ranking with or without vectors."""

    name: str = "codecards, ranking alone"
    has_vectors: bool = True
    kept: Path = Path()

    def prepare(self, cache: Path) -> None:
        """Choose the folder of the kept indexes, a separate one for each format."""
        self.kept = cache / f"kept-{EXTRACTOR_VERSION}-{FORMAT}"

    def answers(
        self, trees: Mapping[Path, Sequence[LabelledQuery]], state: Path, depth: int, repeat: int
    ) -> Iterator[RecordedAnswer]:
        """Answer queries about several trees, which are indexed if their index is not kept yet.

        The time of a query is CPU time on a warm index.
        """
        names = index_names(trees)
        embedder = load_embedder(DEFAULT_EMBEDDER) if self.has_vectors else None
        for tree, queries in trees.items():
            folder = self.kept / "derived" / tree.name
            if not (folder / _WHOLE).exists():
                keep_derived(tree, self.kept / "shared" / names[str(tree)], folder)
            index = DerivedIndex.open(folder, embedder)
            for query in queries:
                # The first question about an index also loads it.
                results = ranked(index, query.text, depth)
                times = []
                for _ in range(repeat):
                    begin = time.process_time()
                    ranked(index, query.text, depth)
                    times.append(1000 * (time.process_time() - begin))
                yield RecordedAnswer(query.id, tuple(results), query_ms=median(times))

    def index(self, tree: Path, state: Path) -> Usage:
        """Refuse, because kept indexes say nothing about the time of an index run."""
        raise RivalUnavailableError(f"{self.name} only answers queries")

    def recall(self, tree: Path, state: Path, query: str) -> Usage:
        """Refuse, like `index`."""
        raise RivalUnavailableError(f"{self.name} only answers queries")

    def disk_bytes(self, tree: Path, state: Path) -> int:
        """Return 0; `Codecards` measures the size."""
        return 0


def keep_derived(tree: Path, shared: Path, folder: Path) -> None:
    """Refresh a shared index to the state of a tree, and keep its derived files.

    Args:
        tree: The folder to index.
        shared: The index folder of all trees of its repository.
        folder: Folder for the derived files: hard links if the file system has them, because the files never change.
    """
    with Engine.open(tree, settings=Settings(index=shared), build=False) as engine:
        engine.refresh()
        derived = engine.folder.derived(engine.status().generation or 0)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(derived, folder, copy_function=_linked)
    (folder / _WHOLE).touch()


def ranked(index: DerivedIndex, text: str, depth: int) -> list[Span]:
    """Return the best cards for a text, best first."""
    query = translate(index, read_query(text))
    found = rank(index, query, query_similarity(index, query), Filters())
    if found is None:
        return []
    columns = index.columns
    cards = [int(found.cards.cards[one.card]) for one in rank_cards(found.cards, found.file_scores, depth)]
    return [
        Span(index.path(int(index.file_of_card[card])), int(columns.first_line[card]), int(columns.last_line[card]))
        for card in cards
    ]


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
