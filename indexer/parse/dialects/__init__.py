"""Dialects: for each language, the rules that its query cannot express."""

import importlib
import importlib.util
from functools import cache

from codecards.indexer.parse.dialects.base import Dialect

MODULES = {
    "python": "python",
    "javascript": "javascript",
    "typescript": "javascript",
    "tsx": "javascript",
    "go": "go",
    "rust": "rust",
    "java": "java",
    "c": "c",
    "cpp": "c",
    "csharp": "csharp",
    "ruby": "ruby",
    "php": "php",
    "kotlin": "kotlin",
    "swift": "swift",
    "scala": "scala",
    "bash": "bash",
    "lua": "lua",
    "elixir": "elixir",
    "haskell": "haskell",
    "zig": "zig",
    "sql": "sql",
    "markdown": "markdown",
    "rst": "documents",
    "asciidoc": "documents",
    "org": "documents",
    "html": "embedded",
    "vue": "embedded",
    "svelte": "embedded",
    "jupyter": "embedded",
}
"""Language → module of this package with a function `dialect(language)`; other languages use `Dialect` itself."""


@cache
def dialect_of(language: str) -> Dialect:
    """Return the dialect of a language, the common rules if it has none."""
    name = f"{__name__}.{MODULES.get(language, '')}"
    if language not in MODULES or importlib.util.find_spec(name) is None:
        return Dialect()
    dialect: Dialect = importlib.import_module(name).dialect(language)
    return dialect
