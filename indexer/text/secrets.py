"""Secret masking: keys, tokens and passwords in text that is shown to people or models become `[masked]`.

Only what is a secret by its shape or by the name it is given to is masked, for shown code must be the file's code:
a commit hash or a long identifier stays. Source of the shapes: the issuers' own documentation of their prefixes.

Tried: detect-secrets 1.5.0. It took 0.34 CPU s for 1,000 lines, where a query has 5 ms; its entropy plugins mask every
commit hash; and its last release is of May 2024.
"""

import math
import re
from collections import Counter

MASK = "[masked]"
_RANDOM_BITS = 3.0
"""Shannon entropy a character above which a value looks random; English words of 10 letters have about 2.8."""

_TOKENS = re.compile(
    r"""(?<![A-Za-z0-9])(?:
      (?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])                # Amazon
    | gh[pousr]_[A-Za-z0-9]{36,} | github_pat_[A-Za-z0-9_]{22,}         # GitHub
    | gl(?:pat|dt|rt|oas|cbt|ptt|ft|soat|agent|imt)-[\w-]{20,}          # GitLab
    | xox[abeoprs]-[A-Za-z0-9-]{10,} | xapp-\d-[A-Za-z0-9-]{10,}        # Slack
    | https://hooks\.slack\.com/(?:services|workflows)/[\w/]{20,}
    | (?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,} | whsec_[A-Za-z0-9+/]{24,}   # Stripe
    | sk-(?:proj|ant|svcacct|admin|or)-[\w-]{20,} | sk-[A-Za-z0-9]{32,} # OpenAI, Anthropic, OpenRouter
    | AIza[\w-]{35} | ya29\.[\w-]{20,} | GOCSPX-[\w-]{28}               # Google
    | npm_[A-Za-z0-9]{36} | pypi-AgE[\w-]{40,} | rubygems_[0-9a-f]{48} | dckr_pat_[\w-]{20,}   # registries
    | hf_[A-Za-z0-9]{30,} | r8_[A-Za-z0-9]{37} | gsk_[A-Za-z0-9]{40,}   # models
    | SG\.[\w-]{16,32}\.[\w-]{16,64} | SK[0-9a-f]{32}(?![0-9a-f]) | key-[0-9a-f]{32}(?![0-9a-f])   # mail, telephone
    | do[opr]_v1_[0-9a-f]{64} | dapi[0-9a-f]{32} | shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32} | hv[bs]\.[\w-]{24,}   # clouds
    | gl(?:sa|c)_[\w+/=-]{32,} | NRAK-[A-Z0-9]{27} | PMAK-[0-9a-f-]{59} | figd_[\w-]{40,} | lin_api_[A-Za-z0-9]{40}
    | \d{8,10}:AA[\w-]{33}(?![\w-]) | [MNO][\w-]{23,26}\.[\w-]{6}\.[\w-]{27,}(?![\w-])   # Telegram, Discord
    | eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}                          # JSON web token
    | AGE-SECRET-KEY-1[0-9A-Z]{58}
    )""",
    re.VERBOSE,
)
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
    rf"""(?im)^(\s{{0,40}}(?:-\s{{1,8}})?[a-z0-9_.-]{{0,60}}{_NAMES}[a-z0-9_-]{{0,30}}[ \t]{{0,8}}[:=][ \t]{{0,8}})"""
    r"""([^\s"'`()\[\]{},;]{6,400})(?=[ \t]*\r?$)"""
)
"""password: … on a line of its own, as settings files have it; code has names there, and calls."""
_SPOKEN_VALUE = re.compile(
    r"""(?i)(\b(?:password|identified\s{1,4}by(?:\s{1,4}password)?)\s{1,4}')([^'\s]{4,400})(?=')"""
    r"""|(\bdefine\s{0,4}\(\s{0,4}["'][a-z0-9_]{0,40}(?:password|passwd|secret|token|_key|_salt)[a-z0-9_]{0,20}["']\s{0,4},\s{0,4}["'])"""
    r"""([^"'\s]{6,400})(?=["'])"""
    r"""|([;"'\s](?:password|pwd)=)([^;"'\s&]{4,200})(?=[;"'])"""
)
"""What SQL, PHP and connection strings say: IDENTIFIED BY '…', define('DB_PASSWORD', '…'), ;Password=…;"""
_OTHER_VALUES = (
    # DB_PASSWORD=… on a line of its own
    re.compile(
        r"""(?m)^(\s{0,40}(?:export\s{1,8}|set\s{1,8}|-\s{1,8}|ENV\s{1,8})?[A-Z0-9_]{0,60}"""
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
_HINT = re.compile(
    r"(?i)pass|pwd|identified|secret|credential|key|token|://|authorization|sig=|AKIA|ASIA|ABIA|ACCA|gh[pousr]_|github_pat|gl[a-z]+[-_]|xox|xapp"
    r"|[sr]k[-_]|whsec|AIza|ya29|GOCSPX|npm_|pypi-|rubygems_|dckr_|hf_|r8_|gsk_|SG\.|SK[0-9a-f]|do[opr]_v1|dapi|shp|hv[bs]\.|NRAK|PMAK"
    r"|figd_|lin_api|:AA|eyJ|\.[\w-]{6}\."
)


def mask_secrets(text: str) -> str:
    """Return the text with its secrets masked; lines stay lines, and a second call changes nothing."""
    if not _HINT.search(text):
        return text
    while (masked := _masked_once(text)) != text:
        text = masked  # a mask gives what stands beside it an edge, which may show another token
    return text


def mask_short(text: str) -> str:
    """Return a signature or a comment with its secrets masked; one that holds no digit and no quote has none."""
    return mask_secrets(text) if _DIGIT_OR_QUOTE.search(text) else text


def _masked_once(text: str) -> str:
    text = _PRIVATE_KEY.sub(_masked_key, text)
    text = _TOKENS.sub(MASK, text)
    text = _QUOTED_VALUE.sub(_masked_quoted, text)
    text = _PLAIN_VALUE.sub(_masked_quoted, text)
    text = _SPOKEN_VALUE.sub(_masked_spoken, text)
    for pattern in _OTHER_VALUES:
        text = pattern.sub(_masked_value, text)
    return text


def _masked_key(found: re.Match[str]) -> str:
    head, body = (found[1], found[2]) if found[1] else (found[3], found[4])
    return head + _KEY_BODY.sub(MASK, body)


def _masked_value(found: re.Match[str]) -> str:
    return found[0] if _PLACEHOLDER.fullmatch(found[2]) else found[1] + MASK


def _masked_quoted(found: re.Match[str]) -> str:
    """Return what is assigned to a name in code, masked if it looks like nothing else than a secret."""
    is_password = _PASSWORD.search(found[1]) is not None
    return _masked_value(found) if _looks_secret(found[2], is_password=is_password) else found[0]


def _masked_spoken(found: re.Match[str]) -> str:
    head, value = next(
        (head, value) for head, value in zip(found.groups()[::2], found.groups()[1::2], strict=True) if head
    )
    shows = _PLACEHOLDER.fullmatch(value) or not _looks_secret(value, is_password=True)
    return found[0] if shows else head + MASK


def _looks_secret(value: str, *, is_password: bool) -> bool:
    """Return whether a quoted value is one that nobody would use as a name: letters mixed with digits or signs."""
    letters = sum(character.isalpha() for character in value)
    digits = sum(character.isdigit() for character in value)
    signs = len(value) - letters - digits - sum(value.count(character) for character in "_-./:")
    if not letters or _IS_CODE.search(value):
        return False
    if is_password:
        return digits + signs > 0 and "/" not in value and "." not in value
    return digits + signs >= 2 and len(value) >= 8 and _bits(value) >= _RANDOM_BITS


def _bits(value: str) -> float:
    """Return the Shannon entropy a character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
