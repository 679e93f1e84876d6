"""Masks keys, tokens and passwords in text that people or models see: each becomes `[masked]`.

A value is masked for its shape or for the name that it is assigned to. Anything else stays, such as a commit hash or a
long identifier, because shown code must be the code of the file. `secrets.toml` lists the shapes with their sources.

Tried: detect-secrets 1.5.0. It took 0.34 CPU s for 1,000 lines, where a query has 5 ms; its entropy plugins mask every
commit hash; and its last release is of May 2024.
"""

import math
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib import resources

MASK = "[masked]"
_RANDOM_BITS = 3.0
"""Minimum Shannon entropy per character of a random value; English words of 10 letters have about 2.8."""

_PRIVATE_KEY = re.compile(
    r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)((?:(?!-----BEGIN).){0,20000}?)(?=-----END)"
    r"|(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)((?:\s*[A-Za-z0-9+/=]{16,}\s*)+)",
    re.DOTALL,
)
_KEY_BODY = re.compile(r"[A-Za-z0-9+/=]{8,}")
_NAMES = (
    r"(?<!public)(?<!public_)(?<!publickey)(?:pass(?:word|wd|phrase)|pwd|secret|credential|api[-_]?key|token"
    r"|(?:access|account|private|auth|signing|encryption)[-_]?key)"
)
_QUOTED_VALUE = re.compile(
    rf"""(?i)({_NAMES}[a-z0-9_-]{{0,30}}["']?\s{{0,8}}(?:=>|:=|[:=])\s{{0,8}}["'`])([^"'`\s]{{6,400}})(?=["'`])"""
)
"""password = "…", "apiKey": "…", token => '…'"""
_PLAIN_VALUE = re.compile(
    rf"""(?im)^([ \t]{{0,40}}(?:-\s{{1,8}})?[a-z0-9_.-]{{0,60}}{_NAMES}[a-z0-9_-]{{0,30}}[ \t]{{0,8}}[:=][ \t]{{0,8}})"""
    r"""([^\s"'`()\[\]{},;]{6,400})(?=[ \t]*\r?$)"""
)
"""password: … as a whole line, as in settings files; in code, names and calls follow."""
_STATEMENT_VALUE = re.compile(
    r"""(?i)(\b(?:password|identified\s{1,4}by(?:\s{1,4}password)?)\s{1,4}')([^'\s]{4,400})(?=')"""
    r"""|(\bdefine\s{0,4}\(\s{0,4}["'][a-z0-9_]{0,40}(?:password|passwd|secret|token|_key|_salt)[a-z0-9_]{0,20}["']\s{0,4},\s{0,4}["'])"""
    r"""([^"'\s]{6,400})(?=["'])"""
    r"""|([;"'\s](?:password|pwd)=)([^;"'\s&]{4,200})(?=[;"'])"""
)
"""Forms of SQL, PHP and connection strings: IDENTIFIED BY '…', define('DB_PASSWORD', '…'), ;Password=…;"""
_OTHER_VALUES = (
    # DB_PASSWORD=… as a whole line
    re.compile(
        r"""(?m)^([ \t]{0,40}(?:export\s{1,8}|set\s{1,8}|-\s{1,8}|ENV\s{1,8})?[A-Z0-9_]{0,60}"""
        r"""(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|API_?KEY|ACCESS_?KEY|ACCOUNT_?KEY|PRIVATE_?KEY)"""
        r"""[A-Z0-9_]{0,30}[ \t]?[=:][ \t]?)([^\s"'`()\[\]{},;]{6,400})(?=[ \t]*\r?$)"""
    ),
    re.compile(r"((?<![a-zA-Z])[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,80}:)([^\s/@\"'<>]{3,200})(?=@[\w.\[-])"),
    re.compile(r"(?i)(authorization[\"']?\s{0,4}[:=,]\s{0,4}[\"'`]?(?:bearer|basic|token)\s{1,4})([\w.~+/=-]{12,})"),
    re.compile(r"(?i)((?:AccountKey|SharedAccessKey|:_authToken|:_password|[?&]sig)=)([\w+/=%.-]{16,})"),
    re.compile(r"(?i)(aws_(?:secret_access_key|session_token)[\"']?\s{0,8}[=:]\s{0,8}[\"']?)([A-Za-z0-9+/=]{30,})"),
)
_PLACEHOLDER = re.compile(
    r"(?i)(.)\1*|<.*|\$.*|[{%#@].*|\.\.+.*|your[-_]?.*|my[-_]?.*"
    r"|.*(?:example|placeholder|change[-_]?(?:me|it)|dummy|sample|redacted|masked|insert|replace|x{4,}).*"
    r"|(?:user)?(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[-_]?key|key)s?|none|null|true|false|undefined|test(?:ing)?"
)
_DIGIT_OR_QUOTE = re.compile("[0-9\"'`]")
_PASSWORD = re.compile(r"(?i)pass(?:word|wd|phrase)|pwd")
_IS_CODE = re.compile(r"[(){}\[\]<>\\]|\$\{")
_HINTS = "pass|pwd|identified|secret|credential|key|token|://|authorization|sig="


@dataclass(frozen=True, slots=True)
class TokenShape:
    """One row of `secrets.toml`: a kind of token with a recognisable shape."""

    name: str
    pattern: str
    example: tuple[str, ...]
    """Parts of an invented token."""
    link: str
    hint: str = ""
    """Pattern (case is ignored) that matches inside every match of `pattern`; "" if `_HINTS` covers it."""


@dataclass(frozen=True, slots=True)
class _TokenPatterns:
    hint: re.Pattern[str]
    """Matches every text that contains a secret of any kind, and others."""
    token: re.Pattern[str]


def token_shapes() -> tuple[TokenShape, ...]:
    """Return the rows of `secrets.toml`."""
    text = resources.files("codecards.indexer.text").joinpath("secrets.toml").read_text("utf-8")
    return tuple(TokenShape(**{**row, "example": tuple(row["example"])}) for row in tomllib.loads(text)["token"])


@cache
def _token_patterns() -> _TokenPatterns:
    """Return the compiled patterns of all rows; the first masked text loads them, not the import."""
    shapes = token_shapes()
    hints = dict.fromkeys(shape.hint for shape in shapes if shape.hint)
    tokens = "|".join(shape.pattern for shape in shapes)
    return _TokenPatterns(
        hint=re.compile(f"(?i){'|'.join((_HINTS, *hints))}"),
        token=re.compile(rf"(?<![A-Za-z0-9])(?:{tokens})"),
    )


def mask_secrets(text: str) -> str:
    """Return the text with its secrets masked. Line ends stay, and a second call changes nothing."""
    if not _token_patterns().hint.search(text):
        return text
    while (masked := _masked_once(text)) != text:
        text = masked  # a mask is a word boundary for its neighbours, which may complete another token
    return text


def mask_short(text: str) -> str:
    """Return a signature or a comment with its secrets masked; without a digit or a quote it has none."""
    return mask_secrets(text) if _DIGIT_OR_QUOTE.search(text) else text


def _masked_once(text: str) -> str:
    text = _PRIVATE_KEY.sub(_masked_key, text)
    text = _token_patterns().token.sub(MASK, text)
    text = _QUOTED_VALUE.sub(_masked_quoted, text)
    text = _PLAIN_VALUE.sub(_masked_quoted, text)
    text = _STATEMENT_VALUE.sub(_masked_statement, text)
    for pattern in _OTHER_VALUES:
        text = pattern.sub(_masked_value, text)
    return text


def _masked_key(found: re.Match[str]) -> str:
    head, body = (found[1], found[2]) if found[1] else (found[3], found[4])
    return head + _KEY_BODY.sub(MASK, body)


def _masked_value(found: re.Match[str]) -> str:
    return found[0] if _PLACEHOLDER.fullmatch(found[2]) else found[1] + MASK


def _masked_quoted(found: re.Match[str]) -> str:
    """Return an assignment in code, its value masked if that looks like a secret."""
    is_password = _PASSWORD.search(found[1]) is not None
    return _masked_value(found) if _looks_secret(found[2], is_password=is_password) else found[0]


def _masked_statement(found: re.Match[str]) -> str:
    head, value = next(
        (head, value) for head, value in zip(found.groups()[::2], found.groups()[1::2], strict=True) if head
    )
    is_harmless = _PLACEHOLDER.fullmatch(value) or not _looks_secret(value, is_password=True)
    return found[0] if is_harmless else head + MASK


def _looks_secret(value: str, *, is_password: bool) -> bool:
    """Return whether a value is unlikely to be a name: it mixes letters with digits or punctuation."""
    letters = sum(character.isalpha() for character in value)
    digits = sum(character.isdigit() for character in value)
    n_punctuation = len(value) - letters - digits - sum(value.count(character) for character in "_-./:")
    if not letters or _IS_CODE.search(value):
        return False
    if is_password:
        return digits + n_punctuation > 0 and "/" not in value and "." not in value
    return digits + n_punctuation >= 2 and len(value) >= 8 and _bits(value) >= _RANDOM_BITS


def _bits(value: str) -> float:
    """Return the Shannon entropy in bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
