"""Python: imports, docstrings, names with one underscore."""

from collections.abc import Iterable, Iterator

import tree_sitter

from codecards.indexer.dialects.dialect import Dialect, RawImport, node_text, plain
from codecards.indexer.documentation import clean_string


class PythonDialect(Dialect):
    """Python 3, as far as the grammar reads it."""

    self_words = {"self": "self", "cls": "self", "super()": "super"}  # noqa: RUF012
    signature_end = ":"
    constructors = frozenset({"__init__", "__new__"})

    def docstring(self, node: tree_sitter.Node, source: bytes) -> str:
        """Return the string that is the body's first statement."""
        body = node.child_by_field_name("body")
        return _first_string(body, source) if body is not None else ""

    def module_doc(self, source: bytes) -> str:
        """The docstring of a module is found by `_leading_comment`'s caller through its card; nothing to add."""
        head = source[:3000].lstrip()
        for quotes in (b'"""', b"'''"):
            if head.startswith(quotes):
                return clean_string(head[: head.find(quotes, 3) + 3].decode("utf-8", "replace"))
        return ""

    def is_exported(self, outer: tree_sitter.Node, name: str, source: bytes) -> bool:
        """Return whether the name starts without an underscore (dunder names are public)."""
        return not name.startswith("_") or name.endswith("__")

    def type_text(self, written: str) -> str:
        """Return the class of an annotation: `Foo | None` and `Optional[Foo]` are Foo."""
        text = written.strip().strip("\"'")
        for wrapper in ("Optional[", "typing.Optional[", "Annotated[", "ClassVar[", "Final[", "type[", "Type["):
            if text.startswith(wrapper):
                text = text.removeprefix(wrapper).removesuffix("]").split(",")[0]
        choices = [part.strip() for part in text.split("|") if part.strip() not in ("None", "")]
        return super().type_text(choices[0].strip("\"'")) if len(choices) == 1 else ""

    def type_arguments(self, text: str) -> str:
        """Comparison signs are no brackets here."""
        return text

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the names of an `import` or `from … import` statement."""
        if node.type == "import_statement":
            return _plain_imports(node, source)
        return _from_imports(node, source)


def _plain_imports(node: tree_sitter.Node, source: bytes) -> Iterator[RawImport]:
    for child in node.children_by_field_name("name"):
        if child.type == "aliased_import":
            module, alias = (node_text(part, source) for part in child.named_children[:2])
            yield RawImport(module, "", alias)
        else:
            yield RawImport(plain(node_text(child, source)), "", plain(node_text(child, source)))


def _from_imports(node: tree_sitter.Node, source: bytes) -> Iterator[RawImport]:
    module_node = node.child_by_field_name("module_name")
    module = node_text(module_node, source).replace(" ", "") if module_node is not None else "__future__"
    level = len(module) - len(module.lstrip("."))
    module = module.lstrip(".")
    if any(child.type == "wildcard_import" for child in node.named_children):
        yield RawImport(module, "*", "", level)
    for child in node.children_by_field_name("name"):
        if child.type == "aliased_import":
            name, alias = (node_text(part, source) for part in child.named_children[:2])
        else:
            name = alias = node_text(child, source)
        yield RawImport(module, name, alias, level)


def _first_string(body: tree_sitter.Node, source: bytes) -> str:
    for child in body.named_children:
        if child.type == "comment":
            continue
        inner = child.named_children[0] if child.type == "expression_statement" and child.named_children else None
        return clean_string(node_text(inner, source)) if inner is not None and inner.type == "string" else ""
    return ""


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return PythonDialect()
