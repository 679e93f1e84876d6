"""Damaged sources: `python -m benchmarks damage TREES` removes or adds a token in real files, language by language.

Printed is the share of the other definitions of the file that survive: by name and line, and by qualified name and line.
The definition around the token does not count. A language below `LEAST_SHARE` fails the check.
"""

import argparse
import random
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codecards.indexer.facts import FileFacts
from codecards.indexer.parse.extraction import extract
from codecards.indexer.parse.languages import LANGUAGES, detect_language

LEAST_SHARE = 0.95
MAX_FILE_BYTES = 60_000
LEAST_DEFINITIONS = 3
_token = re.compile(r"\w+|[^\w\s]")


@dataclass(slots=True)
class Survival:
    """Sums over the runs of one language."""

    runs: int = 0
    others: int = 0
    by_name: int = 0
    by_qualified_name: int = 0

    def add(self, before: FileFacts, after: FileFacts, line: int) -> None:
        """Count the definitions of a file that survive a damage at a line."""
        around = max(
            (number for number, one in enumerate(before.definitions) if one.lead_line <= line <= one.last_line),
            default=-1,
        )
        others = [one for number, one in enumerate(before.definitions) if number != around and one.name_line != line]
        names = {(one.name, one.name_line) for one in after.definitions}
        qualified = {(one.qualified_name, one.name_line) for one in after.definitions}
        self.runs += 1
        self.others += len(others)
        self.by_name += sum((one.name, one.name_line) in names for one in others)
        self.by_qualified_name += sum((one.qualified_name, one.name_line) in qualified for one in others)


def main(argv: Sequence[str]) -> int:
    """Print the shares of each language, and return 1 if one is below `LEAST_SHARE`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks damage", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("trees", type=Path, help="folder of source trees whose files are damaged")
    parser.add_argument("--runs", type=int, default=100, help="damaged files of each language")
    parser.add_argument("--language", action="append", choices=[one.name for one in LANGUAGES], help="only this one")
    options = parser.parse_args(argv)
    is_low = False
    for language, paths in sorted(_files(options.trees).items()):
        if options.language and language not in options.language:
            continue
        result = measure(language, paths, options.runs)
        if not result.others:
            continue
        share = result.by_name / result.others
        is_low = is_low or share < LEAST_SHARE
        sys.stdout.write(
            f"{language:<11} runs {result.runs:>4}  others {result.others:>6}  survive {share:.4f}"
            f"  with qualified name {result.by_qualified_name / result.others:.4f}\n"
        )
    return 1 if is_low else 0


def measure(language: str, paths: Sequence[Path], runs: int) -> Survival:
    """Return the survival over damaged files, chosen by a fixed chance."""
    chance = random.Random(7)
    result = Survival()
    for _ in range(runs):
        text = chance.choice(paths).read_text(encoding="utf-8", errors="replace")
        before = extract(text, language)
        if len(before.definitions) >= LEAST_DEFINITIONS:
            changed, line = damaged(text, chance)
            result.add(before, extract(changed, language), line)
    return result


def damaged(text: str, chance: random.Random) -> tuple[str, int]:
    """Return the text without one token, or with one more, and the line of the change."""
    tokens = list(_token.finditer(text))
    one = chance.choice(tokens)
    line = text.count("\n", 0, one.start()) + 1
    if chance.random() < 0.5:
        return text[: one.start()] + text[one.end() :], line
    return f"{text[: one.start()]}{chance.choice(tokens)[0]} {text[one.start() :]}", line


def _files(trees: Path) -> dict[str, list[Path]]:
    """Return language → its files that are not too large."""
    found: dict[str, list[Path]] = {}
    for path in sorted(trees.rglob("*")):
        if path.suffix and not path.is_symlink() and path.is_file() and path.stat().st_size < MAX_FILE_BYTES:
            language = detect_language(path.name, b"")
            if language:
                found.setdefault(language, []).append(path)
    return found
