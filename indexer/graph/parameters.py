"""Reads the parameters of a definition from its signature."""

import re
from dataclasses import dataclass

ANY_NUMBER = 1_000
"""The value of `Parameters.most` for any number of arguments."""
NAME_LAST = frozenset({"java", "c", "cpp", "csharp", "php"})
"""Languages that write the type of a parameter before its name."""
_word = re.compile(r"[^\W\d]\w*")
_receivers = re.compile(r"(?:&\s*)?(?:'\w+\s+)?(?:mut\s+)?(?:self|cls)\b")
_openers, _closers = frozenset("([{<"), frozenset(")]}>")


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a definition."""

    names: frozenset[str] = frozenset()
    """Names that shadow outer names."""
    least: int = 0
    """Smallest number of arguments."""
    most: int = ANY_NUMBER
    """Largest number of arguments."""

    def fit(self, n_arguments: int) -> bool:
        """Return whether a call with so many arguments is possible; -1 (unknown) always is."""
        return n_arguments < 0 or self.least <= n_arguments <= self.most


UNKNOWN = Parameters()


def read_parameters(signature: str, name: str, language: str) -> Parameters:
    """Return the parameters of a signature, `UNKNOWN` if it has no readable list.

    Args:
        signature: As in `facts.Definition.signature`: on one line; a long one ends with an ellipsis.
        name: The definition's name, which precedes the list.
        language: As in `facts.FileFacts.language`.
    """
    written = _list_of(signature, name, language)
    if written is None:
        return UNKNOWN
    inside, whole = written
    names: set[str] = set()
    least = most = 0
    for part in _parts(inside):
        if part in ("/", "*", "void", "this") or _receivers.match(part):
            continue
        head, _, default = part.partition("=")
        names.update(_names(head, language))
        if part.startswith(("*", "...", "params ", "vararg ", "&")) or "..." in head:
            most = ANY_NUMBER
            continue
        most += 1
        least += not default and "?" not in head
    if not whole or language in ("javascript", "bash"):  # callers may pass any number
        least, most = 0, ANY_NUMBER
    return Parameters(frozenset(names), least, min(most, ANY_NUMBER))


def _list_of(signature: str, name: str, language: str) -> tuple[str, bool] | None:
    """Return (text between the brackets of the parameter list, whether the closing bracket exists)."""
    start = signature.find(name) + len(name) if name and name in signature else 0
    if language == "go" and signature.startswith("func ("):  # the receiver precedes the name, in brackets
        start = max(start, signature.find(name + "(", _closing(signature, 5)) + len(name))
    opening = signature.find("(", start)
    if opening < 0:
        return None
    closing = _closing(signature, opening)
    return signature[opening + 1 : closing], closing < len(signature)


def _closing(text: str, opening: int) -> int:
    """Return the index of the bracket that closes the one at `opening`; the length of the text if there is none."""
    depth = 0
    for index in range(opening, len(text)):
        character = text[index]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if not depth:
                return index
    return len(text)


def _parts(inside: str) -> list[str]:
    """Split a parameter list at the commas outside of brackets and strings."""
    parts: list[str] = []
    depth, start, quote = 0, 0, ""
    for index, character in enumerate(inside):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in _openers:
            depth += 1
        elif character in _closers and inside[index - 1 : index] not in ("-", "="):  # not part of an arrow
            depth -= 1
        elif character == "," and depth <= 0:
            parts.append(inside[start:index].strip())
            start = index + 1
    parts.append(inside[start:].strip())
    return [part for part in parts if part]


def _names(head: str, language: str) -> list[str]:
    """Return the names that a parameter binds."""
    words = _word.findall(head)
    if not words:
        return []
    if head.startswith(("{", "[")):
        return words
    if language in NAME_LAST:
        return words[-1:]
    if language == "swift":
        return words[:2]
    while len(words) > 1 and words[0] in (
        "public",
        "private",
        "protected",
        "readonly",
        "mut",
        "ref",
        "override",
        "val",
        "var",
    ):
        words.pop(0)
    return words[:1]
