"""Reads a file's path for ranking: its words by position, and flags such as header, entry file or side folder."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag

from codecards.indexer.cards.words import stem, word_tokens, words
from codecards.retrieval.store.names import name_hash, normalised_name

ENTRY_STEMS = frozenset(("index", "mod", "init", "__init__", "lib", "main", "prelude"))
"""Names of entry files, which stand for their folder."""

_HEADER = re.compile(r"\.(h|hh|hpp|hxx|inl)$", re.IGNORECASE)
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".m", ".mm")
_SIDE_PLACE = re.compile(
    r"(^|/)(examples?|samples?|demos?|docs?|docs_src|vendor|third[-_]?party|compat|compatibility|legacy|deprecated|generated|stubs?|typings"
    r"|benchmarks?|bench|scripts?|tools|contrib|fuzz)/",
    re.IGNORECASE,
)
_VERSION = re.compile(r"(?<![A-Za-z0-9])v(\d{1,2})(?![A-Za-z0-9])")


class PathFlag(IntFlag):
    """Properties of a path."""

    HEADER = 1
    HAS_SOURCE = 2
    """A header with a source file of the same name."""
    ENTRY = 4
    """An entry file, whose name stands for its folder: `__init__.py`, `index.ts`."""
    SIDE = 8
    """In a folder named for examples, documentation, vendored, legacy or generated code."""


@dataclass(frozen=True, slots=True)
class PathWords:
    """The words of one path, independent of other paths."""

    stem: tuple[str, ...]
    """Tokens of the file's name without suffix; of an entry file also those of its folder."""
    folder: tuple[str, ...]
    """Tokens of the innermost folder's name."""
    outer: tuple[str, ...]
    """Tokens of the folders further out."""
    whole: int
    """`name_hash` of the letters and digits of the name without suffix."""
    whole_stemmed: int
    """`name_hash` of the linguistic stem of that name."""
    with_folder: int
    """The same for folder and name together: `session/store.php` is the session store; 0 for an entry file."""
    depth: int


def path_words(path: str) -> PathWords:
    """Return the words of a path.

    Args:
        path: From the root, with slashes.
    """
    *folders, filename = path.split("/")
    stem_text = filename.split(".")[0] or filename
    stem_tokens = _tokens(stem_text)
    whole = normalised_name(stem_text)
    is_entry = whole in ENTRY_STEMS or stem_text in ENTRY_STEMS
    if is_entry:
        stem_tokens += _tokens(folders[-1]) if folders else ()
    outer = tuple(token for folder in folders[:-1] for token in _tokens(folder))
    return PathWords(
        stem=tuple(dict.fromkeys(stem_tokens)),
        folder=tuple(dict.fromkeys(_tokens(folders[-1]))) if folders else (),
        outer=tuple(dict.fromkeys(outer)),
        whole=name_hash(whole),
        whole_stemmed=name_hash(stem(whole)),
        with_folder=name_hash(stem(normalised_name(folders[-1]) + whole)) if folders and not is_entry else 0,
        depth=min(255, len(folders)),
    )


def path_flags(paths: Sequence[str]) -> list[PathFlag]:
    """Return the flags of each path."""
    sources = {path.rpartition(".")[0] for path in paths if path.endswith(_SOURCES)}
    source_names = {path.rpartition("/")[2] for path in sources}
    flags: list[PathFlag] = []
    for path in paths:
        flag = PathFlag(0)
        base = path.rpartition(".")[0]
        if _HEADER.search(path):
            flag |= PathFlag.HEADER
            if base in sources or base.rpartition("/")[2] in source_names:
                flag |= PathFlag.HAS_SOURCE
        if path.rpartition("/")[2].split(".")[0] in ENTRY_STEMS:
            flag |= PathFlag.ENTRY
        if _SIDE_PLACE.search(path):
            flag |= PathFlag.SIDE
        flags.append(flag)
    return flags


def old_versions(paths: Sequence[str]) -> list[float]:
    """Return 1.0 for each path below `v<k>` with a sibling below a later version, .5 for a single version, else 0.

    `zod/src/v3/types.ts` is old where `zod/src/v4/` exists.
    """
    versions: dict[str, set[int]] = {}
    found: list[tuple[str, int] | None] = []
    for path in paths:
        match = _VERSION.search(path.rpartition("/")[0] + "/")
        if match is None:
            found.append(None)
            continue
        before = path[: match.start()]
        versions.setdefault(before, set()).add(int(match[1]))
        found.append((before, int(match[1])))
    result: list[float] = []
    for place in found:
        if place is None:
            result.append(0.0)
            continue
        siblings = versions[place[0]]
        alone = 0.5 if place[1] <= 1 else 0.0
        result.append(1.0 if max(siblings) > place[1] else alone if len(siblings) == 1 else 0.0)
    return result


def _tokens(name: str) -> tuple[str, ...]:
    return tuple(token for word in words(name) for token in word_tokens(word))
