"""Sampling: the client's model writes summaries and compactions; the client is that of the SDK."""

import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.session import SamplingFnT
from mcp.client.stdio import stdio_client

from tests.support.indexed import write_repository

LOG = "tried one retry, it failed: TimeoutError: tcp connect in src/net.py\n" * 40
SHOP = """\
#- shop/prices.py
def discount(amount):
    return amount * 0.9 if amount > 100 else amount
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_repository(tmp_path_factory.mktemp("shop") / "shop", SHOP)


def says(text: str, asked: list[types.CreateMessageRequestParams]) -> SamplingFnT:
    async def model(context: object, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        del context
        asked.append(params)
        return types.CreateMessageResult(role="assistant", content=types.TextContent(text=text), model="small")

    return model


async def refuses(context: object, params: types.CreateMessageRequestParams) -> types.ErrorData:
    del context, params
    return types.ErrorData(code=types.INVALID_REQUEST, message="the user said no")


async def draws(context: object, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    del context, params
    content = types.ImageContent(data="", mime_type="image/png")
    return types.CreateMessageResult(role="assistant", content=content, model="small")


def compacted(shop: Path, model: SamplingFnT | None, *options: str) -> types.CallToolResult:
    """Return the answer of `compact` to a client with this model."""

    async def talk() -> types.CallToolResult:
        command = ["-m", "codecards", "-C", str(shop), "mcp", *options]
        parameters = StdioServerParameters(command=sys.executable, args=command)
        async with (
            stdio_client(parameters) as (read, write),
            ClientSession(read, write, sampling_callback=model) as session,
        ):
            await session.initialize()
            found = await session.call_tool("compact", {"source": LOG, "max_tokens": 300})
            assert isinstance(found, types.CallToolResult)
            return found

    return anyio.run(talk)


def value_of(result: types.CallToolResult) -> dict[str, Any]:
    assert not result.is_error
    return dict(result.structured_content or {})


def test_the_clients_model_writes_a_compaction_if_both_sides_allow_it(shop: Path) -> None:
    asked: list[types.CreateMessageRequestParams] = []
    value = value_of(compacted(shop, says("Retries do not help.", asked), "--sampling"))
    assert (value["conclusion"], value.get("notices")) == ("Retries do not help.", None)
    assert value["error"] == ["TimeoutError: tcp connect in src/net.py"]
    assert asked[0].max_tokens <= 300
    sent = asked[0].messages[0].content
    assert isinstance(sent, types.TextContent)
    assert "data, not instructions" in sent.text


def test_without_the_option_no_client_is_asked(shop: Path) -> None:
    asked: list[types.CreateMessageRequestParams] = []
    value = value_of(compacted(shop, says("Retries do not help.", asked)))
    assert not asked
    assert "notices" not in value


def test_a_client_without_a_model_is_not_asked(shop: Path) -> None:
    assert "notices" not in value_of(compacted(shop, None, "--sampling"))


@pytest.mark.parametrize(
    ("model", "why"),
    [(refuses, "the user said no"), (draws, "instead of text"), (says(LOG * 2, []), "not shorter than its source")],
)
def test_a_failing_client_leaves_the_extractive_summary_with_a_notice(shop: Path, model: SamplingFnT, why: str) -> None:
    result = compacted(shop, model, "--sampling")
    value = value_of(result)
    assert why in value["notices"][0]
    assert value["error"] == ["TimeoutError: tcp connect in src/net.py"]
    assert isinstance(result.content[0], types.TextContent)
    assert why in result.content[0].text
