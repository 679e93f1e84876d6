r"""The facts that the text of one file states, independent of its path and of other files.

Facts depend on the content and the language alone, so they are stored by content and survive renames and branch
switches. Names are as written, with one exception: in receivers, bases and types each language's separator (`::`, `->`,
`\\`, `?.`) becomes a dot, the instance or class itself becomes `self`, and its base `super`. Lines are 1-based and
inclusive; only LF, CRLF and (in files without LF) CR end a line.
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
        """Whether the definition has code that runs when it is used."""
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
    """Last part of the qualified name: "purge", "operator()", "~Grid"."""
    qualified_name: str
    """Names of the enclosing definitions and its own, joined with dots: "TokenStore.purge". It includes the owner, without
    type parameters, of a method written outside its type (Go receiver, C++ `Grid::at`, Rust `impl`, JS prototype, Kotlin
    extension)."""
    kind: str
    """A value of `Kind`."""
    parent: int
    """Position of the innermost enclosing definition in `FileFacts.definitions`, -1 at the top."""
    lead_line: int
    """First line of the comment, attributes and decorators directly above; `first_line` if there are none."""
    first_line: int
    """First line of the decorators, attributes or template head, else of the definition itself."""
    name_line: int
    """Line of the name."""
    last_line: int
    signature: str = ""
    """Head as written, on one line, at most 300 characters: "def purge(self, now: float) -> int"."""
    doc: str = ""
    """Docstring and leading comment without comment markers, at most 2,000 characters."""
    bases: tuple[str, ...] = ()
    """Types that it extends, implements or mixes in: ("Store", "abc.ABC")."""
    returns: str = ""
    """Declared result type, "" if none."""
    exported: bool = True
    """Whether other files can use it, according to this text."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One use of a name, which this file may or may not define."""

    name: str
    """Last part of the expression that is called or used: "purge" in `self.store.purge(now)`."""
    receiver: str
    """Expression before the name, "" if none: "self.store", "Foo()", "pkg.mod"; "?" if it is not a chain of names and calls
    (a subscript, arithmetic) or is longer than 80 characters."""
    kind: str
    """"call", "construct" (new Foo, Foo {}), "macro", "decorator", "type", "inherit", "value" (a function passed on)."""
    line: int
    owner: int
    """Position of the innermost enclosing definition, -1 for module code."""
    n_arguments: int = -1
    """Number of positional and keyword arguments of a call; -1 if unknown (splat) or not a call."""


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name; a statement that imports three names gives three."""

    module: str
    """As written, with dots for the language's separator unless it is a file path: "pkg.util", "./page", "fmt". Java's
    "java.util.List" is split into module "java.util" and name "List"; for a C `#include` it is the path of the file."""
    name: str
    """Name taken from the module, "*" for all names, "" for the module itself."""
    alias: str
    """Name bound in this file; "" if none is (star, side effect, C include)."""
    level: int
    """Number of leading dots of a relative Python import, else 0."""
    line: int
    scope: int
    """Position of the definition whose body contains the statement, -1 for the whole file."""
    reexported: bool = False
    """Whether importers of this file get the name too: `export … from`, `pub use`. Not set for Python, where they always do."""


@dataclass(frozen=True, slots=True)
class Binding:
    """Evidence of the type of a local name, by which calls on it are resolved."""

    name: str
    """A local name or a member: "store", "self.store"."""
    value: str
    """Type as written ("TokenStore", "pkg.TokenStore"), or the call that returns it, with parentheses: "make_store()"."""
    line: int
    scope: int
    """Position of the definition in which the name is bound (of the type for "self.x"), -1 for the whole file."""


@dataclass(frozen=True, slots=True)
class Export:
    """A name under which importers see another name of this file: `export { purge as clean }`, `export default f`."""

    name: str
    """"clean", "default"; for CommonJS `module.exports = f` it is "default" too."""
    local: str


@dataclass(frozen=True, slots=True)
class FileFacts:
    """All facts of one file."""

    language: str
    """Name in `codecards.indexer.parse.languages`, "" for text without a grammar."""
    n_lines: int
    definitions: tuple[Definition, ...] = ()
    """Ordered by first_line; a parent precedes its children."""
    references: tuple[Reference, ...] = ()
    imports: tuple[Import, ...] = ()
    bindings: tuple[Binding, ...] = ()
    exports: tuple[Export, ...] = ()
    package: str = ""
    """Package or namespace declared for the whole file (Java, Go, Kotlin, C#, PHP …), with dots."""
    leading_comment: str = ""
    """Comment or docstring at the top without comment markers, at most 2,000 characters."""
    generated: bool = False
    """Whether the text declares itself generated ("Code generated … DO NOT EDIT", "@generated")."""
    problems: tuple[tuple[Reason, str], ...] = field(default=())
    """Reason and detail of each part that could not be parsed."""
