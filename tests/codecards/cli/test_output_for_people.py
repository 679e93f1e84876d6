"""The output of commands without `--json` contains the places and names of the answer."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.indexed import write_repository

SHOP = """\
#- shop/rounding.py
'''Rounds amounts of money.'''


def round_half_up(amount):
    '''Round an amount of money to whole cents.'''
    return int(amount + 0.5)
#- shop/invoice.py
from shop.rounding import round_half_up


def total(items):
    '''Add the prices of all items.'''
    return round_half_up(sum(items))


def total_with_tax(items, rate):
    '''Add the prices of all items, with tax.'''
    return round_half_up(sum(items) * (1 + rate))
#- shop/other.py
def total(items):
    '''Count items.'''
    return len(items)
#- tests/test_invoice.py
from shop.invoice import total_with_tax


def test_tax():
    assert total_with_tax([100], 0.2) == 120
"""
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c")


def run(root: Path, *arguments: str, **variables: str) -> str:
    """Return what a command prints on stdout."""
    done = subprocess.run(
        [sys.executable, "-m", "codecards", "-C", str(root), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=os.environ | {"COLUMNS": "200"} | variables,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_repository(tmp_path_factory.mktemp("shop"), SHOP)
    (root / "broken.py").write_bytes(b"\x00\x01\x02" * 100)
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "Round amounts of money to whole cents")):
        subprocess.run([*GIT, *command], cwd=root, check=True)
    assert "generation 1: " in run(root, "index")
    return root


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ("recall|round an amount to cents", ("shop/rounding.py:4-6", "round_half_up", "Round an amount of money")),
        ("recall|round an amount to cents|--expand|--explain", ("return int(amount + 0.5)", "words on", "+")),
        ("recall|bread dough rest oven", ("No hits",)),
        ("callers|round_half_up", ("shop/invoice.py:", "total_with_tax", "exact")),
        ("callers|round_half_up|--limit|1", ("1 more",)),
        ("callees|total_with_tax", ("round_half_up", "exact")),
        ("callers|total", ("shop/invoice.py", "shop/other.py", "--path")),
        ("callers|round_half_dow", ("round_half_up",)),
        ("show|round_half_up", ("shop/rounding.py:4-6", "return int(amount + 0.5)")),
        ("show|shop/invoice.py|--outline", ("total_with_tax", "2 symbols")),
        ("show|shop/invoice.py|--digest", ("def total_with_tax(items, rate)",)),
        ("symbols|--name|total", ("shop/invoice.py", "shop/other.py")),
        ("files", ("shop/rounding.py", "python", "source", "utf-8")),
        ("similar|shop/invoice.py:5|--limit|2", ("total_with_tax",)),
        ("why-not|shop/other.py|round an amount", ("hit",)),
        ("status", ("generation 1", "5 files", "static", "broken.py")),
        ("doctor", ("no damage found",)),
        ("tune", ("NDCG@10", "1 commits")),
    ],
)
def test_a_command_shows_the_answer(shop: Path, arguments: str, shown: tuple[str, ...]) -> None:
    printed = run(shop, *arguments.split("|"))
    assert [text for text in shown if text.lower() not in printed.lower()] == []


def test_on_a_terminal_code_has_colours_and_files_a_table(shop: Path) -> None:
    assert "\x1b[" in run(shop, "show", "round_half_up", FORCE_COLOR="1")
    assert "shop/rounding.py" in run(shop, "files", FORCE_COLOR="1")


def test_the_impact_of_a_change_names_callers_and_tests(tmp_path: Path) -> None:
    root = write_repository(tmp_path, SHOP)
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "Add a shop")):
        subprocess.run([*GIT, *command], cwd=root, check=True)
    invoice = root / "shop" / "invoice.py"
    invoice.write_text(invoice.read_text(encoding="utf-8").replace("1 + rate", "1.0 + rate"), encoding="utf-8")
    printed = run(root, "impact")
    assert "shop/invoice.py" in printed
    assert "tests/test_invoice.py" in printed
    assert "test_tax" in printed


def test_a_session_is_shown_with_its_files_and_their_tokens(shop: Path) -> None:
    assert "no sessions" in run(shop, "session", "list")
    run(shop, "session", "start", "tax", "--goal", "add a tax rate", "--constraint", "keep total as it is")
    run(shop, "session", "open", "tax", "shop/invoice.py", "--purpose", "see how totals are made")
    run(shop, "session", "pin", "tax", "shop/invoice.py")
    run(shop, "session", "turn", "tax", "--input", "where are amounts rounded?")
    printed = run(shop, "session", "show", "tax")
    for text in (
        "add a tax rate",
        "keep total as it is",
        "shop/invoice.py",
        "full (pinned)",
        "see how totals are made",
    ):
        assert text in printed
    assert "1 turns" in printed
    assert "tax" in run(shop, "session", "list")


def test_notes_are_listed_with_their_state(shop: Path) -> None:
    assert "no notes" in run(shop, "note", "list")
    run(shop, "note", "add", "--title", "Rounding", "--text", "Half up.", "--anchor", "shop/rounding.py::round_half_up")
    assert "fresh" in run(shop, "note", "list")
    assert "Rounding" in run(shop, "note", "review")


def test_doctor_names_a_note_that_it_cannot_read(tmp_path: Path) -> None:
    root = write_repository(tmp_path, SHOP)
    run(root, "index")
    notes = root / ".codecards" / "archive"
    notes.mkdir()
    (notes / "x.md").write_text("no front matter")
    assert "x.md has no front matter" in run(root, "doctor")
    assert json.loads(run(root, "doctor", "--json"))["damaged_notes"][0]["file"] == "x.md"
