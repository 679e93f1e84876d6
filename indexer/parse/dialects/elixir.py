"""Elixir: definitions by macros, aliases, pipes."""

import re
from collections.abc import Iterable, Mapping

import tree_sitter

from codecards.indexer.parse.comments import clean_string
from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.drafts import Draft, RawImport
from codecards.indexer.parse.dialects.nodes import Captures, node_text

KINDS = {
    "defmodule": "module",
    "defprotocol": "interface",
    "defimpl": "impl",
    "defmacro": "macro",
    "defmacrop": "macro",
    "defguard": "macro",
    "defguardp": "macro",
    "describe": "namespace",
}
"""Macro → kind of its definition; other macros define functions."""
ATTRIBUTES = frozenset(
    """doc moduledoc typedoc spec impl type typep opaque callback macrocallback behaviour derive enforce_keys tag moduletag describetag
    deprecated since before_compile after_compile on_definition on_load external_resource dialyzer compile optional_callbacks
    shortdoc recursive preferred_cli_env requirements""".split()
)
"""Module attributes that annotate the next definition and do not define a value."""
_statement = re.compile(
    r"(alias|import|require|use)[\s(]+([\w.]*\w)(?:\.\{([^}]*)\})?(?:.*?\bas:\s*([\w.]+))?", re.DOTALL
)
_module_doc = re.compile(
    rb"\bdo\s*+(?>#[^\n]*\n\s*)*+@moduledoc\s+(?:~[sS])?(\"\"\".*?\"\"\"|\"(?:\\.|[^\"\\])*\")", re.DOTALL
)
_TYPE_ATTRIBUTES = (b"@spec", b"@type", b"@opaque", b"@callback", b"@macrocallback")
_for = re.compile(r"\bfor:\s*([\w.]+)")


class ElixirDialect(Dialect):
    """Elixir with ExUnit tests."""

    self_words: Mapping[str, str] = {"__MODULE__": "self"}
    has_type_arguments = False
    signature_end = " \t,"
    builtin_names = frozenset(
        """def defp defmacro defmacrop defmodule defprotocol defimpl defstruct defexception defguard defguardp defdelegate defoverridable
        alias import require use if unless case cond with for fn do quote unquote unquote_splicing receive try raise reraise throw
        super and or not in when test describe setup setup_all assert refute property doc moduledoc spec type typep opaque callback impl
        is_nil is_atom is_binary is_list is_map is_integer is_function is_tuple is_boolean is_number is_float is_pid is_struct
        is_bitstring is_map_key elem hd tl length map_size tuple_size byte_size self send spawn inspect to_string put_in get_in update_in
        rem div abs max min round trunc apply struct struct! then tap dbg behaviour integer string binary term any list map
        keyword atom boolean tuple module pid reference non_neg_integer pos_integer number float iodata function""".split()
    )

    def draft(self, draft: Draft, captures: Captures, source: bytes) -> Iterable[Draft]:
        """Return the definition with the kind of its macro; the name of a module may have several parts."""
        if draft.kind == "constant" and draft.name in ATTRIBUTES:
            return ()
        keyword = node_text(captures["keyword"][0], source) if "keyword" in captures else ""
        draft.kind = KINDS.get(keyword, draft.kind)
        if keyword in ("defmodule", "defprotocol", "defimpl"):
            if keyword == "defimpl":
                draft.bases = (draft.name,)
                target = _for.search(
                    source[draft.name_start : draft.name_start + 200].decode("utf-8", "replace").partition("\n")[0]
                )
                draft.name += f".{target[1]}" if target else ""
            draft.owner, _, draft.name = draft.name.rpartition(".")
        return (draft,)

    def refine_kind(self, draft: Draft, parent_kind: str, parent_name: str, source: bytes) -> str:
        """Return the kind that `draft` set."""
        return draft.kind

    def is_exported(self, draft: Draft, parent_kind: str, source: bytes) -> bool:
        """Return whether the macro does not define something private."""
        head = source[draft.node.start_byte : draft.node.start_byte + 10]
        return not head.startswith((b"defp ", b"defp(", b"defmacrop", b"defguardp", b"@typep", b"defnp"))

    def docstring(self, draft: Draft, source: bytes) -> str:
        """Return the `@moduledoc` of a module."""
        if draft.kind not in ("module", "interface", "impl") or draft.body is None:
            return ""
        match = _module_doc.match(source, draft.body.start_byte, draft.body.end_byte)
        return clean_string(match[1].decode("utf-8", "replace")) if match else ""

    def reference(self, node: tree_sitter.Node, captures: Captures, source: bytes) -> tuple[str, str]:
        """Return (receiver, name); the argument count is unknown in pipes and before `do`, which add an argument."""
        if "dotted" in captures:
            receiver, _, name = node_text(node, source).rpartition(".")
            return receiver, name
        line_start = source.rfind(b"\n", 0, node.start_byte) + 1
        if source[line_start : node.start_byte].lstrip().startswith(_TYPE_ATTRIBUTES):
            return "", ""
        if "arguments" in captures and isinstance(captures, dict):
            start = captures["receiver"][0].start_byte if "receiver" in captures else node.start_byte
            end = captures["arguments"][0].end_byte
            if source[max(0, start - 60) : start].rstrip().endswith(b"|>") or source[end : end + 4] in (
                b" do\n",
                b" do ",
            ):
                del captures["arguments"]
        return super().reference(node, captures, source)

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the names of `alias`, `import`, `require` or `use`."""
        match = _statement.match(node_text(node, source))
        if match is None:
            return
        keyword, path = match[1], match[2].rstrip(".")
        if keyword in ("import", "use"):
            yield RawImport(path, "*", "")
            return
        if keyword == "require" and not match[4]:
            return
        if match[3] is not None:
            for part in match[3].split(","):
                module, _, name = f"{path}.{part.strip()}".rpartition(".")
                if name:
                    yield RawImport(module, name, name)
            return
        module, _, name = path.rpartition(".")
        alias = match[4] or name
        yield RawImport(module, name, alias) if module else RawImport(name, "", alias)


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return ElixirDialect()
