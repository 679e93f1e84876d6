"""Intent of questions: single rules; `test_intent_quality.py` measures them together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codecards.retrieval.query.intent import Intent, intent_of


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
def test_an_action_describes_one_function(text: str) -> None:
    assert intent_of(text) == Intent(1.0, is_message=False)


@pytest.mark.parametrize(
    "text",
    [
        "index must not be negative",
        "could not open the socket",
        "unknown option given to the parser",
        "Expected a tuple of two numbers",
    ],
)
def test_the_text_of_an_error_is_a_message(text: str) -> None:
    assert intent_of(text).is_message


@pytest.mark.parametrize(
    "text",
    [
        "how does the router work",
        "query parameters and path variables",
        "store creation and dispatch lifecycle",
        "request parser tests",
        "hash code builder",
        "where is the place at which, after many other things in this system have come to pass, sessions are removed",
        "load file",
        "bash-it main entry point",  # "it" is a part of a name
        "on-demand loading of modules",
        "no-op handlers and read-only views",
        "why must the index not be negative",
        "获取库存",
        "",
    ],
)
def test_anything_else_is_a_subject(text: str) -> None:
    assert intent_of(text).function < 0.1
    assert not intent_of(text).is_message


@pytest.mark.parametrize(
    "text",
    [
        "The number of chunks along each axis",
        "Whether the scene is empty",
        "True if two graphs are isomorphic",
        "Given a path, the file that it names",
        "Middleware that adds instrumentation to the application",
        "Checksum info of file, giving method and result",
        "Copy single file to remote",  # a verb that is also a noun, and a direction
        "set tags as extended data",
        "Unlink entity from record",
    ],
)
def test_a_sentence_describes_one_function_more_surely_than_a_list_of_subjects(text: str) -> None:
    assert intent_of(text).function > intent_of("argument validation helpers and exception rules").function


@given(
    st.lists(st.sampled_from("number of the chunks how field whether not get reads a error and".split()), max_size=12)
)
def test_the_share_is_between_zero_and_one(words: list[str]) -> None:
    assert 0 <= intent_of(" ".join(words)).function <= 1
