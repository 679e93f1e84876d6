"""The rules of a language that its query cannot express; `Dialect` has the common ones, which subclasses override."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

import tree_sitter

from codecards.indexer.facts import TYPE_BODY_KINDS, FileFacts
from codecards.indexer.parse.dialects.chains import MAX_WRITTEN_CHARACTERS, UNKNOWN, chain, dotted, type_name
from codecards.indexer.parse.dialects.drafts import Draft, RawBinding, RawImport
from codecards.indexer.parse.dialects.nodes import Captures

Extract = Callable[[str, str], FileFacts]
"""Takes a text and its language, and returns its facts."""


class Dialect:
    """The common rules. Instances are stateless but for caches."""

    self_words: Mapping[str, str] = {"this": "self", "self": "self", "super": "super"}
    """First word of a receiver → its canonical form."""
    has_type_arguments = True
    """Whether `<` after a name opens type arguments."""
    type_wrappers: frozenset[str] = frozenset()
    """Types that stand for their first argument when a call is resolved: "Box", "Optional"."""
    signature_end = "{:= \t;"
    """Characters that are stripped from the end of a signature."""
    constructors: frozenset[str] = frozenset()
    """Names of constructors, beside the name of the type."""
    builtin_names: frozenset[str] = frozenset()
    """Names that the language defines; a bare use of one is not a reference."""
    bare_names_call = False
    """Whether a bare name calls the method of that name unless it is a local variable (Ruby)."""
    error_hint = ""
    """Addition to the report of a file with syntax errors."""
    splats: frozenset[str] = frozenset(
        """list_splat dictionary_splat spread_element splat_argument variadic_unpacking hash_splat_argument
        variadic_argument variadic_placeholder spread_expression""".split()
    )
    """Node types of arguments that expand to any number of arguments."""

    def __init__(self) -> None:
        """Create the caches of chains and types, which repeat often."""
        self.chain = lru_cache(maxsize=30_000)(self._chain)
        self.type_text = lru_cache(maxsize=30_000)(self._type_text)

    # the whole text

    def prepare(self, text: str) -> str:
        """Return the text to parse; each line has as many bytes as in the original."""
        return text

    def repaired(self, source: bytes) -> bytes:
        """Return a text with syntax errors, in which constructs that the grammar does not know are replaced.

        The result has the same length and lines; names are read from the original.
        """
        return source

    def embedded(self, text: str) -> Sequence[tuple[str, str]] | None:
        """Return (language, text) for each embedded part, None if the file is in one language.

        Each text has the line numbers of the file; the rest of the file is blank in it.
        """
        return None

    def whole_file(self, text: str, n_lines: int, extract: Extract) -> FileFacts | None:
        """Return the facts if the dialect finds them without a query, else None.

        Args:
            text: The whole file.
            n_lines: Its number of lines.
            extract: Extracts the facts of embedded text in another language.
        """
        return None

    def finish(self, facts: FileFacts, text: str) -> FileFacts:
        """Return the facts, completed by rules that need the whole file."""
        return facts

    def package(self, written: str) -> str:
        """Return the name of a package with dots."""
        return dotted(written)

    def module_doc(self, source: bytes) -> str:
        """Return the documentation of the file that is not a comment, such as a module docstring."""
        return ""

    # definitions

    def draft(self, draft: Draft, captures: Captures, source: bytes) -> Iterable[Draft]:
        """Return the definitions of a match: the corrected draft, several, or none."""
        return (draft,)

    def refine_kind(self, draft: Draft, parent_kind: str, parent_name: str, source: bytes) -> str:
        """Return the kind, given kind and name of the parent ("" at the top)."""
        owner = draft.owner.rpartition(".")[2] or (parent_name if parent_kind in TYPE_BODY_KINDS else "")
        kind = draft.kind
        if not owner:
            return kind
        if kind in ("function", "method"):
            return "constructor" if draft.name in self.constructors or draft.name == owner else "method"
        return kind

    def docstring(self, draft: Draft, source: bytes) -> str:
        """Return the docstring inside a definition, "" if the language has none."""
        return ""

    def is_exported(self, draft: Draft, parent_kind: str, source: bytes) -> bool:
        """Return whether other files can use the definition."""
        head = source[draft.node.start_byte : draft.node.start_byte + 120]
        return not _private.match(head)

    def signature(self, text: str) -> str:
        """Return a head without annotations and the like before it."""
        return text

    # uses

    def reference(self, node: tree_sitter.Node, captures: Captures, source: bytes) -> tuple[str, str]:
        """Return (receiver, name) of a reference."""
        name = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        if "receiver" not in captures:
            return "", name
        return self.chain_at(captures["receiver"][0], source), name

    def is_reference(self, name: str, receiver: str, kind: str) -> bool:
        """Return whether a match is a reference to a name that may be defined in some file."""
        if kind == "type" and len(name) < 2:  # a type parameter
            return False
        return receiver != "" or name not in self.builtin_names

    def count_arguments(self, node: tree_sitter.Node) -> int:
        """Return the number of arguments of a call, -1 if one expands to several."""
        count = 0
        for child in node.named_children:
            kind = child.type
            if kind in self.splats:
                return -1
            count += "comment" not in kind
        return count

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the imported names of a statement."""
        return ()

    def bindings(self, captures: Captures, source: bytes) -> Iterable[RawBinding]:
        """Return the bindings of a match of `@bindings`."""
        return ()

    # canonical forms

    def chain_at(self, node: tree_sitter.Node, source: bytes) -> str:
        """Return the canonical form of an expression, "?" if it is too long to be one."""
        start, end = node.start_byte, node.end_byte
        return self.chain(source[start:end]) if end - start <= MAX_WRITTEN_CHARACTERS else UNKNOWN

    def _chain(self, written: bytes) -> str:
        """Return the canonical form of a receiver (see `facts.Reference.receiver`)."""
        return chain(written.decode("utf-8", "replace"), self.self_words, has_type_arguments=self.has_type_arguments)

    def _type_text(self, written: bytes) -> str:
        """Return the one name of a type on which calls resolve, "" if there is none."""
        return type_name(written.decode("utf-8", "replace"), self.type_wrappers)


_private = re.compile(rb"(?:@[\w.]+(?:\([^)]*\))?\s+)*(?:private|fileprivate)\b")
