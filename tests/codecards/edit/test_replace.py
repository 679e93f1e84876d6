"""A piece of text is replaced exactly, or the error shows the nearest lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codecards.edit.replace import replace_piece
from codecards.errors import EditError, SeveralPlacesError, TextNotFoundError

LINES = st.text(alphabet="ab \t", max_size=6)


@pytest.mark.seed("S0-17", "S0-18")
def test_the_one_place_is_replaced_and_its_lines_are_told() -> None:
    edit = replace_piece("a\nb\nc\n", "b\n", "x\ny\n")
    assert (edit.text, edit.first_line, edit.last_line, edit.notice) == ("a\nx\ny\nc\n", 2, 3, "")
    assert replace_piece("a\nb\nc\n", "b\n", "").text == "a\nc\n"


@pytest.mark.seed("S0-18")
def test_a_piece_that_is_not_there_is_told_with_the_nearest_lines() -> None:
    source = "import os\n\ndef purge(self, now):\n    return [one for one in self.all if one.ends < now]\n"
    with pytest.raises(TextNotFoundError, match=r"not in a\.py") as caught:
        replace_piece(source, "def purge(self, now, hard):\n    return []", "x", where="a.py")
    assert caught.value.line == 3
    assert caught.value.nearest.startswith("def purge(self, now):\n    return [one")
    with pytest.raises(TextNotFoundError) as caught:
        replace_piece(source, "zzzzzz", "x")
    assert (caught.value.line, caught.value.nearest) == (0, "")


@pytest.mark.seed("S0-18")
def test_a_piece_in_several_places_is_told_with_their_lines() -> None:
    with pytest.raises(SeveralPlacesError, match=r"occurs 2 times in a\.py, at lines 1, 3") as caught:
        replace_piece("x = 1\ny\nx = 1\n", "x = 1", "x = 2", where="a.py")
    assert caught.value.lines == (1, 3)


@pytest.mark.seed("S0-19")
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends_of_the_file_are_found_and_kept(line_end: str) -> None:
    source = line_end.join(["a", "b", "c", ""])
    edit = replace_piece(source, "a\nb", "x\ny\nz")
    assert edit.text == line_end.join(["x", "y", "z", "c", ""])
    assert (edit.first_line, edit.last_line) == (1, 3)
    assert replace_piece(source, "b", "x\ny").text == line_end.join(["a", "x", "y", "c", ""])


@pytest.mark.seed("S0-19")
def test_in_mixed_line_ends_the_replacement_takes_those_of_its_place() -> None:
    assert replace_piece("a\nb\r\nc\r\nd\n", "b\nc", "x\ny").text == "a\nx\r\ny\r\nd\n"


@pytest.mark.seed("S0-20")
def test_tabs_that_were_escaped_once_too_often_are_read_as_tabs_and_this_is_told() -> None:
    source = 'func main() {\n\tprint("a\\tb")\n}\n'
    edit = replace_piece(source, '\\tprint("a\\tb")', '\\tprint("c\\td")\n\\t\\treturn')
    assert edit.text == 'func main() {\n\tprint("c\\td")\n\t\treturn\n}\n'
    assert "read as a tab" in edit.notice
    assert replace_piece("a\tb\n", "a\\tb", "a\\tc").text == "a\tc\n"
    assert replace_piece("s = 'a\\tb'\n", "a\\tb", "a\\tc").notice == ""


@pytest.mark.parametrize(("search", "replacement"), [("", "x"), ("a", "a")])
def test_an_edit_without_an_effect_is_refused(search: str, replacement: str) -> None:
    with pytest.raises(EditError):
        replace_piece("a\n", search, replacement)


@given(st.lists(LINES, max_size=6), LINES, LINES, st.sampled_from(["\n", "\r\n"]))
def test_only_the_replaced_text_changes(lines: list[str], old: str, new: str, line_end: str) -> None:
    """Text before and after the place stays byte for byte, whatever line ends the search has."""
    before, after = line_end.join([*lines, "<"]), line_end.join([">", *lines])
    source = f"{before}{line_end}{old}{line_end}{after}"
    edit = replace_piece(source, f"<\n{old}\n>", f"<\n{new}{new}!\n>")
    assert edit.text == f"{before}{line_end}{new}{new}!{line_end}{after}"
