"""Text decoding: the bytes of a file become text, and its original encoding is remembered.

In order: a byte order mark, strict UTF-8, UTF-16 told by its zero bytes, a coding line, and last a guess from the
lines that are not ASCII. Source of the coding line: PEP 263, which Emacs and Vim share.
"""

import codecs
import re
from dataclasses import dataclass

from codecards.indexer.problems import Reason

GUESS_BYTES = 64 << 10
"""How much of the lines that are not ASCII a guess looks at."""
BINARY_SHARE = 0.10
"""Control characters above this share mean that the bytes are no text."""


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A file's text."""

    text: str
    """Line ends are LF or CRLF as in the file; in a file without LF each CR became an LF; NUL became a space."""
    encoding: str
    """Python's name of the original encoding: "utf-8", "gb18030", "utf-16-le"."""
    has_bom: bool
    problems: tuple[tuple[Reason, str], ...]


_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_coding_line = re.compile(rb"^[^\n]*?coding[:=][ \t]*([-\w.]+)", re.MULTILINE)
_control_bytes = bytes(set(range(32)) - {9, 10, 12, 13, 27}) + b"\x7f"
_MAGIC = (b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x7fELF", b"MZ\x90", b"%PDF-", b"\x1f\x8b", b"\xca\xfe\xba\xbe",
          b"\xfd7zXZ", b"7z\xbc\xaf", b"SQLite format 3\0", b"\0asm", b"wOFF", b"wOF2", b"OggS", b"ID3", b"RIFF")  # fmt: skip


def decode(data: bytes) -> DecodedText | tuple[Reason, str]:
    """Return the text, or the reason and detail why the bytes are none. Never raises."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _with_encoding(data[len(bom) :], encoding, has_bom=True)
    if data.startswith(_MAGIC):
        return Reason.BINARY, "starts like a known binary format"
    if b"\0" not in data:
        try:
            return _clean(data.decode("utf-8"), "utf-8")
        except UnicodeDecodeError:
            pass
    elif (wide := _wide_encoding(data)) is not None:
        return _with_encoding(data, wide)
    if _looks_binary(data):
        return Reason.BINARY, "holds too many control bytes to be text"
    if (named := _named_encoding(data)) is not None:
        try:
            return _clean(data.decode(named), named)
        except (UnicodeDecodeError, LookupError):
            pass
    try:
        return _clean(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return _guess(data)


def _with_encoding(data: bytes, encoding: str, *, has_bom: bool = False) -> DecodedText | tuple[Reason, str]:
    try:
        return _clean(data.decode(encoding), encoding, has_bom=has_bom)
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            return Reason.UNDECODABLE, f"its byte order mark promises {encoding}, but byte {error.start} breaks it"
    return _guess(data)


def _clean(
    text: str, encoding: str, *, has_bom: bool = False, problems: tuple[tuple[Reason, str], ...] = ()
) -> DecodedText | tuple[Reason, str]:
    """Return the text with line ends and NULs as everything after expects them."""
    if "\0" in text:
        n_nuls = text.count("\0")
        if n_nuls > len(text) * BINARY_SHARE:
            return Reason.BINARY, f"{n_nuls} NUL characters"
        problems += ((Reason.NUL_BYTES, f"{n_nuls} NUL characters were read as spaces"),)
        text = text.replace("\0", " ")
    if "\r" in text and "\n" not in text:
        text = text.replace("\r", "\n")
    return DecodedText(text, encoding, has_bom, problems)


def _wide_encoding(data: bytes) -> str | None:
    """Return the UTF-16 form that bytes without a mark have: mostly ASCII, so every second byte is zero."""
    sample = data[: GUESS_BYTES & ~1]
    if len(sample) < 4:
        return None
    half = len(sample) / 2
    even, odd = sample[0::2].count(0) / half, sample[1::2].count(0) / half
    candidates = [("utf-16-le", odd, even), ("utf-16-be", even, odd)]
    for encoding, zeros, others in candidates:
        if zeros >= 0.3 and others <= 0.02:
            try:
                text = data.decode(encoding)
            except UnicodeDecodeError:
                continue
            if not any(ord(character) < 9 for character in text[:2000]):
                return encoding
    return None


def _looks_binary(data: bytes) -> bool:
    sample = data[: 1 << 16]
    controls = len(sample) - len(sample.translate(None, _control_bytes))
    return controls > len(sample) * BINARY_SHARE


def _named_encoding(data: bytes) -> str | None:
    """Return the encoding that a coding line among the first two names."""
    head = b"\n".join(data[:1000].splitlines()[:2])
    found = _coding_line.search(head)
    if found is None:
        return None
    try:
        return codecs.lookup(found[1].decode("ascii")).name
    except LookupError:
        return None


def _guess(data: bytes) -> DecodedText | tuple[Reason, str]:
    """Return the text in the encoding that the lines with other than ASCII bytes look most like."""
    import chardet  # noqa: PLC0415 - slow to load, and seldom needed

    telling = b"\n".join(line for line in data.split(b"\n") if not line.isascii())[:GUESS_BYTES]
    found = str(chardet.detect(telling)["encoding"] or "latin-1")
    for encoding in (_widened(found), "latin-1"):
        try:
            text = data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
        if encoding == "latin-1" and any("\x80" <= character <= "\x9f" for character in text[:GUESS_BYTES]):
            text, encoding = data.decode("cp1252", "replace"), "cp1252"
        detail = f"no encoding is declared; read as {encoding}"
        return _clean(text, encoding, problems=((Reason.DECODED_BY_GUESS, detail),))
    return Reason.UNDECODABLE, "fits no known encoding"


def _widened(encoding: str) -> str:
    """Return the larger encoding that holds the guessed one, and that people mean by its name."""
    name = encoding.lower().replace("_", "-")
    wider = {"gb2312": "gb18030", "gbk": "gb18030", "shift-jis": "cp932", "shift_jis": "cp932", "ascii": "cp1252",
             "euc-kr": "cp949", "iso-8859-1": "cp1252", "utf-8": "latin-1", "utf-8-sig": "latin-1"}  # fmt: skip
    return wider.get(name, name)
