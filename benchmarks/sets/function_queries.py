"""Mines queries from Python source: a function's documentation, name or error message asks for the function."""

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

MIN_WORDS, MAX_WORDS = 4, 40
MIN_CODE_LINES = 2
MIN_NAME_PARTS = 2
NOT_ASKED = re.compile(r"(^|/)(tests?|testing|docs?|examples?|_?vendor(ed)?)(/|$)|(^|/)(test_|conftest)|_test\.py$")
"""Paths without questions; their documentation is removed too."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Mined:
    """One question and the function that answers it."""

    category: str
    """"docstring" (its first sentence), "symbol" (its name), "message" (the text of an error that it raises)."""
    text: str
    path: str
    first_line: int
    """First line of the definition in the stripped file, decorators included; 1-based, inclusive."""
    last_line: int

    @property
    def digest(self) -> str:
        """Return a hash of the question, by which rows are chosen."""
        return hashlib.sha256(f"{self.category}\0{self.path}\0{self.text}".encode()).hexdigest()


def mine(source: bytes, path: str) -> tuple[list[Mined], bytes | None]:
    """Return the questions of one file, and the file without its functions' docstrings.

    Args:
        source: Python source; docstrings of modules and classes stay.
        path: Path from the tree's root.

    Returns:
        The questions and the stripped file; no questions and None for a file that Python can't parse.
    """
    try:
        text = source.decode("utf-8").replace("\r\n", "\n")
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return [], None
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    removed = {line for node in functions for line in _docstring_lines(node)}
    lines = text.split("\n")
    kept = [line for number, line in enumerate(lines, 1) if number not in removed]
    new_number = _renumbered(len(lines), removed)
    mined = []
    if not NOT_ASKED.search(path):
        for node in functions:
            first_line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            first, last = new_number[first_line], new_number[node.end_lineno or node.lineno]
            if last - new_number[node.lineno] >= MIN_CODE_LINES:
                mined += [Mined(category, asked, path, first, last) for category, asked in _questions(node)]
    return mined, "\n".join(kept).encode()


def first_sentence(doc: str) -> str:
    """Return the first sentence of a docstring on one line, without markup."""
    paragraph = doc.strip().split("\n\n")[0]
    line = " ".join(re.sub(r":\w+:|[`*]", "", paragraph).split())
    return re.split(r"(?<=[a-z0-9)])\.(?=\s|$)", line)[0].strip()


def _questions(node: Function) -> Iterator[tuple[str, str]]:
    sentence = first_sentence(ast.get_docstring(node) or "")
    if MIN_WORDS <= len(sentence.split()) <= MAX_WORDS and sentence.isascii():
        yield "docstring", sentence
    if len(re.findall(r"[a-z0-9]+", node.name)) >= MIN_NAME_PARTS and not node.name.startswith("__"):
        yield "symbol", node.name
    for statement in _own_statements(node):
        message = _raised_text(statement)
        if MIN_WORDS <= len(message.split()) <= MAX_WORDS:
            yield "message", message


def _own_statements(node: Function) -> Iterator[ast.AST]:
    """Yield the statements of a function, without those of nested functions and classes."""
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        statement = waiting.pop()
        yield statement
        waiting += [
            child for child in ast.iter_child_nodes(statement) if not isinstance(child, Function | ast.ClassDef)
        ]


def _raised_text(statement: ast.AST) -> str:
    """Return the literal text of a raised error, without interpolated values; "" for any other statement."""
    if not (isinstance(statement, ast.Raise) and isinstance(statement.exc, ast.Call) and statement.exc.args):
        return ""
    argument = statement.exc.args[0]
    parts = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return " ".join(" ".join(texts).split())


def _docstring_lines(node: Function) -> range:
    """Return the lines of a docstring that shares no line with code and is not the whole body."""
    first = node.body[0]
    if ast.get_docstring(node, clean=False) is None or len(node.body) == 1:
        return range(0)
    last_line = first.end_lineno or first.lineno
    shares_a_line = first.lineno == node.lineno or node.body[1].lineno <= last_line
    return range(0) if shares_a_line else range(first.lineno, last_line + 1)


def _renumbered(n_lines: int, removed: set[int]) -> list[int]:
    """Return old line number -> new one; a removed line maps to the last kept line before it."""
    numbers, kept = [0], 0
    for line in range(1, n_lines + 1):
        kept += line not in removed
        numbers.append(kept)
    return numbers
