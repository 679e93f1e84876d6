"""Node types of the grammars: which nodes are definitions, and where their documentation is."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from tree_sitter import Language, Parser


@dataclass(frozen=True, slots=True)
class Grammar:
    """Node types of one language's grammar."""

    language: str
    module: str
    """Import name of the grammar's package."""
    suffixes: frozenset[str]
    functions: frozenset[str]
    """Nodes that are mined."""
    containers: frozenset[str] = frozenset()
    """Nodes whose name is part of a member's qualified name; mined too."""
    wrappers: frozenset[str] = frozenset()
    """Nodes around a definition; its comment is before the outermost one."""
    between: frozenset[str] = frozenset()
    """Nodes that are allowed between a comment and its definition."""
    loader: str = "language"
    """Function of the package that returns the grammar."""


def _read_grammars() -> tuple[Grammar, ...]:
    tables = tomllib.loads((Path(__file__).parent / "grammars.toml").read_text(encoding="utf-8"))
    return tuple(_grammar(language, table) for language, table in tables.items())


def _grammar(language: str, table: dict[str, str]) -> Grammar:
    types = {
        name: frozenset(table.get(name, "").split()) for name in ("functions", "containers", "wrappers", "between")
    }
    suffixes = frozenset(table["suffixes"].split())
    return Grammar(language, table["module"], suffixes, **types, loader=table.get("loader", "language"))


GRAMMARS = _read_grammars()
BY_SUFFIX = {suffix: grammar for grammar in GRAMMARS for suffix in grammar.suffixes}
SUFFIXES = frozenset(BY_SUFFIX)


@cache
def parser_for(language: str) -> Parser:
    """Return the parser of a language in `GRAMMARS`."""
    grammar = next(grammar for grammar in GRAMMARS if grammar.language == language)
    return Parser(Language(getattr(import_module(grammar.module), grammar.loader)()))
