"""Documentation: comments and docstrings without the signs that make them comments."""

import re

MAX_COMMENT_CHARACTERS = 6_000
"""A longer comment is cut before it is cleaned; no more than the doc's length is kept anyway."""
_block_start = re.compile(
    r"/\*[*!]*<?|\{-[|^]?|--\[=*\[|<!--|\(\*+|=begin|@(?:module|type)?doc\s*~?[a-zA-Z]?(?:\"\"\"|\")?"
)
_block_end = re.compile(r"(?:\*+/|-\}|\]=*\]|-->|\*\)|=end|\"\"\")\s*\Z")
_line_sign = re.compile(r"//[/!]*<?|#+!?:?(?!\[)|--+[|^]?|;+|%+")
_string_quotes = re.compile(r"^[rRbBuUfF]*(\"\"\"|\'\'\'|\"|\')(.*?)\1?$", re.DOTALL)


def clean_comment(text: str) -> str:
    """Return a comment's words, line by line, without its signs."""
    text = text[:MAX_COMMENT_CHARACTERS].strip()
    if match := _block_start.match(text):
        lines = [line.strip() for line in _block_end.sub("", text[match.end() :]).split("\n")]
        return "\n".join(line[1:].lstrip() if line[:1] == "*" else line for line in lines).strip()
    words = []
    for line in text.split("\n"):
        line = line.strip()
        match = _line_sign.match(line)
        words.append(line[match.end() :].strip() if match else line)
    return "\n".join(words).strip()


def clean_string(text: str) -> str:
    """Return a docstring's words without its quotes."""
    found = _string_quotes.match(text.strip())
    inner = found[2] if found else text
    return "\n".join(line.strip() for line in inner.split("\n")).strip()
