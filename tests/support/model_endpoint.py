"""A scripted endpoint that speaks the three model APIs over real HTTP, and remembers what it was sent."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp


@dataclass(frozen=True, slots=True)
class SentRequest:
    """What reached the endpoint."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:  # noqa: ANN401 - JSON
        """Return the body as JSON."""
        return json.loads(self.body)


@dataclass(slots=True)
class ModelEndpoint:
    """Answers every request with a short text, in the form of its API."""

    requests: list[SentRequest] = field(default_factory=list)
    pause_s: float = 0.0
    """Between two chunks of a stream."""
    chunks: list[bytes] = field(default_factory=list)
    """What the last stream was made of."""

    def app(self) -> Starlette:
        """Return the application."""
        return Starlette(routes=[Route("/{path:path}", self.answer, methods=["GET", "POST", "DELETE"])])

    async def answer(self, request: Request) -> Response:
        """Answer one request."""
        body = await request.body()
        self.requests.append(SentRequest(request.method, request.url.path, dict(request.headers), body))
        try:
            streams = bool(json.loads(body).get("stream"))
        except (ValueError, AttributeError):
            streams = False
        path = request.url.path
        if path.endswith("/messages"):
            return self._stream(_messages_events()) if streams else JSONResponse(_MESSAGE)
        if path.endswith("/chat/completions"):
            return self._stream(_chat_events()) if streams else JSONResponse(_CHAT)
        if path.endswith("/responses"):
            return JSONResponse(_RESPONSE)
        if path.endswith("/fail"):
            return JSONResponse({"error": {"type": "overloaded"}}, status_code=529, headers={"retry-after": "7"})
        return Response(b"\x00raw\xff" + body, media_type="application/octet-stream", headers={"x-own": "kept"})

    def _stream(self, events: list[bytes]) -> Response:
        self.chunks = events

        async def send() -> AsyncIterator[bytes]:
            for event in events:
                yield event
                await asyncio.sleep(self.pause_s)

        return StreamingResponse(send(), media_type="text/event-stream")


@contextmanager
def served(app: ASGIApp) -> Iterator[str]:
    """Serve an application on a free port of loopback; yield its base URL."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(20)


_MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "scripted",
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "content": [{"type": "text", "text": "done"}],
    "usage": {"input_tokens": 9, "output_tokens": 1},
}
_CHAT = {
    "id": "chat_1",
    "object": "chat.completion",
    "created": 0,
    "model": "scripted",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "done"}}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10},
}
_RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 0,
    "model": "scripted",
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "temperature": 1.0,
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "output": [
        {
            "id": "m_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "done", "annotations": []}],
        }
    ],
}


def _messages_events() -> list[bytes]:
    rows: list[tuple[str, object]] = [
        ("message_start", {"type": "message_start", "message": {**_MESSAGE, "content": [], "stop_reason": None}}),
        (
            "content_block_start",
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        ),
        *(
            (
                "content_block_delta",
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
            )
            for text in ("do", "ne", " 完了")
        ),
        ("content_block_stop", {"type": "content_block_stop", "index": 0}),
        (
            "message_delta",
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                "usage": {"output_tokens": 3},
            },
        ),
        ("message_stop", {"type": "message_stop"}),
    ]
    return [f"event: {name}\ndata: {json.dumps(value, ensure_ascii=False)}\n\n".encode() for name, value in rows]


def _chat_events() -> list[bytes]:
    chunk = {"id": "chat_1", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
    rows = [
        {**chunk, "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]} for text in ("do", "ne")
    ]
    return [*(f"data: {json.dumps(row)}\n\n".encode() for row in rows), b"data: [DONE]\n\n"]
