"""C and C++: names inside declarators, includes, using declarations; macros are blanked before parsing."""

import re
from collections.abc import Iterable, Mapping

import tree_sitter

from codecards.indexer.facts import CODE_CALLABLE_KINDS, TYPE_BODY_KINDS, FileFacts
from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.c_macros import without_macros
from codecards.indexer.parse.dialects.c_recovery import with_lost_functions
from codecards.indexer.parse.dialects.chains import UNKNOWN, dotted, without_brackets
from codecards.indexer.parse.dialects.drafts import Draft, RawImport
from codecards.indexer.parse.dialects.nodes import Captures, ancestor, node_text

_WRAPPERS = frozenset(
    """pointer_declarator reference_declarator array_declarator init_declarator parenthesized_declarator
    attributed_declarator function_declarator variadic_declarator""".split()
)
_KEYWORDS = frozenset("if else for while do switch case return sizeof goto break continue default defined".split())
_NOT_TYPES = frozenset({b"public", b"private", b"protected", b"virtual", b"auto", b"void"})
_FUNCTIONS = frozenset({"function_definition", "lambda_expression", "compound_statement"})
_static = re.compile(rb"(?:[\w:<>,*&\s]|\[\[[^\]]*\]\])*?\bstatic\b")
_raw_string = re.compile(rb"R\"([^\s()\\\"]{1,16})\(")
_operator = re.compile(r"(?:^|::)\s*(operator\b.*)$", re.DOTALL)
_inline = re.compile(r"\binline\s+\w+$|\binline\s+\w+\s*::")
"""The inline part of `namespace geo::inline v1`."""
_macro_name = re.compile(r"[A-Z][A-Z0-9_]{2,}\Z")
_words = re.compile(r"\w+")
_LABELS = (b"public", b"private", b"protected")
MAX_ACCESS_BYTES = 4_000
"""Maximum distance before a member at which its access label is searched."""


class CDialect(Dialect):
    """C from K&R to C23, and C++."""

    self_words: Mapping[str, str] = {"this": "self"}
    type_wrappers = frozenset(
        """unique_ptr shared_ptr weak_ptr optional reference_wrapper atomic scoped_refptr intrusive_ptr""".split()
    )
    builtin_names = frozenset(
        """size_t ssize_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t intptr_t ptrdiff_t FILE NULL
        va_list bool sizeof defined va_start va_end va_arg va_copy offsetof static_assert assert
        static_cast dynamic_cast const_cast reinterpret_cast string""".split()
    )
    signature_end = "{= \t;"
    error_hint = "; macros may hide its syntax"

    def prepare(self, text: str) -> str:
        """Return the text with macros and conditional branches blanked where they hide the syntax."""
        return without_macros(text)

    def repaired(self, source: bytes) -> bytes:
        """Return the text with the delimiters of raw strings as spaces; the grammar does not know those of 16 characters."""
        parts: list[bytes] = []
        position = 0
        while match := _raw_string.search(source, position):
            ending = b")" + match[1] + b'"'
            end = source.find(ending, match.end())
            if end < 0:
                break
            inside = source[match.end() : end].replace(b')"', b"  ")
            blank = b" " * len(match[1])
            parts += [source[position : match.start()], b'R"(', blank, inside, blank, b')"']
            position = end + len(ending)
        return b"".join((*parts, source[position:]))

    def finish(self, facts: FileFacts, text: str) -> FileFacts:
        """Return the facts with functions recovered from regions that could not be parsed."""
        return with_lost_functions(facts, self.prepare(text)) if facts.problems else facts

    def draft(self, draft: Draft, captures: Captures, source: bytes) -> Iterable[Draft]:
        """Return the definition with the name inside its declarator, nothing if it declares nothing."""
        if "macro" in captures:
            return _test_case(draft, captures)
        if draft.kind in ("function", "declaration", "variable", "field") or draft.node.type == "type_definition":
            return self._declared(draft, captures["name"][0], source)
        if "tag" in captures and node_text(captures["tag"][0], source).strip("_") == draft.name.strip("_"):
            return ()
        if draft.kind == "namespace" and source[draft.node.start_byte : draft.node.start_byte + 7] == b"inline ":
            return ()  # its members are those of the namespace around
        if draft.kind == "namespace":
            draft.name = _inline.sub("", draft.name)
        if draft.kind == "namespace" or "::" in draft.name:
            owner, _, draft.name = dotted(without_brackets(draft.name, "<>")).rpartition(".")
            draft.owner = owner
        elif "<" in draft.name:
            draft.name = without_brackets(draft.name, "<>").strip()
        return (draft,)

    def _declared(self, draft: Draft, declarator: tree_sitter.Node, source: bytes) -> Iterable[Draft]:
        node, innermost = _unwrap(declarator)
        draft.owner, draft.name = _split(node_text(node, source))
        draft.name_start, draft.name_row = node.start_byte, node.start_point[0]
        is_function = innermost == "function_declarator" or node.type in ("operator_cast", "destructor_name")
        if node.type == "qualified_identifier" and "operator" in draft.name:
            is_function = True
        if draft.kind == "function":
            if not is_function and not self._is_macro_call(draft, declarator, source):
                return ()
            self._named_by_argument(draft, declarator, source)
        elif draft.kind in ("variable", "field") and is_function:
            holder = ancestor(draft.node, _FUNCTIONS, steps=4)
            if holder is not None or (
                draft.owner and draft.kind == "variable" and draft.node.child_by_field_name("type") is None
            ):
                return ()
            draft.kind = "declaration"
        return (draft,) if draft.name and draft.name not in _KEYWORDS and _words.search(draft.name) else ()

    def _is_macro_call(self, draft: Draft, declarator: tree_sitter.Node, source: bytes) -> bool:
        """Return whether `DEFINE_IT(name) {` was parsed as a parenthesised variable of a type DEFINE_IT."""
        kind = draft.node.child_by_field_name("type")
        is_one = declarator.type == "parenthesized_declarator" and kind is not None and kind.type == "type_identifier"
        if is_one:
            draft.returns = ""
        return is_one

    def _named_by_argument(self, draft: Draft, declarator: tree_sitter.Node, source: bytes) -> None:
        """Name the definition of a macro such as `TEST(Suite, name) {` after its arguments."""
        if draft.owner or draft.node.child_by_field_name("type") is not None or not _macro_name.match(draft.name):
            return
        around = draft.node.parent
        parameters = declarator.child_by_field_name("parameters")
        if parameters is None or (around is not None and around.type == "field_declaration_list"):
            return
        words = [node_text(one, source).strip() for one in parameters.named_children if "comment" not in one.type]
        if not words or not words[0].isidentifier():
            return
        first = parameters.named_children[0]
        if (
            len(words) > 1
            and words[1].isidentifier()
            and draft.name.startswith(("TEST", "TYPED_TEST", "BENCHMARK", "PARAM_TEST"))
        ):
            draft.owner, draft.name = words[0], words[1]
        else:
            draft.name = words[0]
        draft.name_start, draft.name_row = first.start_byte, first.start_point[0]

    def refine_kind(self, draft: Draft, parent_kind: str, parent_name: str, source: bytes) -> str:
        """Return the kind; a test defined by a macro is not a method."""
        if draft.kind == "declaration" and not draft.body:
            return "declaration"
        head_end = draft.body.start_byte if draft.body is not None else draft.node.end_byte
        if draft.kind == "function" and draft.owner and b"::" not in source[draft.node.start_byte : head_end]:
            return "function"
        return super().refine_kind(draft, parent_kind, parent_name, source)

    def is_exported(self, draft: Draft, parent_kind: str, source: bytes) -> bool:
        """Return whether the definition is not `static` in its file, or not private in its class."""
        if parent_kind in TYPE_BODY_KINDS:
            return _access(draft, parent_kind, source)
        if draft.kind in CODE_CALLABLE_KINDS or draft.kind in ("variable", "declaration"):
            return not _static.match(source[draft.node.start_byte : min(draft.name_start, draft.node.start_byte + 200)])
        return True

    def reference(self, node: tree_sitter.Node, captures: Captures, source: bytes) -> tuple[str, str]:
        """Return (receiver, name); a qualified name contains both."""
        if "qualified" not in captures:
            return super().reference(node, captures, source)
        written = self.chain(source[node.start_byte : node.end_byte])
        if written == UNKNOWN:
            return "", ""
        receiver, _, name = written.rpartition(".")
        return receiver, name

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the names of an include or a using declaration."""
        if node.type == "preproc_include":
            path = node.child_by_field_name("path")
            if path is not None and path.type in ("string_literal", "system_lib_string"):
                yield RawImport(node_text(path, source).strip('"<> '), "*", "")
            return
        names = node.named_children
        if node.type == "namespace_alias_definition" and len(names) == 2:
            yield RawImport(dotted(node_text(names[1], source)), "", node_text(names[0], source))
        elif names:
            written = dotted(node_text(names[-1], source))
            module, _, name = written.rpartition(".")
            if b"namespace" in source[node.start_byte : names[-1].start_byte]:
                yield RawImport(written, "*", "")
            elif module:
                yield RawImport(module, name, name)

    def _type_text(self, written: bytes) -> str:
        """Return a type, "" for access specifiers and placeholders."""
        return "" if written in _NOT_TYPES else super()._type_text(written)


def _unwrap(node: tree_sitter.Node) -> tuple[tree_sitter.Node, str]:
    """Return the node of the name inside a declarator and the type of its innermost wrapper, parentheses skipped."""
    innermost = ""
    while node.type in _WRAPPERS:
        if node.type != "parenthesized_declarator":
            innermost = node.type
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next(
                (one for one in reversed(node.named_children) if "declarator" in one.type or "identifier" in one.type),
                None,
            )
        if inner is None:
            break
        node = inner
    return node, innermost


def _split(written: str) -> tuple[str, str]:
    """Return (owner, name): "geo::Grid<T>::operator bool() const" is ("geo.Grid", "operator bool")."""
    operator = _operator.search(written)
    if operator:
        name = " ".join(operator[1].split())
        if not name.startswith(("operator()", "operator ()")):
            name = name.partition("(")[0].strip()
        else:
            name = "operator()"
        if name[8:9] == " " and not name[9:10].isalpha():
            name = "operator" + name[8:].strip()
        return dotted(without_brackets(written[: operator.start()], "<>")), name
    if "::" not in written:
        return "", "".join(written.partition("<")[0].split())
    owner, _, name = without_brackets(written, "<>").rpartition("::")
    return dotted(owner), "".join(name.split())


def _test_case(draft: Draft, captures: Captures) -> Iterable[Draft]:
    """Return the test of `TEST_CASE("does it") {`, up to the end of its block."""
    block = captures["block"][0]
    draft.name = draft.name.strip('"')
    draft.body = block
    draft.end, draft.last_row = block.end_byte, block.end_point[0]
    return (draft,)


def _access(draft: Draft, parent_kind: str, source: bytes) -> bool:
    """Return whether the last access label before a member is public."""
    end = draft.node.start_byte
    start = max(0, end - MAX_ACCESS_BYTES)
    label, position = _last_label(source, start, end)
    if position < 0:
        return parent_kind != "class" or start > 0
    return b"};" in source[position:end] or label == b"public"


def _last_label(source: bytes, start: int, end: int) -> tuple[bytes, int]:
    """Return the last access label between two positions and its position, -1 if there is none."""
    found = [(source.rfind(one + b":", start, end), one) for one in _LABELS]
    position, label = max(found)
    return label, position


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return CDialect()
