"""The stdio transport answers invalid lines, repairs invalid Unicode, and has bounded buffers."""

import json

import pytest
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest

from codecards.mcp.transport import BadFrame, FrameSplitter, encode_frame, read_frame


def one_frame(line: bytes) -> object:
    (found,) = read_frame(line)
    return found


def test_requests_and_notifications_are_distinguished() -> None:
    assert isinstance(one_frame(b'{"jsonrpc":"2.0","id":"a","method":"ping"}'), JSONRPCRequest)
    assert isinstance(one_frame(b'{"jsonrpc":"2.0","method":"notifications/initialized"}'), JSONRPCNotification)


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        (b"not json", -32700, None),
        (b'{"jsonrpc": "2.0", "id": 20, "method":', -32700, None),
        (b"\xff\xfe\x00", -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"[]", -32600, None),
        (b"17", -32600, None),
        (b'{"id": 3}', -32600, 3),
        (b'{"jsonrpc": "1.0", "id": "x", "method": "ping"}', -32600, "x"),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}', -32600, 1),
    ],
)
def test_an_invalid_message_gets_an_error_with_its_id(line: bytes, code: int, request_id: int | str | None) -> None:
    found = one_frame(line)
    assert isinstance(found, BadFrame)
    assert (found.error.error.code, found.error.id) == (code, request_id)
    assert json.loads(encode_frame(found.error))["error"]["code"] == code


def test_a_byte_order_mark_is_ignored() -> None:
    assert isinstance(one_frame(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}\r'), JSONRPCRequest)


def test_a_blank_line_is_ignored() -> None:
    assert read_frame(b" \r") == []


def test_a_batch_is_split_into_messages() -> None:
    first, second = read_frame(b'[{"jsonrpc":"2.0","id":1,"method":"ping"}, 5]')
    assert isinstance(first, JSONRPCRequest)
    assert isinstance(second, BadFrame)


def test_a_lone_surrogate_is_replaced_and_a_pair_is_kept() -> None:
    found = one_frame(rb'{"jsonrpc":"2.0","id":1,"method":"m","params":{"half":"a\ud800b","whole":"\ud83d\ude00"}}')
    assert isinstance(found, JSONRPCRequest)
    assert found.params == {"half": "a\ufffdb", "whole": "\U0001f600"}


def test_an_error_without_an_id_is_written_with_null() -> None:
    found = one_frame(b"{")
    assert isinstance(found, BadFrame)
    assert isinstance(found.error, JSONRPCError)
    line = encode_frame(found.error)
    assert line.count(b"\n") == 1
    assert json.loads(line)["id"] is None


def test_lines_do_not_depend_on_the_reads() -> None:
    splitter = FrameSplitter()
    found = [line for part in (b"on", b"e\ntw", b"o\n\nthree") for line in splitter.feed(part)]
    assert found == [b"one", b"two", b""]
    assert splitter.last() == b"three"


def test_a_line_that_is_too_long_is_answered_once_and_skipped() -> None:
    splitter = FrameSplitter(max_bytes=10)
    found = [line for part in (b"x" * 8, b"y" * 8, b"z" * 8, b"end\nnext\n") for line in splitter.feed(part)]
    assert [type(line) for line in found] == [BadFrame, bytes]
    assert found[1] == b"next"
    assert splitter.last() == b""
