"""Tells dialects of SQL apart by content, and blanks what is not code: comments, strings, rows of data.

All here is one pass over the text; a blanked character becomes a space, so positions and lines stay.
"""

import re
from dataclasses import dataclass

HEAD_CHARACTERS = 200_000
"""Number of characters at the start in which the dialect is told."""
_SIGNS = {
    "mysql": r"`\w+`|\bengine\s{0,4}=|\bauto_increment\b|^delimiter\b|\bdefiner\s{0,4}=|^#|/\*!\d{5}",
    "postgres": r"\$\w*\$|\blanguage\s{1,4}'?(?:plpgsql|sql|c)\b|::\w|^copy\b|^\\\.|\bserial\b|\bplpgsql\b|\bbytea\b|\bsetof\b",
    "tsql": r"^go\s{0,4}$|\[dbo\]|\bdbo\.|\bnvarchar\b|@\w+\s{1,4}(?:int|n?varchar|bit|datetime)\b|\bidentity\s{0,4}\(|\bset\s{1,4}nocount\b",
    "oracle": r"\bvarchar2\b|\bnumber\s{0,4}\(|^/\s{0,4}$|%(?:row)?type\b|\bpackage\s{1,4}body\b|\bcreate\s{1,4}(?:or\s{1,4}replace\s{1,4})?package\b|:=",
    "sqlite": r"\bautoincrement\b|^pragma\b|\bwithout\s{1,4}rowid\b",
}
_dialect_sign = re.compile(
    "|".join(f"(?P<{name}>{signs})" for name, signs in _SIGNS.items()), re.IGNORECASE | re.MULTILINE
)
_COMMON = r"--[^\n]*|/\*.*?(?:\*/|\Z)|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`|\[[^\]\n]{0,130}\]"
_PLAIN_STRING = r"'(?:[^']|'')*+'"
_ESCAPED_STRING = r"(?<!\\)'(?:[^'\\]|\\.|'')*+'"
_tokens_standard = re.compile(rf"{_COMMON}|[eE]{_ESCAPED_STRING}|{_PLAIN_STRING}|\$(?:[A-Za-z_]\w*)?\$", re.DOTALL)
_tokens_mysql = re.compile(rf"{_COMMON}|#[^\n]*|{_ESCAPED_STRING}", re.DOTALL)
_tokens_unknown = re.compile(
    rf"{_COMMON}|(?:(?<=\n)|\A)[ \t]*#[^\n]*|[eE]?{_PLAIN_STRING}|\$(?:[A-Za-z_]\w*)?\$", re.DOTALL
)
_copy = re.compile(r"^copy\b[^;\n]{1,2000}\bfrom\s{1,8}stdin\b[^;\n]{0,300};[^\n]*\n", re.IGNORECASE | re.MULTILINE)
_delimiter = re.compile(r"^[ \t]*delimiter[ \t]{1,20}(\S{1,20})[ \t]*", re.IGNORECASE | re.MULTILINE)
_visible = re.compile(r"[^\n]")


@dataclass(frozen=True, slots=True)
class SqlText:
    """A text without what is not code; all forms have the same length."""

    dialect: str
    """"mysql", "postgres", "tsql", "oracle" or "sqlite"; "" if nothing tells."""
    plain: str
    """Without comments, strings, rows of data and bodies between dollar signs."""
    code: str
    """As `plain`, with the code of bodies between dollar signs and of strings that are bodies."""


def dialect_of_text(text: str) -> str:
    """Return the dialect with most of its signs in a text, "" if there are none."""
    counts: dict[str, int] = {}
    for match in _dialect_sign.finditer(text, 0, HEAD_CHARACTERS):
        name = str(match.lastgroup)
        counts[name] = counts.get(name, 0) + 1
    return max(counts, key=lambda name: counts[name]) if counts else ""


def code_of(text: str) -> SqlText:
    """Return the forms of a text without what is not code."""
    dialect = dialect_of_text(text)
    text = _without_rows(text)
    if dialect == "mysql":
        plain = code = _with_semicolons(_masked(text, dialect, keeps_bodies=False))
    else:
        plain, code = _masked(text, dialect, keeps_bodies=False), _masked(text, dialect, keeps_bodies=True)
    return SqlText(dialect, plain, code)


def _with_semicolons(text: str) -> str:
    """Return the text with `;` for the marks that `DELIMITER` sets."""
    parts: list[str] = []
    position, mark = 0, ";"
    for match in _delimiter.finditer(text):
        parts += [text[position : match.start()].replace(mark, ";".ljust(len(mark))), " " * len(match[0])]
        position, mark = match.end(), match[1]
    return "".join((*parts, text[position:].replace(mark, ";".ljust(len(mark)))))


def _without_rows(text: str) -> str:
    """Return the text without the rows below `COPY … FROM stdin;`."""
    parts: list[str] = []
    position = 0
    while match := _copy.search(text, position):
        end = text.find("\n\\.", match.end() - 1)
        end = len(text) if end < 0 else end
        parts += [text[position : match.end()], _visible.sub(" ", text[match.end() : end])]
        position = max(end, match.end())
    return "".join((*parts, text[position:]))


def _masked(text: str, dialect: str, *, keeps_bodies: bool) -> str:
    tokens = {"mysql": _tokens_mysql, "": _tokens_unknown}.get(dialect, _tokens_standard)
    parts: list[str] = []
    position = 0
    while match := tokens.search(text, position):
        found, end = match[0], match.end()
        parts.append(text[position : match.start()])
        if found[0] in '"`[':
            parts.append(found)
        elif found[0] == "$":
            close = text.find(found, end)
            if close >= 0 and keeps_bodies:
                parts += [" " * len(found), _masked(text[end:close], dialect, keeps_bodies=False), " " * len(found)]
                end = close + len(found)
            elif close >= 0:
                end = close + len(found)
                parts.append(_visible.sub(" ", text[match.start() : end]))
            else:
                parts.append(found)
        else:
            parts.append(_visible.sub(" ", found))
        position = end
    return "".join((*parts, text[position:]))
