"""Dialect: what a language's query can't say. This one fits most languages; each of the others overrides a little."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

import tree_sitter

from codecards.indexer.facts import TYPE_BODY_KINDS, FileFacts
from codecards.indexer.parse.dialects.chains import MAX_WRITTEN_CHARACTERS, UNKNOWN, chain, dotted, type_name
from codecards.indexer.parse.dialects.drafts import Draft, RawBinding, RawImport
from codecards.indexer.parse.dialects.nodes import Captures

Extract = Callable[[str, str], FileFacts]
"""Takes a text and its language."""


class Dialect:
    """The common rules. An instance remembers what it computed, and nothing else."""

    self_words: Mapping[str, str] = {"this": "self", "self": "self", "super": "super"}
    """First word of a receiver -> its canonical form."""
    has_type_arguments = True
    """Whether `<` after a name opens type arguments."""
    type_wrappers: frozenset[str] = frozenset()
    """Types through which calls reach their first argument: "Box", "Optional"."""
    signature_end = "{:= \t;"
    """Characters that end a head and are not part of it."""
    constructors: frozenset[str] = frozenset()
    """Names that construct; a method with the type's own name always does."""
    builtin_names: frozenset[str] = frozenset()
    """Names that the language defines: no reference leads from them."""
    bare_names_call = False
    """Whether a name alone calls the method of that name, unless it is a local variable."""
    splats: frozenset[str] = frozenset(
        """list_splat dictionary_splat spread_element splat_argument variadic_unpacking hash_splat_argument
        variadic_argument variadic_placeholder spread_expression""".split()
    )
    """Types of nodes among a call's arguments that stand for any number of them."""

    def __init__(self) -> None:
        """Prepare the memory of chains and types, which repeat a lot."""
        self.chain = lru_cache(maxsize=30_000)(self._chain)
        self.type_text = lru_cache(maxsize=30_000)(self._type_text)

    # the text as a whole

    def prepare(self, text: str) -> str:
        """Return the text to parse: as many bytes a line as the original."""
        return text

    def embedded(self, text: str) -> Sequence[tuple[str, str]] | None:
        """Return (language, text) for each language inside, None where the file is all of one.

        Each text has the lines of the whole file, and blanks where it is not of that language.
        """
        return None

    def whole_file(self, text: str, n_lines: int, extract: Extract) -> FileFacts | None:
        """Return all facts where no query is needed to find them, else None.

        Args:
            text: The whole file.
            n_lines: Its number of lines.
            extract: Gives the facts of a text in another language that it holds.
        """
        return None

    def finish(self, facts: FileFacts, text: str) -> FileFacts:
        """Return the facts with what is better said over the whole file."""
        return facts

    def package(self, written: str) -> str:
        """Return the name of a package with dots."""
        return dotted(written)

    def module_doc(self, source: bytes) -> str:
        """Return the documentation of the file as a whole that is no comment."""
        return ""

    # definitions

    def draft(self, draft: Draft, captures: Captures, source: bytes) -> Iterable[Draft]:
        """Return the definitions that a match gives: the draft, put right, others beside it, or none."""
        return (draft,)

    def refine_kind(self, draft: Draft, parent_kind: str, parent_name: str, source: bytes) -> str:
        """Return the kind, given what directly holds the definition ("" at the top)."""
        owner = draft.owner.rpartition(".")[2] or (parent_name if parent_kind in TYPE_BODY_KINDS else "")
        kind = draft.kind
        if not owner:
            return kind
        if kind in ("function", "method"):
            return "constructor" if draft.name in self.constructors or draft.name == owner else "method"
        return kind

    def docstring(self, draft: Draft, source: bytes) -> str:
        """Return the documentation inside a definition, "" if the language has none."""
        return ""

    def is_exported(self, draft: Draft, parent_kind: str, source: bytes) -> bool:
        """Return whether other files can use the definition."""
        head = source[draft.node.start_byte : draft.node.start_byte + 120]
        return not _private.match(head)

    def signature(self, text: str) -> str:
        """Return a head without what stands before it and is no part of it, such as annotations."""
        return text

    # uses

    def reference(self, node: tree_sitter.Node, captures: Captures, source: bytes) -> tuple[str, str]:
        """Return (receiver, name) of a use."""
        name = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        if "receiver" not in captures:
            return "", name
        return self.chain_at(captures["receiver"][0], source), name

    def is_reference(self, name: str, receiver: str, kind: str) -> bool:
        """Return whether what the query matched is a use of a name that may be defined somewhere."""
        if kind == "type" and len(name) < 2:  # a type parameter
            return False
        return receiver != "" or name not in self.builtin_names

    def count_arguments(self, node: tree_sitter.Node) -> int:
        """Return the number of arguments of a call, -1 where one may stand for several."""
        count = 0
        for child in node.named_children:
            kind = child.type
            if kind in self.splats:
                return -1
            count += "comment" not in kind
        return count

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return what an import statement brings in."""
        return ()

    def bindings(self, captures: Captures, source: bytes) -> Iterable[RawBinding]:
        """Return the bindings of a match with `@bindings`, whose form only the dialect can read."""
        return ()

    # forms

    def chain_at(self, node: tree_sitter.Node, source: bytes) -> str:
        """Return the canonical form of an expression, without looking at one that is too long for any."""
        start, end = node.start_byte, node.end_byte
        return self.chain(source[start:end]) if end - start <= MAX_WRITTEN_CHARACTERS else UNKNOWN

    def _chain(self, written: bytes) -> str:
        """Return the canonical form of what stands before a name (see `facts.Reference.receiver`)."""
        return chain(written.decode("utf-8", "replace"), self.self_words, has_type_arguments=self.has_type_arguments)

    def _type_text(self, written: bytes) -> str:
        """Return a type as the resolver wants it: the one name that calls go to, "" if there is none."""
        return type_name(written.decode("utf-8", "replace"), self.type_wrappers)

    def problem(self, n_errors: int, first_line: int) -> str:
        """Return what to tell of a tree with error nodes."""
        more = "" if n_errors == 1 else f"{n_errors} places, the first at "
        return f"could not be parsed at {more}line {first_line}; what lies around is indexed"


_private = re.compile(rb"(?:@[\w.]+(?:\([^)]*\))?\s+)*(?:private|fileprivate)\b")
