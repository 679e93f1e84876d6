"""Syntax: the text of one file becomes a syntax tree, within a time limit; its errors are counted.

Nothing here follows the tree by recursion, so that no nesting, however deep, overflows the stack.
"""

import time
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import accumulate

import tree_sitter

from codecards.indexer.parse.languages import LANGUAGE_BY_NAME, load_grammar

PARSE_SECONDS = 10.0
"""Longest parse of one file; 1 MB of common code takes 0.1 s, and only pathological text comes near."""

MATCH_LIMIT = 1_024
"""Most matches that a query may have under way at once: no real file comes near, and pathological ones cost its square."""
MAX_NODE_DEPTH = 1_000
"""Deepest nodes that are queried: the cost of each grows with its depth."""
MAX_BRACKET_DEPTH = 300
"""Deepest nesting of brackets that surely stays above `MAX_NODE_DEPTH`."""
_BRACKETS = b"()[]{}"
_STEPS = {code: 1 if code in b"([{" else -1 for code in _BRACKETS}
_NO_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
QUERY_FILES = {
    "javascript": ("ecma", "javascript", "jsx"),
    "typescript": ("ecma", "typescript"),
    "tsx": ("ecma", "typescript", "jsx"),
    "cpp": ("c", "cpp"),
}
"""Languages whose query is put together of several files."""


@dataclass(frozen=True, slots=True)
class SyntaxTree:
    """A parsed text. Nodes are valid only while it lives."""

    data: bytes
    """The text in UTF-8; nodes count in its bytes."""
    tree: tree_sitter.Tree
    parser: tree_sitter.Parser
    """Held so that neither outlives the other; bindings of old releases freed it too early."""

    @property
    def root(self) -> tree_sitter.Node:
        """The node of the whole text."""
        return self.tree.root_node


def encode(text: str) -> bytes:
    """Return the text in UTF-8; half surrogate pairs, which have no UTF-8, become question marks."""
    return text.encode("utf-8", "replace")


def parse(data: bytes, language: str, *, limit_s: float = PARSE_SECONDS) -> SyntaxTree | None:
    """Return the syntax of a text, or None if parsing took longer than limit_s.

    Args:
        data: UTF-8.
        language: One of `LANGUAGE_BY_NAME` that has a grammar.
        limit_s: Seconds, by the wall clock.

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
    except ValueError:  # the binding's only sign of a cancelled parse
        return None
    return SyntaxTree(data, tree, parser)


def find_matches(syntax: SyntaxTree, query: tree_sitter.Query) -> list[tuple[int, dict[str, list[tree_sitter.Node]]]]:
    """Return the query's matches in the whole tree, as (number of the pattern, nodes by capture)."""
    # No progress callback: py-tree-sitter 0.26.1 dies of it (segmentation fault).
    cursor = tree_sitter.QueryCursor(query, match_limit=MATCH_LIMIT)
    cursor.set_max_start_depth(MAX_NODE_DEPTH)
    return cursor.matches(syntax.root)


def is_too_deep(data: bytes) -> bool:
    """Return whether brackets are nested deeper than is followed (those in comments and strings count too)."""
    brackets = data.translate(None, _NO_BRACKETS)
    return len(brackets) > MAX_BRACKET_DEPTH and max(accumulate(map(_STEPS.__getitem__, brackets))) > MAX_BRACKET_DEPTH


def count_errors(syntax: SyntaxTree, language: str) -> tuple[int, int]:
    """Return the number of error and missing nodes, and the 1-based line of the first (0 if there is none)."""
    if not syntax.root.has_error:
        return 0, 0
    cursor = tree_sitter.QueryCursor(_error_query(language), match_limit=MATCH_LIMIT)
    cursor.set_max_start_depth(MAX_NODE_DEPTH)
    captures = cursor.captures(syntax.root)
    nodes = [node for found in captures.values() for node in found]
    return (
        (len(nodes), min(node.start_point[0] for node in nodes) + 1) if nodes else (1, syntax.root.start_point[0] + 1)
    )


@cache
def query_text(language: str) -> str:
    """Return the text of `queries/LANGUAGE.scm`, "" if there is none."""
    shared = QUERY_FILES.get(language, (language,))
    folder = resources.files("codecards.indexer.parse").joinpath("queries")
    files = [folder.joinpath(f"{name}.scm") for name in shared]
    return "\n".join(file.read_text("utf-8") for file in files if file.is_file())


@cache
def definition_query(language: str) -> tree_sitter.Query | None:
    """Return a language's query, or None if it has none."""
    text = query_text(language)
    return tree_sitter.Query(load_grammar(LANGUAGE_BY_NAME[language]), text) if text else None


@cache
def _error_query(language: str) -> tree_sitter.Query:
    return tree_sitter.Query(load_grammar(LANGUAGE_BY_NAME[language]), "(ERROR) @error (MISSING) @missing")
