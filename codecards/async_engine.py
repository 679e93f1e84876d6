"""The engine and its sessions for hosts with an event loop: asyncio, or trio through anyio.

Each method runs the method of the same name of `Engine` or `Session` in a thread.

**Invariant:** a cancelled call leaves nothing running. A call that has not started does not start. A call that has
started finishes before the cancellation continues, with two exceptions: `refresh` stops and commits nothing, and
`backfill_vectors` stops and keeps the vectors computed so far.
"""

import math
import time
from collections.abc import Callable, Coroutine, Sequence
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from anyio import CancelScope, CapacityLimiter, from_thread, to_thread

from codecards.config import Settings
from codecards.engine import Engine
from codecards.indexer.build.progress import ProgressCallback
from codecards.indexer.build.refresh import IndexReport
from codecards.router.compress.summaries import Summariser, SummariserConfig
from codecards.router.memory.state import SessionState
from codecards.router.memory.working_memory import WorkingMemory
from codecards.router.policy.routing import RoutingAction
from codecards.router.session import Session
from codecards.router.session_defaults import DEFAULT_BUDGET_TOKENS

CALLS_AT_ONCE = 16
"""Threads that one engine uses at most; further calls wait."""
WAIT_STEP_S = 0.1
"""Interval at which a thread that waits for the background build checks whether its caller was cancelled."""

if TYPE_CHECKING:
    from codecards.retrieval.vectors.transformer_fill import Filled

_Wrapped_co = TypeVar("_Wrapped_co", covariant=True)
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class InThreads(Generic[_Wrapped_co]):
    """Runs the methods of an object in threads.

    Args:
        wrapped: The object.
        limiter: How many methods may run at once.
    """

    def __init__(self, wrapped: _Wrapped_co, limiter: CapacityLimiter) -> None:
        self._wrapped = wrapped
        self._limiter = limiter

    @property
    def sync(self) -> _Wrapped_co:
        """The wrapped object, for use in a thread."""
        return self._wrapped

    async def _run(self, call: Callable[[], _Result]) -> _Result:
        # Not abandoned on cancellation: the thread would go on writing after the caller has returned.
        return await to_thread.run_sync(call, limiter=self._limiter)


def _in_thread(
    call: Callable[Concatenate[_Wrapped_co, _Arguments], _Result],
) -> Callable[Concatenate[InThreads[_Wrapped_co], _Arguments], Coroutine[Any, Any, _Result]]:
    """Return the async form of a method, with its arguments and documentation."""

    @wraps(call)
    async def run(self: InThreads[_Wrapped_co], /, *arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        return await self._run(partial(call, self._wrapped, *arguments, **named))

    return run


class AsyncSession(InThreads[Session]):
    """The async form of `Session`; its methods run one after the other."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, CapacityLimiter(1))

    @property
    def name(self) -> str:
        """The session's name."""
        return self._wrapped.name

    @property
    def state(self) -> SessionState:
        """The state as of the last call."""
        return self._wrapped.state

    @property
    def memory(self) -> WorkingMemory:
        """The working memory as of the last call."""
        return self._wrapped.memory

    @property
    def last_actions(self) -> tuple[RoutingAction, ...]:
        """The router's decisions in the last turn of this object."""
        return self._wrapped.last_actions

    open_file = _in_thread(Session.open_file)
    close_file = _in_thread(Session.close_file)
    drop_memo = _in_thread(Session.drop_memo)
    pin = _in_thread(Session.pin)
    focus = _in_thread(Session.focus)
    set_goal = _in_thread(Session.set_goal)
    set_budget = _in_thread(Session.set_budget)
    set_status = _in_thread(Session.set_status)
    add_constraint = _in_thread(Session.add_constraint)
    set_todo = _in_thread(Session.set_todo)
    set_open_questions = _in_thread(Session.set_open_questions)
    show_block = _in_thread(Session.show_block)
    inject = _in_thread(Session.inject)
    record = _in_thread(Session.record)
    record_call = _in_thread(Session.record_call)
    before_generation = _in_thread(Session.before_generation)
    preview = _in_thread(Session.preview)
    rebuild = _in_thread(Session.rebuild)
    recall = _in_thread(Session.recall)
    select = _in_thread(Session.select)
    commit_note = _in_thread(Session.commit_note)
    compact = _in_thread(Session.compact)
    restore = _in_thread(Session.restore)
    end = _in_thread(Session.end)
    report = _in_thread(Session.report)
    export = _in_thread(Session.export)
    merge = _in_thread(Session.merge)


class AsyncEngine(InThreads[Engine]):
    """The async form of `Engine`; to be closed, best by `async with`.

    Args:
        engine: The engine; it is closed with this object.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine, CapacityLimiter(CALLS_AT_ONCE))

    @classmethod
    async def open(cls, path: str | Path = ".", *, settings: Settings | None = None, build: bool = True) -> Self:
        """Return the async engine of the project at (or around) a folder; see `Engine.open`."""
        return cls(await to_thread.run_sync(partial(Engine.open, path, settings=settings, build=build)))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the worker processes and close the open generation, even if the caller is cancelled."""
        with CancelScope(shield=True):
            await self._run(self._wrapped.close)

    async def refresh(self, *, full: bool = False, progress: ProgressCallback | None = None) -> IndexReport:
        """Bring the index up to date and return what was done; see `Engine.refresh`.

        Args:
            full: Whether to read every file again.
            progress: Called in the event loop with (stage, done, total).
        """
        return await self._run(partial(self._wrapped.refresh, full=full, progress=_progress_in_loop(progress)))

    async def backfill_vectors(
        self, progress: ProgressCallback | None = None, *, limit: int | None = None, n_threads: int = 1
    ) -> "Filled":
        """Compute missing transformer vectors; see `Engine.backfill_vectors`. If cancelled, it keeps those computed so far."""
        return await self._run(
            partial(self._wrapped.backfill_vectors, _progress_in_loop(progress), limit=limit, n_threads=n_threads)
        )

    async def refresh_if_small(self, progress: ProgressCallback | None = None) -> str:
        """Index changed files if there are few; see `Engine.refresh_if_small`."""
        return await self._run(partial(self._wrapped.refresh_if_small, _progress_in_loop(progress)))

    async def session(
        self,
        name: str,
        *,
        goal: str | None = None,
        budget_tokens: int = DEFAULT_BUDGET_TOKENS,
        constraints: Sequence[str] = (),
        summariser: Summariser | SummariserConfig | None = None,
    ) -> AsyncSession:
        """Return the session of this name, or a new one; see `Engine.session`.

        The summariser is a plain callable and runs in a thread. To await something, it can use
        `asyncio.run_coroutine_threadsafe` or `anyio.from_thread`.
        """
        start = partial(
            self._wrapped.session,
            name,
            goal=goal,
            budget_tokens=budget_tokens,
            constraints=constraints,
            summariser=summariser,
        )
        return AsyncSession(await self._run(start))

    async def wait_until_built(self, timeout_s: float | None = None) -> bool:
        """Wait for the background build; return whether there is an index; see `Engine.wait_until_built`."""

        def wait() -> bool:
            until = math.inf if timeout_s is None else time.monotonic() + timeout_s
            while self._wrapped.is_building() and (left_s := until - time.monotonic()) > 0:
                from_thread.check_cancelled()
                self._wrapped.wait_until_built(min(WAIT_STEP_S, left_s))
            return self._wrapped.wait_until_built(0)

        return await self._run(wait)

    is_indexed = _in_thread(Engine.is_indexed)
    is_building = _in_thread(Engine.is_building)

    build_in_background = _in_thread(Engine.build_in_background)
    recall = _in_thread(Engine.recall)
    recall_all = _in_thread(Engine.recall_all)
    literal = _in_thread(Engine.literal)
    regex = _in_thread(Engine.regex)
    bundle = _in_thread(Engine.bundle)
    overview = _in_thread(Engine.overview)
    similar = _in_thread(Engine.similar)
    symbols = _in_thread(Engine.symbols)
    callers = _in_thread(Engine.callers)
    callees = _in_thread(Engine.callees)
    show = _in_thread(Engine.show)
    outline = _in_thread(Engine.outline)
    digest = _in_thread(Engine.digest)
    impact = _in_thread(Engine.impact)
    impact_of = _in_thread(Engine.impact_of)
    why_not = _in_thread(Engine.why_not)
    files = _in_thread(Engine.files)
    status = _in_thread(Engine.status)
    n_changed = _in_thread(Engine.n_changed)
    tune = _in_thread(Engine.tune)
    reset_tuning = _in_thread(Engine.reset_tuning)
    check = _in_thread(Engine.check)
    call_graph = _in_thread(Engine.call_graph)
    clean = _in_thread(Engine.clean)
    clean_kept = _in_thread(Engine.clean_kept)
    may_have_changed = _in_thread(Engine.may_have_changed)
    kill_workers = _in_thread(Engine.kill_workers)


def _progress_in_loop(progress: ProgressCallback | None) -> ProgressCallback:
    """Return a callback for a thread that calls `progress` in the event loop, and raises if the caller is cancelled."""

    def report(stage: str, done: int, total: int) -> None:
        from_thread.check_cancelled()
        if progress is not None:
            from_thread.run_sync(progress, stage, done, total)

    return report
