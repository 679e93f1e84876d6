"""Finds signature lines, and the definition around some lines, by patterns and indentation, without a parser."""

import re
from collections.abc import Sequence

SIGNATURE = re.compile(
    r"^\s*(?:@[\w.]+|(?:export\s+|default\s+|public\s+|private\s+|protected\s+|internal\s+|static\s+|final\s+|abstract\s+|async\s+"
    r"|pub(?:\([^)]*\))?\s+|override\s+|open\s+|sealed\s+|unsafe\s+|virtual\s+|inline\s+|const\s+|extern\s+)*"
    r"(?:def|class|func|fn|function|interface|trait|struct|enum|impl|type|record|object|module|namespace|macro_rules!)\b.*"
    r"|(?:public|private|protected|static)\s[\w<>\[\], .?]+\s\w+\s*\([^;]*$|[A-Z][A-Z0-9_]{2,}\s*[:=].*|#+ .+)"
)


def enclosing(lines: Sequence[str], first_line: int, last_line: int) -> tuple[int, int]:
    """Return the first and last line of the innermost definition around the given lines, else the given lines.

    Definitions are recognised by signature lines and indentation.

    Args:
        lines: All lines of the file.
        first_line: 1-based.
        last_line: 1-based and inclusive, at least `first_line`.
    """
    inside = [line for line in lines[first_line - 1 : last_line] if line.strip()]
    if not inside:
        return first_line, last_line
    depth = min(_depth(line) for line in inside)
    for index in range(first_line - 1, -1, -1):
        line = lines[index]
        if not line.strip() or not SIGNATURE.match(line):
            continue
        # The first of the given lines may be the signature itself; above it, a signature must be less indented.
        if _depth(line) < depth or (index == first_line - 1 and _depth(line) == depth):
            return index + 1, _end(lines, last_line, _depth(line))
    return first_line, last_line


def _end(lines: Sequence[str], last_line: int, depth: int) -> int:
    """Return the last line before the next one that is indented no more than the signature."""
    end = last_line
    for index in range(last_line, len(lines)):
        if lines[index].strip() and _depth(lines[index]) <= depth:
            # A closing bracket is indented like the signature and still belongs to the definition.
            return index + 1 if lines[index].strip()[0] in "})]" else end
        end = index + 1 if lines[index].strip() else end
    return end


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
