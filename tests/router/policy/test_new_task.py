"""The files that a task starts with: related modules, their tests, and recently changed files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codecards import Engine, Settings
from codecards.errors import UsageError
from codecards.router.memory.operations import ToolCall
from codecards.router.memory.working_memory import Mode
from tests.support.indexed import write_repository
from tests.support.working_trees import commit_all, git, needs_git

SHOP = """\
#- shop/tokens.py
class TokenStore:
    '''Keeps login tokens.'''

    def purge_expired(self, now):
        '''Remove login tokens that are older than the timeout.'''
        return [token for token in self.tokens if token.expires < now]
#- shop/login.py
from shop.tokens import TokenStore


def log_in(now):
    '''Begin a login; its token expires after the timeout.'''
    return TokenStore().purge_expired(now)
#- checks/test_store.py
from shop.tokens import TokenStore


def test_old_ones_leave():
    assert TokenStore().purge_expired(9) == []
#- shop/prices.py
def price_of(item):
    return item.price
"""
OTHERS = "".join(f"#- other/part_{n}.py\ndef paint_{n}(canvas):\n    return canvas.fill({n})\n" for n in range(30))


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Engine]:
    root = write_repository(tmp_path / "shop", SHOP + OTHERS)
    commit_all(root)
    (root / "shop/prices.py").write_text("def price_of(item):\n    return item.price * 2\n", encoding="utf-8")
    git(root, "commit", "-aqm", "twice as much")
    with Engine(root, Settings(n_workers=1, embedder="none")) as engine:
        engine.refresh()
        yield engine


@needs_git
@pytest.mark.seed("S1-18", "S1-25", "S1-26")
def test_a_task_starts_with_modules_tests_and_recent_files(shop: Engine) -> None:
    session = shop.session("s", goal="paint the shop", constraints=["keep the API"])
    session.open_file("other/part_3.py", purpose="paint")
    session.open_file("other/part_4.py", purpose="paint")
    session.pin("other/part_4.py")
    context = session.rebuild("make the login timeout of tokens longer")
    entries = {entry.path: entry for entry in session.memory.files}
    assert entries.pop("other/part_4.py").mode is Mode.FULL
    assert {path: entry.why for path, entry in entries.items()} == {
        "shop/tokens.py": "related to the goal",
        "shop/login.py": "related to the goal",
        "checks/test_store.py": "a test related to the goal",
        "shop/prices.py": "changed recently",
    }
    assert {entry.mode for entry in entries.values()} == {Mode.DIGEST}
    assert "goal: make the login timeout of tokens longer" in context.text
    assert "paint the shop" not in context.text
    assert "constraint (must hold): keep the API" in context.text
    assert context.messages[-1] == {"role": "user", "content": "make the login timeout of tokens longer"}


@needs_git
def test_files_that_a_new_task_does_not_use_leave_again(shop: Engine) -> None:
    session = shop.session("s", goal="look")
    session.rebuild("make the login timeout of tokens longer")
    for _ in range(8):
        session.record(ToolCall("read", paths=["shop/tokens.py"]))
        session.before_generation()
    assert [entry.path for entry in session.memory.files if entry.predicted] == []
    assert session.memory.entry("shop/tokens.py") is not None
    assert session.memory.entry("shop/prices.py") is None


@needs_git
def test_a_task_needs_a_goal(shop: Engine) -> None:
    with pytest.raises(UsageError):
        shop.session("s", goal="look").rebuild("  ")
    assert shop.session("s").memory.task.goal == "look"


@needs_git
@pytest.mark.seed("S4-27")
def test_the_working_set_is_selected_organised_injected_and_maintained(shop: Engine) -> None:
    """Each of the four steps changes the files that the context shows."""
    session = shop.session("s", goal="make the login timeout longer")
    (first, *_) = session.select("where are login tokens removed").references
    assert (first.path, first.text) == ("shop/tokens.py", "")
    session.inject(first.path, "see what is removed")
    organised = session.before_generation("go on")
    names = dict.fromkeys(block.name for block in organised.blocks)
    assert [name for name in names if name in ("input", "open_file", "task")] == ["task", "open_file", "input"]
    assert {file.path: file.shown for file in organised.files} == {
        "shop/tokens.py": "full",
        "shop/login.py": "digest",
        "checks/test_store.py": "digest",
    }
    session.close_file(first.path)
    session.compact(target_tokens=200)
    maintained = session.before_generation()
    assert "shop/tokens.py" not in {file.path for file in maintained.files}
    assert any("shop/tokens.py" in memo.path for memo in session.memory.memos)
