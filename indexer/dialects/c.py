"""C and C++: names inside declarators, methods written outside their class, the preprocessor."""

import re
from collections.abc import Iterable

import tree_sitter

from codecards.indexer.dialects.c_preprocessor import readable
from codecards.indexer.dialects.dialect import TYPE_KINDS, Captures, Dialect, Draft, RawImport, dotted, field_text, node_text
from codecards.indexer.dialects.names import without_brackets

_keywords = frozenset({"if", "else", "for", "while", "switch", "return", "do", "case", "sizeof", "defined", "catch", "try"})
_static = re.compile(rb"(?:\w+\s+)*static\b")
_operator = re.compile(r"operator\s*(?=[^\w\s])")
_white = re.compile(r"\s+")
_plain = frozenset(
    """int char void long short float double bool unsigned signed size_t ssize_t uint8_t uint16_t uint32_t uint64_t int8_t int16_t
    int32_t int64_t uintptr_t intptr_t ptrdiff_t wchar_t FILE va_list string vector map set pair unique_ptr shared_ptr
    static_cast dynamic_cast reinterpret_cast const_cast sizeof assert NULL nullptr decltype printf malloc free memcpy memset strlen
    strcmp""".split()
)
_DECLARATORS = frozenset({"pointer_declarator", "reference_declarator", "parenthesized_declarator", "function_declarator", "array_declarator",
                          "init_declarator", "attributed_declarator"})  # fmt: skip


class CDialect(Dialect):
    """C of all ages and C++."""

    type_wrappers = frozenset({"unique_ptr", "shared_ptr", "weak_ptr", "optional", "reference_wrapper", "atomic", "scoped_refptr", "RefPtr"})
    plain_names = _plain
    signature_end = "{= \t;"

    def __init__(self, language: str) -> None:
        """Take the language: C's functions have no owners."""
        super().__init__()
        self._is_cpp = language == "cpp"

    def prepare(self, text: str) -> str:
        """Return the text without what the preprocessor splits."""
        return readable(text)

    def draft(self, draft: Draft, captures: Captures, source: bytes) -> Iterable[Draft]:
        """Return the definitions of a declaration, with the names that its declarators hold."""
        node_type = draft.node.type
        if node_type == "function_definition":
            return self._named(draft, draft.node.child_by_field_name("declarator"), source)
        if node_type in ("declaration", "field_declaration"):
            return self._declared(draft, source)
        if node_type == "type_definition":
            return self._typedef(draft, source)
        if node_type == "namespace_definition":
            draft.name = dotted(draft.name)
        elif node_type in ("class_specifier", "struct_specifier"):
            name = self.type_text(draft.name.encode())
            draft.owner, _, draft.name = name.rpartition(".")
        elif draft.kind == "constant" and "\n" not in node_text(draft.node, source).strip() and draft.name.endswith(("_H", "_H_", "_HPP")):
            return ()
        return (draft,)

    def refine_kind(self, draft: Draft, holder_kind: str, holder_name: str, source: bytes) -> str:
        """Return the kind; a function of a class is a method, unless it makes it."""
        if draft.kind == "function" and not self._is_cpp:
            return "function"
        if draft.kind == "variable":
            return "constant" if draft.name.isupper() and len(draft.name) > 1 else "variable"
        if draft.kind == "function" and draft.owner.rpartition(".")[2].islower() and holder_kind not in TYPE_KINDS and draft.name != draft.owner:
            return "method" if draft.owner else "function"
        return super().refine_kind(draft, holder_kind, holder_name, source)

    def is_exported(self, draft: Draft, holder_kind: str, source: bytes) -> bool:
        """Return whether it is not static at the top; static members are as public as others."""
        return holder_kind in TYPE_KINDS or not _static.match(source, draft.node.start_byte, draft.node.start_byte + 80)

    def reference(self, node: tree_sitter.Node, captures: Captures, source: bytes) -> tuple[str, str]:
        """Return (receiver, name); a qualified name holds both."""
        receiver, name = super().reference(node, captures, source)
        if "::" in name or "<" in name:
            before, _, name = without_brackets(_white.sub("", name), "<>").replace("::", ".").removeprefix(".").rpartition(".")
            receiver = receiver or before
        return receiver, name

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the file of an `#include`, the namespace or name of a `using`."""
        if node.type == "preproc_include":
            path = field_text(node, "path", source).strip()
            return (RawImport(path.strip("<>\""), "", ""),) if path[:1] in "<\"" else ()
        words = node_text(node, source).rstrip("; \n").split()
        name = dotted(words[-1]) if words else ""
        if "namespace" in words:
            return (RawImport(name, "*", ""),)
        module, _, last = name.rpartition(".")
        return (RawImport(module, last, last),) if module and last else ()

    def _named(self, draft: Draft, declarator: tree_sitter.Node | None, source: bytes) -> Iterable[Draft]:
        name_node = _name_node(declarator)
        if name_node is None:
            return ()
        written = _white.sub(" ", node_text(name_node, source))
        draft.name_row, draft.name_start = name_node.start_point[0], name_node.start_byte
        if name_node.type == "operator_cast":
            written = written.partition("(")[0].strip()
        if written.isupper() and draft.node.child_by_field_name("type") is None and declarator is not None:
            return self._made_by_macro(draft, declarator, source)
        written = _operator.sub("operator", written)
        if "operator" in written:
            before, _, sign = written.partition("operator")
            draft.owner, draft.name = self.type_text(before.rstrip(": ").encode()) if before else "", "operator" + sign
        else:
            before, _, draft.name = without_brackets(written, "<>").replace(" ", "").rpartition("::")
            draft.owner = dotted(before)
        return (draft,) if draft.name not in _keywords else ()

    def _made_by_macro(self, draft: Draft, declarator: tree_sitter.Node, source: bytes) -> Iterable[Draft]:
        """Return the function that `TEST(Suite, Name) {` defines."""
        words = re.findall(r"\w+", field_text(declarator, "parameters", source))
        draft.name = words[min(len(words), 2) - 1] if words else ""
        draft.owner = words[0] if len(words) > 1 else ""
        return (draft,)

    def _declared(self, draft: Draft, source: bytes) -> Iterable[Draft]:
        """Return a prototype, or the variables of a declaration; members that are no functions have no card."""
        made: list[Draft] = []
        is_member = draft.node.type == "field_declaration"
        for declarator in draft.node.children_by_field_name("declarator"):
            one = Draft(draft.node, "variable", "", "", draft.start, draft.end, draft.name_row, draft.name_start)
            if _is_function(declarator):
                one.kind = "declaration"
                returned = draft.node.child_by_field_name("type")
                one.returns = self.type_text(node_text(returned, source).encode()) if returned is not None else ""
                one.returns = one.returns if one.returns != "void" else ""
            elif is_member or draft.kind == "declaration":
                continue
            made += self._named(one, declarator, source)
        return made

    def _typedef(self, draft: Draft, source: bytes) -> Iterable[Draft]:
        """Return the type that a `typedef` names: the struct in it, if that has no name of its own."""
        inner = draft.node.child_by_field_name("type")
        body = inner.child_by_field_name("body") if inner is not None else None
        made: list[Draft] = []
        for declarator in draft.node.children_by_field_name("declarator"):
            one = Draft(draft.node, "type", "", "", draft.start, draft.end, draft.name_row, draft.name_start)
            if inner is not None and body is not None:
                if inner.child_by_field_name("name") is None:
                    one.kind, one.body = ("enum" if inner.type == "enum_specifier" else "struct"), body
                else:  # the struct has a card of its own; the new name is on its last line
                    one.node, one.start, one.end = declarator, declarator.start_byte, declarator.end_byte
            made += self._named(one, declarator, source)
        return made


def _is_function(declarator: tree_sitter.Node) -> bool:
    """Return whether a declarator declares a function, not a pointer to one."""
    node: tree_sitter.Node | None = declarator
    while node is not None and node.type in _DECLARATORS:
        inner = _inside(node)
        if node.type == "function_declarator":
            return inner is not None and inner.type != "parenthesized_declarator"
        node = inner
    return node is not None and node.type == "operator_cast"


def _name_node(declarator: tree_sitter.Node | None) -> tree_sitter.Node | None:
    """Return the node of the name inside nested declarators."""
    node = declarator
    while node is not None and node.type in _DECLARATORS:
        node = _inside(node)
    return node


def _inside(node: tree_sitter.Node) -> tree_sitter.Node | None:
    found = node.child_by_field_name("declarator")
    if found is None:
        named = [child for child in node.named_children if child.type in _DECLARATORS or "identifier" in child.type or "operator" in child.type
                 or child.type == "destructor_name"]  # fmt: skip
        found = named[0] if named else None
    return found


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return CDialect(language)
