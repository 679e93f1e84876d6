"""The panel: it refuses foreign requests, shows sessions, notes and hits, and writes nothing."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from codecards import Engine, Settings
from codecards.panel.server import panel_app
from tests.support.indexed import write_repository

TOKEN = "a-token"
HOST = "127.0.0.1:8000"
HOSTILE = "<script>alert(1)</script></pre>\u202e"
REPO = f"""#- shop/orders.py
# {HOSTILE}
def place_order(cart):
    return charge(cart)


def charge(cart):
    return sum(cart)
#- shop/stock.py
def reserve(item):
    return item
"""
PAGES = ["", "notes", "search", "search?q=place+order", "session/task", "session/task?turn=1", "session/task?turn=next"]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = write_repository(tmp_path_factory.mktemp("shop"), REPO)
    with Engine(root, Settings(embedder="none", n_workers=1, traces_turns=True)) as engine:
        engine.refresh()
        session = engine.session("task", goal=f"charge once {HOSTILE}")
        session.open_file("shop/orders.py", f"see charge {HOSTILE}")
        session.before_generation(f"Do not touch the stock. {HOSTILE}")
        session.commit_note(f"Charging {HOSTILE}", f"once {HOSTILE}", files=["shop/orders.py"], rejected=[HOSTILE])
        yield engine


@pytest.fixture
def client(engine: Engine) -> TestClient:
    return TestClient(panel_app(engine, TOKEN, frozenset((HOST,))), base_url=f"http://{HOST}")


def get(client: TestClient, path: str, status: int = 200) -> str:
    answer = client.get(f"/{TOKEN}/{path}")
    assert answer.status_code == status, answer.text
    return answer.text


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_guarded_and_needs_no_inline_script_and_no_other_site(client: TestClient, path: str) -> None:
    answer = client.get(f"/{TOKEN}/{path}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    assert re.findall(r"<script(?! src=\"/a-token/static/panel.js\" defer></script>)", answer.text) == []
    assert re.findall(r"\s(?:style|on\w+)=", answer.text.replace(HOSTILE, "")) == []
    assert re.findall(r"(?:src|href|action)=\"(?!/a-token/|#)", answer.text) == []
    assert "\u202e" not in answer.text


@pytest.mark.parametrize(
    ("host", "path", "method", "status"),
    [
        ("evil.example:8000", f"/{TOKEN}/", "GET", 403),
        ("127.0.0.1", f"/{TOKEN}/", "GET", 403),
        ("127.0.0.1:8001", f"/{TOKEN}/", "GET", 403),
        ("127.0.0.1:8000.evil.example", f"/{TOKEN}/", "GET", 403),
        (HOST, "/", "GET", 403),
        (HOST, "/favicon.ico", "GET", 403),
        (HOST, "/another-token/", "GET", 403),
        (HOST, f"/{TOKEN}x/", "GET", 403),
        (HOST, f"//{TOKEN}/", "GET", 403),
        (HOST, "/%ff/", "GET", 403),
        (HOST, f"/{TOKEN}/", "POST", 405),
        (HOST, f"/{TOKEN}/search?q=x", "PUT", 405),
        (HOST, f"/{TOKEN}/session/task", "DELETE", 405),
        (HOST, f"/{TOKEN}/", "OPTIONS", 405),
    ],
)
def test_a_request_with_a_wrong_host_token_or_method_is_refused(
    client: TestClient, host: str, path: str, method: str, status: int
) -> None:
    answer = client.request(method, path, headers={"host": host})
    assert answer.status_code == status
    assert "shop" not in answer.text
    assert TOKEN not in answer.text
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_head_requests_are_answered(client: TestClient) -> None:
    answer = client.head(f"/{TOKEN}/")
    assert (answer.status_code, answer.text) == (200, "")


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("session/missing", 404, "No session is named"),
        ("session/..%2f..%2fetc", 404, "Not Found"),
        ("session/.hidden", 400, "not a valid session name"),
        ("session/task?turn=99", 404, "turn 99"),
        ("session/task?turn=-1", 400, "is not a turn"),
        ("session/task?turn=" + "9" * 5000, 400, "is not a turn"),
        ("static/missing.css", 404, "no such file"),
        ("static/..%2fserver.py", 404, "Not Found"),
        ("static/session.html", 404, "no such file"),
        ("elsewhere", 404, "Not Found"),
    ],
)
def test_an_unknown_page_is_an_error_with_a_message(client: TestClient, path: str, status: int, says: str) -> None:
    assert says in get(client, path, status)


@pytest.mark.seed("S4-24")
def test_the_context_is_shown_block_by_block_as_it_was_sent(client: TestClient, engine: Engine) -> None:
    text = get(client, "session/task")
    assert "Context of turn 1" in text
    assert "return charge(cart)" in text  # the text of a block
    assert 'class="c-files"' in text  # its part of the bar
    assert "shop/orders.py" in text
    assert '<p class="constraint">Do not touch the stock' in text
    answer = client.get(f"/{TOKEN}/session/task/turn.json").json()
    state = engine.sessions.read("task")
    assert (answer["revision"], answer["turn"]) == (state.revision, 1)
    assert [block["tokens"] for block in answer["context"]["blocks"]] == [
        line.tokens for line in state.ledgers[-1].lines
    ]


def test_the_preview_of_the_next_context_begins_no_turn(client: TestClient, engine: Engine) -> None:
    assert "Preview of the next context" in get(client, "session/task?turn=next")
    assert engine.sessions.read("task").memory.turn == 1


def test_notes_show_the_states_of_their_anchors(client: TestClient) -> None:
    text = get(client, "notes")
    assert '<span class="state state-fresh">fresh</span>' in text
    assert "shop/orders.py" in text


def test_a_search_explains_its_scores(client: TestClient, engine: Engine) -> None:
    text = get(client, "search?q=charge")
    hit = engine.recall("charge").hits[0]
    assert f"score <b>{hit.score:.3f}</b>" in text
    for term in hit.terms:
        assert f'<th scope="row">{term.name}</th><td class="number">{term.value:+.3f}</td>' in text
    assert "No hits in this project" in get(client, "search?q=zzzzqqqq")


def test_the_panel_writes_nothing(client: TestClient, engine: Engine) -> None:
    def stamps() -> dict[Path, tuple[int, int]]:
        files = [path for path in engine.root.rglob("*") if path.is_file() and path.suffix not in (".db-shm", ".lock")]
        return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in files}

    before = stamps()
    for path in PAGES:
        get(client, path)
    assert stamps() == before


def test_a_damaged_session_is_reported_and_not_changed(client: TestClient, engine: Engine) -> None:
    path = engine.sessions.folder / "broken" / "state.json"
    path.parent.mkdir()
    path.write_text("{")
    try:
        assert "is damaged" in get(client, "")
        assert "is damaged" in get(client, "session/broken", 500)
        assert "is damaged" in get(client, "session/broken?turn=next", 500)
        assert path.read_text() == "{"
    finally:
        path.unlink()
        path.parent.rmdir()


def test_an_unexpected_error_is_answered_and_the_panel_goes_on(
    client: TestClient, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(engine, "status", lambda: 1 / 0)
        assert get(client, "", 500) == "Internal Server Error"
    get(client, "")


def test_a_project_without_index_and_sessions_has_all_pages(tmp_path: Path) -> None:
    write_repository(tmp_path, REPO)
    with Engine(tmp_path, Settings(embedder="none", n_workers=1)) as engine:
        client = TestClient(panel_app(engine, TOKEN, frozenset((HOST,))), base_url=f"http://{HOST}")
        assert "There is no index yet" in get(client, "")
        assert "There are no notes" in get(client, "notes")
        assert "place_order" in get(client, "search?q=place_order")
    assert not (tmp_path / ".codecards").exists()
