"""The arguments of each tool; both the schema for the model and the check of a call are derived from these classes.

The docstring of a class is the description of its tool.

**Invariant:** all schemas together take at most 1,200 tokens, since every session of an agent pays for them.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from codecards.errors import UsageError

MAX_TEXT = 20_000
MAX_PATH = 1_000
MAX_ITEMS = 50

QueryText = Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)]
Text = Annotated[str, Meta(max_length=MAX_TEXT)]
NameText = Annotated[str, Meta(min_length=1, max_length=MAX_PATH)]
PathText = Annotated[str, Meta(max_length=MAX_PATH)]
Texts = Annotated[list[Annotated[str, Meta(max_length=MAX_TEXT)]], Meta(max_length=MAX_ITEMS)]
PathTexts = Annotated[list[PathText], Meta(max_length=MAX_ITEMS)]
TargetText = Annotated[
    str, Meta(min_length=1, max_length=MAX_PATH, description='Symbol, file, or FILE:LINE; for impact also "diff"')
]


class ToolArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Base of the arguments of all tools; unknown arguments are refused."""


class RecallArguments(ToolArguments, frozen=True):
    """Find code: where is X, what does Y, a name, an error, a stack trace, an issue. Best hits first, folded."""

    query: QueryText
    limit: Annotated[int, Meta(ge=1, le=50)] = 8
    path: Annotated[str, Meta(max_length=MAX_PATH, description="Only files like this glob")] = ""
    language: Annotated[str, Meta(max_length=60)] = ""
    expand: Annotated[bool, Meta(description="With code")] = False
    max_tokens: Annotated[int, Meta(ge=100, le=8000)] = 2000


class SymbolArguments(ToolArguments, frozen=True):
    """A symbol's code, who calls it, what it calls, or what changing it touches; a file gives its outline."""

    name: TargetText
    want: Literal["definition", "callers", "callees", "impact"] = "definition"
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    max_tokens: Annotated[int, Meta(ge=100, le=8000)] = 4000


class OpenFileArguments(ToolArguments, frozen=True):
    """Read a file, and keep it in the working memory until it is closed."""

    path: NameText
    purpose: Annotated[str, Meta(min_length=1, max_length=MAX_TEXT, description="What you look for there")]
    first_line: Annotated[int, Meta(ge=1)] = 1
    last_line: Annotated[int, Meta(ge=0, description="0: the end")] = 0
    max_tokens: Annotated[int, Meta(ge=100, le=20000)] = 8000


class CloseFileArguments(ToolArguments, frozen=True):
    """Remove a file from the working memory; a summary for its purpose stays."""

    path: NameText


class ContextArguments(ToolArguments, frozen=True):
    """The working memory of the task, within its budget. Call it at the start of each turn; a goal starts a task."""

    input: Annotated[str, Meta(max_length=MAX_TEXT, description="The user's words")] = ""
    goal: Text = ""
    constraints: Texts = []
    stage: Literal["", "exploring", "implementing", "testing", "reviewing"] = ""
    budget_tokens: Annotated[int, Meta(ge=500, le=32000, description="Of a new task")] = 12000


class CommitNoteArguments(ToolArguments, frozen=True):
    """Keep a conclusion for later tasks, tied to files or symbols."""

    title: Annotated[str, Meta(min_length=1, max_length=300)]
    conclusion: Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)]
    files: Annotated[PathTexts, Meta(description="Files or symbols")] = []
    rejected: Annotated[
        list[Annotated[str, Meta(max_length=MAX_TEXT)]],
        Meta(max_length=MAX_ITEMS, description="Options not taken, why"),
    ] = []


class CompactArguments(ToolArguments, frozen=True):
    """Shorten a long output (logs, tests, traces) to its facts; nothing is lost: a handle gives the whole back."""

    source: Annotated[str, Meta(max_length=400_000, description='"": the past turns')] = ""
    handle: Annotated[str, Meta(max_length=200, description="Give this text back")] = ""
    preserve: Annotated[Texts, Meta(description="Words to keep")] = []
    max_tokens: Annotated[int, Meta(ge=50, le=8000)] = 1000


class StatusArguments(ToolArguments, frozen=True):
    """The state of the index."""

    refresh: Annotated[bool, Meta(description="Index changes now, wait")] = False


TOOLS: Mapping[str, type[ToolArguments]] = {
    "recall": RecallArguments,
    "symbol": SymbolArguments,
    "open_file": OpenFileArguments,
    "close_file": CloseFileArguments,
    "context": ContextArguments,
    "commit_note": CommitNoteArguments,
    "compact": CompactArguments,
    "status": StatusArguments,
}
READ_ONLY_TOOLS = ("recall", "symbol", "open_file", "status")
"""Tools of a read-only server; its `open_file` does not record the file in the working memory."""
CHANGES_NOTHING = ("recall", "symbol", "status")
"""Tools that change at most the index."""
ROOT = "root"
"""Argument that names the project if the server has several."""

ArgumentsT = TypeVar("ArgumentsT", bound=ToolArguments)


def tool_schema(kind: type[ToolArguments], roots: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments without redundant keywords.

    Args:
        kind: The class of the arguments.
        roots: Names of the projects; with more than one, the schema has the argument `root`.
    """
    _, components = msgspec.json.schema_components([kind], ref_template="{name}")
    schema = components[kind.__name__]
    properties = {name: _without_noise(value) for name, value in schema["properties"].items()}
    if len(roots) > 1:
        properties[ROOT] = {"enum": list(roots)}
    found: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if schema.get("required"):
        found["required"] = schema["required"]
    return found


def read_arguments(kind: type[ArgumentsT], given: Mapping[str, object]) -> ArgumentsT:
    """Return the arguments of a call.

    Raises:
        UsageError: An argument is wrong; the message says which and why.
    """
    try:
        # Not strict, since models sometimes write numbers as text.
        return msgspec.convert(dict(given), kind, strict=False)
    except msgspec.ValidationError as error:
        takes = ", ".join(one.name for one in msgspec.structs.fields(kind))
        raise UsageError(f"invalid arguments: {error}; allowed: {takes}") from error


def _without_noise(value: dict[str, Any]) -> dict[str, Any]:
    """Return a property's schema without keywords that don't help a model."""
    kept = {
        name: _without_noise(part) if isinstance(part, dict) else part
        for name, part in value.items()
        if name not in ("title", "minLength", "maxLength", "maxItems") and not (name == "default" and part in ("", []))
    }
    if "enum" in kept:
        kept.pop("type", None)
    return kept
