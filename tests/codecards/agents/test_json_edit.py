"""JSON edits: inserted values can be read, every other byte stays, and the inserted spans are known."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codecards.agents.json_edit import JsonEditor, JsonSyntaxError

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
objects = st.dictionaries(st.text(), values, max_size=4)
indents = st.sampled_from([None, 0, 1, 2, 4, "\t"])


def without_spans(edited: JsonEditor) -> bytes:
    data = edited.data
    for first, length in reversed(edited.spans):
        data = data[:first] + data[first + length :]
    return data


def commented(value: object, draw: Callable[[st.SearchStrategy[str]], str]) -> str:
    """Return a value as JSON with comments and trailing commas at random places."""
    blank = st.sampled_from(["", " ", "\n", '// a "{[,]}" é\n', "/* , } */", "/*\n*/ "])
    comma = st.sampled_from(["", ","])
    if isinstance(value, dict):
        members = [f"{draw(blank)}{json.dumps(key)}{draw(blank)}:{commented(one, draw)}" for key, one in value.items()]
        inner, brackets = ",".join(members), "{}"
    elif isinstance(value, list):
        inner, brackets = ",".join(commented(one, draw) for one in value), "[]"
    else:
        return draw(blank) + json.dumps(value, ensure_ascii=False) + draw(blank)
    inner += (draw(comma) if value else "") + draw(blank)
    return f"{draw(blank)}{brackets[0]}{inner}{brackets[1]}{draw(blank)}"


@given(values, indents, st.booleans())
def test_it_reads_the_same_values_as_the_standard_parser(
    value: object, indent: int | str | None, ascii_only: bool
) -> None:
    assert JsonEditor(json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()).value(()) == value


@given(objects, values, st.data())
def test_comments_and_trailing_commas_are_ignored_and_kept(
    value: dict[str, object], new: object, data: st.DataObject
) -> None:
    text = commented(value, data.draw).encode()
    edited = JsonEditor(text)
    assert edited.value(()) == value
    edited.set_member(("codecards-a", "b"), new)
    assert edited.value(()) == value | {"codecards-a": {"b": new}}
    assert without_spans(edited) == text
    edited.remove_member(("codecards-a",))
    assert edited.value(()) == value


@pytest.mark.parametrize("number", ["1e+16", "-1.5E+3", "2e-7", "0", "-0.0"])
def test_numbers_in_every_notation_keep_their_place(number: str) -> None:
    edited = JsonEditor(f'{{"a": [{number}, "1e+5",]}}'.encode())
    assert edited.value(("a",)) == [float(number), "1e+5"]
    edited.append(("a",), 2)
    assert edited.data.decode() == f'{{"a": [{number}, "1e+5", 2]}}'


@given(objects, indents, values, st.booleans())
def test_a_member_is_added_and_nothing_else_changes(
    value: dict[str, object], indent: int | str | None, new: object, crlf: bool
) -> None:
    text = json.dumps(value, indent=indent)
    text = text.replace("\n", "\r\n") if crlf else text
    keys = ("codecards-a", "b")
    edited = JsonEditor(text.encode())
    edited.set_member(keys, new)
    assert json.loads(edited.data) == value | {"codecards-a": {"b": new}}
    assert without_spans(edited) == text.encode()
    assert edited.remove_member(("codecards-a",))
    assert json.loads(edited.data) == value


@given(objects, indents, st.lists(values, max_size=3), st.lists(values, min_size=1, max_size=3))
def test_elements_are_appended_and_removed(
    value: dict[str, object], indent: int | str | None, there: list[object], new: list[object]
) -> None:
    whole = value | {"list": there}
    text = json.dumps(whole, indent=indent)
    edited = JsonEditor(text.encode())
    marked = [{"mark": one} for one in new]
    for one in marked:
        edited.append(("list",), one)
    assert json.loads(edited.data) == whole | {"list": [*there, *marked]}
    assert without_spans(edited) == text.encode()
    edited.remove_elements(("list",), lambda one: one in marked)
    assert json.loads(edited.data)["list"] == [one for one in there if one not in marked]


COMMENTED = b"""\
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
    edited = JsonEditor(COMMENTED)
    edited.set_member(keys, {"command": "codecards", "args": ["mcp"]})
    assert edited.value(keys) == {"command": "codecards", "args": ["mcp"]}
    assert without_spans(edited) == COMMENTED
    assert all(comment in edited.data for comment in (b"// dark", b"/* servers */", b"// the other", b"// the end"))
    assert edited.remove_member(keys)
    assert not edited.has(keys)


def test_an_element_goes_below_a_comment_at_the_end_of_a_line() -> None:
    edited = JsonEditor(COMMENTED)
    edited.append(("list",), 3)
    assert b"    2, // two\n    3\n  ]" in edited.data
    edited.remove_elements(("list",), lambda value: value == 3)
    assert edited.data == COMMENTED


def test_an_object_on_one_line_stays_on_one_line() -> None:
    edited = JsonEditor(b'{"a": 1} // note')
    edited.set_member(("b",), [2])
    assert edited.data == b'{"a": 1, "b": [2]} // note'


@pytest.mark.parametrize("text", ["", " \r\n\n", "\ufeff"])
def test_an_empty_file_becomes_an_object(text: str) -> None:
    edited = JsonEditor(text.encode())
    edited.set_member(("a",), 1)
    assert json.loads(edited.data.decode("utf-8-sig")) == {"a": 1}
    assert without_spans(edited) == text.encode()


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"a": 1', "line 1, column 8"),
        ('{\n  "a" 1\n}', "line 2, column 7"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": 1} x', "line 1, column 10"),
        ('{"a": 01}', "line 1, column 8"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('{"a": "\n"}', "line 1, column 8"),
        ('{"a": 1 "b": 2}', "Expecting ',' delimiter"),
        ("{,}", "Expecting property name enclosed in double quotes"),
        ("[1,,]", "line 1, column 4"),
        ("[1, /* é */ x]", "line 1, column 13"),
        ("/* never closed", "Expecting value"),
        ('{"a": NaN}', "NaN is not JSON"),
        ("{} {}", "line 1, column 4"),
        ("// no value", "Expecting value"),
    ],
)
def test_a_syntax_error_names_its_place(text: str, where: str) -> None:
    with pytest.raises(JsonSyntaxError, match=where):
        JsonEditor(text.encode()).value(())


def test_the_last_of_two_equal_keys_counts() -> None:
    assert JsonEditor(b'{"a": 1, "a": 2}').value(("a",)) == 2
