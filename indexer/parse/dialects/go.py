"""Go: receivers, import paths, several results."""

import re
from collections.abc import Iterable, Mapping

import tree_sitter

from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.chains import type_name
from codecards.indexer.parse.dialects.drafts import Draft, RawImport
from codecards.indexer.parse.dialects.nodes import Captures, field_text

_version = re.compile(r"(?:/v\d+|\.v\d+)\Z")
_receiver_name = re.compile(rb"func\s*\(\s*([^\W\d]\w*)\s+\S")
_BUILTINS = frozenset(
    """bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64
    uintptr any comparable append cap clear close complex copy delete imag len make max min new panic print println real recover
    nil true false iota""".split()
)


class GoDialect(Dialect):
    """Go with type parameters."""

    self_words: Mapping[str, str] = {}
    builtin_names = _BUILTINS

    def draft(self, draft: Draft, captures: Captures, source: bytes) -> Iterable[Draft]:
        """Return the definition with the name of its receiver, nothing for the blank identifier."""
        if draft.node.type == "method_declaration":
            match = _receiver_name.match(source, draft.node.start_byte)
            draft.self_name = match[1].decode() if match else ""
        return (draft,) if draft.name != "_" else ()

    def refine_kind(self, draft: Draft, parent_kind: str, parent_name: str, source: bytes) -> str:
        """Return the kind of the query unchanged."""
        return draft.kind

    def is_exported(self, draft: Draft, parent_kind: str, source: bytes) -> bool:
        """Return whether the name starts with a capital letter."""
        return draft.name[:1].isupper()

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the imported package; its name is derived from its path."""
        path = field_text(node, "path", source).strip('"`')
        alias = field_text(node, "name", source)
        if alias == ".":
            return (RawImport(path, "*", ""),)
        if not alias:
            alias = (
                _version.sub("", path).rpartition("/")[2].removeprefix("go-").removesuffix("-go").removesuffix(".go")
            )
        return (RawImport(path, "", "" if alias == "_" else alias.replace("-", "_")),)

    def _type_text(self, written: bytes) -> str:
        """Return a type; the first of several results, without its name."""
        text = written.decode("utf-8", "replace").strip()
        if text.startswith("("):
            first = text[1:].split(",")[0].rstrip(") \n\t").split()
            text = first[-1] if first else ""
        return type_name(text)


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return GoDialect()
