"""Recorded outputs: what real tools printed, with marks at the lines that say what failed.

The failures are put in by the generator, so their lines are known and need no judgement. Each failure has a mark, a
word that occurs nowhere else ("qzv3f09a1c"), in its message. The lines with a mark are the failure lines of the output.
"""

import json
import lzma
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

MARK = re.compile(r"qzv[0-9a-f]{7}")
STORED = Path(__file__).with_name("outputs.jsonl.xz")


@dataclass(frozen=True, slots=True)
class RecordedOutput:
    """One output."""

    tool: str
    """"pytest", "javac" …"""
    command: str
    text: str
    marks: tuple[str, ...]
    """Of the failures that were put in, each in at least one line of the text."""

    def says(self, mark: str, shown: str) -> bool:
        """Return whether a shortened form holds the whole of a line that names the failure."""
        lines = {_bare(line) for line in self.text.splitlines() if mark in line}
        return any(line in _bare(shown) for line in lines)


def kept_share(outputs: Iterable[tuple[RecordedOutput, str]]) -> float:
    """Return the share of the failures whose line is in the shortened form; 1 without any."""
    kept = [output.says(mark, shown) for output, shown in outputs for mark in output.marks]
    return sum(kept) / len(kept) if kept else 1.0


def read_outputs(path: Path = STORED) -> list[RecordedOutput]:
    """Return the stored outputs."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [RecordedOutput(row["tool"], row["command"], row["text"], tuple(row["marks"])) for row in rows]


def write_outputs(outputs: Iterable[RecordedOutput], path: Path = STORED) -> None:
    """Store outputs, compressed."""
    with lzma.open(path, "wt", encoding="utf-8", preset=9 | lzma.PRESET_EXTREME) as file:
        for output in outputs:
            file.write(json.dumps(asdict(output), ensure_ascii=False) + "\n")


def _bare(text: str) -> str:
    """Return a text without spaces at the ends of lines and runs of them, as a terminal would hardly show them."""
    return " ".join(text.split())
