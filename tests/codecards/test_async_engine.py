"""The async engine has every method of the engine, and leaves nothing running when a caller is cancelled."""

import inspect
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from anyio import from_thread

from codecards import AsyncEngine, AsyncSession, Engine, Settings
from codecards.errors import UsageError
from codecards.router.memory.working_memory import TaskState
from codecards.router.session import Session
from tests.support.indexed import write_repository
from tests.support.shop import LOGIN, TOKENS

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[AsyncEngine]:
    write_repository(tmp_path, TOKENS + LOGIN)
    async with await AsyncEngine.open(tmp_path, settings=Settings(n_workers=1), build=False) as engine:
        yield engine


def public_calls(of: type) -> dict[str, list[str]]:
    """Return the names of a class's public methods and their parameters."""
    members = {name: member for name, member in inspect.getmembers(of, callable) if not name.startswith("_")}
    return {name: list(inspect.signature(member).parameters) for name, member in members.items()}


@pytest.mark.parametrize(("plain", "asynchronous"), [(Engine, AsyncEngine), (Session, AsyncSession)])
def test_every_call_has_its_async_form_with_the_same_arguments(plain: type, asynchronous: type) -> None:
    own_start = {"start"}  # sessions are started by their engine
    wanted = {name: parameters for name, parameters in public_calls(plain).items() if name not in own_start}
    assert public_calls(asynchronous) == wanted
    calls = [getattr(asynchronous, name) for name in wanted]
    assert all(inspect.iscoroutinefunction(call) for call in calls)


async def test_answers_equal_those_of_the_engine(shop: AsyncEngine) -> None:
    reported: list[tuple[str, int, int]] = []
    report = await shop.refresh(progress=lambda *values: reported.append(values))
    assert (report.n_read, report.complete) == (2, True)
    assert reported
    recall = await shop.recall("where are expired tokens removed", limit=1)
    assert recall.hits[0].card.qualified_name == "TokenStore.purge_expired"
    assert [one.name for one in (await shop.callers("purge_expired")).calls] == ["log_out"]
    with pytest.raises(UsageError):
        await shop.recall("")


async def test_many_questions_run_at_once(shop: AsyncEngine) -> None:
    await shop.refresh()
    found: list[str] = []

    async def ask(name: str) -> None:
        found.append((await shop.recall(name)).hits[0].card.name)

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(ask, "purge_expired")
            tasks.start_soon(ask, "log_out")
    assert sorted(found) == ["log_out"] * 20 + ["purge_expired"] * 20


async def test_a_cancelled_refresh_commits_nothing_and_frees_the_index(shop: AsyncEngine) -> None:
    with anyio.CancelScope() as scope:
        await shop.refresh(progress=lambda *_said: scope.cancel())
    assert scope.cancelled_caught
    assert not await shop.is_indexed()
    assert (await shop.refresh()).n_read == 2


async def test_waiting_for_the_background_build_can_be_cancelled(shop: AsyncEngine) -> None:
    assert not await shop.wait_until_built()
    await shop.build_in_background()
    with anyio.move_on_after(0.001):
        await shop.wait_until_built()
    assert await shop.wait_until_built(60)


async def test_calls_of_a_session_run_one_after_the_other(shop: AsyncEngine) -> None:
    await shop.refresh()
    session = await shop.session("task", goal="change the timeout", constraints=["keep the API"])
    async with anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(session.add_constraint, f"rule {number}")
    assert set(session.memory.task.constraints) == {"keep the API", *(f"rule {number}" for number in range(8))}
    await session.open_file("shop/tokens.py", "see how they expire")
    context = await session.before_generation("go on")
    assert "def purge_expired" in context.text
    assert (session.name, session.state.memory.turn) == ("task", 1)
    assert {action.path for action in session.last_actions} >= {"shop/tokens.py"}


class CancelsWhenRead(Mapping[str, str]):
    """An environment that cancels a scope of the event loop when a turn reads it."""

    def __init__(self, scope: anyio.CancelScope) -> None:
        self._scope = scope

    def __iter__(self) -> Iterator[str]:
        from_thread.run_sync(self._scope.cancel)
        return iter(("device",))

    def __len__(self) -> int:
        return 1

    def __getitem__(self, name: str) -> str:
        return "laptop"


async def test_a_cancelled_call_is_done_completely_or_not_at_all(shop: AsyncEngine) -> None:
    await shop.refresh()
    session = await shop.session("task", goal="change the timeout")
    with anyio.CancelScope() as before:
        before.cancel()
        await session.set_status("testing")
    with anyio.CancelScope() as meanwhile:
        await session.before_generation("where are tokens kept", environment=CancelsWhenRead(meanwhile))
        await anyio.lowlevel.checkpoint()
    assert (before.cancelled_caught, meanwhile.cancelled_caught) == (True, True)
    again = await shop.session("task")
    assert again.memory == session.memory
    assert (again.memory.turn, again.memory.task.status) == (1, TaskState("").status)
