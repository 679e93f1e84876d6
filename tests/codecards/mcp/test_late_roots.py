"""The client's folders count whenever its answer comes, and closed streams end a command without a traceback."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.support.mcp_process import ANSWER_TIMEOUT_S, HELLO, Json, McpProcess

ROOTS = HELLO | {"capabilities": {"roots": {"listChanged": True}}}


def _next_with(server: McpProcess, key: str, value: object) -> Json:
    while True:
        message: Json = json.loads(server.lines.get(timeout=ANSWER_TIMEOUT_S))
        if message.get(key) == value:
            return message


def _project(folder: Path, name: str) -> Path:
    root = folder / name
    root.mkdir()
    (root / f"{name}.py").write_text(f"def {name}_function():\n    return 1\n")
    return root


def _name_root(server: McpProcess, asked: Json, root: Path) -> None:
    server.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": [{"uri": "file://" + quote(str(root))}]}})


def _served(server: McpProcess, number: int, query: str) -> str:
    call = {"name": "recall", "arguments": {"query": query}}
    server.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
    return str(_next_with(server, "id", number)["result"]["content"])


def _served_in_the_end(server: McpProcess, number: int, name: str) -> bool:
    """Ask until the project is served; the server takes up an answer beside the calls."""
    for one in range(number, number + 50):
        if f"{name}.py" in _served(server, one, f"{name}_function"):
            return True
        time.sleep(0.1)
    return False


def test_folders_that_are_named_late_are_served(tmp_path: Path) -> None:
    start, first, second = (_project(tmp_path, name) for name in ("start", "first", "second"))
    with McpProcess(folder=start) as server:
        server.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": ROOTS})
        _next_with(server, "id", 1)
        server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        asked = _next_with(server, "method", "roots/list")
        # The call waits for the folders no longer than the time limit, and is answered from the start folder.
        assert "first.py" not in _served(server, 2, "first_function")
        _name_root(server, asked, first)
        assert _served_in_the_end(server, 100, "first")
        server.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
        asked = _next_with(server, "method", "roots/list")
        assert "second.py" not in _served(server, 3, "second_function")
        _name_root(server, asked, second)
        assert _served_in_the_end(server, 200, "second")


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", ["<&-", "</dev/null >&-", "</dev/null 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["mcp", "hook claude Stop", "status"])
def test_closed_streams_give_no_traceback(tmp_path: Path, command: str, closed: str) -> None:
    root = _project(tmp_path, "start")
    done = subprocess.run(
        ["sh", "-c", f'exec "{sys.executable}" -m codecards {command} {closed}'],
        cwd=root,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(one for one in sys.path if one)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert b"error" not in done.stderr
