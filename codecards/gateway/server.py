"""Serves a gateway on loopback: requests to models pass through it, with shorter histories where it understands them.

**Invariant:** what the gateway does not understand is forwarded byte for byte, and so is every answer, chunk by chunk
as it comes. Headers, and with them keys, are passed on and neither stored nor logged.
"""

import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from codecards.errors import CodecardsError
from codecards.gateway.conversations import Conversations, RewrittenRequest
from codecards.gateway.formats import ReadRequest, WireFormat, format_of, put_texts
from codecards.indexer.atomic_files import append_line
from codecards.outputs.store import OutputStore

_log = logging.getLogger(__name__)

DEFAULT_PORT = 8791
UPSTREAMS = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com"}
STATUS_PATH = "/codecards/status"
LOG_NAME = "requests.jsonl"
MAX_PARSED_BYTES = 64_000_000
"""A larger request is forwarded unread."""
CONNECT_TIMEOUT_S = 30.0
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "host",
        "content-length",
    }
)
"""Headers that belong to one connection. Source: RFC 9110, section 7.6.1."""


@dataclass(frozen=True, slots=True)
class GatewayOptions:
    """How a gateway is started."""

    folder: Path
    """`.codecards/gateway` of a project: where requests are logged."""
    port: int = DEFAULT_PORT
    dry_run: bool = False
    """Whether every request is forwarded as it came, and only the log says what would have been done."""
    upstreams: Mapping[str, str] = None  # type: ignore[assignment]
    """Provider → base URL without the path of the API; None for the providers' own."""

    def upstream(self, provider: str) -> str:
        """Return the base URL of a provider."""
        return (self.upstreams or UPSTREAMS).get(provider, UPSTREAMS[provider]).rstrip("/")


@dataclass(slots=True)
class PassedTotals:
    """What passed the gateway since it was started."""

    requests: int = 0
    rewritten: int = 0
    tokens: int = 0
    whole_tokens: int = 0
    price: float = 0.0
    whole_price: float = 0.0


class Gateway:
    """Answers requests; one for each process."""

    def __init__(self, options: GatewayOptions, store: OutputStore, client: httpx2.AsyncClient) -> None:
        """Take the options, the store of whole outputs, and the client that reaches the models."""
        self.options = options
        self.totals = PassedTotals()
        self._store = store
        self._client = client
        self._conversations = Conversations()

    def routes(self) -> list[Route]:
        """Return what is answered where."""
        return [Route(STATUS_PATH, self.status), Route("/{path:path}", self.forward, methods=METHODS)]

    async def status(self, request: Request) -> Response:
        """Tell what passed so far."""
        if not _is_from_here(request):
            return _refused()
        return JSONResponse({"dry_run": self.options.dry_run, **asdict(self.totals)})

    async def forward(self, request: Request) -> Response:
        """Forward one request and stream its answer."""
        if not _is_from_here(request):
            return _refused()
        body = await request.body()
        wire = format_of(request.url.path) if request.method == "POST" else None
        sent = await self._rewritten(wire, request, body) if wire is not None else body
        provider = wire.provider if wire is not None else _provider(request)
        url = httpx2.URL(self.options.upstream(provider) + request.url.path, query=request.url.query.encode())
        headers = [(name, value) for name, value in request.headers.raw if name.decode().lower() not in HOP_BY_HOP]
        outgoing = self._client.build_request(request.method, url, headers=headers, content=sent)
        try:
            answer = await self._client.send(outgoing, stream=True)
        except httpx2.HTTPError as error:
            _log.warning("upstream unreachable", extra={"provider": provider, "detail": type(error).__name__})
            message = f"codecards gateway: {url.host} can't be reached ({type(error).__name__}: {error})"
            return JSONResponse({"error": {"type": "upstream_unreachable", "message": message}}, status_code=502)
        response = StreamingResponse(_chunks(answer), status_code=answer.status_code)
        response.raw_headers = [
            (name.lower(), value)
            for name, value in answer.headers.raw
            if name.decode().lower() not in HOP_BY_HOP or name.lower() == b"content-length"
        ]
        return response

    async def _rewritten(self, wire: WireFormat, request: Request, body: bytes) -> bytes:
        """Return the body to send: the one that came where nothing is to be rewritten or anything is unclear."""
        if request.headers.get("content-encoding") or len(body) > MAX_PARSED_BYTES:
            return body
        try:
            return await anyio.to_thread.run_sync(self._rewrite, wire, body)
        except (ValueError, TypeError, KeyError, RecursionError, CodecardsError, OSError) as error:
            _log.warning("request forwarded as it came", extra={"kind": type(error).__name__, "detail": str(error)})
            return body

    def _rewrite(self, wire: WireFormat, body: bytes) -> bytes:
        value = json.loads(body)
        if not isinstance(value, dict):
            return body
        read = wire.read(value)
        done = self._conversations.rewrite(wire, read)
        for handle, text in done.rewriting.wholes.items():
            if not self.options.dry_run:
                self._store.put(text, _source(read, done, handle))
        self._record(wire, value, read, done)
        texts = {key: one.text for key, one in done.rewriting.results.items() if key in read.places}
        if self.options.dry_run or not texts:
            return body
        put_texts(value, texts, read.places)
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")

    def _record(self, wire: WireFormat, value: Mapping[str, Any], read: ReadRequest, done: RewrittenRequest) -> None:
        """Append a line on one request to the log; no text of it, and no header."""
        rewriting, totals = done.rewriting, self.totals
        totals.requests += 1
        totals.rewritten += bool(rewriting.results)
        totals.tokens += rewriting.tokens
        totals.whole_tokens += rewriting.whole_tokens
        totals.price += done.price
        totals.whole_price += done.whole_price
        tools = {part.key: part.tool for part in read.parts if part.key}
        row = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "format": wire.name,
            "model": str(value.get("model", "")),
            "dry_run": self.options.dry_run,
            "turns": rewriting.n_turns,
            "tokens": rewriting.tokens,
            "whole_tokens": rewriting.whole_tokens,
            "price": round(done.price, 1),
            "whole_price": round(done.whole_price, 1),
            "epoch": asdict(rewriting.epoch) if rewriting.epoch is not None else None,
            "results": [
                {
                    "tool": tools.get(key, ""),
                    "why": one.why,
                    "tokens": one.tokens,
                    "whole_tokens": one.whole_tokens,
                    "handle": one.handle,
                }
                for key, one in rewriting.results.items()
            ],
        }
        self.options.folder.mkdir(parents=True, exist_ok=True)
        append_line(self.options.folder / LOG_NAME, json.dumps(row, ensure_ascii=False).encode())


def make_app(options: GatewayOptions, store: OutputStore, client: httpx2.AsyncClient | None = None) -> Starlette:
    """Return the application; the client is closed with it."""
    timeout = httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S)  # a model may think for minutes
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=64)
    own = client or httpx2.AsyncClient(timeout=timeout, limits=limits, follow_redirects=False)
    gateway = Gateway(options, store, own)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with own:
            yield

    return Starlette(routes=gateway.routes(), lifespan=lifespan)


def serve(options: GatewayOptions, store: OutputStore) -> None:
    """Serve on loopback until interrupted."""
    uvicorn.run(make_app(options, store), host="127.0.0.1", port=options.port, log_level="warning", access_log=False)


async def _chunks(answer: httpx2.Response) -> AsyncIterator[bytes]:
    """Yield an answer's bytes as they come; the connection is given back when the agent goes away."""
    try:
        async for chunk in answer.aiter_raw():
            yield chunk
    finally:
        with anyio.CancelScope(shield=True):
            await answer.aclose()


def _is_from_here(request: Request) -> bool:
    """Return whether a request names this machine as its host: no page of the web can send it here."""
    host = request.headers.get("host", "").rpartition(":")[0] or request.headers.get("host", "")
    return host in ("127.0.0.1", "localhost", "[::1]")


def _refused() -> Response:
    return JSONResponse(
        {"error": {"type": "forbidden", "message": "this gateway is for this machine"}}, status_code=403
    )


def _provider(request: Request) -> str:
    is_anthropic = "x-api-key" in request.headers or "anthropic-version" in request.headers
    return "anthropic" if is_anthropic else "openai"


def _source(read: ReadRequest, done: RewrittenRequest, handle: str) -> str:
    key = next((key for key, one in done.rewriting.results.items() if one.handle == handle), "")
    return next((f"{part.tool} {part.text[:200]}" for part in read.parts if part.key == key.partition(":")[0]), "")
