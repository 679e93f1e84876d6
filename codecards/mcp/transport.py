"""MCP frames: lines of JSON on the process's own stdin and stdout, as streams of messages for the SDK.

The SDK's own transport drops a line that it can't read, so that its request is never answered, and cancels what is
still being answered when the input ends. This one answers every line, and gives answers that are under way a moment.
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
"""A longer line is answered with an error and forgotten; nothing that a tool takes is as long."""
DRAIN_S = 2.5
"""How long answers that are under way may take once the input has ended."""
READ_BYTES = 1 << 16

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BadFrame:
    """A line that is no message, and what to answer."""

    error: JSONRPCError


def read_frame(line: bytes) -> list[JSONRPCMessage | BadFrame]:
    """Return the messages of one line: one, none for a blank line, several for a batch."""
    if not line.strip():
        return []
    try:
        # The standard parser takes what JavaScript writes for half a surrogate pair, which pydantic's does not.
        value = json.loads(line.removeprefix(BOM_UTF8).decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        return [_bad(PARSE_ERROR, f"the line is no JSON: {str(error)[:200]}")]
    if isinstance(value, list):
        return [_message(one) for one in value] or [_bad(INVALID_REQUEST, "a batch must hold a message")]
    return [_message(value)]


def encode_frame(message: JSONRPCMessage) -> bytes:
    """Return a message as one line."""
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


class FrameSplitter:
    """Cuts a stream of bytes into lines, and never holds more than a frame may be long."""

    def __init__(self, max_bytes: int = MAX_FRAME_BYTES) -> None:
        self._max_bytes = max_bytes
        self._rest = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[bytes | BadFrame]:
        """Yield the lines that are whole now; an error for one that is too long."""
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
        """Return what came after the last line's end."""
        return bytes(self._rest)

    def _too_long(self) -> BadFrame:
        return _bad(INVALID_REQUEST, f"a message may have {self._max_bytes} bytes")


Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def frames(wire: StdioPair, *, drain_s: float = DRAIN_S) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Yield the streams that the SDK's server runs on; they end when the input does."""
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](64)
    pump = _Pump(wire, to_server, from_server, outgoing.clone())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pump.read, drain_s)
        tasks.start_soon(pump.write)
        yield incoming, outgoing
        with anyio.move_on_after(1.0):
            await pump.written.wait()
        # A thread may be waiting for input for ever: it is left behind.
        tasks.cancel_scope.cancel()


class _Pump:
    """Moves messages between the descriptors and the streams."""

    def __init__(
        self,
        wire: StdioPair,
        to_server: MemoryObjectSendStream[SessionMessage | Exception],
        from_server: MemoryObjectReceiveStream[SessionMessage],
        replies: Outgoing,
    ) -> None:
        self._wire, self._to_server, self._from_server, self._replies = wire, to_server, from_server, replies
        self._open: Counter[RequestId] = Counter()
        """Requests that wait for their answer."""
        self._settled = anyio.Event()
        self.written = anyio.Event()
        """Set when all that the server said is written, or can't be."""

    async def read(self, drain_s: float) -> None:
        """Hand every message of the input on; wait a little for open answers at its end."""
        lines, received = anyio.create_memory_object_stream[bytes | BadFrame](16)
        token = anyio.lowlevel.current_token()
        threading.Thread(target=_read_lines, args=(self._wire.source, lines, token), daemon=True).start()
        async with self._to_server, self._replies:
            async for line in received:
                for one in [line] if isinstance(line, BadFrame) else read_frame(line):
                    await self._take(one)
            with anyio.move_on_after(drain_s):
                while self._open and not self.written.is_set():
                    self._settled = anyio.Event()
                    await self._settled.wait()

    async def _take(self, one: JSONRPCMessage | BadFrame) -> None:
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
        """Write every message of the server; a client that does not listen any more ends the input too."""
        try:
            async for outgoing in self._from_server:
                message = outgoing.message
                line = encode_frame(message)
                await anyio.to_thread.run_sync(_write_whole, self._wire.sink, line, abandon_on_cancel=True)
                if isinstance(message, JSONRPCResponse | JSONRPCError):
                    self._settle(message.id)
        except OSError as error:
            _log.info("the client is gone: %s", error)
            self._to_server.close()
        finally:
            self.written.set()
            self._settled.set()

    def _settle(self, request_id: object) -> None:
        """Note that a request needs no answer any more."""
        if isinstance(request_id, str | int) and request_id in self._open:
            self._open.subtract([request_id])
            self._open = +self._open
        self._settled.set()


def _read_lines(
    source: int, lines: MemoryObjectSendStream[bytes | BadFrame], token: anyio.lowlevel.EventLoopToken
) -> None:
    """Read the input to its end, in a thread: a pipe can't be waited for in the same way on every system."""
    splitter = FrameSplitter()

    def hand_on(line: bytes | BadFrame) -> None:
        anyio.from_thread.run(lines.send, line, token=token)

    try:
        while data := os.read(source, READ_BYTES):
            for line in splitter.feed(data):
                hand_on(line)
        hand_on(splitter.last())
    except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.RunFinishedError) as error:
        _log.info("the input ended: %s", error)
    with suppress(anyio.RunFinishedError):
        anyio.from_thread.run_sync(lines.close, token=token)


def _write_whole(sink: int, line: bytes) -> None:
    view = memoryview(line)
    while view:
        view = view[os.write(sink, view) :]


def _message(value: object) -> JSONRPCMessage | BadFrame:
    """Return one decoded value as a message; text that is no Unicode is put right."""
    try:
        value = _repaired(value)
        message = jsonrpc_message_adapter.validate_python(value, by_name=False)
    except (ValidationError, RecursionError):
        message = None
    known = value.get("id") if isinstance(value, dict) else None
    # A request whose id is of no use must not pass as a notification: its sender waits.
    if message is not None and not (
        isinstance(message, JSONRPCNotification) and isinstance(value, dict) and "id" in value
    ):
        return message
    request_id = known if isinstance(known, str | int) and not isinstance(known, bool) else None
    return _bad(INVALID_REQUEST, "the line is no JSON-RPC 2.0 message", request_id)


def _repaired(value: object) -> object:
    """Return a value without halves of surrogate pairs, which can't be written as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_repaired(one) for one in value]
    if isinstance(value, dict):
        return {_repaired(key): _repaired(one) for key, one in value.items()}
    return value


def _bad(code: int, message: str, request_id: RequestId | None = None) -> BadFrame:
    return BadFrame(JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message)))
