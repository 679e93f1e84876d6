"""Rust: `use` trees, `impl` blocks, calls inside macros."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import tree_sitter

from codecards.indexer.facts import FileFacts
from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.chains import UNKNOWN, chain
from codecards.indexer.parse.dialects.drafts import Draft, RawImport
from codecards.indexer.parse.dialects.nodes import Captures, field_text, node_text

_public = re.compile(rb"pub\b")
_before = re.compile(r"((?:[\w]+(?:::<[^<>]*>)?(?:\([^()]*\))?\s*(?:::|\.)\s*)+)\Z")
_awaited = re.compile(r"\.await\b(?!\()")
_words = re.compile(r"[^\W\d]\w*")
_BUILTINS = frozenset(
    """String Vec Option Result Box Some None Ok Err Self str Rc Arc RefCell Cell Mutex RwLock HashMap HashSet BTreeMap BTreeSet Fn
    FnMut FnOnce Send Sync Sized Copy Clone Debug Default Drop Iterator IntoIterator From Into PartialEq Eq PartialOrd Ord Hash
    println print eprintln eprint format vec assert assert_eq assert_ne panic todo unimplemented unreachable write writeln matches
    debug_assert debug_assert_eq include_str include_bytes concat env stringify cfg derive allow warn deny inline doc test
    must_use deprecated cfg_attr repr ignore should_panic no_mangle""".split()
)


class RustDialect(Dialect):
    """Rust of all editions."""

    self_words: Mapping[str, str] = {"self": "self", "Self": "self", "super": "super"}
    type_wrappers = frozenset(
        """Box Rc Arc Option Result RefCell Mutex RwLock Lazy LazyLock OnceCell OnceLock Cow Pin
        Weak MutexGuard Ref RefMut""".split()
    )
    builtin_names = _BUILTINS
    signature_end = "{= \t;"

    def draft(self, draft: Draft, captures: Captures, source: bytes) -> Iterable[Draft]:
        """Return the definition; an `impl` block gets the name of its type."""
        if draft.kind == "impl":
            name = self.type_text(draft.name.encode())
            words = _words.findall(draft.name)
            draft.name = name.rpartition(".")[2] or (words[0] if words else "impl")
        return (draft,) if draft.name != "_" else ()

    def refine_kind(self, draft: Draft, parent_kind: str, parent_name: str, source: bytes) -> str:
        """Return the kind; functions in `impl` and `trait` blocks are methods, including those without `self`."""
        return "method" if draft.kind == "function" and parent_kind in ("impl", "trait") else draft.kind

    def is_exported(self, draft: Draft, parent_kind: str, source: bytes) -> bool:
        """Return whether the definition is `pub` or part of a trait; `impl` blocks and macros count as exported."""
        if parent_kind == "trait" or draft.kind in ("impl", "macro"):
            return True
        return bool(_public.match(source, draft.node.start_byte))

    def finish(self, facts: FileFacts, text: str) -> FileFacts:
        """Return the facts with implementations of traits exported."""
        definitions = facts.definitions
        with_visibility = [
            replace(one, exported=True)
            if not one.exported
            and one.parent >= 0
            and definitions[one.parent].kind == "impl"
            and definitions[one.parent].bases
            else one
            for one in definitions
        ]
        return replace(facts, definitions=tuple(with_visibility))

    def reference(self, node: tree_sitter.Node, captures: Captures, source: bytes) -> tuple[str, str]:
        """Return (receiver, name); inside a macro the receiver is read from the text."""
        if "tokens" not in captures:
            return super().reference(node, captures, source)
        name = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        if source[node.end_byte : node.end_byte + 1] != b"(":
            return "", ""
        if source[node.start_byte - 1 : node.start_byte] not in (b":", b"."):
            return "", name
        match = _before.search(source[max(0, node.start_byte - 120) : node.start_byte].decode("utf-8", "replace"))
        if match:
            return self.chain(match[1].strip().rstrip(":.").encode()), name
        return UNKNOWN, name

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the names of a `use` tree."""
        if node.type == "extern_crate_declaration":
            name = field_text(node, "name", source)
            return (RawImport(name, "", field_text(node, "alias", source) or name),)
        is_public = bool(_public.match(source, node.start_byte))
        argument = node.child_by_field_name("argument")
        return (
            [replace(one, reexported=is_public) for one in _use_tree(argument, source)] if argument is not None else ()
        )

    def _chain(self, written: bytes) -> str:
        text = _awaited.sub("", written.decode("utf-8", "replace"))
        return chain(text, self.self_words, has_type_arguments=True)


def _use_tree(root: tree_sitter.Node, source: bytes) -> Iterator[RawImport]:
    """Yield the names of a tree like `a::{b, c::{self, d as e}, f::*}`."""
    pending: list[tuple[tree_sitter.Node, str]] = [(root, "")]
    while pending:
        node, prefix = pending.pop()
        if node.type in ("scoped_use_list", "use_list"):
            path = node.child_by_field_name("path")
            inner = _joined(prefix, node_text(path, source))
            items = node.child_by_field_name("list") if node.type == "scoped_use_list" else node
            pending += [(child, inner) for child in reversed(items.named_children if items is not None else [])]
        elif node.type == "use_wildcard":
            yield RawImport(_joined(prefix, node_text(node, source).rstrip("*: \n")), "*", "")
        elif node.type == "use_as_clause":
            yield _raw_import(_joined(prefix, field_text(node, "path", source)), field_text(node, "alias", source))
        elif node.type == "self":
            yield RawImport(prefix, "", prefix.rpartition(".")[2])
        elif "comment" not in node.type:
            yield _raw_import(_joined(prefix, node_text(node, source)), "")


def _raw_import(path: str, alias: str) -> RawImport:
    module, _, name = path.rpartition(".")
    if name == "self":
        return RawImport(module, "", alias or module.rpartition(".")[2])
    alias = alias or name
    return RawImport(module, name, "" if alias == "_" else alias) if module else RawImport(name, "", alias)


def _joined(prefix: str, path: str) -> str:
    path = "".join(path.split()).replace("::", ".").removeprefix(".").replace("r#", "")
    return f"{prefix}.{path}" if prefix and path else prefix or path


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return RustDialect()
