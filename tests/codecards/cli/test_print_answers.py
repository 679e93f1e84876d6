"""Printed answers and their summaries."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from codecards.indexer.cards.card import Card
from codecards.wire.answers import MAX_SUMMARY, summary
from tests.support.indexed import write_repository


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("Opens it.\nThen waits.", "Opens it."),
        (":rtype: str", "def f(a)"),
        ("\n@param a what it is\n@return the port", "@return the port"),
        ("", "def f(a)"),
    ],
)
def test_a_summary_is_the_first_line_about_the_whole_card(doc: str, expected: str) -> None:
    assert summary(card_of(doc)) == expected


def test_a_shortened_summary_ends_with_an_ellipsis() -> None:
    found = summary(card_of("word " * 100))
    assert found.endswith("…")
    assert len(found) <= MAX_SUMMARY


def card_of(doc: str) -> Card:
    """Return the card of a function with a docstring."""
    return Card(
        1, "a.py::f", "a.py", "python", "function", "f", "f", "", "", 1, 1, 1, 2, ((1, 2),), "def f(a)", doc, (), b""
    )


def test_a_note_is_printed_without_markup_or_escapes(tmp_path: Path) -> None:
    write_repository(tmp_path, "#- a.py\ndef one():\n    return 1\n")
    title, text = "see [/red] and [bold] ev\x1b[31mil", "one\ntwo\x07"
    for arguments in (["add", "--title", title, "--text", text], ["list"]):
        done = subprocess.run(
            [sys.executable, "-m", "codecards", "-C", str(tmp_path), "note", *arguments],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"COLUMNS": "200"},
        )
        assert done.returncode == 0, done.stderr
        assert "see [/red] and [bold] ev" in done.stdout
        assert not {"\x1b", "\x07"} & set(done.stdout)
