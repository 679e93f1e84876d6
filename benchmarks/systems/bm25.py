"""Answers queries by BM25 over the words of whole files: the baseline that any product must beat."""

import math
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.sets.queries import LabelledQuery, Span
from benchmarks.sets.trees import CODE_SUFFIXES
from benchmarks.systems.answers import RecordedAnswer

K1 = 1.5
B = 0.75
"""Robertson and Zaragoza 2009, the usual values."""
SUFFIXES = CODE_SUFFIXES | frozenset(
    (".tsx", ".cs", ".rb", ".kt", ".swift", ".scala", ".sh", ".bash", ".lua", ".ex", ".exs", ".hs", ".zig")
)
"""Suffixes of code files."""
_word = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class WordBaseline:
    """BM25 over files. Words are split at case changes and underscores, and not stemmed."""

    name: str = "BM25 over files"

    def answers(self, trees: Mapping[Path, Sequence[LabelledQuery]], depth: int) -> Iterator[RecordedAnswer]:
        """Answer queries about several trees; results are whole files."""
        known: dict[str, Counter[str]] = {}
        for tree, queries in trees.items():
            texts = read_texts(tree)
            # Trees of one repository share most files.
            known = {text: known.get(text) or Counter(split_words(text)) for text in texts.values()}
            postings = [known[text] for text in texts.values()]
            lengths = np.array([max(1, sum(words.values())) for words in postings], dtype=np.float64)
            saturation = K1 * (1 - B + B * lengths / lengths.mean()) if len(lengths) else lengths
            for query in queries:
                started = time.perf_counter()
                scores = np.zeros(len(postings))
                for word in set(split_words(query.text)):
                    tf = np.array([words[word] for words in postings], dtype=np.float64)
                    n_files = int((tf > 0).sum())
                    idf = math.log(1 + (len(postings) - n_files + 0.5) / (n_files + 0.5))
                    scores += idf * tf * (K1 + 1) / (tf + saturation)
                order = np.argsort(-scores, kind="stable")[:depth]
                paths = list(texts)
                results = tuple(Span(paths[int(row)]) for row in order if scores[row] > 0)
                yield RecordedAnswer(query.id, results, query_ms=1000 * (time.perf_counter() - started))


def read_texts(tree: Path) -> dict[str, str]:
    """Return path -> text of the code files of a tree, ordered by path."""
    files = sorted(path for path in tree.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    return {path.relative_to(tree).as_posix(): path.read_text(encoding="utf-8", errors="replace") for path in files}


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case: "parseHTTPUrl2" → parse, http, url, 2."""
    return [word.lower() for word in _word.findall(text)]
