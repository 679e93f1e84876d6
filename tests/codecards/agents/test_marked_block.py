"""A marked block is added and removed, and every other byte stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codecards.agents.marked_block import check_text, with_block, without_block
from codecards.errors import ConfigurationError

pieces = st.sampled_from(
    [b"text", b"# head", b"\n", b"\r\n", b"\r", b"\xef\xbb\xbf", b"\xe4\xb8\xad", b"\xff", b" ", b"<!--"]
)
contents = st.none() | st.lists(pieces, max_size=12).map(b"".join) | st.binary(max_size=40)
comments = st.sampled_from(["markdown", "hash"])
heads = st.sampled_from(["", "---\nalwaysApply: true\n---\n"])


@given(contents, comments, heads)
def test_every_byte_is_restored(data: bytes | None, comment: str, head: str) -> None:
    done = with_block(data, "one\ntwo\n", comment=comment, head=head)
    assert without_block(done, comment=comment, head=head) == data
    assert done.startswith(head.encode() if data is None else data)


@given(contents, st.binary(max_size=20), comments)
def test_text_below_the_block_stays(data: bytes | None, below: bytes, comment: str) -> None:
    done = with_block(data, "one", comment=comment) + below
    rest = without_block(done, comment=comment) or b""
    assert rest.startswith(data or b"")
    assert rest.endswith(below)


def test_the_block_has_the_line_ends_of_the_file() -> None:
    assert b"\n" not in with_block(b"a\r\nb\r\n", "one\ntwo", comment="hash").replace(b"\r\n", b"")


def test_a_line_above_is_not_joined_with_one_below() -> None:
    done = with_block(b"above", "one", comment="markdown")
    assert without_block(done + b"below\n", comment="markdown") == b"above\nbelow\n"


@pytest.mark.parametrize(
    "data",
    [
        b"<!-- codecards:begin -->\nx\n",
        b"x\n<!-- codecards:end -->\n",
        b"<!-- codecards:begin -->\n<!-- codecards:end -->\n<!-- codecards:begin -->\n<!-- codecards:end -->\n",
        b"<!-- codecards:end -->\n<!-- codecards:begin -->\n",
    ],
)
def test_unpaired_marks_are_refused(data: bytes) -> None:
    with pytest.raises(ConfigurationError, match="NOTES has"):
        without_block(data, comment="markdown", name="NOTES")


def test_a_mark_inside_a_line_is_ignored() -> None:
    data = b"say `<!-- codecards:begin -->` to mark\n"
    assert without_block(data, comment="markdown") == data


@pytest.mark.parametrize("data", ["text".encode("utf-16"), b"a\0b"])
def test_other_encodings_than_utf_8_are_refused(data: bytes) -> None:
    with pytest.raises(ConfigurationError, match="UTF-16"):
        check_text(data, "CLAUDE.md")
