"""Python: imports, docstrings, properties, `__all__`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import tree_sitter

from codecards.indexer.facts import Export, FileFacts
from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.drafts import Draft, RawImport
from codecards.indexer.parse.dialects.nodes import node_text

_docstring = re.compile(rb'(?:\s++|#[^\n]*+)*+[rRuU]?("""|\'\'\'|"|\')((?:\\.|(?!\1)[^\\])*+)\1', re.DOTALL)
_property = re.compile(rb"@(?:[\w.]*property|[\w.]+\.(?:setter|getter|deleter))\b")
_all = re.compile(r"^__all__\s*(?::[^=\n]*)?\+?=\s*[\[(]([^\])]*)[\])]", re.MULTILINE)
_all_name = re.compile(r"[\"']([\w.]+)[\"']")
_BUILTINS = frozenset(
    """int str bytes float bool None object dict list set frozenset tuple type complex bytearray Any Optional Union List Dict
    Set Tuple Type Callable Iterable Iterator Sequence Mapping Literal Final ClassVar Annotated Self TypeVar Generic Protocol
    Exception ValueError TypeError KeyError IndexError AttributeError RuntimeError OSError IOError ImportError StopIteration
    NotImplementedError property staticmethod classmethod super""".split()
)
_TYPE_WRAPPERS = frozenset(
    {"Optional", "Annotated", "ClassVar", "Final", "Type", "type", "Awaitable", "Required", "NotRequired", "ReadOnly"}
)


class PythonDialect(Dialect):
    """Python 3."""

    self_words: Mapping[str, str] = {"self": "self", "cls": "self", "super()": "super"}
    has_type_arguments = False
    type_wrappers = _TYPE_WRAPPERS
    signature_end = ": \t"
    constructors = frozenset({"__init__", "__new__"})
    builtin_names = _BUILTINS

    def refine_kind(self, draft: Draft, parent_kind: str, parent_name: str, source: bytes) -> str:
        """Return the kind; decorated properties are properties, upper-case names constants."""
        if draft.kind == "variable":
            if parent_kind == "enum" or (draft.name.isupper() and len(draft.name) > 1):
                return "constant"
            return "field" if parent_kind == "class" else "variable"
        kind = super().refine_kind(draft, parent_kind, parent_name, source)
        if kind == "constructor" and draft.name not in self.constructors:
            kind = "method"
        if kind == "method" and draft.start < draft.node.start_byte:
            return "property" if _property.search(source, draft.start, draft.node.start_byte) else kind
        return kind

    def docstring(self, draft: Draft, source: bytes) -> str:
        """Return the string that is the first statement of the body."""
        if draft.body is None:
            return ""
        match = _docstring.match(source, draft.body.start_byte, draft.body.end_byte)
        return _inner(match) if match else ""

    def module_doc(self, source: bytes) -> str:
        """Return the docstring of the module."""
        match = _docstring.match(source)
        return _inner(match) if match else ""

    def is_exported(self, draft: Draft, parent_kind: str, source: bytes) -> bool:
        """Return whether the name does not start with an underscore; dunder names are public."""
        return not draft.name.startswith("_") or draft.name.endswith("__")

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the names of an `import` or `from … import` statement."""
        return _plain_imports(node, source) if node.type == "import_statement" else _from_imports(node, source)

    def finish(self, facts: FileFacts, text: str) -> FileFacts:
        """Return the facts with the names of `__all__` as exports."""
        if "__all__" not in text:
            return facts
        names = [name for listed in _all.findall(text) for name in _all_name.findall(listed)]
        return replace(facts, exports=tuple(Export(name, name) for name in dict.fromkeys(names)))


def _inner(match: re.Match[bytes]) -> str:
    return "\n".join(line.strip() for line in match[2].decode("utf-8", "replace").split("\n")).strip()


def _plain_imports(node: tree_sitter.Node, source: bytes) -> Iterator[RawImport]:
    for child in node.children_by_field_name("name"):
        if child.type == "aliased_import":
            module, alias = (node_text(part, source) for part in child.named_children[:2])
            yield RawImport(module, "", alias)
        else:
            module = "".join(node_text(child, source).split())
            yield RawImport(module, "", module)


def _from_imports(node: tree_sitter.Node, source: bytes) -> Iterator[RawImport]:
    module_node = node.child_by_field_name("module_name")
    module = "".join(node_text(module_node, source).split()) if module_node is not None else "__future__"
    level = len(module) - len(module.lstrip("."))
    module = module[level:]
    if any(child.type == "wildcard_import" for child in node.named_children):
        yield RawImport(module, "*", "", level)
    for child in node.children_by_field_name("name"):
        if child.type == "aliased_import" and child.named_child_count > 1:
            name, alias = (node_text(part, source) for part in child.named_children[:2])
        else:
            name = alias = node_text(child, source)
        yield RawImport(module, name, alias, level)


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return PythonDialect()
