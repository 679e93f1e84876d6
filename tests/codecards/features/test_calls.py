"""Callees are told with the place of their definition and that of their use."""

from pathlib import Path

import pytest

from codecards.cli.print_answers import show_calls
from codecards.engine import Engine
from codecards.mcp.text import calls_text
from codecards.wire.answers import calls_json
from codecards.wire.mcp_values import calls_value
from tests.support.indexed import write_repository

REPOSITORY = """\
#- far.py
import json

from near import near


def first(thing):
    near()
    json.dumps(1)
    thing.ambiguous()
#- near.py
def near():
    return 1
#- one.py
class One:
    def ambiguous(self):
        return 1
#- two.py
class Two:
    x = 1

    def ambiguous(self):
        return 2
"""


def test_a_callee_has_the_line_of_its_definition_and_that_of_its_call(tmp_path: Path) -> None:
    with Engine.open(write_repository(tmp_path, REPOSITORY)) as engine:
        engine.refresh()
        calls = engine.callees("first")
    near, dumps, ambiguous = calls.calls
    assert (near.path, near.line, near.called_path, near.called_line) == ("near.py", 1, "far.py", 7)
    assert (dumps.path, dumps.line, dumps.called_line, dumps.confidence) == ("", 0, 8, "external")
    assert (ambiguous.confidence, ambiguous.path, ambiguous.n_candidates) == ("possible", "", 2)
    assert {(one.path, one.line) for one in ambiguous.candidates} == {("one.py", 2), ("two.py", 4)}


def test_every_form_tells_both_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Engine.open(write_repository(tmp_path, REPOSITORY)) as engine:
        engine.refresh()
        calls = engine.callees("first")
    rows = calls_json(calls, "callees")["callees"]
    assert isinstance(rows, list)
    assert [(row["path"], row["line"], row["called_line"]) for row in rows] == [
        ("near.py", 1, 7),
        ("", None, 8),
        ("", None, 9),
    ]
    assert rows[2]["n_candidates"] == 2
    show_calls(calls, "callees")
    for text in (capsys.readouterr().out, calls_text(calls_value(calls, "callees"), "callees")):
        assert "near.py:1  near" in text
        assert "called at far.py:7" in text
        assert "no definition in this project  json.dumps" in text
        assert "one of 2: one.py:2, two.py:4" in text or "one of 2: two.py:4, one.py:2" in text
