"""Ruby: sigils, mixins, `new`, methods that are called by bare names."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

import tree_sitter

from codecards.indexer.facts import FileFacts
from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.chains import chain, dotted
from codecards.indexer.parse.dialects.drafts import Draft, RawImport
from codecards.indexer.parse.dialects.nodes import Captures, field_text, node_text

_visibility = re.compile(r"^[ \t]*(private|protected|public)(?:_class_method)?[ \t]*(?:#.*)?$", re.MULTILINE)
_hidden = re.compile(rb"(?:private|protected)(?:_class_method)?\s+\Z")
_BUILTINS = frozenset(
    """require require_relative include extend prepend attr_accessor attr_reader attr_writer private protected public raise puts print
    p loop lambda proc define_method alias_method module_function private_constant private_class_method String Integer Float Array
    Hash Symbol NilClass StandardError ArgumentError RuntimeError Struct Object Class Module Proc Set Time block_given? format
    sprintf Kernel Comparable Enumerable describe it context""".split()
)


class RubyDialect(Dialect):
    """Ruby, including endless methods."""

    self_words: Mapping[str, str] = {"self": "self", "super": "super", "self.class": "self"}
    has_type_arguments = False
    constructors = frozenset({"initialize"})
    builtin_names = _BUILTINS
    bare_names_call = True
    signature_end = " \t;{"

    def draft(self, draft: Draft, captures: Captures, source: bytes) -> Iterable[Draft]:
        """Return the definition; `class Shop::Item` defines Item of Shop, and a symbol loses its colon."""
        if draft.kind in ("class", "module", "constant"):
            draft.owner, _, draft.name = dotted(draft.name).rpartition(".")
        elif draft.node.type == "call":
            draft.name = draft.name.strip(":\"'")
            if "#{" in draft.name:
                return ()
        elif draft.node.type == "singleton_method":
            owner = field_text(draft.node, "object", source)
            draft.owner = dotted(owner) if owner[:1].isupper() else ""
        return (draft,)

    def refine_kind(self, draft: Draft, parent_kind: str, parent_name: str, source: bytes) -> str:
        """Return the kind; a method outside classes and modules is a function."""
        if draft.kind != "method":
            return draft.kind
        if parent_kind not in ("class", "module") and not draft.owner and draft.node.type != "singleton_method":
            return "function"
        return "constructor" if draft.name in self.constructors else "method"

    def is_exported(self, draft: Draft, parent_kind: str, source: bytes) -> bool:
        """Return whether no `private` precedes it on its line; `finish` handles `private` alone on a line."""
        return not _hidden.search(source[max(0, draft.node.start_byte - 24) : draft.node.start_byte])

    def signature(self, text: str) -> str:
        """Return the first line of a definition, with further lines while parentheses are open."""
        lines = text.strip().split("\n")
        head = lines[0]
        for line in lines[1:6]:
            if head.count("(") <= head.count(")"):
                break
            head = f"{head} {line.strip()}"
        return head

    def is_reference(self, name: str, receiver: str, kind: str) -> bool:
        """Return whether a match is a reference; `Foo.new` is not, because it is a construction of Foo."""
        if name == "class" or (name == "new" and receiver[:1].isupper()):
            return False
        return super().is_reference(name, receiver, kind)

    def reference(self, node: tree_sitter.Node, captures: Captures, source: bytes) -> tuple[str, str]:
        """Return (receiver, name); a path of modules contains both, and a symbol loses its colon."""
        if node.type == "scope_resolution":
            receiver, _, name = dotted(node_text(node, source)).rpartition(".")
            return receiver, name
        receiver, name = super().reference(node, captures, source)
        return ("self", name[1:]) if name.startswith(":") else (receiver, name)

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the file of a `require`."""
        arguments = node.child_by_field_name("arguments")
        path = node_text(arguments.named_children[0], source).strip("\"'") if arguments is not None else ""
        if not path or "#{" in path:
            return ()
        if field_text(node, "method", source) == "require_relative" and not path.startswith("."):
            path = "./" + path
        return (RawImport(path, "", ""),)

    def finish(self, facts: FileFacts, text: str) -> FileFacts:
        """Return the facts with definitions after `private` not exported, and without duplicate bindings of `new`."""
        bindings = tuple(one for one in facts.bindings if not one.value.endswith(".new()"))
        switches = [(text.count("\n", 0, match.start()) + 1, match[1]) for match in _visibility.finditer(text)]
        if not switches:
            return replace(facts, bindings=bindings)
        definitions = list(facts.definitions)
        for position, one in enumerate(definitions):
            if one.kind in ("method", "field") and one.parent >= 0 and one.exported:
                parent = facts.definitions[one.parent]
                before = [word for line, word in switches if parent.first_line < line < one.first_line]
                if before and before[-1] != "public":
                    definitions[position] = replace(one, exported=False)
        return replace(facts, definitions=tuple(definitions), bindings=bindings)

    def _chain(self, written: bytes) -> str:
        text = chain(written.decode("utf-8", "replace"), self.self_words, has_type_arguments=False)
        return text.replace("self.class", "self", 1) if text.startswith("self.class.") else text.replace("@", "")


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return RubyDialect()
