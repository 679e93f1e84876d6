"""MCP arguments: what each tool takes; the schema that a model sees and the check of what it sends are made from it.

**Invariant:** all schemas together take at most 1,200 tokens, for every session of an agent pays for them.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from codecards.errors import UsageError

MAX_TEXT = 20_000
MAX_PATH = 1_000
MAX_ITEMS = 50

Query = Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)]
Text = Annotated[str, Meta(max_length=MAX_TEXT)]
Name = Annotated[str, Meta(min_length=1, max_length=MAX_PATH)]
Path = Annotated[str, Meta(max_length=MAX_PATH)]
Texts = Annotated[list[Annotated[str, Meta(max_length=MAX_TEXT)]], Meta(max_length=MAX_ITEMS)]
Paths = Annotated[list[Path], Meta(max_length=MAX_ITEMS)]
SymbolName = Annotated[
    str, Meta(min_length=1, max_length=MAX_PATH, description='Symbol, file, or FILE:LINE; for impact also "diff"')
]


class Arguments(Struct, frozen=True, forbid_unknown_fields=True):
    """What every tool may be told."""


class Recall(Arguments, frozen=True):
    """Find code: where is X, what does Y, a name, an error, a stack trace, an issue. Best hits first, folded."""

    query: Query
    limit: Annotated[int, Meta(ge=1, le=50)] = 8
    path: Annotated[str, Meta(max_length=MAX_PATH, description="Only files like this glob")] = ""
    language: Annotated[str, Meta(max_length=60)] = ""
    expand: Annotated[bool, Meta(description="With code")] = False
    max_tokens: Annotated[int, Meta(ge=100, le=8000)] = 2000


class Symbol(Arguments, frozen=True):
    """A symbol's code, who calls it, what it calls, or what changing it touches; a file gives its outline."""

    name: SymbolName
    want: Literal["definition", "callers", "callees", "impact"] = "definition"
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    max_tokens: Annotated[int, Meta(ge=100, le=8000)] = 4000


class OpenFile(Arguments, frozen=True):
    """Read a file, and keep it in the working memory until it is closed."""

    path: Name
    purpose: Annotated[str, Meta(min_length=1, max_length=MAX_TEXT, description="What you look for there")]
    first_line: Annotated[int, Meta(ge=1)] = 1
    last_line: Annotated[int, Meta(ge=0, description="0: the end")] = 0
    max_tokens: Annotated[int, Meta(ge=100, le=20000)] = 8000


class CloseFile(Arguments, frozen=True):
    """Take a file out of the working memory; a memo for its purpose stays."""

    path: Name


class Context(Arguments, frozen=True):
    """The working memory of the task, within its budget. Call it at the start of each turn; a goal starts a task."""

    input: Annotated[str, Meta(max_length=MAX_TEXT, description="The user's words")] = ""
    goal: Text = ""
    constraints: Texts = []
    stage: Literal["", "exploring", "implementing", "testing", "reviewing"] = ""
    budget_tokens: Annotated[int, Meta(ge=500, le=32000, description="Of a new task")] = 12000


class CommitNote(Arguments, frozen=True):
    """Keep a conclusion for later tasks, tied to files or symbols."""

    title: Annotated[str, Meta(min_length=1, max_length=300)]
    conclusion: Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)]
    files: Annotated[Paths, Meta(description="Files or symbols")] = []
    rejected: Annotated[
        list[Annotated[str, Meta(max_length=MAX_TEXT)]],
        Meta(max_length=MAX_ITEMS, description="Options not taken, why"),
    ] = []


class Compact(Arguments, frozen=True):
    """Shorten a long output (logs, tests, traces) to its facts; nothing is lost: a handle gives the whole back."""

    source: Annotated[str, Meta(max_length=400_000, description='"": the past turns')] = ""
    handle: Annotated[str, Meta(max_length=200, description="Give this text back")] = ""
    preserve: Annotated[Texts, Meta(description="Words to keep")] = []
    max_tokens: Annotated[int, Meta(ge=50, le=8000)] = 1000


class Status(Arguments, frozen=True):
    """The state of the index."""

    refresh: Annotated[bool, Meta(description="Index changes now, wait")] = False


TOOLS: Mapping[str, type[Arguments]] = {
    "recall": Recall,
    "symbol": Symbol,
    "open_file": OpenFile,
    "close_file": CloseFile,
    "context": Context,
    "commit_note": CommitNote,
    "compact": Compact,
    "status": Status,
}
READ_ONLY_TOOLS = ("recall", "symbol", "open_file", "status")
"""Those that write nothing where the server is told not to; `open_file` then remembers nothing."""
CHANGES_NOTHING = ("recall", "symbol", "status")
"""Those whose answers change nothing but the index."""
ROOT = "root"
"""Argument that names a project, where the server has several."""

Kind = TypeVar("Kind", bound=Arguments)


def tool_schema(kind: type[Arguments], roots: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments, as short as it can be; `roots` are the names to choose from."""
    _, components = msgspec.json.schema_components([kind], ref_template="{name}")
    schema = components[kind.__name__]
    properties = {name: _without_noise(value) for name, value in schema["properties"].items()}
    if len(roots) > 1:
        properties[ROOT] = {"enum": list(roots)}
    found: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if schema.get("required"):
        found["required"] = schema["required"]
    return found


def read_arguments(kind: type[Kind], given: Mapping[str, object]) -> Kind:
    """Return the arguments of a call.

    Raises:
        UsageError: They do not fit; the message says which and why.
    """
    try:
        # Models write numbers as text now and then; that is no reason to refuse.
        return msgspec.convert(dict(given), kind, strict=False)
    except msgspec.ValidationError as error:
        takes = ", ".join(one.name for one in msgspec.structs.fields(kind))
        raise UsageError(f"the arguments do not fit: {error}; they may be: {takes}") from error


def _without_noise(value: dict[str, Any]) -> dict[str, Any]:
    """Return one property's schema without what tells a model nothing."""
    kept = {
        name: _without_noise(part) if isinstance(part, dict) else part
        for name, part in value.items()
        if name not in ("title", "minLength", "maxLength", "maxItems") and not (name == "default" and part in ("", []))
    }
    if "enum" in kept:
        kept.pop("type", None)
    return kept
