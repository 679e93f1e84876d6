"""Zig: files as structs, imports by `@import`, types returned by functions."""

import re
from collections.abc import Iterable, Mapping

import tree_sitter

from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.chains import UNKNOWN
from codecards.indexer.parse.dialects.drafts import Draft, RawImport
from codecards.indexer.parse.dialects.nodes import Captures, node_text

_imported = re.compile(r"@import\s*\(\s*\"([^\"]+)\"")
_alias = re.compile(r"\b(?:const|var)\s{1,80}(\w+)\s{0,80}(?::[^=\n]{0,400})?=\s{0,80}\Z")
_member = re.compile(rb"((?:\s*\.\s*\w+)*)\s*;")
_public = re.compile(rb"(?:pub|export)\b")
_pointer = re.compile(rb"^(?:[*?!&]|\[[^\]]*\]|const\b|anyerror!|\s)+")
_error_union = re.compile(rb"^[\w.]*!")


class ZigDialect(Dialect):
    """Zig 0.11 and later."""

    self_words: Mapping[str, str] = {"self": "self", "Self": "self", "@This()": "self"}
    has_type_arguments = False
    builtin_names = frozenset(
        "u8 u16 u32 u64 i8 i16 i32 i64 usize isize bool void anyerror anytype type noreturn f32 f64 comptime_int T Self".split()
    )

    def draft(self, draft: Draft, captures: Captures, source: bytes) -> Iterable[Draft]:
        """Return the definition, nothing for the name of an imported file."""
        if draft.kind == "variable":
            head = source[draft.node.start_byte : draft.node.end_byte][:300]
            if b"@import(" in head.partition(b"\n")[0] or b"@This()" in head or draft.name == "_":
                return ()
            if re.match(rb"(?:pub\s+)?const\b", head):
                draft.kind = "constant"
        return (draft,)

    def refine_kind(self, draft: Draft, parent_kind: str, parent_name: str, source: bytes) -> str:
        """Return the kind; functions in types are methods, also in types that a function returns."""
        if draft.kind == "function" and parent_kind == "function" and parent_name[:1].isupper():
            return "method"
        return "method" if draft.kind == "function" and parent_kind in ("struct", "enum") else draft.kind

    def is_exported(self, draft: Draft, parent_kind: str, source: bytes) -> bool:
        """Return whether the definition is `pub` or `export`."""
        return bool(_public.match(source, draft.node.start_byte))

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the imported file, or the one member of it that is bound to a name."""
        match = _imported.match(node_text(node, source))
        if match is None:
            return ()
        before = source[source.rfind(b"\n", 0, node.start_byte) + 1 : node.start_byte].decode("utf-8", "replace")
        if "usingnamespace" in before:
            return (RawImport(match[1], "*", ""),)
        alias = _alias.search(before)
        member = _member.match(source, node.end_byte)
        path = "".join(member[1].decode().split()).strip(".") if member and alias else ""
        return (RawImport(match[1], path, alias[1] if alias else ""),)

    def _chain(self, written: bytes) -> str:
        return UNKNOWN if b"@" in written and written != b"@This()" else super()._chain(written)

    def _type_text(self, written: bytes) -> str:
        """Return a type without pointers, slices, optionals and error sets."""
        text = _error_union.sub(b"", _pointer.sub(b"", written.strip()))
        found = super()._type_text(_pointer.sub(b"", text))
        return "" if found in self.builtin_names or found == UNKNOWN else found


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return ZigDialect()
