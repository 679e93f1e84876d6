"""The gateway over real HTTP: histories come out shorter, and everything else byte for byte."""

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

from codecards.gateway.server import LOG_NAME, STATUS_PATH, GatewayOptions, make_app
from codecards.outputs.store import OutputStore
from codecards.router.compress.excerpts import handle_of
from tests.support.model_endpoint import ModelEndpoint, served

anthropic = pytest.importorskip("anthropic", reason="needs the anthropic client: pip install anthropic")
openai = pytest.importorskip("openai", reason="needs the openai client: pip install openai")

SOURCE = "\n".join(f"def price_{number}(item):\n    return item.cost * {number}\n" for number in range(60))
KEY = "sk-very-secret-key"


class Setting:
    """An endpoint, a gateway before it, and where the gateway keeps things."""

    def __init__(self, folder: Path, endpoint: ModelEndpoint, url: str) -> None:
        self.folder, self.endpoint, self.url = folder, endpoint, url

    def store(self) -> OutputStore:
        """Return the store of whole outputs."""
        return OutputStore(self.folder / "outputs")

    def log(self) -> list[dict[str, Any]]:
        """Return the rows of the log."""
        return [json.loads(line) for line in (self.folder / "gateway" / LOG_NAME).read_text("utf-8").splitlines()]


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Setting]:
    yield from _gateway(tmp_path, dry_run=False)


@pytest.fixture
def dry_gateway(tmp_path: Path) -> Iterator[Setting]:
    yield from _gateway(tmp_path, dry_run=True)


def _gateway(folder: Path, *, dry_run: bool) -> Iterator[Setting]:
    endpoint = ModelEndpoint()
    with served(endpoint.app()) as upstream:
        upstreams = {"anthropic": upstream, "openai": upstream}
        options = GatewayOptions(folder / "gateway", dry_run=dry_run, upstreams=upstreams)
        with served(make_app(options, OutputStore(folder / "outputs"))) as url:
            yield Setting(folder, endpoint, url)


def two_reads() -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Fix the price."}]
    for key in ("a", "b"):
        call = {"type": "tool_use", "id": key, "name": "Read", "input": {"file_path": "shop.py"}}
        thinking = {"type": "thinking", "thinking": "I read it.", "signature": "s=="}
        messages.append({"role": "assistant", "content": [thinking, call]})
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
        result = {"type": "tool_result", "tool_use_id": key, "content": [{"type": "text", "text": SOURCE}, image]}
        messages.append({"role": "user", "content": [result]})
    return messages


def test_a_second_read_reaches_the_model_as_a_pointer(gateway: Setting) -> None:
    """With the official client. Mutation: send the body as it came."""
    client = anthropic.Anthropic(base_url=gateway.url, api_key=KEY)
    messages = two_reads()
    answer = client.messages.create(model="scripted", max_tokens=9, messages=messages)
    assert answer.content[0].text == "done"
    sent = gateway.endpoint.requests[-1]
    (first, second) = (sent.json()["messages"][place]["content"][0]["content"] for place in (2, 4))
    assert first[0]["text"] == SOURCE
    assert "unchanged: shown above by Read shop.py" in second[0]["text"]
    assert second[1] == messages[4]["content"][0]["content"][1]
    assert sent.json()["messages"][3] == messages[3]
    assert gateway.store().get(handle_of(SOURCE)).text == SOURCE


def test_a_stream_comes_chunk_by_chunk_as_it_was(gateway: Setting) -> None:
    """Mutation: read the whole answer first; the first chunk comes with the last."""
    gateway.endpoint.pause_s = 0.15
    body = json.dumps({"model": "scripted", "messages": two_reads(), "stream": True}).encode()
    arrived: list[tuple[float, bytes]] = []
    with httpx2.Client() as client:
        sending = client.stream("POST", f"{gateway.url}/v1/messages", content=body, headers={"x-api-key": KEY})
        with sending as response:
            arrived.extend((time.monotonic(), chunk) for chunk in response.iter_raw())
    assert b"".join(chunk for _, chunk in arrived) == b"".join(gateway.endpoint.chunks)
    assert arrived[-1][0] - arrived[0][0] > 0.15


def test_the_official_client_reads_a_stream(gateway: Setting) -> None:
    client = anthropic.Anthropic(base_url=gateway.url, api_key=KEY)
    with client.messages.stream(model="scripted", max_tokens=9, messages=two_reads()) as stream:
        assert "".join(stream.text_stream) == "done 完了"


def test_chat_completions_are_rewritten(gateway: Setting) -> None:
    client = openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=KEY)
    output = "".join(f"step {number} of many things\n" for number in range(900)) + "ERROR: disk full\n"
    function = {"name": "bash", "arguments": json.dumps({"command": "make all"})}
    messages = [
        {"role": "user", "content": "Build it."},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c", "content": output},
    ]
    answer = client.chat.completions.create(model="scripted", messages=messages)
    assert answer.choices[0].message.content == "done"
    sent = gateway.endpoint.requests[-1].json()["messages"][2]["content"]
    assert "ERROR: disk full" in sent
    assert len(sent) < len(output) / 4
    assert handle_of(output) in sent


def test_responses_are_rewritten(gateway: Setting) -> None:
    client = openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=KEY)
    calls = [
        {"type": "function_call", "call_id": key, "name": "read_file", "arguments": json.dumps({"path": "shop.py"})}
        for key in "ab"
    ]
    outputs = [{"type": "function_call_output", "call_id": key, "output": SOURCE} for key in "ab"]
    items = [{"role": "user", "content": "Fix it."}, calls[0], outputs[0], calls[1], outputs[1]]
    assert client.responses.create(model="scripted", input=items).output_text == "done"
    sent = gateway.endpoint.requests[-1].json()["input"]
    assert sent[2]["output"] == SOURCE
    assert "unchanged: shown above by read_file shop.py" in sent[4]["output"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no json \xff",
        b'{"messages": 7}',
        b'{"messages": [{"role": "user", "content": [{"type": "novel", "x": [1]}]}],  "odd":   1.50}',
        b"[1, 2]",
        b"[" * 100_000,
    ],
)
def test_what_is_not_understood_goes_through_byte_for_byte(gateway: Setting, body: bytes) -> None:
    httpx2.post(f"{gateway.url}/v1/messages", content=body, headers={"x-api-key": KEY})
    assert gateway.endpoint.requests[-1].body == body


def test_other_paths_headers_and_failures_go_through(gateway: Setting) -> None:
    answer = httpx2.request("DELETE", f"{gateway.url}/v1/files/x?a=1", headers={"x-mine": "1"})
    sent = gateway.endpoint.requests[-1]
    assert (sent.method, sent.path, sent.headers["x-mine"]) == ("DELETE", "/v1/files/x", "1")
    assert (answer.content, answer.headers["x-own"]) == (b"\x00raw\xff", "kept")
    failed = httpx2.post(f"{gateway.url}/v1/fail", json={})
    assert (failed.status_code, failed.headers["retry-after"]) == (529, "7")


def test_keys_are_passed_on_and_kept_nowhere(gateway: Setting) -> None:
    client = anthropic.Anthropic(base_url=gateway.url, api_key=KEY)
    client.messages.create(model="scripted", max_tokens=9, messages=two_reads())
    assert any(KEY in value for value in gateway.endpoint.requests[-1].headers.values())
    written = b"".join(path.read_bytes() for path in gateway.folder.rglob("*") if path.is_file())
    assert KEY.encode() not in written
    with closing(sqlite3.connect(gateway.store().path)) as connection:
        assert KEY not in "".join(connection.iterdump())


def test_a_dry_run_changes_nothing_and_says_what_it_would_do(dry_gateway: Setting) -> None:
    body = json.dumps({"model": "scripted", "messages": two_reads()}, indent=3).encode()
    httpx2.post(f"{dry_gateway.url}/v1/messages", content=body, headers={"x-api-key": KEY})
    assert dry_gateway.endpoint.requests[-1].body == body
    (row,) = dry_gateway.log()
    assert row["dry_run"]
    assert row["tokens"] < row["whole_tokens"]
    assert [one["why"] for one in row["results"]] == ["repeats"]
    assert not dry_gateway.store().path.exists()


def test_the_log_tells_prices_and_no_text(gateway: Setting) -> None:
    messages = two_reads()
    for n_messages in (3, 5):
        body = {"model": "scripted", "messages": messages[:n_messages]}
        httpx2.post(f"{gateway.url}/v1/messages", json=body, headers={"x-api-key": KEY})
    first, second = gateway.log()
    assert first["price"] == first["whole_price"]
    assert second["price"] < second["whole_price"]
    assert "price_1(" not in json.dumps(gateway.log())
    status = httpx2.get(f"{gateway.url}{STATUS_PATH}").json()
    assert (status["requests"], status["rewritten"]) == (2, 1)


def test_only_this_machine_may_ask(gateway: Setting) -> None:
    """A page of the web that resolves its own name to loopback sends that name as the host."""
    answer = httpx2.post(f"{gateway.url}/v1/messages", json={}, headers={"host": "evil.example"})
    assert answer.status_code == 403
    assert gateway.endpoint.requests == []


def test_a_model_that_cannot_be_reached_is_a_clear_error(tmp_path: Path) -> None:
    options = GatewayOptions(
        tmp_path / "gateway", upstreams={"anthropic": "http://127.0.0.1:9", "openai": "http://127.0.0.1:9"}
    )
    with served(make_app(options, OutputStore(tmp_path / "outputs"))) as url:
        answer = httpx2.post(f"{url}/v1/messages", json={"messages": []}, headers={"x-api-key": KEY})
    assert answer.status_code == 502
    assert "127.0.0.1 can't be reached" in answer.json()["error"]["message"]


def test_sixty_four_streams_at_once_lose_nothing(gateway: Setting) -> None:
    gateway.endpoint.pause_s = 0.02
    answers: list[bytes] = []

    def ask(number: int) -> None:
        messages = [{"role": "user", "content": f"task {number}"}, *two_reads()[1:]]
        body = {"model": "scripted", "messages": messages, "stream": True}
        with (
            httpx2.Client(timeout=60) as client,
            client.stream("POST", f"{gateway.url}/v1/messages", json=body, headers={"x-api-key": KEY}) as response,
        ):
            answers.append(b"".join(response.iter_raw()))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [b"".join(gateway.endpoint.chunks)] * 64
    assert len(gateway.log()) == 64
