"""Hook events: the formats of all agents are parsed into one type."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codecards.agents.hook_events import HookToolCall, read_event

CASES: list[tuple[str, dict[str, Any], HookToolCall]] = [
    (
        "PostToolUse",
        {
            "tool_name": "Read",
            "tool_input": {"file_path": "/p/a.py", "offset": 10, "limit": 5},
            "tool_response": {"type": "text"},
        },
        HookToolCall("read", "Read", ("/p/a.py",), lines=(10, 14)),
    ),
    (
        "PostToolUse",
        {
            "tool_name": "Bash",
            "tool_input": {"command": "pytest -q", "description": "Run the tests"},
            "tool_response": {"stdout": "1 passed", "stderr": "", "interrupted": False},
        },
        HookToolCall("run", "Bash", call="pytest -q", result="1 passed", reason="Run the tests"),
    ),
    (
        "PostToolUseFailure",
        {"tool_name": "Bash", "tool_input": {"command": "make"}, "error": "Exit code 2\nboom"},
        HookToolCall("run", "Bash", call="make", result="Exit code 2\nboom", failed=True),
    ),
    (
        "PostToolUse",
        {
            "tool_name": "Grep",
            "tool_input": {"pattern": "purge", "path": "src"},
            "tool_response": {"mode": "files_with_matches", "filenames": ["/p/src/a.py", "/p/src/b.py"], "numFiles": 2},
        },
        HookToolCall("search", "Grep", ("src",), ("/p/src/a.py", "/p/src/b.py"), query="purge"),
    ),
    (
        "PostToolUse",
        {
            "tool_name": "mcp__codecards__recall",
            "tool_input": {"query": "where is purge"},
            "tool_response": [{"type": "text", "text": "src/a.py:3: def purge"}],
        },
        HookToolCall(
            "codecards", "mcp__codecards__recall", (), ("src/a.py",), "where is purge", result="src/a.py:3: def purge"
        ),
    ),
    (
        "PostToolUse",  # as Claude Code 2.1 sends it
        {
            "tool_name": "mcp__codecards__recall",
            "tool_input": {"query": "where is purge"},
            "tool_response": '{"verdict":"found","hits":[{"path":"src/a.py"},{"path":"b.py"},{"path":"src/a.py"}]}',
        },
        HookToolCall(
            "codecards",
            "mcp__codecards__recall",
            (),
            ("src/a.py", "b.py"),
            "where is purge",
            result='{"verdict":"found","hits":[{"path":"src/a.py"},{"path":"b.py"},{"path":"src/a.py"}]}',
        ),
    ),
    (
        "PostToolUse",  # as Codex 0.171 sends it
        {
            "tool_name": "mcp__codecards__recall",
            "tool_input": {"query": "where"},
            "tool_response": {
                "content": [{"type": "text", "text": "found"}],
                "structuredContent": {"hits": [{"path": "b.py"}]},
            },
        },
        HookToolCall(
            "codecards", "mcp__codecards__recall", (), ("b.py",), "where", result='{"hits": [{"path": "b.py"}]}'
        ),
    ),
    (
        "PostToolUse",  # Codex
        {
            "tool_name": "apply_patch",
            "tool_input": {
                "command": "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n"
                "*** Add File: src/new.py\n+z\n*** End Patch"
            },
            "tool_response": "Done",
        },
        HookToolCall("edit", "apply_patch", ("src/a.py", "src/new.py")),
    ),
    (
        "AfterTool",
        {
            "tool_name": "run_shell_command",
            "tool_input": {"command": "ls"},
            "tool_response": {"llmContent": "a.py", "returnDisplay": "a.py", "error": {"message": "no"}},
        },
        HookToolCall("run", "run_shell_command", call="ls", result="a.py", failed=True),
    ),
    (
        "AfterTool",
        {
            "tool_name": "replace",
            "tool_input": {"file_path": "a.py", "old_string": "x", "new_string": "y", "instruction": "rename"},
            "tool_response": {"llmContent": "ok"},
        },
        HookToolCall("edit", "replace", ("a.py",), reason="rename"),
    ),
    (
        "AfterTool",  # as Gemini CLI 0.61 sends it
        {
            "tool_name": "run_shell_command",
            "tool_input": {"command": "make", "description": "Build"},
            "tool_response": {
                "llmContent": "<untrusted_context>\nOutput: boom\nExit Code: 3\n</untrusted_context>",
                "returnDisplay": "boom",
            },
        },
        HookToolCall(
            "run",
            "run_shell_command",
            call="make",
            failed=True,
            reason="Build",
            result="<untrusted_context>\nOutput: boom\nExit Code: 3\n</untrusted_context>",
        ),
    ),
    (
        "AfterTool",
        {
            "tool_name": "grep_search",
            "tool_input": {"pattern": "purge"},
            "tool_response": {"llmContent": "Found 1 match:\n---\nFile: src/a.py\nL9: def purge\n---"},
        },
        HookToolCall(
            "search",
            "grep_search",
            (),
            ("src/a.py",),
            "purge",
            result="Found 1 match:\n---\nFile: src/a.py\nL9: def purge\n---",
        ),
    ),
    (
        "AfterTool",
        {
            "tool_name": "mcp_codecards_recall",
            "tool_input": {"query": "where"},
            "tool_response": {"llmContent": [{"text": "found: 1 hits\n1. src/a.py:9-12  purge  [function]"}]},
        },
        HookToolCall(
            "codecards",
            "mcp_codecards_recall",
            (),
            ("src/a.py",),
            "where",
            result="found: 1 hits\n1. src/a.py:9-12  purge  [function]",
        ),
    ),
    (
        "postToolUse",  # Cursor
        {"tool_name": "Shell", "tool_input": {"command": "npm test"}, "tool_output": '{"exitCode":1,"stdout":"bad"}'},
        HookToolCall("run", "Shell", call="npm test", result="bad", failed=True),
    ),
    (
        "postToolUse",  # GitHub Copilot
        {
            "toolName": "view",
            "toolArgs": '{"path": "a.py", "view_range": [3, 9]}',
            "toolResult": {"resultType": "success", "textResultForLlm": "text"},
        },
        HookToolCall("read", "view", ("a.py",), lines=(3, 9)),
    ),
    (
        "postToolUse",
        {
            "toolName": "bash",
            "toolArgs": {"command": "x"},
            "toolResult": {"resultType": "failure", "textResultForLlm": "no x"},
        },
        HookToolCall("run", "bash", call="x", result="no x", failed=True),
    ),
    (
        "postToolUse",  # as Copilot 1.0.102 sends it
        {
            "toolName": "bash",
            "toolArgs": {"command": "x"},
            "toolResult": {
                "resultType": "success",
                "textResultForLlm": "boom\n<shellId: 0 completed with exit code 3>",
            },
        },
        HookToolCall("run", "bash", call="x", result="boom\n<shellId: 0 completed with exit code 3>", failed=True),
    ),
    (
        "PostToolUse",  # as Copilot 1.0.102 calls hooks in Claude Code's files
        {
            "hook_event_name": "PostToolUse",
            "tool_name": "Grep",
            "tool_input": {"pattern": "x"},
            "tool_result": {"result_type": "success", "text_result_for_llm": "./src/a.py\n./src/b.py"},
        },
        HookToolCall("search", "Grep", (), ("./src/a.py", "./src/b.py"), "x", result="./src/a.py\n./src/b.py"),
    ),
    (
        "post_write_code",
        {"agent_action_name": "post_write_code", "tool_info": {"file_path": "/p/a.py", "edits": []}},
        HookToolCall("edit", "post_write_code", ("/p/a.py",)),
    ),
    (
        "post_run_command",
        {"tool_info": {"command_line": "make", "cwd": "/p"}},
        HookToolCall("run", "post_run_command", call="make"),
    ),
]


@pytest.mark.parametrize(("name", "payload", "act"), CASES, ids=[f"{one[0]} {one[2].tool}" for one in CASES])
def test_a_tool_call_is_parsed(name: str, payload: dict[str, Any], act: HookToolCall) -> None:
    assert read_event(name, payload).tool_call == act


@pytest.mark.parametrize(
    ("name", "payload", "kind", "folder", "prompt"),
    [
        ("UserPromptSubmit", {"cwd": "/p", "prompt": "fix it"}, "prompt", "/p", "fix it"),
        ("beforeSubmitPrompt", {"workspace_roots": ["/p"], "prompt": "fix"}, "prompt", "/p", "fix"),
        ("userPromptSubmitted", {"cwd": "/p", "prompt": "fix"}, "prompt", "/p", "fix"),
        ("pre_user_prompt", {"tool_info": {"user_prompt": "fix"}}, "prompt", "", "fix"),
        ("BeforeAgent", {"cwd": "/p", "prompt": "<hook_context>old</hook_context>\n\nfix"}, "prompt", "/p", "fix"),
        ("PreCompact", {"cwd": "/p", "trigger": "auto"}, "compact", "/p", ""),
        ("Notification", {"cwd": "/p"}, "", "/p", ""),
    ],
)
def test_other_events_are_parsed(name: str, payload: dict[str, Any], kind: str, folder: str, prompt: str) -> None:
    event = read_event(name, payload)
    assert (event.kind, event.folder, event.prompt, event.tool_call) == (kind, folder, prompt, None)


def test_an_event_in_two_formats_has_one_key() -> None:
    native = {"sessionId": "s", "timestamp": 1796035432050, "toolName": "view", "toolArgs": {"path": "a.py"}}
    alike = {
        "session_id": "s",
        "timestamp": "2026-11-30T10:43:52.050Z",
        "tool_name": "Read",
        "tool_input": {"path": "a.py"},
    }
    key = read_event("postToolUse", native).key
    assert key
    assert read_event("PostToolUse", alike).key == key
    assert read_event("postToolUse", native | {"toolArgs": {"path": "b.py"}}).key != key
    assert read_event("PostToolUse", {"session_id": "s", "tool_name": "Read"}).key == ""


def test_an_unknown_tool_is_ignored() -> None:
    assert read_event("PostToolUse", {"tool_name": "WebFetch", "tool_input": {"url": "x"}}).tool_call is None


def test_a_note_replaces_the_middle_of_a_long_result() -> None:
    text = "a" * 200_000 + "b" * 200_000
    payload = {"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_response": {"stdout": text}}
    act = read_event("PostToolUse", payload).tool_call
    assert act is not None
    assert "[200000 characters left out here]" in act.result
    assert (act.result[0], act.result[-1]) == ("a", "b")


KEYS = [
    "cwd",
    "tool_name",
    "tool_input",
    "tool_response",
    "toolName",
    "toolArgs",
    "toolResult",
    "tool_info",
    "prompt",
    "command",
    "file_path",
    "paths",
    "error",
    "workspace_roots",
    "view_range",
    "offset",
    "limit",
    "filenames",
    "stdout",
]
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["Read", "Bash", "apply_patch", "{", "[1]"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=10,
)


@given(
    st.sampled_from(["PostToolUse", "AfterTool", "postToolUse", "post_write_code", "UserPromptSubmit", "SessionStart"]),
    st.dictionaries(st.sampled_from(KEYS), values, max_size=8),
)
def test_no_payload_is_an_error(name: str, payload: dict[str, object]) -> None:
    event = read_event(name, json.loads(json.dumps(payload)))
    if event.tool_call is not None:
        assert all(isinstance(path, str) for path in (*event.tool_call.paths, *event.tool_call.found))
        assert event.tool_call.lines is None or 1 <= event.tool_call.lines[0] <= event.tool_call.lines[1]
