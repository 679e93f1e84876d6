"""C's preprocessor: what makes C unreadable to a parser is blanked before it parses, line for line.

Three things split what belongs together: a conditional inside a head or a block, a macro where only a type may stand,
and parameters declared between a head and its body (before C89). Everything else stays as it is.
"""

import re
from dataclasses import dataclass, field

_directive = re.compile(r"^[ \t]*#[ \t]*(ifdef|ifndef|if|elif|elifdef|elifndef|else|endif)\b[^\n]*", re.MULTILINE)
_not_code = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_false = re.compile(r"^[ \t]*#[ \t]*if[ \t]+(?:0|false)\b")
_kr_parameters = re.compile(
    r"^[A-Za-z_*][^\n#;{}=]*\([ \t]*\w+(?:[ \t]*,[ \t\n]*\w+)*[ \t]*\)[ \t]*\n((?:[ \t]+[A-Za-z_][^\n;(){}=]*;[ \t]*(?:/\*[^\n]*\*/)?[ \t]*\n)+)\{",
    re.MULTILINE,
)
_head = re.compile(
    r"^((?:(?:[A-Za-z_][\w:]*(?:[ \t]*\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\))?[ \t]+|[A-Za-z_][\w:]*(?:<[^<>;\n]*>)?[ \t]*[*&]+[ \t]*|[*&]+[ \t]*)){2,})"
    r"(?=[~A-Za-z_][\w:~]*[ \t]*(?:\(|$))",
    re.MULTILINE,
)
_token = re.compile(r"[A-Za-z_][\w:]*(?:[ \t]*\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\))?|[*&]+|<[^<>;\n]*>")
_macro = re.compile(r"[A-Z][A-Z0-9_]*\Z|__\w+\Z|\w+[ \t]*\(")
_type_macro = re.compile(r"^([ \t]*(?:class|struct|union|enum(?:[ \t]+class)?)[ \t]+)([A-Z][A-Z0-9_]{2,}(?:\([^()\n]*\))?)(?=[ \t]+\w+[^;\n()]*(?:[:{]|$))", re.MULTILINE)
_lone_macro = re.compile(r"^[A-Z][A-Z0-9_]{3,}[ \t]*$", re.MULTILINE)
_keywords = frozenset({"return", "else", "typedef", "case", "goto", "using", "namespace", "template", "if", "while", "switch", "for", "throw"})


@dataclass(slots=True)
class _Group:
    """One `#if … #endif`: where its directives are."""

    marks: list[tuple[int, int]] = field(default_factory=list)
    is_false: bool = False


def readable(text: str) -> str:
    """Return the text with what a parser stumbles over blanked; every line keeps its length in characters."""
    if "#" in text:
        text = _resolved(text)
    text = _kr_parameters.sub(lambda match: _blanked(match[0], match.start(1) - match.start(), match.end(1) - match.start()), text)
    text = _head.sub(lambda match: _without_macros(match[0]), text)
    text = _type_macro.sub(lambda match: match[1] + " " * len(match[2]), text)
    return _lone_macro.sub(lambda match: " " * len(match[0]), text)


def _resolved(text: str) -> str:
    """Return the text with one branch of each conditional that splits a head or a block."""
    groups: list[_Group] = []
    done: list[_Group] = []
    for match in _directive.finditer(text):
        word = match[1]
        if word in ("if", "ifdef", "ifndef"):
            groups.append(_Group([match.span()], bool(_false.match(match[0]))))
        elif groups:
            groups[-1].marks.append(match.span())
            if word == "endif":
                done.append(groups.pop())
    blanks: list[tuple[int, int]] = []
    for group in done:
        blanks += _blanks(text, group)
    if not blanks:
        return text
    parts, position = list[str](), 0
    for start, end in sorted(blanks):
        if end <= position:
            continue
        start = max(start, position)
        parts += (text[position:start], _blanked(text[start:end], 0, end - start))
        position = end
    return "".join([*parts, text[position:]])


def _blanks(text: str, group: _Group) -> list[tuple[int, int]]:
    """Return what to blank of a conditional, nothing if a parser can read it."""
    branches = [(start[1], end[0]) for start, end in zip(group.marks, group.marks[1:], strict=False)]
    codes = [_not_code.sub(" ", text[start:end]) for start, end in branches]
    after = text[group.marks[-1][1] : group.marks[-1][1] + 400].lstrip()
    splits_head = after.startswith("{") and any(code.rstrip().endswith(")") for code in codes)
    splits_block = any(code.count("{") != code.count("}") for code in codes) and "__cplusplus" not in text[slice(*group.marks[0])]
    starts_inside = any(code.lstrip().startswith(("else", "||", "&&", ")", ",")) for code in codes)
    if not (splits_head or splits_block or starts_inside):
        return []
    kept = 1 if group.is_false and len(branches) > 1 else 0
    return [*group.marks, *(branch for number, branch in enumerate(branches) if number != kept)]


def _without_macros(head: str) -> str:
    """Return what stands before a function's name without the macros that a type is left beside."""
    tokens = list(_token.finditer(head))
    names = [token for token in tokens if token[0][0] not in "*&<"]
    if not names or names[0][0] in _keywords:
        return head
    macros = [token for token in names if _macro.match(token[0])]
    if len(macros) == len(names):
        macros = macros[:-1] if not names[-1][0].endswith(")") else macros[1:]
    plain = [token for token in names if token not in macros and token[0] not in ("static", "inline", "extern", "const", "virtual", "constexpr", "explicit")]
    if not plain and macros:  # "STATIC INLINE BOOL f(": the last may well be the type
        macros = [token for token in macros if token is not names[-1]] if not names[-1][0].endswith(")") else macros
    for token in macros:
        head = _blanked(head, token.start(), token.end())
    return head


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + "".join(character if character in "\r\n" else " " for character in text[start:end]) + text[end:]
