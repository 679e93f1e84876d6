"""Java: imports, visibility, anonymous classes."""

import re
from collections.abc import Iterable

import tree_sitter

from codecards.indexer.facts import TYPE_BODY_KINDS
from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.drafts import Draft, RawImport
from codecards.indexer.parse.dialects.nodes import Captures, node_text

_annotations = re.compile(r"\A(?:@(?!interface\b)[\w.]+(?:\s*\((?:[^()\"]|\"(?:\\.|[^\"\\])*\"|\([^()]*\))*\))?\s*)+")
_modifiers = re.compile(
    rb"(?:\s*@(?!interface\b)[\w.]+(?:\s*\([^)]*\))?|\s*(?:public|protected|private|static|final|abstract|default|native"
    rb"|synchronized|transient|volatile|strictfp|sealed|non-sealed)\b)*"
)
_import = re.compile(r"import\s+(static\s+)?([\w.\s]+?)(\.\s*\*)?\s*;?\Z")
_BUILTINS = frozenset(
    """String Object Integer Long Double Float Boolean Byte Short Character Void Number Math System Exception RuntimeException
    IllegalArgumentException IllegalStateException NullPointerException Throwable Error List Map Set Collection Iterable Iterator
    Optional Stream Override Deprecated SuppressWarnings FunctionalInterface SafeVarargs Runnable Class var Comparable
    StringBuilder CharSequence Thread UnsupportedOperationException Enum Record""".split()
)


class JavaDialect(Dialect):
    """Java up to records and patterns."""

    type_wrappers = frozenset({"Optional", "CompletableFuture", "Future", "AtomicReference", "Provider", "Supplier"})
    builtin_names = _BUILTINS
    splats = frozenset()

    def draft(self, draft: Draft, captures: Captures, source: bytes) -> Iterable[Draft]:
        """Return the definition; a static final field is a constant."""
        if draft.kind == "field":
            head = _modifiers.match(source, draft.node.start_byte)
            if head and b"static" in head[0] and b"final" in head[0]:
                draft.kind = "constant"
        return (draft,)

    def refine_kind(self, draft: Draft, parent_kind: str, parent_name: str, source: bytes) -> str:
        """Return the kind of the query unchanged."""
        return draft.kind

    def is_exported(self, draft: Draft, parent_kind: str, source: bytes) -> bool:
        """Return whether the definition is not private, and is at the top or in a type."""
        if parent_kind and parent_kind not in TYPE_BODY_KINDS:
            return False
        head = _modifiers.match(source, draft.node.start_byte)
        return head is None or b"private" not in head[0].split()

    def signature(self, text: str) -> str:
        """Return the head without annotations."""
        return _annotations.sub("", text)

    def reference(self, node: tree_sitter.Node, captures: Captures, source: bytes) -> tuple[str, str]:
        """Return (receiver, name); `super(…)` and `this(…)` call constructors."""
        receiver, name = super().reference(node, captures, source)
        if receiver.endswith(".this"):  # Outer.this
            receiver = receiver.removesuffix(".this")
        return receiver, {"this": "self"}.get(name, name)

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the imported name: a type, a static member, or all names of a package or type."""
        match = _import.match(node_text(node, source).strip())
        if match is None:
            return ()
        path = "".join(match[2].split())
        if match[3]:
            return (RawImport(path, "*", ""),)
        module, _, name = path.rpartition(".")
        return (RawImport(module, name, name),)

    def _type_text(self, written: bytes) -> str:
        return "" if written == b"var" else super()._type_text(written)


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return JavaDialect()
