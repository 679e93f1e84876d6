"""Checks the names in filters: a name that no card can have would silently find nothing."""

from collections.abc import Sequence

from codecards.errors import UsageError
from codecards.indexer.facts import Kind
from codecards.indexer.parse.languages import LANGUAGE_BY_NAME

TEXT = "text"
"""What lists call a file without a language."""
LANGUAGE_NAMES = (*sorted(LANGUAGE_BY_NAME), TEXT)
KIND_NAMES = tuple(kind.value for kind in Kind)


def checked_languages(names: Sequence[str]) -> tuple[str, ...]:
    """Return the languages as the index has them.

    Raises:
        UsageError: There is no such language.
    """
    return tuple("" if name == TEXT else name for name in _checked(names, LANGUAGE_NAMES, "language"))


def checked_kinds(names: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds of cards as the index has them.

    Raises:
        UsageError: There is no such kind.
    """
    return _checked(names, KIND_NAMES, "kind")


def _checked(names: Sequence[str], known: Sequence[str], what: str) -> tuple[str, ...]:
    found = tuple(name.casefold() for name in names)
    for name in found:
        if name not in known:
            raise UsageError(f"there is no {what} {name!r}; use one of: {', '.join(known)}")
    return found
