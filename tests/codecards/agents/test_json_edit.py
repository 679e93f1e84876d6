"""JSON text: what is put in can be read, everything else stays as it was, and what was put in can be told."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codecards.agents.json_edit import JsonText, JsonTextError, parse

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
objects = st.dictionaries(st.text(), values, max_size=4)
indents = st.sampled_from([None, 0, 1, 2, 4, "\t"])


def without_spans(edited: JsonText) -> str:
    text = edited.text
    for first, length in reversed(edited.spans):
        text = text[:first] + text[first + length :]
    return text


@given(values, indents, st.booleans())
def test_it_reads_what_python_reads(value: object, indent: int | str | None, ascii_only: bool) -> None:
    assert parse(json.dumps(value, indent=indent, ensure_ascii=ascii_only)).plain() == value


@given(objects, indents, values, st.booleans())
def test_a_member_is_put_in_and_nothing_else_changes(
    value: dict[str, object], indent: int | str | None, new: object, crlf: bool
) -> None:
    text = json.dumps(value, indent=indent)
    text = text.replace("\n", "\r\n") if crlf else text
    keys = ("codecards-a", "b")
    edited = JsonText(text)
    edited.set_member(keys, new)
    assert json.loads(edited.text) == value | {"codecards-a": {"b": new}}
    assert without_spans(edited) == text
    assert edited.remove(("codecards-a",))
    assert json.loads(edited.text) == value


@given(objects, indents, st.lists(values, max_size=3), st.lists(values, min_size=1, max_size=3))
def test_elements_are_appended_and_taken_out(
    value: dict[str, object], indent: int | str | None, there: list[object], new: list[object]
) -> None:
    whole = value | {"list": there}
    text = json.dumps(whole, indent=indent)
    edited = JsonText(text)
    marked = [{"mark": one} for one in new]
    for one in marked:
        edited.append(("list",), one)
    assert json.loads(edited.text) == whole | {"list": [*there, *marked]}
    assert without_spans(edited) == text
    edited.remove(("list",), lambda one: one in marked)
    assert json.loads(edited.text)["list"] == [one for one in there if one not in marked]


COMMENTED = """\
// settings of mine
{
  "theme": "One Dark", // dark
  /* servers */
  "servers": {
    "other": { "command": "x" }, // the other
  },
  "list": [
    1, // one
    2 // two
  ],
  "empty": {}, "nothing": { /* none */ }
  // the end
}
"""


@pytest.mark.parametrize(
    "keys",
    [("servers", "codecards"), ("empty", "codecards"), ("nothing", "codecards"), ("new", "codecards"), ("codecards",)],
)
def test_comments_and_trailing_commas_stay(keys: tuple[str, ...]) -> None:
    edited = JsonText(COMMENTED)
    edited.set_member(keys, {"command": "codecards", "args": ["mcp"]})
    found = edited.find(keys)
    assert found is not None
    assert found.plain() == {"command": "codecards", "args": ["mcp"]}
    assert without_spans(edited) == COMMENTED
    assert all(comment in edited.text for comment in ("// dark", "/* servers */", "// the other", "// the end"))
    assert edited.remove(keys)
    assert edited.find(keys) is None


def test_an_element_goes_below_a_comment_at_the_end_of_a_line() -> None:
    edited = JsonText(COMMENTED)
    edited.append(("list",), 3)
    assert "    2, // two\n    3\n  ]" in edited.text
    edited.remove(("list",), lambda value: value == 3)
    assert edited.text == COMMENTED


def test_an_object_on_one_line_stays_on_one_line() -> None:
    edited = JsonText('{"a": 1} // note')
    edited.set_member(("b",), [2])
    assert edited.text == '{"a": 1, "b": [2]} // note'


@pytest.mark.parametrize("text", ["", " \r\n\n", "\ufeff"])
def test_an_empty_file_becomes_an_object(text: str) -> None:
    edited = JsonText(text)
    edited.set_member(("a",), 1)
    assert json.loads(edited.text.removeprefix("\ufeff")) == {"a": 1}
    assert without_spans(edited) == text


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"a": 1', "line 1, column 8"),
        ('{\n  "a" 1\n}', "line 2, column 7"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": 1} x', "line 1, column 10"),
        ('{"a": 01}', "line 1, column 8"),
        ("[" * 200, "more than 100 levels"),
        ('{"a": "\n"}', "line 1, column 7"),
        ('{"a": 1 "b": 2}', "',' or '}'"),
        ("{,}", "a key in quotes"),
        ("/* never closed", "a value is expected"),
    ],
)
def test_what_is_no_json_is_told_with_its_place(text: str, where: str) -> None:
    with pytest.raises(JsonTextError, match=where.replace("(", r"\(")):
        JsonText(text).root()


def test_the_last_of_two_equal_keys_counts_as_it_does_for_readers() -> None:
    found = JsonText('{"a": 1, "a": 2}').find(("a",))
    assert found is not None
    assert found.plain() == 2
