"""The systems by their names on the command line."""

from collections.abc import Callable

from benchmarks.systems.ranking_only import RankingOnly
from benchmarks.systems.rivals import Codecards, CodeGraph, JCodeMunch, Rival, Semble

SYSTEMS: dict[str, Callable[[], Rival]] = {
    "codecards": Codecards,
    "codecards-words": lambda: Codecards(name="codecards, no model", embedder="none"),
    "codecards-minilm": lambda: Codecards(name="codecards + MiniLM", embedder="minilm"),
    "ranking": RankingOnly,
    "ranking-words": lambda: RankingOnly(name="codecards, ranking alone, no model", has_vectors=False),
    "codecards-transformer": lambda: Codecards(name="codecards + transformer vectors", transformer=True),
    "semble": Semble,
    "semble-words": lambda: Semble(name="semble 0.7.0, no vectors", lexical=True),
    "jcodemunch": JCodeMunch,
    "codegraph": CodeGraph,
}
"""Name on the command line -> the system. "bm25" (`WordBaseline`) has no index, so only `quality` knows it."""
