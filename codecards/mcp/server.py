"""MCP server: one connection over stdin and stdout, on the official SDK; it ends when its input does.

The SDK speaks the protocol; this module hands calls on to threads, tells progress, and knows the projects.
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
from codecards.errors import CodecardsError, ProjectNotFoundError, UsageError
from codecards.indexer.walk.discovery import project_root
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
    """How the server was started."""

    roots: tuple[Path, ...] = ()
    """Named projects; without any, those that the client names, else the one around `folder`."""
    folder: Path = field(default_factory=Path.cwd)
    settings: Settings = field(default_factory=Settings)
    read_only: bool = False
    session: str = "mcp"
    """Name of the working memory, the same for every connection unless they name others."""
    samples: bool = False
    """Whether the client's model may be asked to word memos and compactions."""


def serve(options: ServerOptions, wire: StdioPair) -> None:
    """Serve one connection to its end."""
    _log_briefly()
    limit_arenas()
    projects = Projects(options)
    try:
        anyio.run(_serve, projects, wire)
    finally:
        projects.close()


async def _serve(projects: "Projects", wire: StdioPair) -> None:
    server = build_server(projects)
    async with frames(wire) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


class Projects:
    """The projects that one connection may ask about."""

    def __init__(self, options: ServerOptions) -> None:
        self.options = options
        self._lock = threading.Lock()
        self._by_name: dict[str, ServedProject] = {}
        self.known = anyio.Event()
        """Set when it is settled which projects there are."""
        if options.roots:
            self._take(options.roots)
            self.known.set()

    @property
    def names(self) -> tuple[str, ...]:
        """The projects' names, each once."""
        return tuple(self._by_name)

    @property
    def by_name(self) -> Mapping[str, ServedProject]:
        """Name -> project."""
        return self._by_name

    def all(self) -> tuple[ServedProject, ...]:
        """Return the projects."""
        return tuple(self._by_name.values())

    def start(self) -> None:
        """Open them all in the background."""
        for project in self.all():
            project.start()

    def use(self, roots: Sequence[Path]) -> None:
        """Take the folders that the client names, or without any the one that the server was started in."""
        if not self.options.roots:
            try:
                self._take(roots or [_project_around(self.options.folder)])
            except CodecardsError as error:
                _log.warning("%s", error)
        self.known.set()
        self.start()

    def chosen(self, given: dict[str, object]) -> ServedProject:
        """Return the project that a call is about, and take its name out of the arguments.

        Raises:
            UsageError: No such project is served.
            ProjectNotFoundError: None is.
        """
        if not self._by_name:
            raise ProjectNotFoundError(
                f"no project is served: {self.options.folder} is no project's folder; start the server with -C FOLDER"
            )
        if ROOT not in given or len(self._by_name) == 1:
            return next(iter(self._by_name.values()))
        name = given.pop(ROOT)
        for project in self._by_name.values():
            if name in (project.name, str(project.root)) or self._by_name.get(str(name)) is project:
                return project
        raise UsageError(f"no project {name!r} is served; {ROOT} is one of: {', '.join(self.names)}")

    def close(self) -> None:
        """End all that was started."""
        for project in self.all():
            project.close()

    def _take(self, roots: Sequence[Path]) -> None:
        with self._lock:
            before = {project.root: project for project in self._by_name.values()}
            taken: dict[str, ServedProject] = {}
            for root in dict.fromkeys(one.resolve() for one in roots[:MAX_ROOTS]):
                options = self.options
                project = before.pop(root, None) or ServedProject(
                    root, options.settings, read_only=options.read_only, session=options.session
                )
                name, number = project.name, 2
                while name in taken:
                    name, number = f"{project.name}-{number}", number + 1
                taken[name] = project
            self._by_name = taken
        for project in before.values():
            project.close()


def build_server(projects: Projects) -> Server[dict[str, Any]]:
    """Return the SDK's server with our tools and resources."""

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
        "codecards", version=__version__, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool,
        on_list_resources=resources, on_list_resource_templates=resource_templates, on_read_resource=resource,
    )  # fmt: skip
    # The SDK calls roots deprecated; clients of today send them all the same.
    server.add_notification_handler("notifications/initialized", types.NotificationParams, initialized)
    server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, initialized)
    return server


def tools(roots: tuple[str, ...] = (), *, read_only: bool = False) -> list[types.Tool]:
    """Return the tools' definitions as a client lists them."""
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
    """Return an answer as the SDK's value."""
    return types.CallToolResult(
        content=[types.TextContent(text=found.text)], structured_content=found.value, is_error=found.is_error
    )


async def _answered(context: McpContext, projects: Projects, tool: str, given: dict[str, object]) -> ToolAnswer:
    """Answer one call in a thread; a cancelled call's thread is left to end by itself."""
    try:
        project = projects.chosen(given)
        project.start()
        if tool == "status" and given.get("refresh") is True and not project.read_only:
            await _refreshed(context, project)
        asks_client = projects.options.samples and tool in SUMMARISED_TOOLS
        summarising = client_summarising(context) if asks_client else None
        return await anyio.to_thread.run_sync(answer, project, tool, given, summarising, abandon_on_cancel=True)
    except CodecardsError as error:
        _log.info("%s: %s", tool, error)
        return error_answer(error)
    except Exception as error:  # the outermost outlet of a call: the server lives on
        _log.exception("%s failed", tool)
        return error_answer(CodecardsError(f"internal error in {tool}: {type(error).__name__}: {error}"))


class _OneLine(logging.Formatter):
    """Names an error in a line; its traceback is for those who ask for it with CODECARDS_DEBUG."""

    def formatException(self, ei: Any) -> str:  # noqa: ANN401 - the library's name and type
        """Return the error's kind and message."""
        if os.environ.get("CODECARDS_DEBUG"):
            return super().formatException(ei)
        return f"{ei[0].__name__}: {ei[1]}" if ei and ei[0] else ""


def _log_briefly() -> None:
    """Send warnings of all libraries to stderr, and what threads die of: in a line each."""
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLine("codecards mcp: %(message)s"))
    if not logging.getLogger().handlers:
        logging.getLogger().addHandler(handler)
    threading.excepthook = lambda died: _log.error(
        "a thread ended", exc_info=(died.exc_type, died.exc_value or died.exc_type(), died.exc_traceback)
    )


async def _refreshed(context: McpContext, project: ServedProject) -> None:
    """Bring an index up to date, and tell how far it is."""
    cancelled = threading.Event()

    async def tell() -> None:
        while True:
            doing = project.indexing
            if doing.phase:
                await context.session.report_progress(doing.n_done, doing.n_total or None, doing.describe())
            await anyio.sleep(PROGRESS_PERIOD_S)

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(tell)
            await anyio.to_thread.run_sync(project.refresh, cancelled.is_set, abandon_on_cancel=True)
            tasks.cancel_scope.cancel()
    finally:
        cancelled.set()


async def _settled(context: McpContext, projects: Projects) -> None:
    """Wait, a little, until the client has named its folders; without any take the one that we were started in."""
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:  # which know no handshake and no folders
        with anyio.move_on_after(ROOTS_TIMEOUT_S):
            await projects.known.wait()
    if not projects.known.is_set():
        projects.use([])


async def _ask_roots(context: McpContext, projects: Projects) -> None:
    """Ask the client for its folders if it has any to name."""
    if projects.options.roots:
        projects.start()
        return
    capabilities = context.session.client_capabilities
    named: list[Path] = []
    if capabilities is not None and capabilities.roots is not None and context.session.can_send_request:
        try:
            with anyio.fail_after(ROOTS_TIMEOUT_S):
                found = await context.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
            named = [path for root in found.roots if (path := folder_of_uri(str(root.uri))) is not None]
        except (MCPError, TimeoutError, ValidationError) as error:
            _log.warning("the client named no folders: %s", error)
    projects.use(named)


def folder_of_uri(uri: str) -> Path | None:
    """Return the folder of a file URI, None for anything else and for what nobody wants indexed."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = Path(url2pathname(parts.path) if os.name == "nt" else unquote(parts.path, errors="surrogateescape"))
    return path if path.is_absolute() and path.is_dir() and not _is_too_wide(path) else None


def _project_around(folder: Path) -> Path:
    """Return the project around a folder.

    Raises:
        ProjectNotFoundError: It would be the user's home or the whole disk, which nobody wants indexed.
    """
    root = project_root(folder.resolve())
    if _is_too_wide(root):
        raise ProjectNotFoundError(f"{root} is no project; start the server with -C FOLDER, or in the project's folder")
    return root


def _is_too_wide(root: Path) -> bool:
    """Return whether a folder is the user's home or the whole disk."""
    return root.resolve() in (Path.home().resolve(), Path(root.resolve().anchor))
