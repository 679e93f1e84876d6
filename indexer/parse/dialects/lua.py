"""Lua: modules by `require`, tables as modules and classes."""

import re
from collections.abc import Iterable
from dataclasses import replace

import tree_sitter

from codecards.indexer.facts import Definition, Export, FileFacts
from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.chains import UNKNOWN
from codecards.indexer.parse.dialects.drafts import Draft, RawImport
from codecards.indexer.parse.dialects.nodes import Captures, node_text

_required = re.compile(r"\brequire\s*\(?\s*[\"']([^\"']+)[\"']")
_alias = re.compile(r"(?<![\w.])([A-Za-z_][\w.]*+)\s{0,80}=\s{0,80}\Z")
_member = re.compile(rb"\s*\.\s*([A-Za-z_]\w*)\s*(?![\w(.:\[\"'{ ])")
_import_value = re.compile(rb"[^=\n]*=\s*require\b\s*\(?\s*[\"'][^\"'\n]*[\"']\s*\)?\s*(?:\.\w+)?\s*\Z")
_returned = re.compile(r"^return[ \t]+([A-Za-z_]\w*)\s*;?\s*\Z", re.MULTILINE)
_returned_table = re.compile(r"^return[ \t]+setmetatable\(\s*([A-Za-z_]\w*)\b", re.MULTILINE)


class LuaDialect(Dialect):
    """Lua 5.1 to 5.4 and LuaJIT."""

    has_type_arguments = False
    builtin_names = frozenset(
        """require print pairs ipairs type tostring tonumber setmetatable getmetatable assert error pcall xpcall select next rawget
        rawset rawequal unpack dofile loadfile load loadstring collectgarbage""".split()
    )
    signature_end = "= \t;"

    def draft(self, draft: Draft, captures: Captures, source: bytes) -> Iterable[Draft]:
        """Return the definition, nothing for the name of a required module, which is an import."""
        if draft.kind in ("variable", "field") and _import_value.match(
            source[draft.node.start_byte : draft.node.end_byte][:300]
        ):
            return ()
        return (draft,)

    def refine_kind(self, draft: Draft, parent_kind: str, parent_name: str, source: bytes) -> str:
        """Return the kind of the query unchanged."""
        return draft.kind

    def is_exported(self, draft: Draft, parent_kind: str, source: bytes) -> bool:
        """Return whether the definition is global or a field of a table."""
        return not source.startswith(b"local", draft.start) and not source.startswith(b"local", draft.node.start_byte)

    def _chain(self, written: bytes) -> str:
        return UNKNOWN if written.startswith(b"require") else super()._chain(written)

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the module of a `require` and the name that it is bound to."""
        match = _required.match(node_text(node, source))
        if match is None:
            return ()
        line_start = source.rfind(b"\n", 0, node.start_byte) + 1
        alias = _alias.search(source[line_start : node.start_byte].decode("utf-8", "replace"))
        name = alias[1] if alias and "." not in alias[1] else ""
        member = _member.match(source, node.end_byte) if alias else None
        return (RawImport(match[1], member[1].decode() if member else "", name),)

    def finish(self, facts: FileFacts, text: str) -> FileFacts:
        """Return the facts with tables of functions as objects, and the exports of the returned table."""
        owners = {
            one.qualified_name.rpartition(".")[0] for one in facts.definitions if one.kind in ("function", "method")
        }
        definitions = tuple(_as_object(one, owners) for one in facts.definitions)
        match = _returned.search(text) or _returned_table.search(text)
        if match is None:
            return replace(facts, definitions=definitions)
        table = match[1]
        exports = [Export("default", table)]
        exports += [
            Export(one.name, one.qualified_name) for one in definitions if one.qualified_name == f"{table}.{one.name}"
        ]
        definitions = tuple(replace(one, exported=True) if one.qualified_name == table else one for one in definitions)
        return replace(facts, definitions=definitions, exports=tuple(dict.fromkeys(exports)))


def _as_object(one: Definition, owners: set[str]) -> Definition:
    if one.kind in ("variable", "field") and one.qualified_name in owners:
        return replace(one, kind="object")
    return one


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return LuaDialect()
