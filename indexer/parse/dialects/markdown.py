"""Markdown: each heading opens a section, which ends before the next heading of its or a higher level."""

import re
from functools import lru_cache

import tree_sitter

from codecards.indexer.facts import Definition, FileFacts
from codecards.indexer.parse.dialects.base import Dialect, Extract
from codecards.indexer.parse.languages import LANGUAGE_BY_NAME, load_grammar

HEADINGS = "[(atx_heading) (setext_heading)] @heading"
MAX_NAME_CHARACTERS = 120
MAX_DOC_CHARACTERS = 400
_closing = re.compile(r"(?<![ \t])[ \t]+#++[ \t]*$")
_link = re.compile(r"!?\[([^\]]{0,300})\]\([^)]{0,600}\)")


class MarkdownDialect(Dialect):
    """CommonMark with front matter; the grammar skips headings in code fences and comments."""

    def whole_file(self, text: str, n_lines: int, extract: Extract) -> FileFacts | None:
        """Return the facts of a document: its sections."""
        lines = text.split("\n")
        found = [
            (row, level, name)
            for row, level, name in sorted(_headings(text.encode("utf-8", "replace")))
            if name and row < len(lines)
        ]
        definitions: list[Definition] = []
        open_: list[int] = []
        levels: list[int] = []
        for number, (row, level, name) in enumerate(found):
            while open_ and levels[open_[-1]] >= level:
                open_.pop()
            parent = open_[-1] if open_ else -1
            end = next((later for later, its_level, _ in found[number + 1 :] if its_level <= level), n_lines)
            while end > row + 1 and end <= len(lines) and not lines[end - 1].strip():
                end -= 1
            above = definitions[parent].qualified_name + "." if parent >= 0 else ""
            next_heading = found[number + 1][0] if number + 1 < len(found) else n_lines
            body = " ".join(line.strip() for line in lines[row + 1 : next_heading] if line.strip(" =-"))
            open_.append(len(definitions))
            levels.append(level)
            definitions.append(
                Definition(
                    name=name,
                    qualified_name=above + name,
                    kind="section",
                    parent=parent,
                    lead_line=row + 1,
                    first_line=row + 1,
                    name_line=row + 1,
                    last_line=max(end, row + 1),
                    signature=lines[row].strip()[:300],
                    doc=body[:MAX_DOC_CHARACTERS],
                )
            )
        return FileFacts("markdown", n_lines, tuple(definitions))


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
