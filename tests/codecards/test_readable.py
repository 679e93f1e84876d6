"""Answers for people."""

import os
import subprocess
import sys
from pathlib import Path

from codecards.wire import visible
from tests.support.indexed import write_repository


def test_names_can_not_act_on_a_terminal() -> None:
    assert visible("ev\x1b[31mil\r\n\x9bname\u202egpj.py") == "ev\\x1b[31mil\\r\\n\\x9bname\\u202egpj.py"


def test_code_keeps_its_lines_and_tabs_and_loses_its_escapes() -> None:
    assert visible("if a:\n\tb = '\x1b]0;title\x07'", keeps_lines=True) == "if a:\n\tb = '\\x1b]0;title\\x07'"


def test_a_name_that_is_not_utf_8_can_be_printed() -> None:
    assert visible("bad\udcff.py") == "bad\\udcff.py"


def test_a_note_is_shown_as_it_is_written(tmp_path: Path) -> None:
    write_repository(tmp_path, "#- a.py\ndef one():\n    return 1\n")
    title, text = "see [/red] and [bold] ev\x1b[31mil", "one\ntwo\x07"
    for arguments in (["add", "--title", title, "--text", text], ["list"]):
        done = subprocess.run(
            [sys.executable, "-m", "codecards", "-C", str(tmp_path), "note", *arguments],
            capture_output=True, text=True, check=False, env=os.environ | {"COLUMNS": "200"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "see [/red] and [bold] ev" in done.stdout
        assert not {"\x1b", "\x07"} & set(done.stdout)
