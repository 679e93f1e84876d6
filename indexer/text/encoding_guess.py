"""Guesses the legacy encoding of a few bytes of text.

chardet ranks the encodings. It is unreliable for short texts (it takes a lone "é" in a comment for Greek, Thai or DOS), so
only encodings that occur in source code count, and the bytes must form runs as the script does: accented letters of
Western names are isolated among ASCII letters; Cyrillic, Greek and Chinese come in runs.
"""

import codecs
import re

GUESS_BYTES = 64 << 10
"""Maximum number of bytes that a guess reads."""
FAINT = 0.06
"""Below this confidence chardet's order of Western encodings is noise: for 20 single words of Western text its best was at
most 0.05, for sentences at least 0.09."""
UNSURE = 0.1
"""Below this confidence a run of common Chinese characters counts as Chinese, whatever chardet's best (often Korean)."""

_SUPERSETS = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
    "big5hkscs": "big5hkscs",
    "shift_jis": "cp932",
    "cp932": "cp932",
    "euc_jp": "euc_jp",
    "euc_jis_2004": "euc_jp",
    "euc_kr": "cp949",
    "cp949": "cp949",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "cp1251": "cp1251",
    "cp866": "cp866",
    "iso8859-1": "cp1252",
    "iso8859-15": "cp1252",
    "cp1252": "cp1252",
    "cp1250": "cp1250",
    "iso8859-2": "iso8859-2",
    "iso8859-9": "cp1254",
    "cp1254": "cp1254",
    "cp1257": "cp1257",
    "iso8859-7": "cp1253",
    "cp1253": "cp1253",
    "iso8859-8": "cp1255",
    "cp1255": "cp1255",
    "cp1256": "cp1256",
    "cp874": "cp874",
    "tis-620": "cp874",
}
"""Encodings that occur in source code → the superset that is used for them."""
_LATIN = frozenset({"cp1252", "cp1250", "iso8859-2", "cp1254", "cp1257"})
_CHINESE_JAPANESE_KOREAN = frozenset({"gb18030", "big5hkscs", "cp932", "euc_jp", "cp949"})
_common_chinese = re.compile(rb"(?:[\xb0-\xd7][\xa1-\xfe]|[\xa1-\xa3][\xa1-\xfe])+")
"""Level 1 of GB 2312 (the 3,755 most frequent characters) and its punctuation."""
_runs = re.compile(rb"[\x80-\xff]+")


def guess_encoding(sample: bytes) -> str:
    """Return the Python name of the likeliest encoding; "cp1252" without evidence for another.

    Args:
        sample: The lines with bytes over 127.
    """
    import chardet  # slow to load, and seldom needed

    sample = sample[:GUESS_BYTES]
    ranked = chardet.detect_all(sample, ignore_threshold=True)
    candidates = [(_superset_of(str(one["encoding"])), float(one["confidence"] or 0.0)) for one in ranked]
    if _letters_are_isolated(sample):
        likely = [one for one in candidates if one[0] in _LATIN or one[0] in _CHINESE_JAPANESE_KOREAN]
        return likely[0][0] if likely and likely[0][1] >= FAINT else "cp1252"
    name, confidence = next((one for one in candidates if one[0]), ("cp1252", 0.0))
    if confidence < UNSURE and _common_chinese.fullmatch(b"".join(_runs.findall(sample))):
        return "gb18030"
    return name


def _letters_are_isolated(sample: bytes) -> bool:
    lengths = [len(run) for run in _runs.findall(sample)]
    return bool(lengths) and sum(lengths) <= 1.5 * len(lengths)


def _superset_of(name: str) -> str:
    """Return the encoding to use for a name that chardet gives, "" for one that does not occur in source code."""
    try:
        return _SUPERSETS.get(codecs.lookup(name).name, "")
    except LookupError:
        return ""
