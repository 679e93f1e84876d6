"""Scala: import selectors, packages in several clauses, extension methods."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

import tree_sitter

from codecards.indexer.facts import FileFacts
from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.drafts import Draft, RawImport
from codecards.indexer.parse.dialects.nodes import Captures, node_text

_packages = re.compile(
    r"\A(?>\s+|//[^\n]*|/\*.*?\*/)*+((?>package\s+(?!object\b)[\w.`]+[ \t\r]*[\n;{]\s*)+)", re.DOTALL
)
_package = re.compile(r"package\s+([\w.`]+)")
_rename = re.compile(r"(?<!\s)\s*(?:=>|\bas\b)\s*")
_name = re.compile(r"\w+")
_word = re.compile(rb"[a-z]+")


class ScalaDialect(Dialect):
    """Scala 2 and 3."""

    type_wrappers = frozenset({"Option", "Some"})
    constructors = frozenset({"this"})
    signature_end = "{= \t;:"
    builtin_names = frozenset(
        """Int Long Short Byte Float Double Boolean Char String Unit Any AnyRef AnyVal Nothing Null List Seq Map Set Vector Array
        Option Some None Right Left Either Future Try Success Failure Throwable Exception Iterator println print require assert
        throws inline deprecated tailrec implicitly""".split()
    )

    def draft(self, draft: Draft, captures: Captures, source: bytes) -> Iterable[Draft]:
        """Return the definition; an anonymous given is named after its type, as the compiler does."""
        if draft.node.type == "given_definition" and draft.node.child_by_field_name("name") is None:
            draft.name = "given_" + "_".join(_name.findall(draft.name))
        draft.name = draft.name.strip("`")
        return (draft,)

    def refine_kind(self, draft: Draft, parent_kind: str, parent_name: str, source: bytes) -> str:
        """Return the kind; `this` is a constructor."""
        return "constructor" if draft.name == "this" else super().refine_kind(draft, parent_kind, parent_name, source)

    def is_exported(self, draft: Draft, parent_kind: str, source: bytes) -> bool:
        """Return whether the definition is not private."""
        return b"private" not in _word.findall(source[draft.node.start_byte : draft.name_start][-200:])

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the names of the selectors of an import."""
        written = "".join(node_text(node, source).removeprefix("import").strip().splitlines())
        return [one for part in _split_outside_braces(written) for one in _selected(part.strip())]

    def finish(self, facts: FileFacts, text: str) -> FileFacts:
        """Return the facts with the package clauses at the top joined into one name."""
        if not facts.package:
            return facts
        match = _packages.match(text)
        parts = _package.findall(match[1]) if match else []
        return replace(facts, package=".".join(parts).replace("`", "")) if len(parts) > 1 else facts


def _split_outside_braces(text: str) -> Iterator[str]:
    depth = start = 0
    for index, character in enumerate(text):
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
        elif character == "," and not depth:
            yield text[start:index]
            start = index + 1
    yield text[start:]


def _selected(path: str) -> Iterator[RawImport]:
    head, brace, inner = path.partition("{")
    module = head.strip().rstrip(".")
    if brace:
        for item in inner.rstrip("} ").split(","):
            yield from _raw_imports(module, item.strip())
    else:
        plain, *renamed = _rename.split(path)
        module, _, name = plain.rpartition(".")
        yield from _raw_imports(module, f"{name} => {renamed[0]}" if renamed else name)


def _raw_imports(module: str, item: str) -> Iterator[RawImport]:
    name, *renamed = _rename.split(item)
    if name in ("_", "*", "given"):
        yield RawImport(module, "*", "")
    elif name and (not renamed or renamed[0] != "_"):
        yield RawImport(module, name.strip("`"), renamed[0] if renamed else name.strip("`"))


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return ScalaDialect()
