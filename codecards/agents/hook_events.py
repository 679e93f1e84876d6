"""Parses the events that agents send to hooks, into one type for all agents.

Agents name the same fields differently (`tool_input`, `toolArgs`, `tool_info`). This module knows these names, but no
sessions and no files. Unknown events and fields are ignored.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

MAX_RESULT_CHARACTERS = 200_000
"""Maximum length of a tool's result; in a longer one a note replaces the middle."""

_KINDS = {
    "start": "sessionstart",
    "prompt": "userpromptsubmit beforesubmitprompt beforeagent userpromptsubmitted pre_user_prompt",
    "tool": "posttooluse posttoolusefailure aftertool post_read_code post_write_code post_run_command",
    "compact": "precompact precompress",
}
_KIND_OF_EVENT = {event: kind for kind, events in _KINDS.items() for event in events.split()}
_TOOLS = {
    "read": "read read_file read_many_files view readfile notebookread post_read_code",
    "edit": "edit multiedit notebookedit replace apply_patch str_replace str_replace_editor search_replace editfiles"
    " replace_string_in_file multi_replace_string_in_file insert_edit_into_file edit_file post_write_code",
    "create": "write write_file create create_file",
    "delete": "delete delete_file",
    "search": "grep search_file_content grep_search rg codebase_search search semantic_search",
    "list": "glob ls list_directory list_dir file_search glob_file_search",
    "run": "bash run_shell_command shell powershell exec_command run_in_terminal local_shell post_run_command",
}
_KIND_OF_TOOL = {tool: kind for kind, tools in _TOOLS.items() for tool in tools.split()}
_PATH_KEYS = (
    "file_path",
    "filePath",
    "absolute_path",
    "notebook_path",
    "target_file",
    "target_notebook",
    "relative_workspace_path",
    "path",
    "dir_path",
    "target_directory",
)
_LIST_KEYS = ("paths", "files", "file_paths", "include")
_QUERY_KEYS = ("pattern", "query", "glob_pattern", "regex", "search_term", "target")
_COMMAND_KEYS = ("command", "command_line", "cmd", "script")
_TEXT_KEYS = (
    "llmContent",
    "textResultForLlm",
    "text_result_for_llm",
    "output",
    "content",
    "text",
    "result",
    "mcp_result",
    "error",
    "message",
)
_patched = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.+?)\s*$|^\*\*\* Move to: (.+?)\s*$", re.MULTILINE)
_located = re.compile(r"^(?:\d{1,3}\. )?([^\s:][^:\n]{0,400}):\d+[:-]|^File: (.{1,400})$", re.MULTILINE)
_exit_code = re.compile(
    r"^(?:process )?exit(?:ed with)? code:? *-?0*[1-9]|<shellId: \S+ completed with exit code -?0*[1-9]",
    re.MULTILINE | re.IGNORECASE,
)
_bare = re.compile(r"^[ \t]*(\S{1,400})[ \t\r]*$", re.MULTILINE)
_context_of_hooks = re.compile(r"\A\s*<hook_context>.*?</hook_context>\s*", re.DOTALL)
"""Gemini CLI puts the output of the hooks at a session's start before the first prompt."""


@dataclass(frozen=True, slots=True)
class HookToolCall:
    """A tool call of the agent."""

    kind: str
    """"read", "search", "list", "edit", "create", "delete", "run", or "codecards" for a tool of our own server."""
    tool: str
    paths: tuple[str, ...] = ()
    """As the agent wrote them; unchecked."""
    found: tuple[str, ...] = ()
    """Paths in the result."""
    query: str = ""
    call: str = ""
    result: str = ""
    failed: bool = False
    reason: str = ""
    lines: tuple[int, int] | None = None
    """First and last line of a read, 1-based, inclusive."""


@dataclass(frozen=True, slots=True)
class HookEvent:
    """An event of an agent's session."""

    kind: str
    """"start", "prompt", "tool", "compact", or "" for an ignored event."""
    name: str
    """The agent's name of the event."""
    folder: str
    """The agent's current folder; "" if unknown."""
    conversation: str = ""
    """The agent's id of the conversation."""
    key: str = ""
    """Equal for an event that two hooks report, as with two agents' files; "" if the event has no id."""
    source: str = ""
    """How a session started: "startup", "resume", "clear", "compact" …"""
    prompt: str = ""
    tool_call: HookToolCall | None = None


def read_event(name: str, payload: Mapping[str, object]) -> HookEvent:
    """Return a parsed event.

    Args:
        name: The event's name in the agent's configuration.
        payload: The JSON object that the hook received.
    """
    kind = _KIND_OF_EVENT.get(name.lower(), "")
    info = _mapping(payload.get("tool_info"))
    folder = _first_text(payload, ("cwd",)) or _first_text(info, ("cwd",))
    roots = payload.get("workspace_roots")
    if isinstance(roots, list) and roots and isinstance(roots[0], str):
        folder = folder or roots[0]
    source = _first_text(payload, ("source", "trigger"))
    prompt = _first_text(payload, ("prompt", "initialPrompt")) or _first_text(info, ("user_prompt",))
    prompt = _context_of_hooks.sub("", prompt)
    call = _tool_call(name, payload) if kind == "tool" else None
    conversation = _first_text(payload, ("session_id", "sessionId", "conversation_id", "trajectory_id"))
    return HookEvent(kind, name, folder, conversation, _key(kind, conversation, payload, call), source, prompt, call)


def _key(kind: str, conversation: str, payload: Mapping[str, object], call: HookToolCall | None) -> str:
    """Return a key of the event: its id, or its time to the millisecond."""
    own = _first_of(payload, ("tool_use_id", "prompt_id", "timestamp", "turn_id", "generation_id"))
    if isinstance(own, str) and "T" in own:
        with suppress(ValueError):
            own = round(datetime.fromisoformat(own).timestamp() * 1000)
    # Two tools may end in the same millisecond.
    details = (call.kind, call.paths, call.query, call.call) if call is not None else ()
    return f"{conversation} {kind} {own} {details}" if own is not None else ""


def _tool_call(name: str, payload: Mapping[str, object]) -> HookToolCall | None:
    tool = _first_text(payload, ("tool_name", "toolName")) or (name if name.startswith("post_") else "")
    given = _mapping(payload.get("tool_input", payload.get("toolArgs", payload.get("tool_info"))))
    raw = _first_of(payload, ("tool_response", "tool_output", "toolResult", "tool_result", "result_json"))
    answer = _decoded(raw)
    failed = name.lower().endswith("failure") or _failed(payload, answer)
    lowered = tool.lower()
    if "codecards" in lowered:
        query = _first_text(given, (*_QUERY_KEYS, "path", "title"))
        # Agents give the model the structured value if there is one.
        structured = answer.get("structuredContent") if isinstance(answer, dict) else None
        text = (
            raw if isinstance(raw, str) else json.dumps(structured, ensure_ascii=False) if structured else _text(answer)
        )
        found = _paths_in(answer) or _found(text)
        return HookToolCall("codecards", tool, query=query, result=text, found=found, failed=failed)
    kind = _KIND_OF_TOOL.get(lowered)
    if kind is None:
        return None
    text = _text(answer) or _first_text(payload, ("error", "error_message"))
    # Some agents report a failed command only in its output.
    failed = failed or (kind == "run" and _exit_code.search(text) is not None)
    call = _command(given)
    patch = call if "*** Begin Patch" in call else _first_text(given, ("input", "patch"))
    paths = _paths(given)
    if "*** Begin Patch" in patch:
        kind, paths, call = _patch(patch)
    found = _named(answer) or _found(text) or _lines_of(text) if kind in ("search", "list") else ()
    return HookToolCall(
        kind,
        tool,
        paths,
        found,
        query=_first_text(given, _QUERY_KEYS) if kind in ("search", "list") else "",
        call=call if kind == "run" else "",
        # File contents are not recorded; they are read from the disk when shown.
        result="" if kind in ("read", "edit", "create", "delete") and not failed else _shortened(text),
        failed=failed,
        reason=_first_text(given, ("explanation", "instruction", "instructions", "description")),
        lines=_lines(given) if kind == "read" else None,
    )


def _patch(patch: str) -> tuple[str, tuple[str, ...], str]:
    found = list(_patched.finditer(patch))
    kinds = {match[1] for match in found if match[1]}
    kind = {frozenset({"Add"}): "create", frozenset({"Delete"}): "delete"}.get(frozenset(kinds), "edit")
    return kind, tuple(dict.fromkeys(match[2] or match[3] for match in found)), ""


def _paths(given: Mapping[str, object]) -> tuple[str, ...]:
    paths = [given.get(key) for key in _PATH_KEYS]
    for key in _LIST_KEYS:
        value = given.get(key)
        paths += value if isinstance(value, list) else []
    return tuple(dict.fromkeys(path for path in paths if isinstance(path, str) and path))


def _lines(given: Mapping[str, object]) -> tuple[int, int] | None:
    view = given.get("view_range")
    if isinstance(view, list) and len(view) == 2 and all(isinstance(one, int) for one in view):
        first, last = view
    else:
        first = _first_int(given, ("offset", "start_line", "startLine", "start_line_one_indexed"))
        last = _first_int(given, ("end_line", "endLine", "end_line_one_indexed_inclusive"))
        limit = _first_int(given, ("limit",))
        if last is None and limit is not None:
            last = (first or 1) + limit - 1
    if first is None and last is None:
        return None
    first = max(1, first or 1)
    return (first, last) if last is not None and last >= first else None


def _command(given: Mapping[str, object]) -> str:
    value = _first_of(given, _COMMAND_KEYS)
    if isinstance(value, list):
        return " ".join(str(one) for one in value)
    return value if isinstance(value, str) else ""


def _failed(payload: Mapping[str, object], answer: object) -> bool:
    if _first_of(payload, ("error", "error_message")):
        return True
    if not isinstance(answer, dict):
        return False
    if _first_of(answer, ("resultType", "result_type")) in ("failure", "error", "denied", "rejected"):
        return True
    code = _first_of(answer, ("exit_code", "exitCode", "returncode"))
    wrong = any(answer.get(key) is True for key in ("is_error", "isError", "interrupted"))
    return wrong or bool(answer.get("error")) or answer.get("success") is False or (isinstance(code, int) and code != 0)


def _text(answer: object) -> str:
    """Return the text of a result, from any wrapping."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, list):
        return "\n".join(filter(None, (_text(one) for one in answer)))
    if not isinstance(answer, dict):
        return ""
    both = [value for key in ("stdout", "stderr") if isinstance(value := answer.get(key), str) and value]
    if both:
        return "\n".join(both)
    return next((text for key in _TEXT_KEYS if (text := _text(answer.get(key)))), "")


def _named(answer: object) -> tuple[str, ...]:
    names = answer.get("filenames") if isinstance(answer, dict) else None
    return tuple(one for one in names if isinstance(one, str))[:50] if isinstance(names, list) else ()


def _found(text: str) -> tuple[str, ...]:
    """Return the paths of lines such as `src/a.py:12:`, in order."""
    return tuple(dict.fromkeys(match[1] or match[2] for match in _located.finditer(text[:MAX_RESULT_CHARACTERS])))[:50]


def _lines_of(text: str) -> tuple[str, ...]:
    """Return the lines without white space, which in a list of files are paths."""
    return tuple(dict.fromkeys(match[1] for match in _bare.finditer(text[:MAX_RESULT_CHARACTERS])))[:50]


def _paths_in(answer: object) -> tuple[str, ...]:
    """Return the paths of the hits, or of the file, in an answer of codecards."""
    structured = answer.get("structuredContent", answer) if isinstance(answer, dict) else answer
    rows = structured.get("hits") if isinstance(structured, dict) else None
    if not isinstance(rows, list):
        path = structured.get("path") if isinstance(structured, dict) else None
        return (path,) if isinstance(path, str) else ()
    paths = [row.get("path") for row in rows if isinstance(row, dict)]
    return tuple(dict.fromkeys(path for path in paths if isinstance(path, str)))


def _shortened(text: str) -> str:
    if len(text) <= MAX_RESULT_CHARACTERS:
        return text
    half = MAX_RESULT_CHARACTERS // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out here]\n{text[-half:]}"


def _decoded(value: object) -> object:
    """Return the value of a JSON string; any other value unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _mapping(value: object) -> Mapping[str, object]:
    decoded = _decoded(value)
    if isinstance(decoded, str):
        return {"input": decoded}
    return decoded if isinstance(decoded, dict) else {}


def _first_of(given: Mapping[str, object], keys: Iterable[str]) -> object:
    return next((given[key] for key in keys if given.get(key)), None)


def _first_text(given: Mapping[str, object], keys: Sequence[str]) -> str:
    return next((value for key in keys if isinstance(value := given.get(key), str) and value), "")


def _first_int(given: Mapping[str, object], keys: Sequence[str]) -> int | None:
    return next((value for key in keys if isinstance(value := given.get(key), int)), None)
