"""Embedded languages: scripts of HTML, Vue and Svelte files and cells of notebooks, with the line numbers of the file."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import tree_sitter
import tree_sitter_json

from codecards.indexer.facts import Definition, FileFacts
from codecards.indexer.parse.dialects.base import Dialect, Extract
from codecards.indexer.parse.dialects.nodes import node_text
from codecards.indexer.parse.languages import LANGUAGE_BY_NAME, load_grammar
from codecards.indexer.problems import Reason

_script_language = re.compile(rb"""\blang\s*=\s*["']?([\w-]+)""")
_not_code = re.compile(
    rb"""\btype\s*=\s*["'](?!text/javascript|module|application/javascript|text/typescript|text/babel)"""
)


class MarkupDialect(Dialect):
    """HTML and the single-file components of Vue and Svelte: scripts are code, the rest is text."""

    def embedded(self, text: str) -> Sequence[tuple[str, str]] | None:
        """Return each script, at its lines of the file."""
        source = text.encode("utf-8", "replace")
        found = []
        for start_tag, start, end in _scripts(source):
            if not _not_code.search(start_tag):
                language = _script_language.search(start_tag)
                found.append(
                    (_language_of(language[1].decode() if language else ""), _blank_around(source, start, end))
                )
        return found


def _scripts(source: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield (start tag, first byte, end byte) of the text of each script."""
    grammar = load_grammar(LANGUAGE_BY_NAME["html"])
    query = _html_query()
    tree = tree_sitter.Parser(grammar).parse(source)
    for _, captures in tree_sitter.QueryCursor(query).matches(tree.root_node):
        tag, code = captures["tag"][0], captures["code"][0]
        yield source[tag.start_byte : tag.end_byte], code.start_byte, code.end_byte


@lru_cache(maxsize=1)
def _html_query() -> tree_sitter.Query:
    return tree_sitter.Query(
        load_grammar(LANGUAGE_BY_NAME["html"]), "(script_element (start_tag) @tag (raw_text) @code)"
    )


def _language_of(written: str) -> str:
    return {"ts": "typescript", "typescript": "typescript", "tsx": "tsx", "jsx": "javascript"}.get(
        written, "javascript"
    )


def _blank_around(source: bytes, start: int, end: int) -> str:
    """Return the text from start to end at its line and column; the rest is blank."""
    before = b"\n" * source.count(b"\n", 0, start)
    column = start - (source.rfind(b"\n", 0, start) + 1)
    after = b"\n" * source.count(b"\n", end)
    return (before + b" " * column + source[start:end] + after).decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _Cell:
    """One cell of a notebook."""

    is_code: bool
    lines: tuple[str, ...]
    rows: tuple[int, ...]
    """1-based line of the file for each line of the cell."""


class NotebookDialect(Dialect):
    """Jupyter notebooks: code cells are code, Markdown cells sections; outputs are ignored."""

    def whole_file(self, text: str, n_lines: int, extract: Extract) -> FileFacts | None:
        """Return the facts of the cells, at their lines of the file."""
        try:
            notebook = json.loads(text)
            kernel = _kernel_language(notebook.get("metadata") or {})
            cells = list(_cells(text.encode("utf-8", "replace")))
        except (ValueError, AttributeError, RecursionError, TypeError):
            problem = (Reason.BAD_NOTEBOOK, "is not the JSON of a notebook; it is not indexed")
            return FileFacts("jupyter", n_lines, problems=(problem,))
        if not any(isinstance(notebook.get(key), list) for key in ("cells", "worksheets")):
            return FileFacts("jupyter", n_lines, problems=((Reason.BAD_NOTEBOOK, "has no list of cells"),))
        return _facts_of_cells(cells, kernel if kernel in LANGUAGE_BY_NAME else "", n_lines, extract)


def _kernel_language(metadata: Mapping[str, Any]) -> str:
    """Return the language of the code cells of a notebook; Python if the metadata does not name it."""
    named = (metadata.get("language_info") or {}).get("name") or (metadata.get("kernelspec") or {}).get("language")
    return str(named or "python").lower()


def _cells(source: bytes) -> Iterator[_Cell]:
    """Yield the cells with the lines of their sources."""
    tree = tree_sitter.Parser(_json_grammar()).parse(source)
    root = next((child for child in tree.root_node.named_children if child.type == "object"), None)
    for cell in _cell_nodes(root, source) if root is not None else ():
        kind = _value_of(cell, "cell_type", source)
        code = _value_of(cell, "source", source) or _value_of(cell, "input", source)
        if kind is None or code is None:
            continue
        strings = (
            [code] if code.type == "string" else [child for child in code.named_children if child.type == "string"]
        )
        text, rows = "", list[int]()
        for node in strings:
            part = str(json.loads(node_text(node, source)))
            rows += [node.start_point[0] + 1] * (part.count("\n") + (not part.endswith("\n") and node is strings[-1]))
            text += part
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        rows += [rows[-1] if rows else code.start_point[0] + 1] * max(0, len(lines) - len(rows))
        yield _Cell(node_text(kind, source) == '"code"', tuple(lines), tuple(rows[: len(lines)]))


def _cell_nodes(root: tree_sitter.Node, source: bytes) -> Iterator[tree_sitter.Node]:
    """Yield the cells of a notebook; format 3 nests them in worksheets."""
    array = _value_of(root, "cells", source)
    if array is not None:
        yield from array.named_children
    sheets = _value_of(root, "worksheets", source)
    for sheet in sheets.named_children if sheets is not None else ():
        yield from _cell_nodes(sheet, source)


def _value_of(node: tree_sitter.Node, name: str, source: bytes) -> tree_sitter.Node | None:
    """Return the value of a key of a JSON object."""
    for pair in node.named_children:
        key = pair.child_by_field_name("key")
        if key is not None and node_text(key, source) == f'"{name}"':
            return pair.child_by_field_name("value")
    return None


@lru_cache(maxsize=1)
def _json_grammar() -> tree_sitter.Language:
    return tree_sitter.Language(tree_sitter_json.language())


def _facts_of_cells(cells: Sequence[_Cell], language: str, n_lines: int, extract: Extract) -> FileFacts:
    """Return the facts of all code cells as one module; the parent of each definition is its cell."""
    code = [cell if cell.is_code else replace(cell, lines=("",) * len(cell.lines)) for cell in cells]
    text = "\n".join("\n".join(_without_magic(line) for line in cell.lines) for cell in code if cell.lines)
    rows = [row for cell in cells for row in cell.rows]
    facts = extract(text, language)
    line_of = dict(enumerate(rows, 1))
    first, cell_of_line = 1, dict[int, int]()
    definitions: list[Definition] = []
    moved: dict[int, int] = {}
    for number, cell in enumerate(cells, 1):
        if not cell.lines:
            continue
        last = first + len(cell.lines) - 1
        here = len(definitions)
        definitions.append(_cell_definition(cell, number))
        cell_of_line.update(dict.fromkeys(range(first, last + 1), here))
        for position, one in enumerate(facts.definitions):
            if first <= one.name_line <= last:
                moved[position] = len(definitions)
                definitions.append(_moved(one, line_of, moved.get(one.parent, here)))
        first = last + 1

    def owner(position: int, line: int) -> int:
        return moved.get(position, cell_of_line.get(line, -1))

    return replace(
        facts,
        language="jupyter",
        n_lines=n_lines,
        definitions=tuple(definitions),
        references=tuple(
            replace(one, owner=owner(one.owner, one.line), line=line_of.get(one.line, 1)) for one in facts.references
        ),
        imports=tuple(
            replace(one, scope=moved.get(one.scope, -1), line=line_of.get(one.line, 1)) for one in facts.imports
        ),
        bindings=tuple(
            replace(one, scope=moved.get(one.scope, -1), line=line_of.get(one.line, 1)) for one in facts.bindings
        ),
        problems=(),
    )


def _cell_definition(cell: _Cell, number: int) -> Definition:
    """Return the definition of a cell; a Markdown cell is its documentation."""
    first_row, last_row = cell.rows[0], cell.rows[-1]
    return Definition(
        name="",
        qualified_name=f"<cell {number}>",
        kind="cell",
        parent=-1,
        lead_line=first_row,
        first_line=first_row,
        name_line=first_row,
        last_line=last_row,
        signature=next((line.strip() for line in cell.lines if line.strip()), "")[:300],
        doc="" if cell.is_code else "\n".join(cell.lines)[:2000],
    )


def _moved(one: Definition, line_of: dict[int, int], parent: int) -> Definition:
    """Return the definition with the line numbers of the file."""
    return replace(
        one,
        parent=parent,
        lead_line=line_of.get(one.lead_line, 1),
        first_line=line_of.get(one.first_line, 1),
        name_line=line_of.get(one.name_line, 1),
        last_line=line_of.get(one.last_line, 1),
    )


def _without_magic(line: str) -> str:
    """Return a line of code, "" for an IPython command."""
    return "" if line.lstrip().startswith(("%", "!", "?")) else line


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return NotebookDialect() if language == "jupyter" else MarkupDialect()
