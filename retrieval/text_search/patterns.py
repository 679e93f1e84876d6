"""Patterns: reads a regular expression for the texts that every match holds, and refuses one that may take forever."""

import re
from collections.abc import Iterable, Iterator
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

from codecards.errors import UsageError

MAX_PATTERN = 1_000
"""Characters of a pattern."""
_SAME_IN_ANY_CASE = re.compile(r"[\x00-JL-RT-jl-rt-\x7f]+")
_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)


def compiled(pattern: str) -> re.Pattern[str]:
    """Return a compiled regular expression of Python's syntax, `^` and `$` at the ends of lines.

    Raises:
        UsageError: It is invalid, too long, or nests repetitions without a bound, which may take forever.
    """
    if not pattern or len(pattern) > MAX_PATTERN:
        raise UsageError(f"a regular expression has 1 to {MAX_PATTERN:,} characters; this one has {len(pattern):,}")
    try:
        found = re.compile(pattern, re.MULTILINE)
        parsed = _parser.parse(pattern, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"{pattern!r} is no regular expression of Python: {error}") from error
    if _nests(parsed, inside=False):
        raise UsageError(
            f"{pattern!r} repeats without a bound inside a repetition, which may take forever; bound one: {{0,100}}"
        )
    return found


def required_texts(pattern: str) -> tuple[str, ...]:
    """Return texts that every match holds, ASCII letters in any case; none where the pattern guarantees none."""
    parsed = _parser.parse(pattern, re.MULTILINE)
    if parsed.state.flags & re.IGNORECASE:
        # Letters outside ASCII match letters of other bytes, and so do "k" (the Kelvin sign) and "s" (the long s).
        return tuple(part for text in _runs(parsed) for part in _SAME_IN_ANY_CASE.findall(text))
    return tuple(_runs(parsed))


def _runs(parsed: Iterable[Any]) -> Iterator[str]:
    """Yield the runs of literal characters that a match must have."""
    run: list[str] = []
    for operation, argument in parsed:
        if operation is _constants.LITERAL:
            run.append(chr(argument))
            continue
        if operation is _constants.AT:  # matches between characters
            continue
        if run:
            yield "".join(run)
            run = []
        if operation is _constants.SUBPATTERN:
            yield from _runs(argument[-1])
        elif operation in _REPEATS and argument[0] >= 1:
            yield from _runs(argument[2])
        elif operation is _constants.ATOMIC_GROUP:
            yield from _runs(argument)
    if run:
        yield "".join(run)


def _nests(parsed: Iterable[Any], *, inside: bool) -> bool:
    """Return whether an unbounded repetition is inside another one."""
    for operation, argument in parsed:
        if operation in _REPEATS:
            is_unbounded = argument[1] is _constants.MAXREPEAT
            if (is_unbounded and inside) or _nests(argument[2], inside=inside or is_unbounded):
                return True
        elif any(_nests(part, inside=inside) for part in _parts(operation, argument)):
            return True
    return False


def _parts(operation: Any, argument: Any) -> list[Any]:  # noqa: ANN401 - the parser's own values
    if operation is _constants.SUBPATTERN:
        return [argument[-1]]
    if operation is _constants.BRANCH:
        return list(argument[1])
    if operation in (_constants.ASSERT, _constants.ASSERT_NOT):
        return [argument[1]]
    if operation is _constants.ATOMIC_GROUP:
        return [argument]
    if operation is _constants.GROUPREF_EXISTS:
        return [part for part in argument[1:] if part is not None]
    return []
