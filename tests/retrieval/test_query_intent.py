"""What a question is after."""

import pytest

from codecards.retrieval.query_intent import intent_of


@pytest.mark.parametrize(
    "text",
    [
        "return the size of the file",
        "Returns whether a path is absolute",
        "convert rows to JSON",
        "how to serialize models",
        "where do we normalise the path",
        "which function closes the socket",
        "where are expired sessions removed",
        "Set the colour of the pen",
        "read and write a header",
        "helper function to escape HTML",
    ],
)
def test_what_is_done_is_an_action(text: str) -> None:
    assert intent_of(text) == "action"


@pytest.mark.parametrize(
    "text",
    [
        "index must not be negative",
        "could not open the socket",
        "unknown option given to the parser",
        "Expected a tuple of two numbers",
    ],
)
def test_what_an_error_says_is_a_message(text: str) -> None:
    assert intent_of(text) == "message"


@pytest.mark.parametrize(
    "text",
    [
        "how does the router work",
        "query parameters and path variables",
        "store creation and dispatch lifecycle",
        "tests of the request parser",
        "hash code builder",
        "where is the place at which, after many other things in this system have come to pass, sessions are removed",
        "load file",
        "why must the index not be negative",
        "获取库存",
        "",
    ],
)
def test_anything_else_is_a_subject(text: str) -> None:
    assert intent_of(text) == "subject"
