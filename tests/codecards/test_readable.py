"""Answers for people."""

from codecards.wire import visible


def test_names_can_not_act_on_a_terminal() -> None:
    assert visible("ev\x1b[31mil\r\n\x9bname\u202egpj.py") == "ev\\x1b[31mil\\r\\n\\x9bname\\u202egpj.py"


def test_code_keeps_its_lines_and_tabs_and_loses_its_escapes() -> None:
    assert visible("if a:\n\tb = '\x1b]0;title\x07'", keeps_lines=True) == "if a:\n\tb = '\\x1b]0;title\\x07'"


def test_a_name_that_is_not_utf_8_can_be_printed() -> None:
    assert visible("bad\udcff.py") == "bad\\udcff.py"
