"""PHP: variables with `$`, names with backslashes, grouped `use`."""

import re
from collections.abc import Iterable, Iterator, Mapping

import tree_sitter

from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.chains import chain, dotted
from codecards.indexer.parse.dialects.drafts import Draft, RawBinding, RawImport
from codecards.indexer.parse.dialects.nodes import Captures, field_text, node_text

_attributes = re.compile(r"\A(?:#\[(?:[^\[\]]|\[[^\[\]]*\])*\]\s*)+")
_hidden = re.compile(
    rb"(?:#\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*+\]\s*+)*+(?:(?:final|abstract|static|readonly)\s++)*+(?:private|protected)\b"
)
_clone = re.compile(r"\Aclone\s+")
_BUILTINS = frozenset(
    """self static parent string int float bool array mixed void null callable iterable object never true false Exception
    RuntimeException InvalidArgumentException LogicException Closure Iterator Countable ArrayAccess Traversable Throwable DateTime
    DateTimeInterface JsonSerializable Stringable Generator stdClass isset unset empty array_map array_filter array_merge count
    strlen sprintf implode explode in_array is_array is_string is_null str_replace trim define""".split()
)


class PhpDialect(Dialect):
    """PHP up to enums and property promotion."""

    self_words: Mapping[str, str] = {"$this": "self", "self": "self", "static": "self", "parent": "super"}
    constructors = frozenset({"__construct"})
    builtin_names = _BUILTINS

    def draft(self, draft: Draft, captures: Captures, source: bytes) -> Iterable[Draft]:
        """Return the definition; the name of a namespace gets dots."""
        if draft.kind == "namespace":
            draft.name = dotted(draft.name)
        return (draft,)

    def refine_kind(self, draft: Draft, parent_kind: str, parent_name: str, source: bytes) -> str:
        """Return the kind; only `__construct` is a constructor."""
        return "constructor" if draft.kind == "method" and draft.name in self.constructors else draft.kind

    def is_exported(self, draft: Draft, parent_kind: str, source: bytes) -> bool:
        """Return whether the definition is neither private nor protected."""
        return not _hidden.match(source, draft.node.start_byte)

    def signature(self, text: str) -> str:
        """Return the head without attributes."""
        return _attributes.sub("", text)

    def reference(self, node: tree_sitter.Node, captures: Captures, source: bytes) -> tuple[str, str]:
        """Return (receiver, name); a qualified name contains both."""
        receiver, name = super().reference(node, captures, source)
        if "\\" in name:
            receiver, _, name = dotted(name).rpartition(".")
        return receiver, name

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the names of a `use` statement."""
        return _used(node, source)

    def bindings(self, captures: Captures, source: bytes) -> Iterable[RawBinding]:
        """Return the member that a promoted parameter of a constructor defines."""
        node = captures["bindings"][0]
        name = field_text(node, "name", source).lstrip("$")
        value = self.type_text(field_text(node, "type", source).encode())
        return (RawBinding(f"self.{name}", value, node),) if name and value else ()

    def _chain(self, written: bytes) -> str:
        text = _clone.sub("", written.decode("utf-8", "replace"))
        return chain(text, self.self_words, has_type_arguments=True).replace("$", "")


def _used(node: tree_sitter.Node, source: bytes) -> Iterator[RawImport]:
    prefix = ""
    for child in node.named_children:
        if child.type == "namespace_name":
            prefix = dotted(node_text(child, source))
        elif child.type in ("namespace_use_clause", "namespace_use_group"):
            clauses = [child] if child.type == "namespace_use_clause" else child.named_children
            for clause in clauses:
                name_node = next(
                    (one for one in clause.named_children if one.type in ("name", "qualified_name", "namespace_name")),
                    None,
                )
                path = dotted(node_text(name_node, source))
                full = f"{prefix}.{path}" if prefix else path
                module, _, name = full.rpartition(".")
                if name:
                    yield RawImport(module, name, field_text(clause, "alias", source) or name)


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return PhpDialect()
