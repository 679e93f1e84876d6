"""Syntax hash: equal for texts that differ in layout and comments alone, another after any change of what they say."""

import hashlib
import textwrap
from collections.abc import Iterator

import tree_sitter

from codecards.indexer.parse.languages import LANGUAGE_BY_NAME
from codecards.indexer.parse.tree import encode, is_too_deep, parse

MAX_CHARACTERS = 200_000
"""Longer texts are hashed by their words alone."""
PARSE_SECONDS = 2.0
OWN_NAME = b"\0self"
"""Stands for the symbol's own name, so that a renamed symbol is known again."""
_SIGNS = frozenset({",", ";"})
"""Signs that a formatter adds and takes away."""


def syntax_hash(text: str, language: str, name: str = "") -> str:
    """Return the hash of a text's normalised syntax, 32 hexadecimal digits.

    Args:
        text: A definition, or a whole file.
        language: One of `LANGUAGE_BY_NAME`, "" where there is no grammar: then only white space is left out.
        name: The symbol's own name; it does not count.
    """
    found = hashlib.blake2b(digest_size=16)
    for token in _tokens(textwrap.dedent(text), language):
        found.update(OWN_NAME if name and token == name.encode("utf-8", "replace") else token)
        found.update(b"\n")
    return found.hexdigest()


def _tokens(text: str, language: str) -> Iterator[bytes]:
    data = encode(text)
    known = LANGUAGE_BY_NAME.get(language)
    if known is not None and len(text) <= MAX_CHARACTERS and not is_too_deep(data):
        try:
            syntax = parse(data, language, limit_s=PARSE_SECONDS)
        except ImportError:
            syntax = None
        if syntax is not None:
            return _leaves(syntax.root)
    return iter(data.split())


def _leaves(root: tree_sitter.Node) -> Iterator[bytes]:
    """Yield the tree in order: kind and end of each inner node, for they hold the nesting, and the texts of leaves."""
    cursor = root.walk()
    going = True
    while going:
        node = cursor.node
        if node is not None and "comment" not in node.type:
            text = node.text or b""
            if node.child_count == 0:
                if node.type not in _SIGNS and text.strip():
                    yield text
            else:
                yield b"\0" + node.type.encode()
                if cursor.goto_first_child():
                    continue
        going = cursor.goto_next_sibling()
        while not going and cursor.goto_parent():
            yield b"\0"
            going = cursor.goto_next_sibling()
