"""The stdio transport: lines of JSON on stdin and stdout, as streams of messages for the SDK.

The transport of the SDK drops a line that it can't parse, so its request is never answered, and cancels pending answers
when the input ends. This transport answers every line and waits a moment for pending answers.
"""

import json
import logging
import os
import threading
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from codecards.mcp.stdio import StdioPair

MAX_FRAME_BYTES = 8 << 20
"""A longer line is answered with an error and skipped; no tool takes arguments of that length."""
DRAIN_S = 2.5
"""Time for pending answers after the input has ended."""
READ_BYTES = 1 << 16

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BadFrame:
    """The answer to a line that is not a message."""

    error: JSONRPCError


def read_frame(line: bytes) -> list[JSONRPCMessage | BadFrame]:
    """Return the messages of a line: one, none for a blank line, or several for a batch."""
    if not line.strip():
        return []
    try:
        # The standard parser accepts half a surrogate pair, as JavaScript writes it; pydantic's parser does not.
        value = json.loads(line.removeprefix(BOM_UTF8).decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        return [_bad(PARSE_ERROR, f"the line is not JSON: {str(error)[:200]}")]
    if isinstance(value, list):
        return [_message(one) for one in value] or [_bad(INVALID_REQUEST, "a batch must contain a message")]
    return [_message(value)]


def encode_frame(message: JSONRPCMessage) -> bytes:
    """Return a message as a line."""
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


class FrameSplitter:
    """Splits a stream of bytes into lines, and buffers at most one frame."""

    def __init__(self, max_bytes: int = MAX_FRAME_BYTES) -> None:
        self._max_bytes = max_bytes
        self._rest = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[bytes | BadFrame]:
        """Yield the lines that are complete now, and an error for a line that is too long."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._rest += line
            if not self._skipping:
                whole = bytes(self._rest)
                yield whole if len(whole) <= self._max_bytes else self._too_long()
            self._rest.clear()
            self._skipping = False
        if not self._skipping:
            self._rest += rest
        if len(self._rest) > self._max_bytes:
            self._rest.clear()
            self._skipping = True
            yield self._too_long()

    def last(self) -> bytes:
        """Return the bytes after the last line end."""
        return bytes(self._rest)

    def _too_long(self) -> BadFrame:
        return _bad(INVALID_REQUEST, f"a message may have at most {self._max_bytes} bytes")


Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def frames(stdio: StdioPair, *, drain_s: float = DRAIN_S) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Yield the streams for the SDK's server; they end with the input."""
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](64)
    pump = _Pump(stdio, to_server, from_server, outgoing.clone())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pump.read, drain_s)
        tasks.start_soon(pump.write)
        yield incoming, outgoing
        with anyio.move_on_after(1.0):
            await pump.written.wait()
        # A thread may wait for input forever, so it is not joined.
        tasks.cancel_scope.cancel()


class _Pump:
    """Moves messages between the descriptors and the streams."""

    def __init__(
        self,
        stdio: StdioPair,
        to_server: MemoryObjectSendStream[SessionMessage | Exception],
        from_server: MemoryObjectReceiveStream[SessionMessage],
        replies: Outgoing,
    ) -> None:
        self._stdio, self._to_server, self._from_server, self._replies = stdio, to_server, from_server, replies
        self._open: Counter[RequestId] = Counter()
        """Pending requests."""
        self._settled = anyio.Event()
        self.written = anyio.Event()
        """Set once all messages of the server are written or can't be written."""

    async def read(self, drain_s: float) -> None:
        """Forward all messages of the input; at its end, wait a little for pending answers."""
        lines, received = anyio.create_memory_object_stream[bytes | BadFrame](16)
        token = anyio.lowlevel.current_token()
        threading.Thread(target=_read_lines, args=(self._stdio.source, lines, token), daemon=True).start()
        async with self._to_server, self._replies:
            async for line in received:
                for one in [line] if isinstance(line, BadFrame) else read_frame(line):
                    await self._forward(one)
            with anyio.move_on_after(drain_s):
                while self._open and not self.written.is_set():
                    self._settled = anyio.Event()
                    await self._settled.wait()

    async def _forward(self, one: JSONRPCMessage | BadFrame) -> None:
        if isinstance(one, BadFrame):
            _log.warning("refused a message: %s", one.error.error.message)
            await self._replies.send(SessionMessage(one.error))
            return
        if isinstance(one, JSONRPCRequest):
            self._open[one.id] += 1
        elif getattr(one, "method", "") == "notifications/cancelled":
            self._settle((getattr(one, "params", None) or {}).get("requestId"))
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await self._to_server.send(SessionMessage(one))

    async def write(self) -> None:
        """Write all messages of the server; if the client has closed its side, close the input too."""
        try:
            async for outgoing in self._from_server:
                message = outgoing.message
                line = encode_frame(message)
                await anyio.to_thread.run_sync(_write_whole, self._stdio.sink, line, abandon_on_cancel=True)
                if isinstance(message, JSONRPCResponse | JSONRPCError):
                    self._settle(message.id)
        except OSError as error:
            _log.info("the client closed the connection: %s", error)
            self._to_server.close()
        finally:
            self.written.set()
            self._settled.set()

    def _settle(self, request_id: object) -> None:
        """Remove a request from the pending ones."""
        if isinstance(request_id, str | int) and request_id in self._open:
            self._open.subtract([request_id])
            self._open = +self._open
        self._settled.set()


def _read_lines(
    source: int, lines: MemoryObjectSendStream[bytes | BadFrame], token: anyio.lowlevel.EventLoopToken
) -> None:
    """Read the input to its end, in a thread, since waiting for a pipe differs between systems."""
    splitter = FrameSplitter()

    def forward(line: bytes | BadFrame) -> None:
        anyio.from_thread.run(lines.send, line, token=token)

    try:
        while data := os.read(source, READ_BYTES):
            for line in splitter.feed(data):
                forward(line)
        forward(splitter.last())
    except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.RunFinishedError) as error:
        _log.info("the input ended: %s", error)
    with suppress(anyio.RunFinishedError):
        anyio.from_thread.run_sync(lines.close, token=token)


def _write_whole(sink: int, line: bytes) -> None:
    view = memoryview(line)
    while view:
        view = view[os.write(sink, view) :]


def _message(value: object) -> JSONRPCMessage | BadFrame:
    """Return a decoded value as a message, with valid Unicode."""
    try:
        value = _repaired(value)
        message = jsonrpc_message_adapter.validate_python(value, by_name=False)
    except (ValidationError, RecursionError):
        message = None
    known = value.get("id") if isinstance(value, dict) else None
    # A request with an invalid id must not pass as a notification, since its sender waits for an answer.
    if message is not None and not (
        isinstance(message, JSONRPCNotification) and isinstance(value, dict) and "id" in value
    ):
        return message
    request_id = known if isinstance(known, str | int) and not isinstance(known, bool) else None
    return _bad(INVALID_REQUEST, "the line is not a JSON-RPC 2.0 message", request_id)


def _repaired(value: object) -> object:
    """Return a value without lone surrogates, which can't be encoded as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_repaired(one) for one in value]
    if isinstance(value, dict):
        return {_repaired(key): _repaired(one) for key, one in value.items()}
    return value


def _bad(code: int, message: str, request_id: RequestId | None = None) -> BadFrame:
    return BadFrame(JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message)))
