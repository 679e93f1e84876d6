"""A chat endpoint that answers from a list of steps, so that an agent runs without a model.

Each step names the texts that a model would need for it. If one of them is not in the request, the request fails and
names the missing text.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Step:
    """One answer of the model."""

    needs: tuple[str, ...] = ()
    """Texts that the request must contain."""
    says: str = ""
    calls: tuple[tuple[str, Mapping[str, str]], ...] = ()
    """(tool, arguments)."""


class ScriptedEndpoint:
    """A local server that answers `POST /v1/chat/completions`; to be used as a context manager.

    Args:
        steps: The answers, in order.
        port: The port; 0 for a free one.
    """

    def __init__(self, steps: Sequence[Step], port: int = 0) -> None:
        self.steps = list(steps)
        self.requests: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, answer = endpoint.answer(self.path, body)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the base class's name
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        """The value of the agent's `--base-url`."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def n_left(self) -> int:
        """Number of steps that were not requested."""
        return len(self.steps) - len(self.requests)

    def answer(self, path: str, body: bytes) -> tuple[HTTPStatus, dict[str, Any]]:
        """Return the status and the JSON body of the answer to a request."""
        if path != "/v1/chat/completions":
            return HTTPStatus.NOT_FOUND, _error(f"there is no {path}")
        request = json.loads(body)
        with self._lock:
            n_done = len(self.requests)
            if n_done >= len(self.steps):
                return HTTPStatus.BAD_REQUEST, _error("the script has no more steps")
            if wrong := protocol_fault(request["messages"]):
                return HTTPStatus.BAD_REQUEST, _error(wrong)
            step = self.steps[n_done]
            seen = "\n".join(message["content"] or "" for message in request["messages"])
            missing = [text for text in step.needs if text not in seen]
            if missing:
                return HTTPStatus.BAD_REQUEST, _error(f"step {n_done + 1} needs to have seen {missing[0]!r}")
            self.requests.append(request)
        calls = [
            {
                "id": f"call_{n_done}_{number}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)},
            }
            for number, (name, arguments) in enumerate(step.calls)
        ]
        message = {"role": "assistant", "content": step.says or None} | ({"tool_calls": calls} if calls else {})
        reason = "tool_calls" if calls else "stop"
        return HTTPStatus.OK, {
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        }


def protocol_fault(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return why an OpenAI-compatible endpoint would refuse the messages; "" if it accepts them."""
    open_calls: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                return f"the answer {message['tool_call_id']} has no call directly before it"
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            return f"the call {open_calls[0]} has no answer"
        open_calls = [call["id"] for call in message.get("tool_calls", ())]
    return f"the call {open_calls[0]} has no answer" if open_calls else ""


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error"}}
