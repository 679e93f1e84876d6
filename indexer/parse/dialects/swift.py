"""Swift: kinds of types, extensions, imports."""

import re
from collections.abc import Iterable, Mapping

import tree_sitter

from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.chains import without_brackets
from codecards.indexer.parse.dialects.drafts import Draft, RawImport
from codecards.indexer.parse.dialects.nodes import Captures, field_text, node_text

KINDS = {"class": "class", "struct": "struct", "enum": "enum", "extension": "impl", "actor": "class"}
_import = re.compile(
    r"(?:@\w+(?:\([^)]*\))?\s+)*(?:\w+\s+)?import\s+(?:(struct|class|enum|protocol|func|var|let|typealias)\s+)?([\w.]+)\s*\Z"
)
_private = re.compile(rb"\b(?:private|fileprivate)\b(?!\s*\(set\))")


class SwiftDialect(Dialect):
    """Swift 5 and 6."""

    self_words: Mapping[str, str] = {"self": "self", "Self": "self", "super": "super"}
    type_wrappers = frozenset({"Optional"})
    builtin_names = frozenset(
        """Int Int8 Int16 Int32 Int64 UInt UInt8 UInt16 UInt32 UInt64 Float Double Bool String Character Void Any AnyObject Array
        Dictionary Set Optional Result Error Never Data Date URL UUID Codable Decodable Encodable Equatable Hashable Comparable
        Sendable Identifiable CustomStringConvertible print fatalError precondition preconditionFailure assert min max abs type
        discardableResult available objc inlinable usableFromInline escaping autoclosure MainActor""".split()
    )

    def draft(self, draft: Draft, captures: Captures, source: bytes) -> Iterable[Draft]:
        """Return the definition with its kind; an extension gets the name of its type."""
        if draft.node.type == "class_declaration":
            draft.kind = KINDS.get(field_text(draft.node, "declaration_kind", source), "class")
            draft.owner, _, draft.name = without_brackets(draft.name, "<>").replace(" ", "").rpartition(".")
        if draft.node.type == "function_declaration" and not source[
            max(0, draft.name_start - 24) : draft.name_start
        ].rstrip().endswith(b"func"):
            return ()  # for an operator, the pattern also matches the parentheses as names
        draft.name = draft.name.strip("`")
        return (draft,)

    def refine_kind(self, draft: Draft, parent_kind: str, parent_name: str, source: bytes) -> str:
        """Return the kind; functions in types are methods."""
        return "method" if draft.kind == "function" and parent_kind in _TYPES else draft.kind

    def is_exported(self, draft: Draft, parent_kind: str, source: bytes) -> bool:
        """Return whether the definition is not private to its file or type."""
        return not _private.search(source, draft.node.start_byte, max(draft.name_start, draft.node.start_byte))

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the imported module with all its names, or the one imported name."""
        match = _import.match(node_text(node, source))
        if match is None:
            return ()
        if match[1]:
            module, _, name = match[2].rpartition(".")
            return (RawImport(module, name, name),)
        return (RawImport(match[2], "*", ""),)


_TYPES = frozenset({"class", "struct", "enum", "impl", "interface"})


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return SwiftDialect()
