"""Documentation: comments and docstrings without the signs that make them comments."""

import re

_line_sign = re.compile(r"^[ \t]*(?:///?!?|//!|#!?(?!\[)|--+\|?|;+|%+|\*(?!/)|\"\"\"|''')[ \t]?", re.MULTILINE)
_block_sign = re.compile(r"^\s*(?:/\*[*!]*|\{-\|?|--\[=*\[|<!--|\(\*+|=begin|@(?:module|type)?doc\s*~?[a-zA-Z]?)|(?:\*+/|-\}|\]=*\]|-->|\*\)|=end)\s*$")
_string_quotes = re.compile(r"^[rRbBuUfF]*(\"\"\"|'''|\"|')(.*?)\1?$", re.DOTALL)


def clean_comment(text: str) -> str:
    """Return a comment's words, line by line, without its signs."""
    text = _block_sign.sub("", text)
    return "\n".join(line.strip() for line in _line_sign.sub("", text).split("\n")).strip()


def clean_string(text: str) -> str:
    """Return a docstring's words without its quotes."""
    found = _string_quotes.match(text.strip())
    inner = found[2] if found else text
    return "\n".join(line.strip() for line in inner.split("\n")).strip()
