"""Dialect: what a language's query can't say. This one fits most languages; each of the others overrides a little."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import tree_sitter

from codecards.indexer.facts import Definition, FileFacts

MAX_RECEIVER_CHARACTERS = 80
_separators = re.compile(r"\s*(?:::|->|\?\.|!!\.|\\|&\.)\s*")
_white = re.compile(r"\s+")
_chain = re.compile(r"^[\w$@]+(?:\(\))?(?:\.[\w$@]+(?:\(\))?)*$")


@dataclass(frozen=True, slots=True)
class RawImport:
    """One imported name; the fields are those of `facts.Import`."""

    module: str
    name: str
    alias: str
    level: int = 0
    reexported: bool = False


def plain(text: str) -> str:
    """Return a type or dotted name without type arguments, white space, and signs around it; `::` becomes a dot."""
    text = without_brackets(_white.sub("", _separators.sub(".", text.strip())), "<>")
    return without_brackets(text, "[]").strip(".&*?!:\"'` ")


def without_brackets(text: str, pair: str) -> str:
    """Return the text without what stands in a kind of brackets, nested ones too: "Map<K, V>" → "Map"."""
    if pair[0] not in text:
        return text
    depth, kept = 0, []
    for character in text:
        if character == pair[0]:
            depth += 1
        elif character == pair[1] and depth:
            depth -= 1
        elif not depth:
            kept.append(character)
    return "".join(kept)


def receiver_text(written: bytes, dialect: "Dialect") -> str:
    """Return the canonical form of what stands before a name (see `facts.Reference.receiver`)."""
    if len(written) > 4 * MAX_RECEIVER_CHARACTERS:
        return "?"
    text = _separators.sub(".", written.decode("utf-8", "replace").strip())
    text = dialect.type_arguments(text)
    if "(" in text:
        text = _emptied_calls(text)
    text = _white.sub("", text)
    first, dot, rest = text.partition(".")
    first = dialect.self_words.get(first, first)
    text = first + dot + rest
    if dialect.member_sign and text.startswith(dialect.member_sign):
        text = "self." + text.lstrip(dialect.member_sign)
    text = text.lstrip("$")
    return text if len(text) <= MAX_RECEIVER_CHARACTERS and _chain.match(text) else "?"


def _emptied_calls(text: str) -> str:
    """Return the text with the arguments of calls dropped: "f(a, g(b)).h" → "f().h"."""
    depth, kept = 0, []
    for character in text:
        if character == ")":
            depth -= 1
        if depth == 0:
            kept.append(character)
        if character == "(":
            depth += 1
    return "".join(kept)


class Dialect:
    """The common rules. Instances hold no state."""

    self_words: dict[str, str] = {"this": "self", "self": "self", "super": "super"}  # noqa: RUF012 - never changed
    """First word of a receiver -> its canonical form."""
    member_sign = ""
    """Sign that a member's name starts with: "@" in Ruby."""
    signature_end = "{:="
    """Characters that end a head and are not part of it."""
    constructors: frozenset[str] = frozenset()
    """Names that construct, beside the type's own."""
    whole_file: Callable[[str, int], FileFacts] | None = None
    """Reads the whole text where one grammar won't do (notebooks, Vue); gets the text and its number of lines."""

    def prepare(self, text: str) -> str:
        """Return the text to parse: as long as the original, line by line."""
        return text

    def split_name(self, written: str) -> tuple[str, str]:
        """Return (last part, owner) of a name as written."""
        return written.strip().strip("`\"'"), ""

    def refine_kind(self, kind: str, name: str, owner: str, *, owned: bool) -> str:
        """Return the kind, given the last part of the owner's name and whether a type owns the definition."""
        if kind == "function" and owned:
            kind = "method"
        if kind == "method" and owned and (name in self.constructors or name == owner.rpartition(".")[2]):
            return "constructor"
        return kind

    def docstring(self, node: tree_sitter.Node, source: bytes) -> str:
        """Return the documentation inside a definition, "" if the language has none."""
        return ""

    def module_doc(self, source: bytes) -> str:
        """Return the documentation of the file as a whole that is no comment."""
        return ""

    def is_exported(self, outer: tree_sitter.Node, name: str, source: bytes) -> bool:
        """Return whether other files can use the definition."""
        head = source[outer.start_byte : outer.start_byte + 120]
        return not re.match(rb"(?:@\w+\s+)*(?:private|fileprivate|static\s+(?:inline\s+)?\w+\s+\w+\s*\()", head)

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return what an import statement brings in."""
        return ()

    def type_text(self, written: str) -> str:
        """Return a type as the resolver wants it: the one name that calls go to, "" if there is none."""
        text = plain(re.sub(r"\b(?:const|mut|dyn|impl|ref|final|readonly|var|val|volatile|static)\b|'\w+\b|\bOptional\b", "", written))
        return text if re.fullmatch(r"[\w$.]+", text) else ""

    def type_arguments(self, text: str) -> str:
        """Return a receiver without type arguments."""
        return without_brackets(text, "<>") if "<" in text and ">" in text else text

    def count_arguments(self, node: tree_sitter.Node) -> int:
        """Return the number of arguments of a call, -1 where one may stand for several."""
        if any(child.type in _SPLATS for child in node.named_children):
            return -1
        return sum(child.type != "comment" for child in node.named_children)

    def is_no_reference(self, name: str, receiver: str, kind: str) -> bool:
        """Return whether what the query matched is no use of a name after all."""
        return False

    def problems(self, source: bytes, n_errors: int, first_line: int) -> tuple[str, ...]:
        """Return what to tell of a tree with error nodes."""
        more = "" if n_errors == 1 else f"{n_errors} places, the first "
        return (f"could not be parsed at {more}line {first_line}; what lies around is indexed",)

    def finish(self, facts: FileFacts, text: str) -> FileFacts:
        """Return the facts with what is better said over the whole file."""
        return facts


_SPLATS = frozenset({"list_splat", "dictionary_splat", "spread_element", "splat_argument", "variadic_unpacking", "hash_splat_argument"})


def child_text(node: tree_sitter.Node, field: str, source: bytes) -> str:
    """Return the text of a child by its field name, "" if there is none."""
    child = node.child_by_field_name(field)
    return source[child.start_byte : child.end_byte].decode("utf-8", "replace") if child is not None else ""


def node_text(node: tree_sitter.Node, source: bytes) -> str:
    """Return a node's text."""
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def with_definitions(facts: FileFacts, definitions: Iterable[Definition]) -> FileFacts:
    """Return the facts with other definitions in the same places."""
    return replace(facts, definitions=tuple(definitions))
