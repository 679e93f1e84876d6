"""Hash of the syntax of a text, independent of layout and comments; any other change gives another hash."""

import hashlib
import textwrap
from collections.abc import Iterator

import tree_sitter

from codecards.indexer.parse.languages import LANGUAGE_BY_NAME
from codecards.indexer.parse.tree import encode, is_too_deep, parse

MAX_CHARACTERS = 200_000
"""Longer texts are not parsed; their words are hashed."""
PARSE_SECONDS = 2.0
OWN_NAME = b"\0self"
"""Replaces the symbol's own name, so that a renamed symbol keeps its hash."""
_OPTIONAL_TOKENS = frozenset({",", ";"})
"""Tokens that formatters add and remove."""


def syntax_hash(text: str, language: str, name: str = "") -> str:
    """Return the hash of the normalised syntax of a text, 32 hexadecimal digits.

    Args:
        text: A definition, or a whole file.
        language: Key of `LANGUAGE_BY_NAME`; without a grammar ("") only white space is ignored.
        name: The symbol's own name, which is ignored.
    """
    digest = hashlib.blake2b(digest_size=16)
    for token in _tokens(textwrap.dedent(text), language):
        digest.update(OWN_NAME if name and token == name.encode("utf-8", "replace") else token)
        digest.update(b"\n")
    return digest.hexdigest()


def _tokens(text: str, language: str) -> Iterator[bytes]:
    data = encode(text)
    known = LANGUAGE_BY_NAME.get(language)
    if known is not None and known.grammar and len(text) <= MAX_CHARACTERS and not is_too_deep(data):
        try:
            syntax = parse(data, language, limit_s=PARSE_SECONDS)
        except ImportError:
            syntax = None
        if syntax is not None:
            return _leaves(syntax.root)
    return iter(data.split())


def _leaves(root: tree_sitter.Node) -> Iterator[bytes]:
    """Yield type and end of each inner node, which express the nesting, and the text of each leaf, in order."""
    cursor = root.walk()
    has_next = True
    while has_next:
        node = cursor.node
        if node is not None and "comment" not in node.type:
            text = node.text or b""
            if node.child_count == 0:
                if node.type not in _OPTIONAL_TOKENS and text.strip():
                    yield text
            else:
                yield b"\0" + node.type.encode()
                if cursor.goto_first_child():
                    continue
        has_next = cursor.goto_next_sibling()
        while not has_next and cursor.goto_parent():
            yield b"\0"
            has_next = cursor.goto_next_sibling()
