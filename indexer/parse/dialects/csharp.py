"""C#: using directives, operators, visibility, attributes."""

import re
from collections.abc import Iterable, Mapping

import tree_sitter

from codecards.indexer.facts import TYPE_BODY_KINDS
from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.chains import dotted
from codecards.indexer.parse.dialects.drafts import Draft, RawImport
from codecards.indexer.parse.dialects.nodes import Captures, node_text

_attributes = re.compile(r"\A(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\]\s*)+")
_modifiers = re.compile(
    rb"(?:\s*\[(?:[^\[\]]|\[[^\[\]]*\])*\]|\s*(?:public|private|protected|internal|static|readonly|const|partial|abstract"
    rb"|sealed|virtual|override|async|unsafe|new|extern|volatile|required|file)\b)*"
)
_operator = re.compile(r"\boperator\s*(checked\s+)?([^\s(]+|true|false)")
_conversion = re.compile(r"\b(implicit|explicit)\s+operator\s+([\w.<>?\[\]]+)")
_extension = re.compile(rb"\bextension\s{0,8}(?:<[^<>{}]{0,200}>)?\s{0,8}\([^(){}]{0,300}\)[^{};=]{0,300}\{")
_scanned = re.compile(rb"(?<!\\)\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)'|//[^\n]*|/\*.*?(?:\*/|\Z)|[{}]", re.DOTALL)
_visible = re.compile(rb"[^\n]")
_using = re.compile(r"(?:global\s+)?using\s+(static\s+)?(?:([\w@]+)\s*=\s*)?([\w.:@\s]+)")
_tags = re.compile(
    r"</?(?:summary|param|returns|remarks|see|c|para|paramref|typeparam|exception|example|code|value|inheritdoc)\b[^>]*>"
)
_BUILTINS = frozenset(
    """String Object Int32 Int64 Boolean Double Decimal DateTime DateTimeOffset TimeSpan Guid Exception ArgumentException
    ArgumentNullException InvalidOperationException NotSupportedException NotImplementedException Task ValueTask List Dictionary
    HashSet IEnumerable IList ICollection IDictionary IReadOnlyList Func Action Predicate Nullable Type Console Math nameof
    typeof CancellationToken IDisposable Serializable Obsolete Lazy EventArgs EventHandler Span ReadOnlySpan Uri StringBuilder""".split()
)


class CSharpDialect(Dialect):
    """C# up to records and file-scoped namespaces."""

    self_words: Mapping[str, str] = {"this": "self", "base": "super"}
    type_wrappers = frozenset({"Task", "ValueTask", "Lazy", "Nullable", "IOptions", "ILogger"})
    builtin_names = _BUILTINS
    splats = frozenset()

    def repaired(self, source: bytes) -> bytes:
        """Return the text with heads and ends of `extension` blocks blanked: their members are those of the class."""
        if b"extension" not in source:
            return source
        position = 0
        while match := _extension.search(source, position):
            end = _closing_brace(source, match.end())
            if end < 0:
                break
            source = (
                source[: match.start()]
                + _visible.sub(b" ", match[0])
                + source[match.end() : end]
                + b" "
                + source[end + 1 :]
            )
            position = match.end()
        return source

    def draft(self, draft: Draft, captures: Captures, source: bytes) -> Iterable[Draft]:
        """Return the definition; operators, indexers and destructors get a name."""
        node_type = draft.node.type
        if node_type in ("operator_declaration", "conversion_operator_declaration", "indexer_declaration"):
            end = draft.body.start_byte if draft.body is not None else draft.node.end_byte
            head = source[draft.node.start_byte : end].decode("utf-8", "replace")
            draft.name = "this[]"
            if node_type != "indexer_declaration":
                match = _conversion.search(head)
                operator = _operator.search(head)
                draft.name = f"operator {match[2]}" if match else f"operator {operator[2]}" if operator else ""
        elif node_type == "destructor_declaration":
            draft.name = "~" + draft.name
        elif node_type == "namespace_declaration":
            draft.name = dotted(draft.name)
        elif draft.kind == "field":
            modifiers = _modifiers.match(source, draft.node.start_byte)
            if modifiers and (b"const" in modifiers[0] or (b"static" in modifiers[0] and b"readonly" in modifiers[0])):
                draft.kind = "constant"
        return (draft,)

    def refine_kind(self, draft: Draft, parent_kind: str, parent_name: str, source: bytes) -> str:
        """Return the kind of the query unchanged."""
        return draft.kind

    def is_exported(self, draft: Draft, parent_kind: str, source: bytes) -> bool:
        """Return whether the definition is not private, as members of types are by default."""
        if parent_kind not in TYPE_BODY_KINDS:
            return parent_kind in ("", "namespace")
        head = _modifiers.match(source, draft.node.start_byte)
        words = head[0].split() if head else []
        return parent_kind in ("interface", "enum") or any(
            word in words for word in (b"public", b"internal", b"protected")
        )

    def signature(self, text: str) -> str:
        """Return the head without attributes."""
        return _attributes.sub("", text)

    def reference(self, node: tree_sitter.Node, captures: Captures, source: bytes) -> tuple[str, str]:
        """Return (receiver, name); `base(…)` and `this(…)` call constructors."""
        receiver, name = super().reference(node, captures, source)
        return receiver, {"base": "super", "this": "self"}.get(name, name)

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the names of a `using`: all of a namespace, the members of a type, or one name."""
        match = _using.match(node_text(node, source))
        if match is None:
            return ()
        path = dotted(match[3])
        if match[2]:
            module, _, name = path.rpartition(".")
            return (RawImport(module, name, match[2]),)
        return (RawImport(path, "*", ""),)

    def _type_text(self, written: bytes) -> str:
        """Return a type; constructor arguments of a base are dropped."""
        return super()._type_text(written if written.startswith(b"(") else written.partition(b"(")[0])


def _closing_brace(source: bytes, start: int) -> int:
    """Return the position of the brace that closes a block whose inside begins at start, -1 if there is none."""
    depth = 1
    for match in _scanned.finditer(source, start):
        if match[0] in (b"{", b"}"):
            depth += 1 if match[0] == b"{" else -1
            if depth == 0:
                return match.start()
    return -1


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return CSharpDialect()
