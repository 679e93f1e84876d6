"""A client of an MCP server over stdin and stdout that writes raw lines, so that only the server's time is measured."""

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import psutil

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}


class ServerEndedError(Exception):
    """The server closed its output before it answered."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with its times."""

    result: dict[str, Any]
    """The result, or {"error": …} for a protocol error."""
    sent_s: float
    """`time.time()` when the request was written."""
    received_s: float
    """`time.time()` when the answer was read."""

    @property
    def took_ms(self) -> float:
        """Time from request to answer."""
        return 1000 * (self.received_s - self.sent_s)

    @property
    def failed(self) -> bool:
        """Whether the answer is a protocol error or a tool error."""
        return "error" in self.result or bool(self.result.get("isError"))

    @property
    def text(self) -> str:
        """The text that a model would read."""
        return "\n".join(str(part.get("text", "")) for part in self.result.get("content", []))


class McpClient:
    """One server process. Use it as a context manager, from one thread."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Start the server."""
        self.started_s = time.time()
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(environment or {})},
        )
        self._family = psutil.Process(self._process.pid)
        self._next_id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self, timeout_s: float = 10.0) -> float | None:
        """Close the server's input; return the seconds until it ended, None if it had to be killed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        started = time.perf_counter()
        self._process.stdin.close()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return None
        finally:
            self._process.stdout.close()
        return time.perf_counter() - started

    def hello(self) -> Reply:
        """Perform the handshake."""
        reply = self.ask("initialize", HELLO)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return reply

    def call(self, tool: str, arguments: Mapping[str, object]) -> Reply:
        """Call a tool."""
        return self.ask("tools/call", {"name": tool, "arguments": dict(arguments)})

    def ask(self, method: str, params: Mapping[str, object]) -> Reply:
        """Send a request and wait for its answer.

        Raises:
            ServerEndedError: The server ended without an answer.
        """
        self._next_id += 1
        sent_s = time.time()
        self._send({"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": dict(params)})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") == self._next_id and "method" not in message:
                result = message.get("result", {"error": message.get("error")})
                return Reply(result, sent_s, time.time())
        raise ServerEndedError(method)

    def cpu_s(self) -> float:
        """Return the CPU seconds of the server process so far, without child processes."""
        times = self._family.cpu_times()
        return float(times.user + times.system)

    def resident_bytes(self) -> int:
        """Return the resident memory of the server process, without child processes."""
        return int(self._family.memory_info().rss)

    def _send(self, message: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
