"""An MCP server as a process that tests send raw lines to."""

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ANSWER_TIMEOUT_S = 60.0
Json = dict[str, Any]
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}


class McpProcess:
    """`codecards mcp` on a project; to be used as a context manager."""

    def __init__(self, *roots: Path, options: tuple[str, ...] = (), folder: Path | None = None) -> None:
        """Start the server on some roots, or in a folder without any."""
        named = [part for root in roots for part in ("-C", str(root))]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "codecards", *named, "mcp", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(one for one in sys.path if one)},
        )
        self.lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.errors = bytearray()
        self._readers = [
            threading.Thread(target=self._read_answers, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The end of its input ends a server; killed, it would leave no record of its coverage.
        with contextlib.suppress(subprocess.TimeoutExpired, OSError):
            self.end_input(timeout_s=5.0)
        self._process.kill()
        self._process.wait()
        for reader in self._readers:
            reader.join(5)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def send(self, line: str | bytes | Json) -> None:
        """Send one line."""
        data = json.dumps(line).encode() if isinstance(line, dict) else line.encode() if isinstance(line, str) else line
        assert self._process.stdin is not None
        self._process.stdin.write(data + b"\n")
        self._process.stdin.flush()

    def receive(self) -> Json:
        """Return the next message."""
        message = json.loads(self.lines.get(timeout=ANSWER_TIMEOUT_S))
        assert isinstance(message, dict)
        return message

    def hello(self) -> Json:
        """Complete the handshake; return the server's answer to `initialize`."""
        found = self.ask("initialize", HELLO, request_id=0)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return found

    def ask(self, method: str, params: Json, request_id: int | str = 1) -> Json:
        """Return the response to a request; skip notifications before it."""
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        while (message := self.receive()).get("id") != request_id or "method" in message:
            pass
        return message

    def call(self, tool: str, **arguments: object) -> Json:
        """Return a tool's result."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        assert isinstance(result, dict)
        return result

    def end_input(self, timeout_s: float = 20.0) -> int:
        """Close the input and return the exit status."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(timeout_s)

    def _read_answers(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.put(line)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.errors += line
