"""Models an agent without codecards, which greps for the words of a question and reads the best files.

The baseline is stronger than most agents. It searches only code and tests, ranks files by how rare their words are, sees
the first twenty of them, reads around the lines with most words, and stops as soon as it has read a right file.
docs/savings.md describes how tokens are counted.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from codecards.router.compress.token_count import TokenCounter, estimate_tokens

LISTED_FILES = 20
MAX_READS = 5
LINE_CHARACTERS = 2_000
"""Read tools show only the start of a longer line."""
MAX_WORDS = 8
MAX_FILE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Baseline:
    """The cost of one question without codecards."""

    grep_tokens: int
    """Tokens of the pattern and the list of files."""
    read_tokens: int
    """Tokens read, including the right file: if it is not among the best files, it is read in the end all the same."""
    paths: tuple[str, ...]
    """Files read, in order."""
    found: bool
    """Whether a file that answers the question is among them."""

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.grep_tokens + self.read_tokens


@dataclass(frozen=True)
class Corpus:
    """The searched texts: those of the files that codecards searches."""

    texts: Mapping[str, str]
    """Path from the root -> text."""
    count: TokenCounter = estimate_tokens

    @cached_property
    def _lowered(self) -> Mapping[str, str]:
        return {path: text.lower() for path, text in self.texts.items()}

    @cached_property
    def _lines(self) -> dict[str, list[str]]:
        return {}

    def lines_of(self, path: str) -> list[str]:
        """Return a file's lines as a read tool shows them."""
        if path not in self._lines:
            self._lines[path] = [line[:LINE_CHARACTERS] for line in self.texts.get(path, "").split("\n")]
        return self._lines[path]

    def read_tokens(self, path: str, line: int, n_lines: int) -> int:
        """Return the tokens of at most `n_lines` lines of a file around a line (1-based)."""
        lines = self.lines_of(path)
        first = max(0, min(line - 1 - n_lines // 2, len(lines) - n_lines))
        return self.count("\n".join(lines[first : first + n_lines]))

    def grep_and_read(self, words: Iterable[str], targets: Iterable[str], n_lines: int) -> Baseline:
        """Return the cost of finding a file by grepping and reading.

        Args:
            words: Words of the question, without stop words.
            targets: The files that answer it; any of them counts.
            n_lines: Lines read of each file.
        """
        wanted = set(targets)
        counts = {word: self._counts(word) for word in dict.fromkeys(one.lower() for one in words if one.strip())}
        rarest = sorted((word for word in counts if counts[word]), key=lambda word: len(counts[word]))[:MAX_WORDS]
        pattern = f"grep -rciE '{'|'.join(rarest or counts)}' ."
        ranked = self._ranked({word: counts[word] for word in rarest})[:LISTED_FILES]
        listing = "\n".join(f"{path}:{sum(counts[word].get(path, 0) for word in rarest)}" for path in ranked)
        read: list[str] = []
        read_tokens = 0
        for path in ranked[:MAX_READS]:
            read.append(path)
            read_tokens += self.read_tokens(path, self._best_line(path, rarest), n_lines)
            if path in wanted:
                break
        found = bool(read) and read[-1] in wanted
        if not found:
            # In the end a right file is read; the cost of getting there is unknown and not counted.
            path = min(wanted & self.texts.keys(), key=lambda one: (-self._n_held(one, rarest), one), default="")
            read_tokens += self.read_tokens(path, self._best_line(path, rarest), n_lines) if path else 0
        return Baseline(self.count(pattern) + self.count(listing), read_tokens, tuple(read), found)

    def _n_held(self, path: str, words: Sequence[str]) -> int:
        return sum(word in self._lowered[path] for word in words)

    def _best_line(self, path: str, words: Sequence[str]) -> int:
        """Return the first line (1-based) that holds most of the words."""
        held = [sum(word in line for word in words) for line in self._lowered[path].split("\n")]
        return 1 + held.index(max(held))

    def _counts(self, word: str) -> dict[str, int]:
        return {path: n for path, text in self._lowered.items() if (n := text.count(word))}

    def _ranked(self, counts: Mapping[str, Mapping[str, int]]) -> Sequence[str]:
        """Return the files that hold the words, those with the rarest words first."""
        scores: dict[str, float] = {}
        for files in counts.values():
            rarity = math.log(1 + len(self.texts) / len(files))
            for path, n in files.items():
                scores[path] = scores.get(path, 0.0) + rarity * (1 + math.log(n) / 4)
        return sorted(scores, key=lambda path: (-scores[path], path))


def read_corpus(root: Path, paths: Iterable[str]) -> Corpus:
    """Return the current texts of a project's files, except unreadable and very large ones."""
    texts: dict[str, str] = {}
    for path in paths:
        place = root / path
        try:
            if not place.is_symlink() and place.stat().st_size <= MAX_FILE_BYTES:
                texts[path] = place.read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
    return Corpus(texts)
