"""Marked block: our part of a text file of the user's, put in and taken out without touching another byte.

A block that is put into a file starts with one line end of its own, so that a file with or without a last line end
comes back as it was. A file that starts with the block was made for it, and ends with it.
"""

import re

from codecards.errors import ConfigurationError

BOMS_OF_OTHERS = (b"\xff\xfe", b"\xfe\xff")
HINT = "written by `codecards install`; `codecards uninstall` takes it out"
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
        data: The file without a block; None where there is none.
        body: The block's text, lines ended by LF.
        comment: "markdown" or "hash".
        head: What a new file starts with.
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
    """Return the file without our block; None if nothing is left of a file that was made for it.

    Raises:
        ConfigurationError: A mark stands alone or twice, so that it can't be told what is ours.
    """
    begin_pattern, end_pattern = _patterns[comment]
    begins, ends = list(re.finditer(begin_pattern, data)), list(re.finditer(end_pattern, data))
    if not begins and not ends:
        return data
    if len(begins) != 1 or len(ends) != 1 or begins[0].start() > ends[0].start():
        raise ConfigurationError(
            f"{name} has {len(begins)} marks codecards:begin and {len(ends)} marks codecards:end; one pair is expected. "
            "Put it right by hand; nothing was changed."
        )
    before, after = data[: begins[0].start()], data[ends[0].end() :]
    if not before:
        return after or None
    eol = b"\r\n" if data[begins[0].end() :].startswith(b"\r\n") else b"\n"
    shorter = before.removesuffix(eol)
    # A line that was written below the block must not be joined with the one above it.
    kept = before if after and shorter and not shorter.endswith((b"\n", b"\r")) else shorter
    whole = kept + after
    return None if head and whole.replace(b"\r\n", b"\n") == head.encode() else whole


def check_text(data: bytes, name: str) -> None:
    """Refuse what ASCII text can't be added to.

    Raises:
        ConfigurationError: It is UTF-16, or no text.
    """
    if data.startswith(BOMS_OF_OTHERS) or b"\0" in data:
        raise ConfigurationError(f"{name} is UTF-16 or no text; agents read UTF-8. Nothing was changed.")


def _line_end(data: bytes) -> bytes:
    n_crlf = data.count(b"\r\n")
    return b"\r\n" if n_crlf and n_crlf * 2 >= data.count(b"\n") else b"\n"
