"""Kotlin: kinds of classes, extension receivers, imports, trailing lambdas."""

import re
from collections.abc import Iterable

import tree_sitter

from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.drafts import Draft, RawImport
from codecards.indexer.parse.dialects.nodes import Captures, node_text

_import = re.compile(r"import\s+([\w.`]+?)(\.\*)?(?:\s+as\s+(\w+))?\s*;?\s*\Z")
_word = re.compile(rb"[a-z]+")
_member = re.compile(r"\b(?:fun|va[lr]|class|object|interface|constructor|init)\b")
_end_of_member = re.compile(r"(?<=[^\s{;,(]) (?=\})")
_SOFT_KEYWORDS = (
    rb"suspend|inline|open|sealed|external|override|dynamic|vararg|infix|tailrec|lateinit|noinline|crossinline|internal|private"
    rb"|protected|public|abstract|final"
)
_soft_name = re.compile(
    rb"(?:(?<=[.:])|(?<=fun )|(?<=> )|(?<=va[lr] )|(?<![\w@]))(?:"
    + _SOFT_KEYWORDS
    + rb")(?=\()(?![^\n]{0,400}\)[ \t]*->)"
    rb"|(?<=\.)(?:" + _SOFT_KEYWORDS + rb")\b"
)
"""A soft keyword as the name of a function, not as the modifier of a function type."""
_constructor_modifiers = re.compile(
    rb"^[ \t]*(?:(?:actual|expect|internal|private|protected|public)[ \t]+){1,4}(?=constructor\b)", re.MULTILINE
)
_guard = re.compile(rb"^([ \t]*(?:!?is|!?in)\b[^\n{}]{1,200}?)\bif\b(?=[^\n]{1,300}->)", re.MULTILINE)
_else_guard = re.compile(rb"^([ \t]*)else[ \t]+if\b(?=[^\n{]{1,300}->)", re.MULTILINE)
_dollars = re.compile(rb"(?<!\$)\$\$+(?=\")")


class KotlinDialect(Dialect):
    """Kotlin, including scripts and multiplatform sources."""

    builtin_names = frozenset(
        """Int Long Short Byte Float Double Boolean Char String Unit Any Nothing Array List MutableList Map MutableMap Set MutableSet
        Pair Triple Throwable Exception listOf mutableListOf mapOf mutableMapOf setOf emptyList emptyMap arrayOf println print require
        check error requireNotNull checkNotNull TODO lazy let run apply also with takeIf repeat to until downTo step in is""".split()
    )

    def prepare(self, text: str) -> str:
        """Return the text with a semicolon in place of the space between a member and the closing brace on its line.

        The grammar does not accept a brace as the end of a member and loses the class.
        """
        if " }" not in text:
            return text
        return "\n".join(map(_with_ended_member, text.split("\n")))

    def repaired(self, source: bytes) -> bytes:
        """Return the text without what the grammar does not know: soft keywords as names, guards in `when`, `$$"…"`."""
        source = _soft_name.sub(lambda match: match[0].capitalize(), source)
        source = _constructor_modifiers.sub(lambda match: b" " * len(match[0]), source)
        source = _guard.sub(rb"\1, ", source)
        source = _else_guard.sub(lambda match: b" " * len(match[0]), source)
        return _dollars.sub(lambda match: b" " * len(match[0]), source)

    def draft(self, draft: Draft, captures: Captures, source: bytes) -> Iterable[Draft]:
        """Return the definition; broken syntax may leave the name empty."""
        draft.name = draft.name.strip("`")
        return (draft,)

    def refine_kind(self, draft: Draft, parent_kind: str, parent_name: str, source: bytes) -> str:
        """Return the kind; modifiers before the name distinguish interfaces and enums from classes."""
        if draft.node.type == "class_declaration":
            words = _word.findall(source[draft.node.start_byte : draft.name_start][-200:])
            if b"interface" in words[-2:]:
                return "interface"
            return "enum" if b"enum" in words else "class"
        return super().refine_kind(draft, parent_kind, parent_name, source)

    def is_exported(self, draft: Draft, parent_kind: str, source: bytes) -> bool:
        """Return whether the definition is not private."""
        return b"private" not in _word.findall(source[draft.node.start_byte : draft.name_start][-200:])

    def reference(self, node: tree_sitter.Node, captures: Captures, source: bytes) -> tuple[str, str]:
        """Return (receiver, name); the argument count is unknown if a trailing lambda follows."""
        if "arguments" in captures and isinstance(captures, dict):
            end = captures["arguments"][0].end_byte
            if source[end : end + 3].lstrip(b" ")[:1] == b"{":
                del captures["arguments"]
        return super().reference(node, captures, source)

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the imported name."""
        match = _import.match(node_text(node, source))
        if match is None:
            return ()
        path = match[1].replace("`", "")
        if match[2]:
            return (RawImport(path, "*", ""),)
        module, _, name = path.rpartition(".")
        return (RawImport(module, name, match[3] or name),)


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return KotlinDialect()


def _with_ended_member(line: str) -> str:
    """Return the line with a semicolon after the last of the members in braces."""
    inner = line.partition("{")[2]
    if " }" in inner and "${" not in line and _member.search(inner):
        return _end_of_member.sub(";", line)
    return line
