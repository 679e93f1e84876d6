r"""Ignore patterns: one line of a rule file becomes a rule that answers for one path as git does.

pathspec turns patterns into regular expressions. Where it and git's wildmatch.c part ways (brackets, white space at
the end, runs of stars, folders judged by those above them), the line is spelled so that pathspec says what git says.
Texts come with one character a byte, since git's `?` and brackets stand for one byte.
"""

import re
import string
from dataclasses import dataclass

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern."""

    regex: re.Pattern[str]
    ignores: bool
    """False for a pattern with "!"."""
    by_name: bool
    """Whether it has no slash, and so speaks of the last part of a path alone."""
    marks_folders: bool
    """Whether the expression tells a folder by the slash at its end."""
    literal: str = ""
    """The one name or path that it speaks of (without slashes around it), "" if there are more."""
    suffix: str = ""
    """The end that all names which it speaks of have, "" if they share none."""
    prefix: str = ""
    """What all paths that it speaks of begin with, "" if it has no slash."""

    def holds(self, path: str, name: str, *, is_folder: bool) -> bool:
        """Return whether the pattern speaks of this very path, and not only of a folder above it.

        Args:
            path: From the folder of the rule file, one character a byte.
            name: Its last part.
            is_folder: Whether it is a folder.
        """
        target = name if self.by_name else path
        if not self.marks_folders:
            return self.regex.search(target) is not None
        if is_folder:
            target += "/"
        match = self.regex.search(target)
        if match is None:
            return False
        folder_end = match.end("ps_d")
        return (match.end() if folder_end < 0 else folder_end) == len(target)


def read_rule(line: str, *, folds_case: bool = False) -> Rule | None:
    """Return the rule of a line without its line end; None for a comment and for what never matches.

    Args:
        line: One character a byte, those over 127 as surrogates.
        folds_case: Whether "A" matches "a".
    """
    if line.startswith("#"):
        return None
    negated = line.startswith("!")
    pieces: list[str] = []
    try:
        spelled = _spell(line[negated:], pieces)
        expression, _ = GitIgnoreSpecPattern.pattern_to_regex(spelled)
    except ValueError:
        return None
    if expression is None:
        return None
    expression = _without_backtracking(expression)
    whole = "".join(pieces[ord(sign) - _FIRST_PIECE] if ord(sign) >= _FIRST_PIECE else sign for sign in expression)
    regex = re.compile(whole, re.DOTALL | re.IGNORECASE if folds_case else re.DOTALL)
    by_name, plain = "/" not in spelled.rstrip("/"), spelled.strip("/")
    is_open = not pieces and not _WILD.search(plain[1:])
    literal = plain if is_open and plain[0] not in "*?" else ""
    suffix = plain[1:] if is_open and by_name and plain[0] == "*" else ""
    prefix = "" if by_name else _NOT_PLAIN.split(plain)[0]
    return Rule(regex, not negated, by_name, "ps_d" in regex.groupindex, literal, suffix, prefix)


MOST_DOUBLE_STARS = 4
"""A pattern with more of them could be made to take hours over a deep path; it is passed over."""
_FIRST_PIECE = 0xE000
"""Characters from here on stand for expressions that pathspec need not read; bytes never become them."""
_WILD = re.compile(r"[*?]")
_STARS_AFTER_TEXT = re.compile(r"([^*?\[\\]*[^*?\[\\/])(\*{2,})(?:(/)(?!$)|(?=/?$))")
"""git compares the plain text at a pattern's start by itself, so that stars behind it count as if they began one."""
_NOT_PLAIN = re.compile("[*?\ue000-\uf8ff]")
_STARS = re.compile(r"(^|/)\*{2,}(?=/|$)")


def _spell(text: str, pieces: list[str]) -> str:
    """Return a pattern as pathspec must be given it; `pieces` gets the expressions that stand-ins mean.

    Raises:
        ValueError: It can never match.
    """
    text = _without_trailing_spaces(text)
    spelled: list[str] = []
    stars = _STARS_AFTER_TEXT.match(text) if "/" in text.rstrip("/") else None
    at = 0
    while at < len(text):
        if stars is not None and at == stars.start(2):
            expression, after = ("(?:.*/)?" if stars[3] else ".*"), stars.end()
        else:
            expression, after = _piece(text, at)
        if expression:
            spelled.append(chr(_FIRST_PIECE + len(pieces)))
            pieces.append(expression)
        else:
            spelled.append(text[after - 1])
        at = after
    pattern = _STARS.sub(r"\1**", "".join(spelled))
    if pattern == "**/" or pattern.endswith("/**/"):
        pattern = pattern[:-3] + ("**/*/" if len(pattern) > 3 else "*/")  # pathspec takes `a/**/` for `a/`
    if "/" in text.rstrip("/") and "/" not in pattern.rstrip("/"):
        pattern = "/" + pattern  # to git, a slash inside a bracket ties the pattern to its folder too
    if not pattern.strip("/") or pattern.count("**") > MOST_DOUBLE_STARS:
        raise ValueError("empty, or too costly")
    return pattern


def _without_backtracking(expression: str) -> str:
    """Return an expression of the same meaning that no name makes slow: `*a*a*a*a*b` would try all ways to share out a name.

    Within one part of a path the first place where the text between two stars fits is as good as any later one.
    """
    star = "[^/]*"
    head, *parts = expression.split(star)
    whole = [head]
    for number, part in enumerate(parts):
        is_between = number + 1 < len(parts) and "/" not in part.replace("[^/]", "")
        if is_between and part:
            whole.append(f"(?>[^/]*?{part})")
        elif not is_between:
            whole.append(star + part)
    return "".join(whole)


def _without_trailing_spaces(text: str) -> str:
    """Return the text without the spaces at its end, an escaped one kept."""
    end = at = 0
    while at < len(text):
        step = 2 if text[at] == "\\" else 1
        if text[at] != " ":
            end = min(at + step, len(text))
        at += step
    return text[:end]


def _piece(text: str, at: int) -> tuple[str, int]:
    """Return the expression for what stands at a place ("" to leave the character before the end) and its end.

    Raises:
        ValueError: A backslash or bracket is not finished.
    """
    character = text[at]
    if character == "\\":
        if at + 1 == len(text):
            raise ValueError("a backslash with nothing behind it")
        return ("" if text[at + 1] == "/" else re.escape(text[at + 1])), at + 2
    if character == "[":
        return _bracket(text, at + 1)
    return (re.escape(character) if character.isspace() else ""), at + 1


def _bracket(text: str, at: int) -> tuple[str, int]:
    """Return the expression of a bracket whose inside begins at a place, and its end. Source: wildmatch.c, dowild()."""
    negated = text[at : at + 1] in ("!", "^")
    at += negated
    members: list[str] = []
    before = ""  # the member that a following "-" makes a range of
    first = True
    while first or text[at : at + 1] != "]":
        first = False
        character, after = _member(text, at)
        if text[at : at + 2] == "[:" and (named := _named_class(text, at)) is not None:
            member, after = named
            members.append(member)
            before = ""
        elif character == "-" and text[at] == "-" and before and text[at + 1 : at + 2] not in ("", "]"):
            last, after = _member(text, at + 1)
            if before <= last:
                members.append(f"{re.escape(before)}-{re.escape(last)}")
            before = ""
        else:
            members.append(re.escape(character))
            before = character
        at = after
    if not members:  # only ranges that run backwards
        return ("[^/]" if negated else "(?!)"), at + 1
    return f"(?!/)[{'^' if negated else ''}{''.join(members)}]", at + 1


def _member(text: str, at: int) -> tuple[str, int]:
    """Return the character meant at a place inside a bracket, and its end.

    Raises:
        ValueError: The text ends here, so that the bracket is open for good.
    """
    at += text[at : at + 1] == "\\"
    if at >= len(text):
        raise ValueError("a bracket without an end")
    return text[at], at + 1


def _named_class(text: str, at: int) -> tuple[str, int] | None:
    """Return what `[:name:]` at a place holds, and its end; None if that is no such thing.

    Raises:
        ValueError: It names nothing that git knows.
    """
    end = text.find("]", at + 2)
    if end < 0:
        raise ValueError("a bracket without an end")
    if end - 1 < at + 2 or text[end - 1] != ":":
        return None
    name = text[at + 2 : end - 1]
    if name not in _CLASSES:
        raise ValueError(f"no class {name!r}")
    return _CLASSES[name], end + 1


_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "punct": re.escape(string.punctuation),
    "space": r" \t\n\r\x0b\x0c", "upper": "A-Z", "xdigit": "0-9a-fA-F",
}  # fmt: skip
