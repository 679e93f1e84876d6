"""Parses the text of one file within a time limit, and finds syntax errors.

Nothing here recurses over the tree, so deep nesting cannot overflow the stack.
"""

import time
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import accumulate

import tree_sitter

from codecards.indexer.parse.languages import LANGUAGE_BY_NAME, load_grammar

PARSE_SECONDS = 10.0
"""Time limit for one file. 1 MB of common code takes 0.1 s; only pathological text comes near the limit."""

MATCH_LIMIT = 1_024
"""Maximum number of matches in progress: no real file comes near, and the cost of pathological files is its square."""
MAX_NODE_DEPTH = 1_000
"""Maximum depth of queried nodes: the cost of each grows with its depth."""
MAX_BRACKET_DEPTH = 300
"""Maximum nesting of brackets; deeper nodes may exceed `MAX_NODE_DEPTH`."""
_BRACKETS = b"()[]{}"
_STEPS = {code: 1 if code in b"([{" else -1 for code in _BRACKETS}
_NO_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
QUERY_FILES = {
    "javascript": ("ecma", "javascript", "jsx"),
    "typescript": ("ecma", "typescript"),
    "tsx": ("ecma", "typescript", "jsx"),
    "cpp": ("c", "cpp"),
}
"""Languages whose query consists of several files."""


@dataclass(frozen=True, slots=True)
class SyntaxTree:
    """A parsed text. Its nodes are valid only as long as this object."""

    data: bytes
    """The text in UTF-8; positions of nodes are byte offsets into it."""
    tree: tree_sitter.Tree
    parser: tree_sitter.Parser
    """Kept alive with the tree: old releases of the binding freed it too early."""

    @property
    def root(self) -> tree_sitter.Node:
        """Root node of the tree."""
        return self.tree.root_node


def encode(text: str) -> bytes:
    """Return the text in UTF-8; lone surrogates, which UTF-8 cannot encode, become question marks."""
    return text.encode("utf-8", "replace")


def parse(
    data: bytes, language: str, *, limit_s: float = PARSE_SECONDS, original: bytes | None = None
) -> SyntaxTree | None:
    """Return the syntax tree of a text, or None if parsing exceeds limit_s.

    Args:
        data: UTF-8.
        language: Key of `LANGUAGE_BY_NAME` with a grammar.
        limit_s: Wall-clock seconds.
        original: The text that names and signatures are read from, if `data` is a repaired form of the same length.

    Raises:
        ImportError: The grammar's package is not installed.
    """
    parser = tree_sitter.Parser(load_grammar(LANGUAGE_BY_NAME[language]))
    deadline = time.monotonic() + limit_s

    def read(offset: int, _point: object) -> bytes:
        return data[offset:] if offset else data

    def is_over(_offset: int, _has_error: bool) -> bool:
        return time.monotonic() > deadline

    try:
        tree = parser.parse(read, progress_callback=is_over)
    except ValueError:  # how the binding reports a cancelled parse
        return None
    return SyntaxTree(data if original is None else original, tree, parser)


def find_matches(syntax: SyntaxTree, query: tree_sitter.Query) -> list[tuple[int, dict[str, list[tree_sitter.Node]]]]:
    """Return the matches of a query in the whole tree, as (number of the pattern, nodes by capture)."""
    # No progress callback: it makes py-tree-sitter 0.26.1 crash (segmentation fault).
    cursor = tree_sitter.QueryCursor(query, match_limit=MATCH_LIMIT)
    cursor.set_max_start_depth(MAX_NODE_DEPTH)
    return cursor.matches(syntax.root)


def is_too_deep(data: bytes) -> bool:
    """Return whether brackets are nested deeper than `MAX_BRACKET_DEPTH`; those in comments and strings count too."""
    brackets = data.translate(None, _NO_BRACKETS)
    return len(brackets) > MAX_BRACKET_DEPTH and max(accumulate(map(_STEPS.__getitem__, brackets))) > MAX_BRACKET_DEPTH


def error_rows(syntax: SyntaxTree, language: str) -> list[tuple[int, int]]:
    """Return the first and last row of each error and missing node, ordered; [] if there is none."""
    if not syntax.root.has_error:
        return []
    cursor = tree_sitter.QueryCursor(_error_query(language), match_limit=MATCH_LIMIT)
    cursor.set_max_start_depth(MAX_NODE_DEPTH)
    captures = cursor.captures(syntax.root)
    nodes = [node for found in captures.values() for node in found] or [syntax.root]
    return sorted((node.start_point[0], node.end_point[0]) for node in nodes)


@cache
def query_text(language: str) -> str:
    """Return the query of a language as text, "" if it has none."""
    shared = QUERY_FILES.get(language, (language,))
    folder = resources.files("codecards.indexer.parse").joinpath("queries")
    files = [folder.joinpath(f"{name}.scm") for name in shared]
    return "\n".join(file.read_text("utf-8") for file in files if file.is_file())


@cache
def definition_query(language: str) -> tree_sitter.Query | None:
    """Return the compiled query of a language, None if it has none."""
    text = query_text(language)
    return tree_sitter.Query(load_grammar(LANGUAGE_BY_NAME[language]), text) if text else None


@cache
def _error_query(language: str) -> tree_sitter.Query:
    return tree_sitter.Query(load_grammar(LANGUAGE_BY_NAME[language]), "(ERROR) @error (MISSING) @missing")
