"""`codecards hook AGENT EVENT` records the events of an agent in the session that its MCP server shows.

**Invariant:** a hook never makes an agent fail: the exit code is 0, and errors are only printed to stderr.
**Invariant:** neither paths outside the project nor their contents are recorded.

A hook writes only to projects with a `.codecards/` folder. It loads no index, so a call takes 0.2 s of CPU.
"""

import hashlib
import json
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, TextIO

from codecards.agents.hook_events import HookEvent, HookToolCall, read_event
from codecards.environment import is_debug, process_environment
from codecards.errors import CodecardsError, OutsideProjectError, UsageError
from codecards.indexer.atomic_files import locked, write_atomic
from codecards.indexer.index_folder import FOLDER_NAME, keep_out_of_commits
from codecards.indexer.text.secrets import mask_secrets
from codecards.indexer.walk.files import resolve_inside
from codecards.indexer.walk.root import project_root
from codecards.indexer.walk.secret_names import is_secret_file
from codecards.router.compress.token_count import estimate_tokens
from codecards.router.memory.operations import ToolCall
from codecards.router.memory.state import SessionState, TaskSpec
from codecards.router.memory.store import SessionStore
from codecards.router.notes.archive import Archive
from codecards.router.ports import FileText, Project
from codecards.router.session import Session
from codecards.savings.usage_log import WindowEntry, log_window_entry
from codecards.untrusted_text import fenced

DEFAULT_SESSION = "mcp"
"""The session of `codecards mcp`, so that its tool `context` shows the recorded events."""
NO_GOAL = "(not told yet)"
"""Goal of a session until a prompt sets it; stored in session files."""
MAX_INPUT_BYTES = 32 << 20
MAX_FOUND = 20
MAX_GOAL_CHARACTERS = 600
MAX_LISTED = 12
MAX_ERROR_CHARACTERS = 800
NEW_SESSIONS = ("startup", "new", "clear", "")
PROJECT_VARIABLES = ("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR")
MAX_EVENT_MARKS = 64
"""Recorded events whose marks are kept to detect duplicates."""
AGENTS = ("claude", "codex", "cursor", "copilot", "gemini", "qwen", "windsurf")


def main(arguments: Sequence[str]) -> int:
    """Run `codecards hook AGENT EVENT [--session NAME]`, and return the exit code: always 0."""
    return run_hook(arguments, sys.stdin.buffer, sys.stdout, sys.stderr, process_environment())


def run_hook(
    arguments: Sequence[str], stdin: BinaryIO, stdout: TextIO, stderr: TextIO, environment: Mapping[str, str]
) -> int:
    """Record an event, and answer in the form that the agent expects; the exit code is 0."""
    agent, event, brief = "", "", ""
    payload: dict[str, object] = {}
    try:
        agent, event, session = _parse_arguments(arguments)
        payload = _payload(stdin)
        brief = _record_event(read_event(event, payload), session, environment, stderr)
    except CodecardsError as error:
        print(f"codecards hook: {error}", file=stderr)
    except Exception as error:  # the outermost frame: an error here must not stop the agent
        print(f"codecards hook: internal error: {type(error).__name__}: {error}", file=stderr)
        if is_debug(environment):
            traceback.print_exc(file=stderr)
    answer = _answer(agent, event, payload, brief)
    if answer is not None:
        stdout.write(json.dumps(answer) + "\n")
        stdout.flush()
    return 0


def _parse_arguments(arguments: Sequence[str]) -> tuple[str, str, str]:
    """Return (agent, event, session) of the command line."""
    words = list(arguments)
    session = DEFAULT_SESSION
    if "--session" in words:
        place = words.index("--session")
        session = words[place + 1] if place + 1 < len(words) else ""
        del words[place : place + 2]
    if len(words) != 2 or words[0] not in AGENTS:
        raise UsageError(f"usage: codecards hook AGENT EVENT, where AGENT is one of: {', '.join(AGENTS)}")
    return words[0], words[1], session


def _payload(stdin: BinaryIO) -> dict[str, object]:
    data = stdin.read(MAX_INPUT_BYTES + 1)
    if len(data) > MAX_INPUT_BYTES:
        raise UsageError(f"the event is larger than {MAX_INPUT_BYTES >> 20} MiB and was not recorded")
    try:
        value = json.loads(data.decode("utf-8-sig", "replace") or "{}")
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the event is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise UsageError("the event is not a JSON object")
    return value


def _record_event(event: HookEvent, name: str, environment: Mapping[str, str], stderr: TextIO) -> str:
    """Record an event, and return a brief for the agent, mostly ""."""
    if not event.kind or (event.kind == "tool" and event.tool_call is None):
        return ""
    # An agent may have changed its folder; some agents name the project in a variable.
    named = next(
        (environment[one] for one in PROJECT_VARIABLES if environment.get(one)), event.folder or str(Path.cwd())
    )
    folder, start = Path(event.folder or named), Path(named)
    if not start.is_absolute() or not start.is_dir():
        raise UsageError("the folder of the event does not exist")
    root = project_root(start.resolve())
    if not (root / FOLDER_NAME).is_dir():
        return ""  # the project does not use codecards
    store = SessionStore(resolve_inside(root, f"{FOLDER_NAME}/sessions"))
    try:
        return _record(event, root, folder, store, name)
    finally:
        for notice in store.take_notices():
            print(f"codecards hook: {notice}", file=stderr)


def _record(event: HookEvent, root: Path, folder: Path, store: SessionStore, name: str) -> str:
    """Record an event in a session of the project, and return a brief for the agent."""
    known = store.exists(name)  # refuses invalid names
    resolve_inside(root, f"{FOLDER_NAME}/sessions/{name}")  # refuses a link out of the project
    if event.key and _is_duplicate(store.folder / name, event.key):
        return ""
    if event.tool_call is not None:
        _record_tool_call(event.tool_call, root, folder, store, name)
        return ""
    if event.kind == "start":
        return _start(event, root, store, name, known=known)
    session = _session(root, store, name)
    if event.kind == "prompt" and event.prompt.strip():
        if _wants_goal(session.state, event.conversation):
            session.set_goal(event.prompt.strip()[:MAX_GOAL_CHARACTERS])
        session.record(ToolCall("prompt", query=event.conversation[:64], text=mask_secrets(event.prompt)))
    elif event.kind == "compact":
        session.record(ToolCall("compact", reason=event.source))
    return ""


def _start(event: HookEvent, root: Path, store: SessionStore, name: str, *, known: bool) -> str:
    """Record the start of an agent's session, and return a brief of the working memory."""
    brief = ""
    if known:
        whole = event.source not in NEW_SESSIONS
        brief = brief_of(store.load(name), name, whole=whole)
    session = _session(root, store, name)
    session.record(ToolCall("start", reason=event.source))
    if event.source in NEW_SESSIONS:
        log_window_entry(store.folder / name, WindowEntry("start", 0))
    if brief:
        log_window_entry(store.folder / name, WindowEntry("brief", estimate_tokens(brief)))
    return brief


def _record_tool_call(call: HookToolCall, root: Path, folder: Path, store: SessionStore, name: str) -> None:
    named = dict.fromkeys(filter(None, (_inside(root, folder, one) for one in call.found)))
    found = tuple(path for path in named if (root / path).is_file())[:MAX_FOUND]
    if call.kind == "codecards":
        # The MCP server records what its tools change in the session; a recall changes nothing, so the hook records it.
        query = mask_secrets(call.query)
        if call.tool.endswith("recall"):
            _session(root, store, name).record(ToolCall("recall", paths=found, query=query))
        if store.exists(name):
            log_window_entry(store.folder / name, WindowEntry("answer", estimate_tokens(call.result), query, found))
        return
    paths = tuple(dict.fromkeys(filter(None, (_inside(root, folder, one) for one in call.paths))))
    if call.paths and not paths:
        return  # outside the project
    secret = any(is_secret_file(path) for path in paths)
    session = _session(root, store, name)
    if call.kind in ("search", "list"):
        paths = found
    session.record(
        ToolCall(
            call.kind,
            paths,
            query=mask_secrets(call.query),
            text=mask_secrets(call.call),
            result="" if secret else call.result,
            failed=call.failed,
            reason=call.reason,
            lines=call.lines,
        )
    )
    if call.kind == "read" and not call.failed and not secret:
        for path in paths:
            log_window_entry(store.folder / name, WindowEntry("read", _tokens_read(root / path, call), paths=(path,)))


def _tokens_read(path: Path, call: HookToolCall) -> int:
    """Estimate the tokens that a read put into the window; a read without lines shows 2,000 of them."""
    first, last = call.lines or (1, 2_000)
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return estimate_tokens("".join(line for n, line in enumerate(file, 1) if first <= n <= last))
    except OSError:
        return 0


def _inside(root: Path, folder: Path, written: str) -> str:
    """Return a path relative to the root, with links resolved; "" if it is invalid or leads out of the project."""
    try:
        place = resolve_inside(root, str(folder / written))
    except (OutsideProjectError, ValueError):
        return ""
    relative = place.relative_to(root.resolve()).as_posix()
    return "" if written.startswith("~") or relative == "." or relative.split("/")[0] == FOLDER_NAME else relative


def _is_duplicate(folder: Path, key: str) -> bool:
    """Return whether an event was recorded already: Copilot runs Claude Code's hooks besides its own."""
    mark = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    path = folder / "hooks.seen"
    with locked(folder / "hooks.lock"):
        seen = (
            path.read_text(encoding="ascii", errors="replace").split()
            if path.is_file() and not path.is_symlink()
            else []
        )
        if mark in seen:
            return True
        write_atomic(path, "\n".join([*seen, mark][-MAX_EVENT_MARKS:]).encode())
    return False


class _NoTexts:
    """Texts of files; recording needs none."""

    def read(self, path: str) -> FileText | None:
        """Return None."""
        return None


def _session(root: Path, store: SessionStore, name: str) -> Session:
    """Return the session; create it if it does not exist."""
    project, archive = Project(_NoTexts()), Archive(resolve_inside(root, f"{FOLDER_NAME}/archive"))
    if not store.exists(name):
        keep_out_of_commits(root / FOLDER_NAME)
        try:
            return Session.start(store, name, project, archive, TaskSpec(NO_GOAL))
        except UsageError:
            if not store.exists(name):
                raise
            # Another hook has just created it.
    return Session(store, name, project, archive)


def _wants_goal(state: SessionState, conversation: str) -> bool:
    """Return whether the next prompt is the goal: no goal is known, or a conversation has just begun."""
    if state.memory.task.goal == NO_GOAL:
        return True
    for operation in reversed(state.operations):
        if operation.kind == "prompt":
            # Not every agent reports every start, but a new conversation has a new id.
            return bool(conversation and operation.query and operation.query != conversation[:64])
        if operation.kind == "start":
            return True
    return False


def brief_of(state: SessionState, name: str, *, whole: bool) -> str:
    """Return the working memory in a few lines, for an agent whose window was cleared; "" if the memory is empty.

    Args:
        state: The session.
        name: Its name.
        whole: The agent continues the same task; otherwise it gets one line.
    """
    memory = state.memory
    if memory.task.goal == NO_GOAL and not memory.changes and not memory.files:
        return ""
    if not whole:
        goal = f"from before: {memory.task.goal[:200]} ({len(memory.files)} files, {len(memory.changes)} changes)"
        return _fenced_memory(name, [goal, "the tool `context` shows it; a new goal starts another task"])
    read = [path for one in reversed(state.operations) if one.kind in ("read", "open") for path in one.paths]
    failed = next((block for block in reversed(state.window.blocks) if block.is_error), None)
    lines = [f"goal: {memory.task.goal}", f"stage: {memory.task.status}"]
    lines += [f"constraint: {one}" for one in memory.task.constraints]
    lines += [
        f"changed: {one.path} ({one.action})" + (f": {one.reason}" if one.reason else "")
        for one in memory.changes[-MAX_LISTED:]
    ]
    lines += [f"in view: {one.path} ({one.mode})" for one in memory.files[-MAX_LISTED:]]
    lines += [f"read: {', '.join(list(dict.fromkeys(read))[:MAX_LISTED])}"] if read else []
    lines += [f"open question: {one}" for one in memory.open_questions[-MAX_LISTED:]]
    lines += [f"notes: {', '.join(memory.archive_refs[-MAX_LISTED:])}"] if memory.archive_refs else []
    lines += [f"latest error:\n{failed.text()[-MAX_ERROR_CHARACTERS:]}"] if failed is not None else []
    return _fenced_memory(name, [*lines, "the tool `context` shows all of it"])


def _fenced_memory(name: str, lines: Sequence[str]) -> str:
    return fenced("\n".join(lines), source="codecards memory", session=name)


def _answer(agent: str, event: str, payload: dict[str, object], brief: str) -> dict[str, object] | None:
    """Return the object that the agent expects on stdout; None for no output."""
    if agent == "cursor":
        if event == "beforeSubmitPrompt":
            return {"continue": True}
        return {"additional_context": brief} if brief else {}
    if agent == "copilot" and "hook_event_name" not in payload:
        return {"additionalContext": brief} if brief else None
    if agent == "windsurf" or not brief:
        return {} if agent == "gemini" else None
    name = str(payload.get("hook_event_name") or event)
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": brief}}
