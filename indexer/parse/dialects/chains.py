"""Converts expressions and types as written to the canonical forms that `facts` describes."""

import re
from collections.abc import Mapping

MAX_RECEIVER_CHARACTERS = 80
MAX_WRITTEN_CHARACTERS = 600
"""A longer expression is not a chain that could be resolved; it is skipped."""
UNKNOWN = "?"

_plain_chain = re.compile(r"[^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*\Z|[$@][\w$]+\Z")
_prefix = re.compile(r"(?:await\b|new\b|typeof\b|co_await\b|try[?!]?(?=\s)|&\s*mut\b|[&*]+|\s)+")
_separator = re.compile(r"\s*(?:\?\.|\?->|!!\.|!\.|&\.|::<|::|->|\\|\.|:(?=\w))\s*")
_word = re.compile(r"[\w$@]+")
_signed_word = re.compile(r"(?:@@?|\$)?[\w$]+[?!]?(?![=\w])|[\w$@]+")
"""Names of Ruby and Elixir may start with a sigil and end with `?` or `!`."""
_postfix_operator = re.compile(r"(?:!!|!|\?)(?=\s*[.!?\[(]|\s*\Z)")
_quoted_or_bracket = re.compile(
    r"\"[^\"\\]*+(?:\\.[^\"\\]*+){0,200}+\"|'[^'\\]*+(?:\\.[^'\\]*+){0,200}+'|`[^`]*`|[()\[\]{}]", re.DOTALL
)
_angle = re.compile(r"<|(?<![-=])>")
_white = re.compile(r"\s+")
_type_noise = re.compile(
    r"\b(?:const|mut|dyn|impl|ref|out|in|inout|final|readonly|var|val|volatile|static|struct|class|enum|union|typename|unsigned|signed"
    r"|register|restrict|params|scoped|override|public|private|protected|some|any|async|unsafe|where)\b(?!\s*[.:]{1,2}\w)|(?<=[&<, +])'\w+\b(?!')|@\w+"
)
_type_separator = re.compile(r"(?<!\s)\s*(?:::|\\|->|\.)\s*")
_type_name = re.compile(r"[^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*\Z")
_OPEN, _CLOSE = "([{", ")]}"


def chain(written: str, self_words: Mapping[str, str], *, has_type_arguments: bool) -> str:
    """Return an expression as names and calls joined by dots ("self.store", "Foo().bar"), "?" if it is something else.

    Args:
        written: Expression as written.
        self_words: First word → its canonical form: {"this": "self"}.
        has_type_arguments: Whether `<` after a name opens type arguments.
    """
    written = written.strip()
    if not _plain_chain.match(written):
        if len(written) > MAX_WRITTEN_CHARACTERS:
            return UNKNOWN
        written = _scan(written, has_type_arguments=has_type_arguments)
    if written in self_words:
        return self_words[written]
    first, dot, rest = written.partition(".")
    if first in self_words:
        written = self_words[first] + dot + rest
    elif first.startswith("@"):
        written = f"self.{first.lstrip('@')}{dot}{rest}"
    return written if written and len(written) <= MAX_RECEIVER_CHARACTERS else UNKNOWN


def _scan(text: str, *, has_type_arguments: bool) -> str:
    """Return the chain in the text, "?" if it contains anything else."""
    parts: list[str] = []
    position = match.end() if (match := _prefix.match(text)) else 0
    if (match := _separator.match(text, position)) and match[0].strip() in ("\\", "::"):  # from the root namespace
        position = match.end()
    after_name = False
    word = _word if has_type_arguments else _signed_word
    while position < len(text):
        character = text[position]
        if not after_name:
            if match := word.match(text, position):
                parts.append(match[0])
                position, after_name = match.end(), True
                continue
            if character == "(" and not parts:  # parentheses around the whole, or a cast
                end = skip_group(text, position)
                inner = _scan(text[position + 1 : end - 1], has_type_arguments=has_type_arguments)
                if inner == UNKNOWN:
                    return UNKNOWN
                parts.append(inner)
                position, after_name = end, True
                continue
            if character == "(":  # f?.(x)
                after_name = True
                continue
            return UNKNOWN
        if character in "({" and text[:position].rstrip() == text[:position]:
            position = skip_group(text, position)
            parts[-1] = parts[-1].removesuffix("()") + "()"
        elif match := _separator.match(text, position):
            if match[0].strip() == "::<":
                position = _skip_angles(text, match.end() - 1)
            else:
                position, after_name = match.end(), False
        elif character == "<" and has_type_arguments:
            position = _skip_angles(text, position)
        elif match := _postfix_operator.match(text, position):
            position = match.end()
        else:
            return UNKNOWN
    return ".".join(parts) if after_name else UNKNOWN


def skip_group(text: str, start: int) -> int:
    """Return the position after the bracket that closes the one at start; the length of the text if it is not closed."""
    depth = 0
    for match in _quoted_or_bracket.finditer(text, start):
        if match[0] in _OPEN:
            depth += 1
        elif match[0] in _CLOSE:
            depth -= 1
            if depth == 0:
                return match.end()
    return len(text)


def _skip_angles(text: str, start: int) -> int:
    """Return the position after the angle bracket that closes the one at start."""
    depth = 0
    for match in _angle.finditer(text, start):
        depth += 1 if match[0] == "<" else -1
        if depth == 0:
            return match.end()
    return len(text)


def without_brackets(text: str, pair: str) -> str:
    """Return the text without bracketed parts, nested ones included: "Map<K, V>" → "Map"."""
    if pair[0] not in text:
        return text
    depth, kept = 0, list[str]()
    for character in text:
        if character == pair[0]:
            depth += 1
        elif character == pair[1] and depth:
            depth -= 1
        elif not depth:
            kept.append(character)
    return "".join(kept)


def type_name(written: str, wrappers: frozenset[str] = frozenset()) -> str:
    """Return the name of a type without arguments and sigils ("*pkg.Grid[T]" → "pkg.Grid"), "" if it has none.

    Args:
        written: Type as written.
        wrappers: Types that stand for their first argument: {"Box", "Optional"}.
    """
    if len(written) > MAX_WRITTEN_CHARACTERS:
        return ""
    text = _type_noise.sub(" ", written) if " " in written or "'" in written or "@" in written else written
    text = text.strip(" \t\r\n&*?!:\"'`")
    for _ in range(4):
        head, opener, rest = _split_arguments(text)
        if not opener or _last(head) not in wrappers:
            break
        text = _first_argument(rest).strip(" \t\r\n&*?!:\"'`")
    choices = [choice for choice in _choices(text) if choice not in ("None", "null", "undefined", "nil", "false")]
    if len(choices) != 1:
        return ""
    head = _split_arguments(choices[0])[0]
    head = _type_separator.sub(".", head).strip(" \t\r\n&*?!:.\"'`$")
    head = _white.sub(" ", head).rpartition(" ")[2] if " " in head else head
    return head if _type_name.match(head) else ""


def _split_arguments(text: str) -> tuple[str, str, str]:
    """Return (text before the type arguments, their opening bracket or "", text after it)."""
    for index, character in enumerate(text):
        if character in "<[":
            if index == 0:  # Go's []T and [4]T, Swift's [T]: calls do not resolve on T
                return "", "", ""
            return text[:index], character, text[index + 1 :]
        if character in "({":
            return "", "", ""
    return text, "", ""


def _first_argument(text: str) -> str:
    depth = 0
    for index, character in enumerate(text):
        if character in "<[(":
            depth += 1
        elif character in ">])" and depth:
            depth -= 1
        elif not depth and character in ",>]":
            return text[:index]
    return text


def _choices(text: str) -> list[str]:
    """Return the alternatives of a union type."""
    if "|" not in text:
        return [text]
    depth, start, parts = 0, 0, list[str]()
    for index, character in enumerate(text):
        if character in "<[({":
            depth += 1
        elif character in ">])}":
            depth -= 1
        elif character == "|" and not depth:
            parts.append(text[start:index].strip())
            start = index + 1
    return [part for part in [*parts, text[start:].strip()] if part]


def _last(name: str) -> str:
    return re.split(r"\.|::|\\", name.strip())[-1]


def dotted(written: str) -> str:
    """Return the name of a module or package with dots as separators, without white space and quotes."""
    return _type_separator.sub(".", _white.sub("", written).strip("\"'`;")).strip(".")
