r"""Facts: what one file's text says by itself, whatever its path and the rest of the repository.

They depend on the content and the language alone, so that they are kept by content and survive renames and branch
switches. All names are as written, with one exception: in receivers, bases and types every language's separator
(`::`, `->`, `\\`, `?.`) is written as a dot, and the instance or class itself is `self`, its base `super`.
Lines are 1-based and inclusive; only LF, CRLF and (in files without LF) CR end a line.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from codecards.indexer.problems import Reason


class Kind(StrEnum):
    """Kind of a definition or card.

    An index stores a kind as its position here (`columns.KIND_NUMBERS`), so new kinds are added at the end.
    """

    CLASS = "class"
    STRUCT = "struct"
    INTERFACE = "interface"
    TRAIT = "trait"
    ENUM = "enum"
    RECORD = "record"
    OBJECT = "object"
    IMPL = "impl"
    NAMESPACE = "namespace"
    MODULE = "module"  # the code of a file outside all definitions; also a Ruby `module`, a Rust `mod`
    FUNCTION = "function"
    METHOD = "method"
    CONSTRUCTOR = "constructor"
    PROPERTY = "property"
    MACRO = "macro"
    DECLARATION = "declaration"  # a prototype or signature without a body; an overload stub is a function or method
    TYPE = "type"  # a type alias
    VARIABLE = "variable"
    CONSTANT = "constant"
    FIELD = "field"
    TABLE = "table"
    VIEW = "view"
    PROCEDURE = "procedure"
    TRIGGER = "trigger"
    INDEX = "index"
    SECTION = "section"  # a part of a document
    CELL = "cell"  # of a notebook
    WINDOW = "window"  # a run of lines in a file without a grammar
    PART = "part"  # a later stretch of a long definition

    @property
    def is_type(self) -> bool:
        """Whether the definition is a type, or a table or view of a database."""
        return self in TYPE_KINDS

    @property
    def is_callable(self) -> bool:
        """Whether the definition has code that a use of its name runs."""
        return self in CALLABLE_KINDS

    @property
    def is_value(self) -> bool:
        """Whether the definition holds a value."""
        return self in VALUE_KINDS


def _kinds(*kinds: Kind) -> frozenset[str]:
    """Return the kinds as plain strings, which are found faster in a set than enum members are."""
    return frozenset(kind.value for kind in kinds)


TYPE_KINDS = _kinds(
    Kind.CLASS,
    Kind.STRUCT,
    Kind.INTERFACE,
    Kind.TRAIT,
    Kind.ENUM,
    Kind.RECORD,
    Kind.OBJECT,
    Kind.IMPL,
    Kind.TYPE,
    Kind.TABLE,
    Kind.VIEW,
)
CALLABLE_KINDS = _kinds(
    Kind.FUNCTION, Kind.METHOD, Kind.CONSTRUCTOR, Kind.PROPERTY, Kind.MACRO, Kind.PROCEDURE, Kind.TRIGGER
)
VALUE_KINDS = _kinds(Kind.VARIABLE, Kind.CONSTANT, Kind.FIELD)

# Variants: each differs from the three above for the reason given, and results depend on the difference.

CODE_TYPE_KINDS = TYPE_KINDS - _kinds(Kind.TABLE, Kind.VIEW)
"""Without the database's, which references in code do not resolve to."""
TYPE_BODY_KINDS = CODE_TYPE_KINDS - _kinds(Kind.TYPE)
"""Without aliases, which have no members: a definition inside one of these is a member of the type."""
NAMED_TYPE_KINDS = TYPE_KINDS - _kinds(Kind.IMPL)
"""Without `impl` blocks, whose name is that of the type they extend: for matching names in a question."""
CONTAINER_KINDS = CODE_TYPE_KINDS | _kinds(Kind.NAMESPACE, Kind.MODULE)
"""Definitions whose members are reached through their name."""
TYPE_SIGNAL_KINDS = TYPE_KINDS | CONTAINER_KINDS
"""Types and containers: ranking has one weight for both."""
CODE_CALLABLE_KINDS = CALLABLE_KINDS - _kinds(Kind.PROCEDURE, Kind.TRIGGER)
"""Without the database's: inside these, the parser drops local values; the coverage of transformer vectors counts these."""
CALL_TARGET_KINDS = CODE_CALLABLE_KINDS | _kinds(Kind.DECLARATION, Kind.PROCEDURE) | CODE_TYPE_KINDS
"""What a call can resolve to: calling a type constructs it; nothing calls a trigger by its name."""
TYPED_VALUE_KINDS = VALUE_KINDS | _kinds(Kind.PROPERTY)
"""Names whose uses have the type of a value; a property is used like a field."""
MEMBER_KINDS = _kinds(Kind.METHOD, Kind.CONSTRUCTOR, Kind.PROPERTY, Kind.FIELD, Kind.DECLARATION)
"""Definitions that belong to a type, wherever they are written."""
TOPIC_KINDS = TYPE_KINDS - _kinds(Kind.IMPL, Kind.TABLE, Kind.VIEW) | _kinds(
    Kind.FUNCTION, Kind.METHOD, Kind.MACRO, Kind.MODULE, Kind.NAMESPACE
)
"""Kinds whose cards tell what a file is about: they count in full in the mean of its vectors."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A symbol that the file defines."""

    name: str
    """The last part: "purge", "operator()", "~Grid"."""
    qualified_name: str
    """Enclosing definitions and the name, joined with dots: "TokenStore.purge". The owner of a method that is written
    outside its type (Go receiver, C++ `Grid::at`, Rust `impl`, JS prototype, Kotlin extension) is part of it, without
    type parameters."""
    kind: str
    """A value of `Kind`."""
    parent: int
    """Position of the innermost enclosing definition in `FileFacts.definitions`, -1 at the top."""
    lead_line: int
    """First line of the comment, attributes and decorators directly above (= first_line where there are none)."""
    first_line: int
    """First line of decorators, attributes or template head, or of the definition itself."""
    name_line: int
    """Line that holds the name."""
    last_line: int
    signature: str = ""
    """The head as written, on one line, at most 300 characters: "def purge(self, now: float) -> int"."""
    doc: str = ""
    """Docstring and leading comment without comment signs, at most 2,000 characters."""
    bases: tuple[str, ...] = ()
    """Types it extends, implements or mixes in: ("Store", "abc.ABC")."""
    returns: str = ""
    """The declared result type, "" if none."""
    exported: bool = True
    """Whether other files can use it, as far as the text says."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A place where the file uses a name that it may not define itself."""

    name: str
    """The last part of what is called or used: "purge" in `self.store.purge(now)`."""
    receiver: str
    """What stands before the name, "" if nothing: "self.store", "Foo()", "pkg.mod"; "?" for an expression that can't be
    written as a chain of names and calls (a subscript, an arithmetic expression, over 80 characters)."""
    kind: str
    """"call", "construct" (new Foo, Foo {}), "macro", "decorator", "type", "inherit", "value" (a function passed on)."""
    line: int
    owner: int
    """Position of the innermost definition that holds it, -1 for module code."""
    n_arguments: int = -1
    """Positional and keyword arguments of a call, -1 where unknown (splat) or not a call."""


@dataclass(frozen=True, slots=True)
class Import:
    """One name that the file brings in (a statement that brings in three names gives three)."""

    module: str
    """As written, with dots for the language's separator except where it is a file path: "pkg.util", "./page", "fmt",
    "java.util.List" splits into module "java.util" and name "List"; for C `#include` the file's path."""
    name: str
    """The name taken from the module, "*" for all of them, "" for the module itself."""
    alias: str
    """The name it has in this file; "" where none is bound (star, side effect, C include)."""
    level: int
    """Leading dots of a relative Python import, else 0."""
    line: int
    scope: int
    """Position of the definition whose body holds the statement, -1 for the whole file."""
    reexported: bool = False
    """Whether importers of this file get the name too (`export … from`, `pub use`; Python: always, by language)."""


@dataclass(frozen=True, slots=True)
class Binding:
    """What is known of the type of a local name, so that calls on it can be resolved."""

    name: str
    """A local name or a member: "store", "self.store"."""
    value: str
    """A type as written ("TokenStore", "pkg.TokenStore"), or a call whose result it is, with brackets: "make_store()"."""
    line: int
    scope: int
    """Position of the definition in which it holds; for "self.x" that of the type; -1 for the whole file."""


@dataclass(frozen=True, slots=True)
class Export:
    """A name under which importers get something else of this file: `export { purge as clean }`, `export default f`."""

    name: str
    """"clean", "default"; for CommonJS `module.exports = f` it is "default" too."""
    local: str


@dataclass(frozen=True, slots=True)
class FileFacts:
    """All that one file's text says."""

    language: str
    """Name in `codecards.indexer.parse.languages`, "" for text without a grammar."""
    n_lines: int
    definitions: tuple[Definition, ...] = ()
    """In order of first_line, a parent before its children."""
    references: tuple[Reference, ...] = ()
    imports: tuple[Import, ...] = ()
    bindings: tuple[Binding, ...] = ()
    exports: tuple[Export, ...] = ()
    package: str = ""
    """The package or namespace that the file declares for all it holds (Java, Go, Kotlin, C#, PHP …), with dots."""
    leading_comment: str = ""
    """The comment or docstring at the top, without comment signs, at most 2,000 characters."""
    generated: bool = False
    """Whether the text says that a program wrote it ("Code generated … DO NOT EDIT", "@generated")."""
    problems: tuple[tuple[Reason, str], ...] = field(default=())
    """Reason and detail of what could not be read as meant."""
