"""Parts of a transcript: what a request to a model holds, whatever the wire format it came in."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class PartKind(StrEnum):
    """Who wrote a part."""

    PROMPT = "prompt"
    """The system prompt, the user, or anything that is never rewritten."""
    REPLY = "reply"
    """The model: text and thinking."""
    CALL = "call"
    """The model: a call of a tool."""
    RESULT = "result"
    """What a tool gave back; the only parts that are rewritten."""


@dataclass(frozen=True, slots=True)
class TranscriptPart:
    """One text of a request, in its place."""

    kind: PartKind
    text: str
    """Of a call the arguments as JSON."""
    key: str = ""
    """Of a call and its result the id of the call; unique within the transcript among results."""
    tool: str = ""
    """Of a call and its result the tool's name."""
    arguments: Mapping[str, object] = field(default_factory=dict)
    """Of a result the arguments of its call."""
    is_error: bool = False
    """Whether the tool said that it failed."""


@dataclass(frozen=True, slots=True)
class FileUse:
    """What a call does with one file."""

    path: str
    """As the agent wrote it."""
    writes: bool
    first_line: int = 0
    """1-based; 0 where the whole file is meant, or it is not known."""
    last_line: int = 0


PATH_ARGUMENTS = ("file_path", "path", "filePath", "filename", "file", "target_file", "relative_path", "notebook_path")
_WRITES = re.compile(r"edit|write|patch|replace|create|insert|update|delete|undo", re.IGNORECASE)
_READS = re.compile(r"read|view|open|cat|show|get_file", re.IGNORECASE)
_SHELLS = re.compile(r"bash|shell|exec|terminal|command|run", re.IGNORECASE)
_COMMAND_ARGUMENTS = ("command", "cmd", "script", "input")
_SED_RANGE = re.compile(r"^(\d+)(?:,(\d+))?p$")
_PATCHED = re.compile(r"(?m)^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ b/)(\S+)")
_READERS = frozenset({"cat", "head", "tail", "nl", "less", "bat", "sed", "awk"})
MAX_COMMAND_CHARACTERS = 4_000


def command_of(tool: str, arguments: Mapping[str, object]) -> str:
    """Return the command line that a call runs, "" where it runs none."""
    if not _SHELLS.search(tool):
        return ""
    for name in _COMMAND_ARGUMENTS:
        value = arguments.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            words = [str(word) for word in value]
            # Codex runs ["bash", "-lc", "the command"].
            return words[-1] if len(words) > 2 and words[1] in ("-c", "-lc") else shlex.join(words)
    return ""


def file_use(tool: str, arguments: Mapping[str, object]) -> FileUse | None:
    """Return what a call does with a file; None where it does nothing with one, or with several."""
    path = next((str(arguments[name]) for name in PATH_ARGUMENTS if isinstance(arguments.get(name), str)), "")
    action = str(arguments.get("command", "")) if path else ""
    if path and (_WRITES.search(tool) or _WRITES.search(action)) and not _READS.fullmatch(action):
        return FileUse(path, writes=True)
    if path and (_READS.search(tool) or _READS.search(action)):
        return FileUse(path, False, *_line_range(arguments))
    command = command_of(tool, arguments)
    if command:
        return _use_of_command(command)
    patch = next((value for value in arguments.values() if isinstance(value, str) and "***" in value), "")
    patched = _PATCHED.findall(patch)
    return FileUse(patched[0], writes=True) if len(patched) == 1 else None


def _line_range(arguments: Mapping[str, object]) -> tuple[int, int]:
    view = arguments.get("view_range")
    if isinstance(view, list) and len(view) == 2 and all(isinstance(one, int) for one in view):
        return int(view[0]), max(0, int(view[1]))
    offset, limit = arguments.get("offset"), arguments.get("limit")
    if isinstance(offset, int) and offset > 0:
        return offset, offset + limit - 1 if isinstance(limit, int) and limit > 0 else 0
    return (1, limit) if isinstance(limit, int) and limit > 0 else (0, 0)


def _use_of_command(command: str) -> FileUse | None:
    """Return what a simple command does with a file: `cat a.py`, `sed -n 10,40p a.py`, `cd x && head -50 a.py`."""
    last = re.split(r"&&|;", command[:MAX_COMMAND_CHARACTERS].strip())[-1]
    if ">" in last or "\n" in last or "`" in last or "$(" in last:
        return None
    try:
        words = shlex.split(last.split("|")[0])
    except ValueError:
        return None
    if not words or words[0] not in _READERS:
        return None
    if words[0] == "sed" and any(word.startswith("-i") for word in words[1:]):
        return FileUse(words[-1], writes=True) if len(words) > 2 else None
    files = [word for word in words[1:] if not word.startswith("-") and ("/" in word or "." in word)]
    if len(files) != 1:
        return None
    ranges = [match for word in words[1:] if (match := _SED_RANGE.match(word))]
    if len(ranges) == 1:
        first = int(ranges[0][1])
        return FileUse(files[0], False, first, int(ranges[0][2] or first))
    return FileUse(files[0], writes=False)
