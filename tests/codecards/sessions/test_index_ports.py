"""Sessions over a real index: the engine implements the router's ports."""

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from codecards import Engine, Settings, SummariserConfig
from codecards.errors import AmbiguousTargetError, OutsideProjectError, TargetNotFoundError, UsageError
from codecards.router.memory.working_memory import Mode
from codecards.router.notes.note import NoteDraft, with_states
from tests.support.indexed import write_repository

SHOP = """\
#- shop/tokens.py
'''Login tokens.'''
import time
from collections import deque as queue

# TODO: tokens are never rotated
class TokenStore:
    '''Keeps login tokens.'''

    def purge_expired(self, now):
        '''Remove tokens that are older than the timeout.'''
        return [token for token in self.tokens if token.expires < now]
#- shop/login.py
from shop.tokens import TokenStore


def log_out(now):
    store = TokenStore()
    return store.purge_expired(now)
#- a/config.py
LIMIT = 1
#- b/config.py
LIMIT = 2
#- .env
PASSWORD=hunter2hunter2
"""


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Engine]:
    """An engine over a small repository."""
    root = write_repository(tmp_path / "shop", SHOP)
    with Engine(root, Settings(n_workers=1, embedder="none")) as engine:
        engine.refresh()
        yield engine


@pytest.mark.seed("S2-44", "S2-52", "S2-59", "S2-2")
def test_a_turn_shows_files_in_full_neighbours_as_digests_and_hits_folded(shop: Engine) -> None:
    session = shop.session("timeout", goal="change the login timeout", constraints=["keep the API"])
    session.open_file("login.py", purpose="see who purges")
    context = session.before_generation(user_input="where are expired tokens removed?")
    assert "def log_out(now):" in context.text
    assert '<knowledge anchor="shop/tokens.py::TokenStore.purge_expired"' in context.text
    assert "constraint (must hold): keep the API" in context.text
    context = session.before_generation()
    digest = next(file for file in context.files if file.path == "shop/tokens.py")
    assert digest.shown == "digest"
    assert digest.text.splitlines() == [
        "about: Login tokens.",
        "needs: time; collections (deque as queue)",
        "5: # TODO: tokens are never rotated",
        "6: class TokenStore  # Keeps login tokens.",
        "9:   def purge_expired(self, now)  # Remove tokens that are older than the timeout.",
    ]
    assert context.ledger.total_tokens <= 12_000
    assert context.messages[0]["role"] == "system"


def test_a_turn_indexes_changes_on_disk_first(shop: Engine) -> None:
    session = shop.session("timeout", goal="change the login timeout")
    session.open_file("shop/login.py", purpose="see who purges")
    session.before_generation()
    (shop.root / "shop/login.py").write_text("def sign_out_everywhere():\n    return 1\n", encoding="utf-8")
    context = session.before_generation(user_input="sign_out_everywhere")
    assert "def log_out" not in context.text
    assert 'anchor="shop/login.py::sign_out_everywhere"' in context.text


@pytest.mark.seed("S0-10")
def test_a_unique_match_is_opened_and_several_matches_are_listed(shop: Engine) -> None:
    session = shop.session("s", goal="look")
    assert session.open_file("tokens.py", purpose="look") == "opened shop/tokens.py"
    with pytest.raises(AmbiguousTargetError) as caught:
        session.open_file("config.py", purpose="look")
    assert caught.value.candidates == ("a/config.py", "b/config.py")
    assert [entry.path for entry in session.memory.files] == ["shop/tokens.py"]


@pytest.mark.parametrize(
    ("written", "error"),
    [
        ("config.py", AmbiguousTargetError),
        ("nowhere.py", TargetNotFoundError),
        ("../outside.py", OutsideProjectError),
        ("/etc/hostname", OutsideProjectError),
        (".env", TargetNotFoundError),
    ],
)
def test_files_that_can_not_or_must_not_be_shown_are_refused(
    shop: Engine, written: str, error: type[Exception]
) -> None:
    session = shop.session("s", goal="look")
    with pytest.raises(error):
        session.open_file(written, purpose="look")


def test_a_link_that_leads_out_is_not_opened(shop: Engine, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("outside", encoding="utf-8")
    try:
        (shop.root / "link.txt").symlink_to(tmp_path / "secret.txt")
    except OSError:
        pytest.skip("no links here")
    with pytest.raises(OutsideProjectError):
        shop.session("s", goal="look").open_file("link.txt", purpose="look")


def test_a_preview_changes_nothing(shop: Engine) -> None:
    session = shop.session("s", goal="look at tokens")
    session.open_file("shop/tokens.py", purpose="look")
    before = shop.sessions.load("s")
    assert "class TokenStore" in session.preview("what now?").text
    assert shop.sessions.load("s") == before


def test_a_session_of_the_same_name_continues_in_another_process(shop: Engine) -> None:
    shop.session("s", goal="look").open_file("shop/tokens.py", purpose="look")
    again = Engine(shop.root, Settings(n_workers=1, embedder="none")).session("s")
    assert [(entry.path, entry.mode) for entry in again.memory.files] == [("shop/tokens.py", Mode.FULL)]
    assert shop.session("s", goal="another aim").memory.task.goal == "another aim"


def test_a_new_session_needs_a_goal(shop: Engine) -> None:
    with pytest.raises(TargetNotFoundError):
        shop.session("nothing")
    with pytest.raises(UsageError):
        shop.session("../out", goal="look")


def test_a_question_asked_twice_is_refused_with_words_of_the_project(shop: Engine) -> None:
    session = shop.session("s", goal="look")
    assert session.recall("expired tokens").references[0].anchor == "shop/tokens.py::TokenStore.purge_expired"
    refusal = session.recall("expired tokens").refusal
    assert refusal is not None
    assert refusal.try_instead


MOVES = [
    ("def log_out(now):", "def log_out(  now ):  # ends", "fresh", "shop/login.py"),
    ("TokenStore()", "TokenStore(1)", "changed", "shop/login.py"),
    ("def log_out(now):", "def sign_out(now):", "changed", "shop/login.py"),
    ("def log_out(now):", "", "gone", "shop/login.py"),
]


@pytest.mark.parametrize(("old", "new", "state", "path"), MOVES)
def test_a_note_follows_the_code_that_it_is_about(shop: Engine, old: str, new: str, state: str, path: str) -> None:
    anchor = shop.anchors.resolve("log_out")
    note = shop.archive.add(NoteDraft("", "Logging out purges.", (anchor,)))
    file = shop.root / path
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(old, new) if new else "pass\n", encoding="utf-8")
    shop.refresh()
    (found,) = with_states(note, shop.anchors).anchors
    assert found.state.value == state


def test_a_note_follows_a_function_into_another_file(shop: Engine) -> None:
    note = shop.archive.add(NoteDraft("", "Logging out purges.", (shop.anchors.resolve("shop/login.py:log_out"),)))
    (shop.root / "shop/login.py").rename(shop.root / "shop/logout.py")
    shop.refresh()
    (found,) = with_states(note, shop.anchors).anchors
    assert (found.path, found.state.value) == ("shop/logout.py", "fresh")
    assert found.moved_from == "shop/login.py::log_out"


def test_files_of_common_commits_are_predicted(tmp_path: Path) -> None:
    root = write_repository(tmp_path / "shop", SHOP)
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false"]
    subprocess.run([*git, "init", "-q"], check=True)
    for number in range(4):
        for path in ("a/config.py", "b/config.py"):
            (root / path).write_text(f"LIMIT = {number}\n", encoding="utf-8")
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", "limits"], check=True)
    with Engine(root, Settings(n_workers=1, embedder="none")) as engine:
        engine.refresh()
        session = engine.session("s", goal="raise the limit")
        session.open_file("a/config.py", purpose="raise it")
        session.before_generation()
        (other,) = [entry for entry in session.memory.files if entry.path == "b/config.py"]
    assert other.why == "predicted: changed together with a/config.py in 4 commits"


def test_notes_and_sessions_are_kept_out_of_commits_but_for_the_archive(tmp_path: Path) -> None:
    root = write_repository(tmp_path / "shop", SHOP)
    with Engine(root, Settings(index=tmp_path / "elsewhere")) as engine:
        engine.archive.add(NoteDraft("", "a note"))
    assert "!archive/" in (root / ".codecards" / ".gitignore").read_text(encoding="utf-8")


@pytest.mark.seed("S0-26", "S2-31")
def test_a_folder_opens_as_the_signatures_of_its_files(shop: Engine) -> None:
    session = shop.session("s", goal="look")
    assert session.open_file("shop", purpose="see what is there") == "opened shop/"
    text = session.before_generation().text
    assert "shop/tokens.py\n  class TokenStore" in text
    assert "shop/login.py\n  def log_out(now)" in text
    session.close_file("shop/")
    assert session.memory.files == ()


def test_a_turn_runs_before_anything_is_indexed(tmp_path: Path) -> None:
    root = write_repository(tmp_path / "shop", SHOP)
    with Engine(root, Settings(n_workers=1, embedder="none")) as engine:
        engine.refresh()
        engine.archive.add(NoteDraft("", "Logging out purges.", (engine.anchors.resolve("log_out"),)))
        engine.clean()
    with Engine(root, Settings(n_workers=1, embedder="none")) as engine:
        session = engine.session("s", goal="look at logging out")
        session.open_file("shop/login.py", purpose="look")
        context = session.before_generation(user_input="where is log_out?")
    assert "def log_out(now):" in context.text
    assert "Logging out purges." in context.text
    assert 'state="not checked"' in context.text
    assert "index: nothing is indexed" in context.text


@pytest.mark.seed("S0-31")
def test_the_summariser_of_the_engine_words_memos_and_compactions(shop: Engine) -> None:
    asked: list[str] = []

    def summariser(text: str, tokens: int) -> str:
        asked.append(text)
        return f"in at most {tokens}"

    session = shop.session("s", goal="change the login timeout", summariser=summariser)
    session.open_file("shop/tokens.py", purpose="see how tokens are purged")
    assert session.close_file("shop/tokens.py") == "closed shop/tokens.py"
    assert session.memory.memos[-1].text.startswith("in at most")
    found = session.compact("tried the old store, it failed\n" * 30, 300)
    assert (found.conclusion[:10], found.notice) == ("in at most", "")
    assert "purge_expired" in asked[0]
    assert "hunter2" not in "".join(asked)


def test_a_summariser_that_hangs_is_abandoned_and_the_status_says_so(shop: Engine) -> None:
    released = threading.Event()
    waits = SummariserConfig(lambda _text, _tokens: str(released.wait(30)), timeout_s=0.05)
    session = shop.session("s", goal="change the login timeout", summariser=waits)
    session.open_file("shop/tokens.py", purpose="see how tokens are purged")
    assert "gave no answer in 0.05 s: the memo holds lines of the file" in session.close_file("shop/tokens.py")
    released.set()
    assert "purge_expired" in session.memory.memos[-1].text
