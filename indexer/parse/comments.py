"""Strips comment markers and quotes from comments and docstrings."""

import re

MAX_COMMENT_CHARACTERS = 6_000
"""A longer comment is cut before it is cleaned; a doc keeps less than that anyway."""
_block_start = re.compile(
    r"/\*[*!]*<?|\{-[|^]?|--\[=*\[|<!--|\(\*+|=begin|@(?:module|type)?doc\s*~?[a-zA-Z]?(?:\"\"\"|\")?"
)
_block_end = re.compile(r"(?:(?<!\*)\*+/|-\}|\]=*\]|-->|\*\)|=end|\"\"\")\Z")
_line_marker = re.compile(r"//[/!]*<?|#+!?:?(?!\[)|--+[|^]?|;+|%+")
_string_quotes = re.compile(r"^[rRbBuUfF]*(\"\"\"|\'\'\'|\"|\')(.*?)\1?$", re.DOTALL)


def clean_comment(text: str) -> str:
    """Return a comment line by line without comment markers."""
    text = text[:MAX_COMMENT_CHARACTERS].strip()
    if match := _block_start.match(text):
        lines = [line.strip() for line in _block_end.sub("", text[match.end() :]).split("\n")]
        return "\n".join(line[1:].lstrip() if line[:1] == "*" else line for line in lines).strip()
    cleaned = []
    for line in text.split("\n"):
        line = line.strip()
        match = _line_marker.match(line)
        cleaned.append(line[match.end() :].strip() if match else line)
    return "\n".join(cleaned).strip()


def clean_string(text: str) -> str:
    """Return a docstring without its quotes and indentation."""
    found = _string_quotes.match(text.strip())
    inner = found[2] if found else text
    return "\n".join(line.strip() for line in inner.split("\n")).strip()
