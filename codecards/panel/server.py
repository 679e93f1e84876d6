"""The panel: a local web page that shows which context a model is given, and why. It never writes.

**Invariant:** a request is answered only if its method is GET or HEAD, its host is this machine, and its path has the token.
"""

import hmac
import json
import logging
import secrets
import socket
import sys
import webbrowser
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import PurePosixPath

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codecards.engine import Engine
from codecards.errors import CodecardsError, SnapshotError, TargetNotFoundError, UsageError
from codecards.panel.pages import FOLDER, page
from codecards.panel.views import SessionView, session_view
from codecards.router.assemble.context import Context
from codecards.router.notes.note import note_state, with_states

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
MAX_TURN_DIGITS = 9
LABELS = {
    "system": "system",
    "tool_schema": "tool definitions",
    "task": "task",
    "files": "files",
    "retrieved": "recalled",
    "memory": "notes and summaries",
    "history": "history",
    "tool_results": "tool results",
    "input": "input",
}
"""Category of the ledger -> its name on the page."""
MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


class Gate:
    """Refuses and logs requests with a wrong host, method or token.

    A web page that makes the browser send a request here (DNS rebinding, a form, an image) fails on host or token.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: frozenset[str]) -> None:
        """Take the guarded application, the token in its URLs, and the accepted hosts."""
        self._app, self._token, self._hosts = app, token.encode(), hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send_guarded)
            return
        try:
            await self._app(scope, receive, send_guarded)
        except Exception:  # the outermost frame: the framework has answered 500, and the panel goes on
            logger.exception("panel request failed")

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the answer to a refused request; None for an accepted one."""
        request = Request(scope)
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return _refused("host", 403, "This page is only for browsers on this machine.")
        if request.method not in ("GET", "HEAD"):
            return _refused("method", 405, "This page is read-only.", {"allow": "GET, HEAD"})
        given = request.url.path.split("/")[1].encode("utf-8", "surrogatepass")
        if not hmac.compare_digest(given, self._token):
            return _refused("token", 403, "Open the address that `codecards panel` printed.")
        return None


class Panel:
    """Renders the pages of a project."""

    def __init__(self, engine: Engine, token: str) -> None:
        """Take an open engine and the token; the index is not refreshed."""
        self._engine = engine
        self._base = f"/{token}"

    def routes(self) -> list[Route]:
        """Return the URL of each page."""
        base = self._base
        return [
            Route(f"{base}/", self.sessions),
            Route(f"{base}/session/{{name}}", self.session),
            Route(f"{base}/session/{{name}}/turn.json", self.turn_json),
            Route(f"{base}/notes", self.notes),
            Route(f"{base}/search", self.search),
            Route(f"{base}/static/{{name}}", self.static),
        ]

    def sessions(self, request: Request) -> Response:
        """Show all sessions, latest first, and the state of the index."""
        del request
        store = self._engine.sessions
        rows: list[dict[str, object]] = []
        for name in store.names():
            try:
                rows.append({"name": name, "state": store.read(name), "error": ""})
            except CodecardsError as error:
                rows.append({"name": name, "state": None, "error": str(error)})
        rows.sort(key=lambda row: getattr(row["state"], "updated", ""), reverse=True)
        return self._page("sessions.html", {"here": "sessions", "rows": rows, "status": self._engine.status()})

    def session(self, request: Request) -> Response:
        """Show a session: the context of a turn, files, ledger, working memory."""
        name = request.path_params["name"]
        view, can_preview = self._view(name, request.query_params.get("turn", ""))
        kept = [row.turn for row in view.ledger if row.kept]
        shown = view.shown.turn if view.shown else 0
        return self._page(
            "session.html",
            {
                "here": "sessions",
                "view": view,
                "can_preview": can_preview,
                "labels": LABELS,
                "here_url": request.url.path,
                "earlier": max((turn for turn in kept if turn < shown), default=None),
                "later": min((turn for turn in kept if turn > shown), default=None),
            },
        )

    def turn_json(self, request: Request) -> Response:
        """Return the blocks of a turn as JSON, for scripts."""
        view, _ = self._view(request.path_params["name"], request.query_params.get("turn", ""))
        shown = asdict(view.shown) if view.shown else None
        text = json.dumps({"revision": view.state.revision, "turn": view.state.memory.turn, "context": shown})
        return Response(text, media_type="application/json")  # ASCII only: a name may be invalid UTF-8

    def notes(self, request: Request) -> Response:
        """Show all notes with the states of their anchors, newest first."""
        del request
        archive, why_unknown = self._engine.archive, ""
        notes = archive.notes()[::-1]
        resolver = self._engine.project.anchors
        try:
            if resolver is not None:
                notes = [with_states(note, resolver) for note in notes]
        except SnapshotError as error:
            resolver, why_unknown = None, str(error)
        return self._page(
            "notes.html",
            {
                "here": "notes",
                "notes": notes,
                "damaged": archive.damaged,
                "note_state": note_state,
                "states_known": resolver is not None,
                "why_unknown": why_unknown or "there is no index yet",
            },
        )

    def search(self, request: Request) -> Response:
        """Show the hits of a query with the terms of each score."""
        query = request.query_params.get("q", "").strip()
        recall, problem = None, ""
        if query:
            try:
                recall = self._engine.recall(query)
            except CodecardsError as error:
                problem = str(error)
        return self._page("search.html", {"here": "search", "query": query, "recall": recall, "problem": problem})

    def static(self, request: Request) -> Response:
        """Return a stylesheet, script or image of the panel."""
        name = request.path_params["name"]
        media_type = MEDIA_TYPES.get(PurePosixPath(name).suffix)
        path = next((path for path in FOLDER.iterdir() if path.name == name), None)
        if media_type is None or path is None:
            return PlainTextResponse("There is no such file.", 404)
        return Response(path.read_bytes(), media_type=media_type)

    def problem(self, request: Request, error: Exception) -> Response:
        """Show an error of codecards."""
        del request
        status = 404 if isinstance(error, TargetNotFoundError) else 400 if isinstance(error, UsageError) else 500
        return self._page("problem.html", {"here": "", "detail": str(error)}, status)

    def _view(self, name: str, turn: str) -> tuple[SessionView, bool]:
        """Return (a session with the context of a turn, whether a preview of the next turn exists).

        Args:
            name: The session.
            turn: A number, "next", or "" for the latest turn.
        """
        store = self._engine.sessions
        state = store.read(name)  # before the session is opened, since opening repairs it
        upcoming: Context | None = None
        if turn == "next":
            upcoming = self._engine.session(name).preview()
        elif turn and not (turn.isdecimal() and len(turn) <= MAX_TURN_DIGITS):
            raise UsageError(f'{turn!r} is not a turn: give a number, or "next".')
        number = int(turn) if turn and upcoming is None else None
        return session_view(store, name, turn=number, upcoming=upcoming), not state.outcome

    def _page(self, template: str, values: Mapping[str, object], status: int = 200) -> Response:
        shared = {"base": self._base, "project": self._engine.root.name}
        return HTMLResponse(page(template, shared | dict(values)), status)


def panel_app(engine: Engine, token: str, hosts: frozenset[str]) -> ASGIApp:
    """Return the panel as an ASGI application.

    Args:
        engine: The project's engine; must stay open while the panel is used.
        token: The first part of every path.
        hosts: Accepted values of the `Host` header, such as "127.0.0.1:8000".
    """
    panel = Panel(engine, token)
    app = Starlette(routes=panel.routes(), exception_handlers={CodecardsError: panel.problem})
    return Gate(app, token, hosts)


def serve_panel(engine: Engine, *, port: int = 0, opens_browser: bool = True) -> None:
    """Print the panel's address and serve it until the process is interrupted.

    Raises:
        UsageError: The port is taken.
    """
    # An interrupt is the normal end.
    with suppress(KeyboardInterrupt), socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        if sys.platform != "win32":
            # On Windows, this option would let another process take over the port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
        except OSError as error:
            raise UsageError(f"can't listen on port {port}: {error.strerror or error}; 0 picks a free port") from error
        listener.listen()  # the browser may ask before the server has started
        port, token = listener.getsockname()[1], secrets.token_urlsafe(24)
        hosts = frozenset((f"{LOOPBACK}:{port}", f"localhost:{port}"))
        address = f"http://{LOOPBACK}:{port}/{token}/"
        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()
        if opens_browser:
            webbrowser.open(address)
        config = uvicorn.Config(
            panel_app(engine, token, hosts),
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            http="h11",
            loop="asyncio",
            timeout_graceful_shutdown=1,
        )
        uvicorn.Server(config).run(sockets=[listener])


def _refused(what: str, status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    logger.warning("panel request refused", extra={"wrong": what})
    return PlainTextResponse(f"{text}\n", status, headers)
