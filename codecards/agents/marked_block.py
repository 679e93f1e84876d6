"""Adds a marked block to a text file, and removes it without changing another byte.

A block that is added to a file begins with an extra line end, so that files with and without a final line end are both
restored. A file that begins with the block was created for it.
"""

import re

from codecards.errors import ConfigurationError

UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
HINT = "written by `codecards install`; `codecards uninstall` removes it"
_marks = {
    "markdown": (f"<!-- codecards:begin ({HINT}) -->", "<!-- codecards:end -->"),
    "hash": (f"# codecards:begin ({HINT})", "# codecards:end"),
}
_patterns = {
    "markdown": (rb"(?m)^<!-- codecards:begin\b[^\r\n]*-->", rb"(?m)^<!-- codecards:end -->(?:\r?\n)?"),
    "hash": (rb"(?m)^# codecards:begin\b[^\r\n]*", rb"(?m)^# codecards:end(?:\r?\n|\Z)"),
}


def with_block(data: bytes | None, body: str, *, comment: str, head: str = "") -> bytes:
    """Return the file with the block at its end.

    Args:
        data: The file without a block; None for a new file.
        body: The block's text, with LF line ends.
        comment: "markdown" or "hash".
        head: The start of a new file, such as front matter.
    """
    if data is None and head:
        data = head.encode()
    begin, end = _marks[comment]
    block = f"{begin}\n{body.rstrip()}\n{end}\n"
    if data is None:
        return block.encode()
    eol = _line_end(data)
    return data + eol + block.encode().replace(b"\n", eol)


def without_block(data: bytes, *, comment: str, head: str = "", name: str = "the file") -> bytes | None:
    """Return the file without the block; None if the file was created for the block and holds nothing else.

    Raises:
        ConfigurationError: There is not exactly one pair of marks.
    """
    begin_pattern, end_pattern = _patterns[comment]
    begins, ends = list(re.finditer(begin_pattern, data)), list(re.finditer(end_pattern, data))
    if not begins and not ends:
        return data
    if len(begins) != 1 or len(ends) != 1 or begins[0].start() > ends[0].start():
        raise ConfigurationError(
            f"{name} has {len(begins)} marks codecards:begin and {len(ends)} marks codecards:end; one pair is expected. "
            "Fix the marks by hand; nothing was changed."
        )
    before, after = data[: begins[0].start()], data[ends[0].end() :]
    if not before:
        return after or None
    eol = b"\r\n" if data[begins[0].end() :].startswith(b"\r\n") else b"\n"
    shorter = before.removesuffix(eol)
    # A line below the block must not be joined with the line above it.
    kept = before if after and shorter and not shorter.endswith((b"\n", b"\r")) else shorter
    whole = kept + after
    return None if head and whole.replace(b"\r\n", b"\n") == head.encode() else whole


def check_text(data: bytes, name: str) -> None:
    """Check that ASCII text can be added to a file.

    Raises:
        ConfigurationError: The file is UTF-16, or not text.
    """
    if data.startswith(UTF16_BOMS) or b"\0" in data:
        raise ConfigurationError(f"{name} is UTF-16 or not text; agents read UTF-8. Nothing was changed.")


def _line_end(data: bytes) -> bytes:
    n_crlf = data.count(b"\r\n")
    return b"\r\n" if n_crlf and n_crlf * 2 >= data.count(b"\n") else b"\n"
