"""Decodes the bytes of a file and records the original encoding.

The order is: byte order mark, strict UTF-8, UTF-16 recognised by its zero bytes, a coding line, UTF-8 with a few lines in
another encoding, and a guess (`encoding_guess`). Source of the coding line: PEP 263, whose form Emacs and Vim share.
"""

import codecs
import re
from dataclasses import dataclass

from codecards.indexer.problems import Reason
from codecards.indexer.text.encoding_guess import guess_encoding

SAMPLE_BYTES = 64 << 10
"""Number of bytes at the start of a file that decide whether it is text."""
BINARY_SHARE = 0.05
"""Bytes with a higher share of control characters are binary; random bytes have about 0.11."""
BROKEN_SHARE = 0.05
"""If a higher share of characters is invalid in the encoding of a byte order mark, the mark is a coincidence."""

_TOO_MANY_CONTROLS = "has too many control bytes to be text"


@dataclass(frozen=True, slots=True)
class DecodedText:
    """Text of a file."""

    text: str
    """Line ends are LF or CRLF as in the file. In a file without LF, CR becomes LF. NUL becomes a space."""
    encoding: str
    """Original encoding by its Python name: "utf-8", "gb18030", "utf-16-le"."""
    has_bom: bool
    problems: tuple[tuple[Reason, str], ...]


def decode(data: bytes) -> DecodedText | tuple[Reason, str]:
    """Return the text, or reason and detail if the bytes are not text. Never raises."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _decode_with_bom(data, bom, encoding)
    if _starts_like_binary(data):
        return Reason.BINARY, "starts with the signature of a binary format"
    has_nul = b"\0" in data
    if has_nul and (utf_16 := _utf_16_without_bom(data)) is not None:
        return _normalise(data.decode(utf_16), utf_16)
    if _looks_binary(data if has_nul else data[:4096]):
        return Reason.BINARY, _TOO_MANY_CONTROLS
    if not has_nul and (text := _strict(data, "utf-8")) is not None:
        return _ascii_or_escaped(data, text)
    if _looks_binary(data):
        return Reason.BINARY, _TOO_MANY_CONTROLS
    declared = _declared_encoding(data)
    for encoding in ("utf-8", declared) if declared else ("utf-8",):
        if (text := _strict(data, encoding)) is not None:
            return _normalise(text, encoding)
    return _decode_mixed_lines(data) or _decode_by_guess(data)


def valid_unicode(text: str) -> str:
    """Return the text as valid Unicode; an argument whose UTF-8 bytes were read as ASCII is decoded again."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        try:
            return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        except UnicodeEncodeError:  # half a surrogate pair
            return text.encode("utf-8", "replace").decode("utf-8")
    return text


_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_coding_line = re.compile(rb"^[^\n]*?coding[:=][ \t]*([-\w.]+)", re.MULTILINE)
_control_bytes = bytes(set(range(32)) - {8, 9, 10, 12, 13, 27}) + b"\x7f"
_MAGIC = (
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"PK\x03\x04",
    b"\x7fELF",
    b"MZ\x90",
    b"%PDF-",
    b"\x1f\x8b",
    b"\xca\xfe\xba\xbe",
    b"\xfd7zXZ",
    b"7z\xbc\xaf",
    b"SQLite format 3\0",
    b"\0asm",
)
_MAGIC_WORDS = (b"GIF8", b"wOFF", b"wOF2", b"OggS", b"ID3", b"RIFF", b"BZh", b"Rar!", b"glTF", b"fLaC", b"BM")
"""Signatures that text may start with too, but not with a NUL soon after."""


def _starts_like_binary(data: bytes) -> bool:
    return data.startswith(_MAGIC) or (data.startswith(_MAGIC_WORDS) and b"\0" in data[:64])


def _strict(data: bytes, encoding: str) -> str | None:
    """Return the text, None if the bytes are invalid in the encoding."""
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def _decode_with_bom(data: bytes, bom: bytes, encoding: str) -> DecodedText | tuple[Reason, str]:
    """Return the text of bytes that start with a byte order mark, or why they have none."""
    rest = data[len(bom) :]
    if (text := _strict(rest, encoding)) is not None:
        return _normalise(text, encoding, has_bom=True)
    if encoding == "utf-8":
        return decode(rest)
    if encoding.startswith("utf-16") and (text := _strict(rest[:-1], encoding)) is not None:
        problem = (Reason.DECODED_BY_GUESS, f"{encoding} with half a character at the end, which is left out")
        return _normalise(text, encoding, has_bom=True, problems=(problem,))
    loose = rest.decode(encoding, "replace")
    if (n_bad := loose.count("\ufffd")) <= max(2, len(loose) * BROKEN_SHARE):
        problem = (Reason.DECODED_BY_GUESS, f"{n_bad} characters are invalid in {encoding} and were replaced")
        return _normalise(loose, encoding, has_bom=True, problems=(problem,))
    if _looks_binary(data):
        return Reason.BINARY, _TOO_MANY_CONTROLS
    return Reason.UNDECODABLE, f"has the byte order mark of {encoding}, but too many bytes are invalid in it"


def _normalise(
    text: str, encoding: str, *, has_bom: bool = False, problems: tuple[tuple[Reason, str], ...] = ()
) -> DecodedText | tuple[Reason, str]:
    """Return the text with line ends and NULs normalised as `DecodedText` describes."""
    if "\0" in text:
        n_nuls = text.count("\0")
        n_inside = text.rstrip("\0").count("\0")
        if not text.strip("\0") or (n_inside > 1 and n_inside > len(text) * BINARY_SHARE):
            return Reason.BINARY, f"{n_nuls} NUL characters"
        problems += ((Reason.NUL_BYTES, f"{n_nuls} NUL characters were replaced by spaces"),)
        text = text.replace("\0", " ")
    if "\r" in text and "\n" not in text:
        text = text.replace("\r", "\n")
    return DecodedText(text, encoding, has_bom, problems)


def _ascii_or_escaped(data: bytes, text: str) -> DecodedText | tuple[Reason, str]:
    """Return the text of valid UTF-8; ISO-2022-JP is pure ASCII too and recognised by its escape sequences."""
    if b"\x1b$" in data and data.isascii() and (japanese := _strict(data, "iso2022_jp")) is not None:
        return _normalise(japanese, "iso2022_jp")
    return _normalise(text, "utf-8")


def _utf_16_without_bom(data: bytes) -> str | None:
    """Return the byte order of UTF-16 without a mark ("utf-16-le", "utf-16-be"), None for other bytes.

    Each ASCII character makes one byte of its pair zero. Other scripts have ASCII line ends and spaces alone, so a small
    share of zeros is enough if all characters are printable.
    """
    sample = data[: SAMPLE_BYTES & ~1]
    half = len(sample) // 2
    if half < 2 or len(data) % 2:
        return None
    even, odd = sample[0::2].count(0) / half, sample[1::2].count(0) / half
    for encoding, zeros, others in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if zeros >= 0.05 and others <= 0.02 and (text := _strict(data, encoding)) is not None:
            start = text[:4000]
            strange = sum(
                not (character.isprintable() or character in "\t\n\r\f\u3000\xa0\ufeff") for character in start
            )
            if strange <= len(start) * 0.01:
                return encoding
    return None


def _looks_binary(data: bytes) -> bool:
    sample = data[:SAMPLE_BYTES].rstrip(b"\0") or data[:SAMPLE_BYTES]  # a failed disk leaves zeros at the end
    controls = len(sample) - len(sample.translate(None, _control_bytes))
    return controls > 1 and controls > len(sample) * BINARY_SHARE


def _declared_encoding(data: bytes) -> str | None:
    """Return the encoding declared in the first two lines, if it is a superset of ASCII."""
    found = _coding_line.search(b"\n".join(data[:1000].splitlines()[:2]))
    if found is None:
        return None
    try:
        name = codecs.lookup(found[1].decode("ascii")).name
        fits = b"coding: \\u0041+x".decode(name) == "coding: \\u0041+x"
    except (UnicodeError, LookupError, ValueError):
        return None
    if name.replace("_", "-") in ("punycode", "idna", "utf-7") or not fits:
        return None
    return "gb18030" if name in ("gb2312", "gbk") else name  # the superset that both names usually mean


def _decode_mixed_lines(data: bytes) -> DecodedText | tuple[Reason, str] | None:
    """Return the text of a file with a few lines that are not UTF-8, None if most are not."""
    lines = data.split(b"\n")
    foreign = [line for line in lines if _strict(line, "utf-8") is None]
    n_good = sum(not line.isascii() for line in lines) - len(foreign)
    if n_good < len(foreign):
        return None
    encoding = guess_encoding(b"\n".join(foreign))
    texts = []
    for line in lines:
        text = _strict(line, "utf-8")
        texts.append(line.decode(encoding, "replace") if text is None else text)
    detail = f"{len(foreign)} lines are not UTF-8 like the rest; read as {encoding}"
    return _normalise("\n".join(texts), "utf-8", problems=((Reason.DECODED_BY_GUESS, detail),))


def _decode_by_guess(data: bytes) -> DecodedText | tuple[Reason, str]:
    """Return the text in the likeliest encoding of the lines that are not ASCII."""
    sample = b"\n".join(line for line in data.split(b"\n") if not line.isascii())
    for encoding in (guess_encoding(sample), "cp1252", "latin-1"):
        if (text := _strict(data, encoding)) is not None:
            detail = f"no encoding is declared; read as {encoding}"
            return _normalise(text, encoding, problems=((Reason.DECODED_BY_GUESS, detail),))
    return Reason.UNDECODABLE, "is not valid in any known encoding"
