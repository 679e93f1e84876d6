"""Brace lists: many names in few tokens. What several names begin with is written once, as in a shell.

`src/auth/token.py src/auth/user.py` is `src/auth/{token.py,user.py}`; `test_{add,remove}_item` never occurs, since only
beginnings are shared. Every name comes back word for word.
"""

import re
from collections.abc import Iterable, Sequence

MIN_SHARED_CHARACTERS = 4
"""A shorter beginning is repeated: its braces would take as many tokens."""
_plain = re.compile(r"[^\s{},]+")
_step = re.compile(r"[^/:_#]*(?:[/:_#]+|$)")
_dotted_step = re.compile(r"[^/.:_#]*(?:[/.:_#]+|$)")
"""A beginning ends after a separator, so that no word is torn apart; a dot separates modules, but not a file's suffix."""


def is_plain(name: str) -> bool:
    """Return whether a name may stand in a brace list."""
    return _plain.fullmatch(name) is not None


def brace_list(names: Iterable[str], *, is_dotted: bool = False) -> str:
    """Return the names, separated by spaces, their shared beginnings written once.

    Args:
        names: Plain names.
        is_dotted: Whether beginnings may end at a dot, as in the names of modules.
    """
    return " ".join(_grouped(list(dict.fromkeys(names)), _dotted_step if is_dotted else _step))


def names_of(text: str) -> tuple[str, ...]:
    """Return the names of a brace list."""
    return tuple(name for part in text.split() for name in _expanded(part))


def _grouped(names: Sequence[str], step: re.Pattern[str]) -> list[str]:
    """Return the parts of a list: names, and groups with a shared beginning, in the order of their first names."""
    groups: dict[str, list[str]] = {}
    for name in names:
        match = step.match(name)
        groups.setdefault(match.group() if match else name, []).append(name)
    parts = []
    for members in groups.values():
        shared = _shared(members, step) if len(members) > 1 else ""
        if len(shared) < MIN_SHARED_CHARACTERS:
            parts += members
        else:
            parts.append(f"{shared}{{{','.join(_grouped([name[len(shared) :] for name in members], step))}}}")
    return parts


def _shared(names: Sequence[str], step: re.Pattern[str]) -> str:
    """Return the longest beginning of all names that ends after a separator, or is a whole name."""
    steps = [step.findall(name) for name in names]
    shared = []
    for column in zip(*steps, strict=False):
        if len(set(column)) > 1:
            break
        shared.append(column[0])
    return "".join(shared)


def _expanded(part: str) -> list[str]:
    start = part.find("{")
    if start < 0:
        return [part]
    end = _closing(part, start)
    inner = [name for piece in _pieces(part[start + 1 : end]) for name in _expanded(piece)]
    return [part[:start] + name for name in inner]


def _closing(part: str, start: int) -> int:
    depth = 0
    for index in range(start, len(part)):
        depth += {"{": 1, "}": -1}.get(part[index], 0)
        if depth == 0:
            return index
    return len(part)


def _pieces(inner: str) -> list[str]:
    """Return the parts between the commas that stand outside of inner braces."""
    pieces, depth, start = [], 0, 0
    for index, character in enumerate(inner):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            pieces.append(inner[start:index])
            start = index + 1
    return [*pieces, inner[start:]]
