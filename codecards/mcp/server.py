"""The MCP server: one connection over stdin and stdout, which ends with its input.

The official SDK implements the protocol; this module runs calls in threads, reports progress and holds the projects.
"""

import logging
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from codecards import __version__
from codecards.config import Settings
from codecards.environment import is_debug
from codecards.errors import CodecardsError, ProjectNotFoundError, UsageError
from codecards.indexer.walk.root import find_project, is_too_wide
from codecards.mcp.arguments import CHANGES_NOTHING, READ_ONLY_TOOLS, ROOT, TOOLS, tool_schema
from codecards.mcp.process_memory import limit_arenas
from codecards.mcp.resources import list_resources, read_resource, templates
from codecards.mcp.sampling import client_summarising
from codecards.mcp.served_project import ServedProject
from codecards.mcp.stdio import StdioPair
from codecards.mcp.text import INSTRUCTIONS
from codecards.mcp.tools import SUMMARISED_TOOLS, ToolAnswer, answer, error_answer
from codecards.mcp.transport import frames

PROGRESS_PERIOD_S = 0.2
ROOTS_TIMEOUT_S = 2.0
MAX_ROOTS = 16
McpContext = ServerRequestContext[dict[str, Any], Any]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Options of the command line."""

    roots: tuple[Path, ...] = ()
    """Folders named with `-C`; without any, the client's roots, or else the project around `folder`."""
    folder: Path = field(default_factory=Path.cwd)
    settings: Settings = field(default_factory=Settings)
    read_only: bool = False
    session: str = "mcp"
    """Name of the session that holds the working memory; connections with the same name share it."""
    samples: bool = False
    """Whether the client's model may write summaries of closed files and compactions."""


def serve(options: ServerOptions, stdio: StdioPair) -> None:
    """Serve one connection until it ends."""
    _log_briefly()
    limit_arenas()
    projects = Projects(options)
    try:
        anyio.run(_serve, projects, stdio)
    finally:
        projects.close()


async def _serve(projects: "Projects", stdio: StdioPair) -> None:
    server = build_server(projects)
    async with frames(stdio) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


class Projects:
    """The projects of a connection."""

    def __init__(self, options: ServerOptions) -> None:
        self.options = options
        self._lock = threading.Lock()
        self._by_name: dict[str, ServedProject] = {}
        self.known = anyio.Event()
        """Set once the projects are known."""
        if options.roots:
            self._open(options.roots)
            self.known.set()

    @property
    def names(self) -> tuple[str, ...]:
        """The projects' names, which are unique."""
        return tuple(self._by_name)

    @property
    def by_name(self) -> Mapping[str, ServedProject]:
        """Name -> project."""
        return self._by_name

    def all(self) -> tuple[ServedProject, ...]:
        """Return all projects."""
        return tuple(self._by_name.values())

    def start(self) -> None:
        """Start all projects in the background."""
        for project in self.all():
            project.start()

    def use_roots(self, roots: Sequence[Path]) -> None:
        """Serve the client's roots, or without any the project in which the server was started."""
        if not self.options.roots:
            try:
                self._open(roots or [find_project(self.options.folder)])
            except CodecardsError as error:
                _log.warning("%s", error)
        self.known.set()
        self.start()

    def project_of(self, given: dict[str, object]) -> ServedProject:
        """Return the project of a call, and remove its name from the arguments.

        Raises:
            UsageError: No project of that name is served.
            ProjectNotFoundError: No project is served.
        """
        if not self._by_name:
            raise ProjectNotFoundError(
                f"no project is served: {self.options.folder} is not the folder of a project; start the server with -C FOLDER"
            )
        if ROOT not in given or len(self._by_name) == 1:
            return next(iter(self._by_name.values()))
        name = given.pop(ROOT)
        for project in self._by_name.values():
            if name in (project.name, str(project.root)) or self._by_name.get(str(name)) is project:
                return project
        raise UsageError(f"no project {name!r} is served; {ROOT} must be one of: {', '.join(self.names)}")

    def close(self) -> None:
        """Close all projects."""
        for project in self.all():
            project.close()

    def _open(self, roots: Sequence[Path]) -> None:
        """Serve these folders; projects that are served already stay open."""
        with self._lock:
            before = {project.root: project for project in self._by_name.values()}
            opened: dict[str, ServedProject] = {}
            for root in dict.fromkeys(one.resolve() for one in roots[:MAX_ROOTS]):
                options = self.options
                project = before.pop(root, None) or ServedProject(
                    root, options.settings, read_only=options.read_only, session=options.session
                )
                name, number = project.name, 2
                while name in opened:
                    name, number = f"{project.name}-{number}", number + 1
                opened[name] = project
            self._by_name = opened
        for project in before.values():
            project.close()


def build_server(projects: Projects) -> Server[dict[str, Any]]:
    """Return the SDK's server with the tools and resources."""

    async def list_tools(context: McpContext, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        await _settled(context, projects)
        return types.ListToolsResult(tools=tools(projects.names, read_only=projects.options.read_only))

    async def call_tool(context: McpContext, params: types.CallToolRequestParams) -> types.CallToolResult:
        offered = READ_ONLY_TOOLS if projects.options.read_only else tuple(TOOLS)
        if params.name not in offered:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:100]!r}; tools: {', '.join(offered)}")
        await _settled(context, projects)
        return result_of(await _answered(context, projects, params.name, dict(params.arguments or {})))

    async def resources(context: McpContext, _: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        await _settled(context, projects)
        return types.ListResourcesResult(resources=await anyio.to_thread.run_sync(list_resources, projects.by_name))

    async def resource_templates(
        _: McpContext, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=templates())

    async def resource(context: McpContext, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        await _settled(context, projects)
        try:
            text = await anyio.to_thread.run_sync(read_resource, projects.by_name, params.uri, abandon_on_cancel=True)
        except CodecardsError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=params.uri, mime_type="text/plain", text=text)]
        )

    async def initialized(context: McpContext, _: types.NotificationParams) -> None:
        await _ask_roots(context, projects)

    server: Server[dict[str, Any]] = Server(
        "codecards",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=resources,
        on_list_resource_templates=resource_templates,
        on_read_resource=resource,
    )
    # The SDK deprecates roots, but present clients still send them.
    server.add_notification_handler("notifications/initialized", types.NotificationParams, initialized)
    server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, initialized)
    return server


def tools(roots: tuple[str, ...] = (), *, read_only: bool = False) -> list[types.Tool]:
    """Return the definitions of the tools, as a client lists them."""
    return [
        types.Tool(
            name=name,
            description=" ".join((kind.__doc__ or "").split()),
            input_schema=tool_schema(kind, roots),
            annotations=types.ToolAnnotations(read_only_hint=True)
            if read_only or name in CHANGES_NOTHING
            else types.ToolAnnotations(destructive_hint=False),
        )
        for name, kind in TOOLS.items()
        if not read_only or name in READ_ONLY_TOOLS
    ]


def result_of(found: ToolAnswer) -> types.CallToolResult:
    """Return an answer as a value of the SDK."""
    return types.CallToolResult(
        content=[types.TextContent(text=found.text)], structured_content=found.value, is_error=found.is_error
    )


async def _answered(context: McpContext, projects: Projects, tool: str, given: dict[str, object]) -> ToolAnswer:
    """Answer a call in a thread; the thread of a cancelled call ends by itself."""
    try:
        project = projects.project_of(given)
        project.start()
        if tool == "status" and given.get("refresh") is True and not project.read_only:
            await _refreshed(context, project)
        asks_client = projects.options.samples and tool in SUMMARISED_TOOLS
        summarising = client_summarising(context) if asks_client else None
        return await anyio.to_thread.run_sync(answer, project, tool, given, summarising, abandon_on_cancel=True)
    except CodecardsError as error:
        _log.info("%s: %s", tool, error)
        return error_answer(error)
    except Exception as error:  # the outermost frame of a call: the server goes on
        _log.exception("%s failed", tool)
        return error_answer(CodecardsError(f"internal error in {tool}: {type(error).__name__}: {error}"))


class _OneLine(logging.Formatter):
    """Formats an error in one line, or with CODECARDS_DEBUG with its traceback."""

    def formatException(self, ei: Any) -> str:  # noqa: ANN401 - the library's name and type
        """Return the error's type and message."""
        if is_debug():
            return super().formatException(ei)
        return f"{ei[0].__name__}: {ei[1]}" if ei and ei[0] else ""


def _log_briefly() -> None:
    """Log warnings of libraries and errors of threads to stderr, a line each."""
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLine("codecards mcp: %(message)s"))
    if not logging.getLogger().handlers:
        logging.getLogger().addHandler(handler)
    threading.excepthook = lambda died: _log.error(
        "a thread failed", exc_info=(died.exc_type, died.exc_value or died.exc_type(), died.exc_traceback)
    )


async def _refreshed(context: McpContext, project: ServedProject) -> None:
    """Refresh an index, and report the progress to the client."""
    cancelled = threading.Event()

    async def report() -> None:
        while True:
            run = project.indexing
            if run.phase:
                await context.session.report_progress(run.n_done, run.n_total or None, run.describe())
            await anyio.sleep(PROGRESS_PERIOD_S)

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(report)
            await anyio.to_thread.run_sync(project.refresh, cancelled.is_set, abandon_on_cancel=True)
            tasks.cancel_scope.cancel()
    finally:
        cancelled.set()


async def _settled(context: McpContext, projects: Projects) -> None:
    """Wait a little for the client's roots; without any, serve the project in which the server was started."""
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:  # those have neither handshake nor roots
        with anyio.move_on_after(ROOTS_TIMEOUT_S):
            await projects.known.wait()
    if not projects.known.is_set():
        projects.use_roots([])


async def _ask_roots(context: McpContext, projects: Projects) -> None:
    """Ask the client for its roots if it supports them."""
    if projects.options.roots:
        projects.start()
        return
    capabilities = context.session.client_capabilities
    named: list[Path] = []
    if capabilities is not None and capabilities.roots is not None and context.session.can_send_request:
        try:
            # Without a time limit: calls wait for ROOTS_TIMEOUT_S at most (`_settled`), and a late answer still counts.
            found = await context.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
            named = [path for root in found.roots if (path := folder_of_uri(str(root.uri))) is not None]
        except (MCPError, TimeoutError, ValidationError) as error:
            _log.warning("the client sent no roots: %s", str(error) or type(error).__name__)
            if projects.known.is_set():
                return  # what is served stays
    projects.use_roots(named)


def folder_of_uri(uri: str) -> Path | None:
    """Return the folder of a file URI; None for other URIs, for missing folders, and for the home folder or the whole disk."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = Path(url2pathname(parts.path) if os.name == "nt" else unquote(parts.path, errors="surrogateescape"))
    return path if path.is_absolute() and path.is_dir() and not is_too_wide(path) else None
