"""Kept rankings: queries answered by the ranking alone, in one process, on indexes that are kept.

After a change of weights the queries of an issue set, which has a tree an instance, are asked anew in a minute, since
nothing is read or derived again. All lanes share the indexes. What is measured is the order; the whole product, with its
checks and texts, answers through `Codecards`.
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
"""Marks a kept folder that was not cut off."""


@dataclass(slots=True)
class KeptRanking:
    """The ranking with or without vectors."""

    name: str = "codecards, ranking alone"
    has_vectors: bool = True
    kept: Path = Path()

    def prepare(self, cache: Path) -> None:
        """Name the folder of what is kept: another one for each format."""
        self.kept = cache / f"kept-{EXTRACTOR_VERSION}-{FORMAT}"

    def answers(
        self, trees: Mapping[Path, Sequence[LabelledQuery]], state: Path, depth: int, repeat: int
    ) -> Iterator[RecordedAnswer]:
        """Answer queries; trees that are not kept yet are indexed first.

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
        """Refuse: what is kept tells nothing about the time of an index."""
        raise RivalUnavailableError(f"{self.name} only answers")

    def recall(self, tree: Path, state: Path, query: str) -> Usage:
        """Refuse, as `index`."""
        raise RivalUnavailableError(f"{self.name} only answers")

    def disk_bytes(self, tree: Path, state: Path) -> int:
        """Return 0: it is measured with `Codecards`."""
        return 0


def keep_derived(tree: Path, shared: Path, folder: Path) -> None:
    """Bring a shared index to the state of a tree, and keep what is derived from it.

    Args:
        tree: The folder that is indexed.
        shared: The index folder of all trees of its repository.
        folder: Gets the derived files: links to them where the file system has any, for they never change.
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
