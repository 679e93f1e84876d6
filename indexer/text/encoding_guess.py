"""Encoding guess: which legacy encoding a few bytes of text are most likely in.

chardet ranks the encodings. Over short texts it is too imaginative (a lone "é" in a comment becomes Greek, Thai or
DOS), so that only encodings count which sources are really found in, and scripts must look like themselves: letters of
Western names stand alone among ASCII letters, those of Cyrillic, Greek or Chinese stand together.
"""

import codecs
import re

GUESS_BYTES = 64 << 10
"""How much a guess looks at."""
FAINT = 0.06
"""Below this confidence chardet's order among Western encodings says nothing: over 20 single words of Western text its
best was at most 0.05, over sentences at least 0.09."""
UNSURE = 0.1
"""Below this confidence a word of common Chinese characters is taken for Chinese; chardet sees Korean too."""

_MEANT = {
    "gb2312": "gb18030", "gbk": "gb18030", "gb18030": "gb18030",
    "big5": "big5hkscs", "cp950": "big5hkscs", "big5hkscs": "big5hkscs",
    "shift_jis": "cp932", "cp932": "cp932", "euc_jp": "euc_jp", "euc_jis_2004": "euc_jp",
    "euc_kr": "cp949", "cp949": "cp949",
    "koi8-r": "koi8-r", "koi8-u": "koi8-u", "cp1251": "cp1251", "cp866": "cp866",
    "iso8859-1": "cp1252", "iso8859-15": "cp1252", "cp1252": "cp1252", "cp1250": "cp1250", "iso8859-2": "iso8859-2",
    "iso8859-9": "cp1254", "cp1254": "cp1254", "cp1257": "cp1257",
    "iso8859-7": "cp1253", "cp1253": "cp1253", "iso8859-8": "cp1255", "cp1255": "cp1255", "cp1256": "cp1256",
    "cp874": "cp874", "tis-620": "cp874",
}  # fmt: skip
"""Encodings that sources are found in -> the larger one that holds them, which is what people mean by the name."""
_LATIN = frozenset({"cp1252", "cp1250", "iso8859-2", "cp1254", "cp1257"})
_CHINESE_JAPANESE_KOREAN = frozenset({"gb18030", "big5hkscs", "cp932", "euc_jp", "cp949"})
_common_chinese = re.compile(rb"(?:[\xb0-\xd7][\xa1-\xfe]|[\xa1-\xa3][\xa1-\xfe])+")
"""Level 1 of GB 2312 (the 3,755 most frequent characters) and its signs."""
_runs = re.compile(rb"[\x80-\xff]+")


def guess_encoding(telling: bytes) -> str:
    """Return Python's name of the likeliest encoding; "cp1252" where nothing speaks for another.

    Args:
        telling: The lines with bytes over 127.
    """
    import chardet  # noqa: PLC0415 - slow to load, and seldom needed

    telling = telling[:GUESS_BYTES]
    ranked = chardet.detect_all(telling, ignore_threshold=True)
    candidates = [(_meant(str(one["encoding"])), float(one["confidence"] or 0.0)) for one in ranked]
    if _letters_stand_alone(telling):
        likely = [one for one in candidates if one[0] in _LATIN or one[0] in _CHINESE_JAPANESE_KOREAN]
        return likely[0][0] if likely and likely[0][1] >= FAINT else "cp1252"
    name, confidence = next((one for one in candidates if one[0]), ("cp1252", 0.0))
    if confidence < UNSURE and _common_chinese.fullmatch(b"".join(_runs.findall(telling))):
        return "gb18030"
    return name


def _letters_stand_alone(telling: bytes) -> bool:
    lengths = [len(run) for run in _runs.findall(telling)]
    return bool(lengths) and sum(lengths) <= 1.5 * len(lengths)


def _meant(name: str) -> str:
    """Return the encoding that is meant by a name of chardet's, "" for one that no source is in."""
    try:
        return _MEANT.get(codecs.lookup(name).name, "")
    except LookupError:
        return ""
