"""Strips comment markers and quotes from comments and docstrings."""

import re

MAX_COMMENT_CHARACTERS = 6_000
"""A longer comment is cut before it is cleaned; a doc keeps less than that anyway."""
_block_start = re.compile(r"/\*[*!]*<?|\{-[|^]?|--\[=*\[|<!--|\(\*+|=begin")
_attribute = re.compile(r"@(?:module|type|short)?doc\b\s{0,80}\(?\s{0,80}")
_sigil = re.compile(r"~[a-zA-Z](\"\"\"|\'\'\'|[\"\'/|(\[{<])")
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_block_end = re.compile(r"(?:(?<!\*)\*+/|-\}|\]=*\]|-->|\*\)|=end|\"\"\")\Z")
_line_marker = re.compile(r"//[/!]*<?|#+!?:?(?!\[)|--+[|^]?|;+|%+")
_string_quotes = re.compile(r"^[rRbBuUfF]*(\"\"\"|\'\'\'|\"|\')(.*?)\1?$", re.DOTALL)


def clean_comment(text: str) -> str:
    """Return a comment line by line without comment markers."""
    text = text[:MAX_COMMENT_CHARACTERS].strip()
    if text.startswith("@"):
        return clean_attribute(text)
    if match := _block_start.match(text):
        lines = [line.strip() for line in _block_end.sub("", text[match.end() :]).split("\n")]
        return "\n".join(line[1:].lstrip() if line[:1] == "*" else line for line in lines).strip()
    cleaned = []
    for line in text.split("\n"):
        line = line.strip()
        match = _line_marker.match(line)
        cleaned.append(line[match.end() :].strip() if match else line)
    return "\n".join(cleaned).strip()


def clean_attribute(text: str) -> str:
    """Return the text of Elixir's `@doc "…"`; other attributes, and `@doc` with false or options, have none."""
    match = _attribute.match(text)
    if match is None:
        return ""
    written = text[match.end() :]
    if sigil := _sigil.match(written):
        quote, start = sigil[1], sigil.end()
    else:
        quote = next((one for one in ('"""', "'''", '"') if written.startswith(one)), "")
        start = len(quote)
    if not quote:
        return ""
    inner = (
        written[start:].partition(_CLOSING.get(quote, quote))[0] if len(quote) == 3 else _until(written, start, quote)
    )
    return "\n".join(line.strip() for line in inner.split("\n")).strip()


def _until(text: str, start: int, quote: str) -> str:
    """Return the text up to the closing quote, without the backslashes that escape it."""
    closing = _CLOSING.get(quote, quote)
    position = start
    while (end := text.find(closing, position)) > 0 and text[end - 1] == "\\":
        position = end + 1
    inner = text[start:] if end < 0 else text[start:end]
    return inner.replace("\\" + closing, closing)


def clean_string(text: str) -> str:
    """Return a docstring without its quotes and indentation."""
    found = _string_quotes.match(text.strip())
    inner = found[2] if found else text
    return "\n".join(line.strip() for line in inner.split("\n")).strip()
