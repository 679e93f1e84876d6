"""Blanks C macros and preprocessor branches that hide the syntax, so that the grammar can parse the rest.

It blanks attribute-like macros around heads, lines of a single macro, and conditional branches with half of a construct.
Each removed character becomes a space, so lines and columns stay.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import lru_cache

_hidden = re.compile(
    r"/\*.*?(?:\*/|\Z)|//[^\n]*|(?<!\\)\"[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*+\"|(?<!\\)'(?:\\.|[^'\\\n])++'", re.DOTALL
)
_MACRO = r"(?:[A-Z_][A-Z0-9_]{2,}|__\w+)"
_before_head = re.compile(
    r"^(?P<keep>[ \t]*(?:(?:static|extern|inline|virtual|constexpr|explicit|friend)[ \t]+)*)"
    rf"(?P<macro>(?!__attribute__|__extension__|__inline)(?:{_MACRO}(?:\([^()\n]*\))?[ \t]+)+)"
    r"(?=(?!const\b|volatile\b|restrict\b)[A-Za-z_]\w*(?:::\w+|<[^<>;(){}\n]*>)*[ \t*&]+(?!const\b)[A-Za-z_~])",
    re.MULTILINE,
)
_between = re.compile(
    r"^(?P<keep>[ \t]*(?:(?:static|extern|inline|const|virtual)[ \t]+)*"
    r"(?!(?:static|extern|inline|const|virtual|struct|enum|union|class|unsigned|signed|return|else|typedef|case|goto|new|delete|throw)\b)"
    rf"[A-Za-z_][\w:]*(?:[ \t]+|[ \t]*\*+[ \t]*))(?P<macro>{_MACRO}[ \t]+)(?=[A-Za-z_][\w:]*[ \t]*\()",
    re.MULTILINE,
)
_qt = re.compile(
    r"^(?P<keep>[ \t]*(?:(?:public|private|protected)[ \t]+)?)(?P<macro>(?:Q_SLOTS|slots)(?=[ \t]*:)|(?:Q_SIGNALS|signals)[ \t]*:(?!:))",
    re.MULTILINE,
)
_lone = re.compile(
    r"^(?P<keep>[ \t]*)(?P<macro>[A-Z_][A-Z0-9_]{3,}(?P<arguments>\([^()\n;]*(?:\([^()\n]*\)[^()\n;]*)*\))?)(?=[ \t]*\r?$)",
    re.MULTILINE,
)
_after_lone = re.compile(r"\s*(?:[{)\]},;?:|&+*/.=<-]|\w+\s*\()")
_class_macro = re.compile(
    # It begins with words and not with \b: the engine can then skip to them.
    rf"(?P<keep>(?:class(?<!\wclass)|struct(?<!\wstruct)|union(?<!\wunion))[ \t]+)"
    rf"(?P<macro>{_MACRO}(?:\([^()\n]*\))?[ \t]+)(?=[A-Za-z_][\w:]*\s*(?:final\s*)?(?:<[^;{{}}]*>\s*)?(?::(?!:)|\{{))"
)
_before_body = re.compile(rf"(?P<keep>\)[ \t]*(?:const[ \t]*)?)(?P<macro>{_MACRO}(?:\([^()\n]*\))?)(?=\s*\{{)")
_after_type = re.compile(
    r"(?P<keep>\}[ \t]*)(?P<macro>__[a-z]\w*(?:\([^()\n]*\))?(?:[ \t]+__[a-z]\w*(?:\([^()\n]*\))?)*)(?=[ \t]*;)"
)
"""`struct point { int x; } __packed;`"""
_attribute = re.compile(
    r"(?P<keep>(?<=\S)[ \t]+)(?P<macro>(?:__attribute__|__declspec)\s*\((?>[^()]+|\((?>[^()]+|\([^()]*\))*\))*\))"
)
_old_style = re.compile(
    r"(?P<keep>^[A-Za-z_][\w \t*]{0,120}\*[ \t]*\r?\n?[ \t]*\w+[ \t]*\([ \t]*\w+(?:[ \t]*,[ \t]*\w+)*[ \t]*\)[ \t]*\r?\n)"
    r"(?P<macro>(?:[ \t]*[A-Za-z_][^(){};#]*;[ \t]*\r?\n)+)(?=\{)",
    re.MULTILINE,
)
_directive = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elifdef|else|endif)\b(.*)$")
_bracket = re.compile(r"[{}()]")
_any_directive = re.compile(r"^[ \t]*#.*(?:\\\r?\n.*)*", re.MULTILINE)
_visible = re.compile(r"[^\s]")
_opens_badly = re.compile(r"\s*(?:else\b|[{).,|&?:+*/=])")
_closes_well = re.compile(r"[;}{:,>]\s*\Z|\A\s*\Z")


@lru_cache(maxsize=1)  # a text with syntax errors is processed twice
def without_macros(text: str) -> str:
    """Return the text with macros that hide its syntax blanked; lines and columns stay."""
    if "#" in text:
        text = _without_broken_branches(text)
    text = _old_style.sub(_blank, text)
    if "__attribute__" in text or "__declspec" in text:
        text = _attribute.sub(_blank, text)
    if "} __" in text:
        text = _after_type.sub(_blank, text)
    for pattern in (_before_head, _between, _class_macro, _before_body):
        text = _sub_outside(pattern, text)
    if "slots" in text or "signals" in text or "Q_S" in text:
        text = _qt.sub(_blank, text)
    return _without_lone_lines(text)


def _blank(match: re.Match[str]) -> str:
    return match["keep"] + _visible.sub(" ", match["macro"])


def _sub_outside(pattern: re.Pattern[str], text: str) -> str:
    """Return the text with the matches outside comments and strings blanked."""
    found = list(pattern.finditer(text))
    if not found:
        return text
    hidden = _Hidden(text)
    parts: list[str] = []
    end = 0
    for match in found:
        start = match.start("macro")
        if not hidden.contains(start):
            parts += (text[end:start], _visible.sub(" ", match["macro"]))
            end = match.end("macro")
    return "".join([*parts, text[end:]])


def _without_lone_lines(text: str) -> str:
    """Return the text with lines of a single macro between constructs blanked."""
    found = list(_lone.finditer(text))
    if not found:
        return text
    hidden = _Hidden(text)
    parts: list[str] = []
    end = 0
    for match in found:
        start = match.start("macro")
        if hidden.contains(start) or not _is_between_constructs(text, hidden, match):
            continue
        parts += (text[end:start], " " * len(match["macro"]))
        end = match.end("macro")
    return "".join([*parts, text[end:]])


def _is_between_constructs(text: str, hidden: "_Hidden", match: re.Match[str]) -> bool:
    """Return whether a construct ends before the line and the next line does not continue it."""
    position = match.start() - 1
    while position >= 0:
        if text[position].isspace():
            position -= 1
        elif (start := hidden.start_of(position)) >= 0:
            position = start - 1
        else:
            break
    line_start = text.rfind("\n", 0, position + 1) + 1
    is_directive = text[line_start : position + 1].lstrip().startswith("#")
    if position >= 0 and text[position] not in ";{}:" and not is_directive and text[position] != ")":
        return False
    if position >= 0 and text[position] == ")" and not is_directive and not _lone.match(text, line_start):
        return False
    after = _after_lone.match(text, match.end())
    if after is None:
        return True
    return match["arguments"] is not None and after[0].strip()[:1] not in "{)],;?:|&+*/.=<-"


class _Hidden:
    """Spans of comments and strings."""

    def __init__(self, text: str) -> None:
        self._spans = [match.span() for match in _hidden.finditer(text)]
        self._starts = [start for start, _ in self._spans]

    def start_of(self, position: int) -> int:
        """Return the start of the comment or string around a position, -1 if there is none."""
        index = bisect_right(self._starts, position) - 1
        return self._starts[index] if index >= 0 and position < self._spans[index][1] else -1

    def contains(self, position: int) -> bool:
        """Return whether a position is inside a comment or string."""
        return self.start_of(position) >= 0


@dataclass(slots=True)
class _Group:
    """Rows of an `#if` and its branches."""

    condition: str
    marks: list[int] = field(default_factory=list)
    """Rows of `#if`, of each `#else` and `#elif`, and of `#endif`."""


def _without_broken_branches(text: str) -> str:
    """Return the text without conditional branches that contain half of a construct.

    An `#if` with such a branch keeps one branch; the others and the directives are blanked.
    """
    lines = text.split("\n")
    groups: list[_Group] = []
    changed = False
    for row, line in enumerate(lines):
        if "#" not in line:
            continue
        match = _directive.match(line)
        if match is None:
            continue
        if match[1].startswith("if"):
            groups.append(_Group(match[0], [row]))
        elif groups and match[1] == "endif":
            group = groups.pop()
            group.marks.append(row)
            changed = _keep_one_branch(group, lines) or changed
        elif groups:
            groups[-1].marks.append(row)
    return "\n".join(lines) if changed else text


def _keep_one_branch(group: _Group, lines: list[str]) -> bool:
    """Blank all but one branch of a group if one of them is broken; return whether that was so."""
    branches = [(start + 1, end) for start, end in zip(group.marks, group.marks[1:], strict=False)]
    if group.marks[-1] - group.marks[0] > MAX_BRANCH_ROWS or not any(
        _is_broken("\n".join(lines[a:b])) for a, b in branches
    ):
        return False
    kept = 0
    if ("__cplusplus" in group.condition and not group.condition.lstrip().startswith("#ifndef")) or re.search(
        r"#\s*if\s+0\b", group.condition
    ):
        kept = 1
    for number, (start, end) in enumerate(branches):
        if number != kept:
            lines[start:end] = [_visible.sub(" ", line) for line in lines[start:end]]
    for row in group.marks:
        lines[row] = _visible.sub(" ", lines[row])
    return True


MAX_BRANCH_ROWS = 400
"""Longer conditional blocks contain whole constructs, as include guards do."""


def _is_broken(branch: str) -> bool:
    """Return whether a branch begins or ends inside a construct."""
    code = _any_directive.sub("", _hidden.sub("", branch))
    depths = {"{": 0, "(": 0}
    for match in _bracket.finditer(code):
        sign = match[0]
        opener = {"}": "{", ")": "("}.get(sign, sign)
        depths[opener] += 1 if sign == opener else -1
        if depths[opener] < 0:
            return True
    return any(depths.values()) or _opens_badly.match(code) is not None or _closes_well.search(code) is None
