"""The systems that the benchmarks know by name."""

from collections.abc import Callable

from benchmarks.rivals import Codecards, CodeGraph, JCodeMunch, Rival, Semble

SYSTEMS: dict[str, Callable[[], Rival]] = {
    "codecards": Codecards,
    "codecards-words": lambda: Codecards(name="codecards, no model", embedder="none"),
    "codecards-minilm": lambda: Codecards(name="codecards + MiniLM", embedder="minilm"),
    "semble": Semble,
    "semble-words": lambda: Semble(name="semble 0.7.0, no vectors", lexical=True),
    "jcodemunch": JCodeMunch,
    "codegraph": CodeGraph,
}
"""Name on the command line -> the system; "bm25" (`WordBaseline`) is known to `quality` alone, having no index."""
