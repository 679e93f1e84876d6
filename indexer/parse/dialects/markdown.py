"""Markdown: each heading opens a section, which ends before the next heading of its or a higher level."""

import re
from functools import lru_cache

import tree_sitter

from codecards.indexer.facts import FileFacts
from codecards.indexer.parse.dialects.base import Dialect, Extract
from codecards.indexer.parse.dialects.sections import MAX_NAME_CHARACTERS, Heading, section_facts
from codecards.indexer.parse.languages import LANGUAGE_BY_NAME, load_grammar

HEADINGS = "[(atx_heading) (setext_heading)] @heading"
_closing = re.compile(r"(?<![ \t])[ \t]+#++[ \t]*$")
_link = re.compile(r"!?\[([^\]]{0,300})\]\([^)]{0,600}\)")


class MarkdownDialect(Dialect):
    """CommonMark with front matter; the grammar skips headings in code fences and comments."""

    def whole_file(self, text: str, n_lines: int, extract: Extract) -> FileFacts | None:
        """Return the facts of a document: its sections."""
        lines = text.split("\n")
        headings = [
            Heading(row, level, name, row + 1)
            for row, level, name in sorted(_headings(text.encode("utf-8", "replace")))
        ]
        return section_facts("markdown", n_lines, lines, headings)


def _headings(source: bytes) -> list[tuple[int, int, str]]:
    """Return (row, level, text) of each heading."""
    parser, query = _tools()
    tree = parser.parse(source)
    found = []
    for node in tree_sitter.QueryCursor(query).captures(tree.root_node).get("heading", []):
        content = next((child for child in node.children if child.type in ("inline", "paragraph")), None)
        marker = next(
            (child.type for child in node.children if "marker" in child.type or "underline" in child.type), "h1"
        )
        digits = re.search(r"h(\d)", marker)
        written = (
            source[content.start_byte : content.end_byte].decode("utf-8", "replace") if content is not None else ""
        )
        name = _link.sub(r"\1", _closing.sub("", " ".join(written.split()))).strip("*_` ")
        found.append((node.start_point[0], int(digits[1]) if digits else 1, name[:MAX_NAME_CHARACTERS]))
    return found


@lru_cache(maxsize=1)
def _tools() -> tuple[tree_sitter.Parser, tree_sitter.Query]:
    grammar = load_grammar(LANGUAGE_BY_NAME["markdown"])
    return tree_sitter.Parser(grammar), tree_sitter.Query(grammar, HEADINGS)


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return MarkdownDialect()
