"""`codecards savings` on a small project, with the real schema and the real answers."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from codecards.savings.usage_log import WindowEntry, log_window_entry
from tests.support.indexed import write_repository

REPO = """\
#- shop/prices.py
def discount(amount):
    \"\"\"Take the discount off.\"\"\"
    return amount * 0.9
#- shop/orders.py
def place_order(cart):
    return sum(cart)
"""


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "codecards", "-C", str(root), "savings", *arguments],
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_repository(tmp_path_factory.mktemp("shop"), REPO)
    (root / "queries.jsonl").write_text('{"query": "where is the discount taken off", "files": ["shop/prices.py"]}\n')
    return root


def test_the_report_adds_up_and_can_show_a_loss(shop: Path) -> None:
    done = run(shop, "--queries", str(shop / "queries.jsonl"), "--json")
    assert done.returncode == 0, done.stderr
    ledger = json.loads(done.stdout)
    (task,) = ledger["tasks"]
    assert task["found"]
    assert task["ours"] == task["schema"] + task["answer"] + task["opened"] + task["reread"] + task["fallback"]
    assert task["net"] == task["baseline"]["grep"] + task["baseline"]["read"] - task["ours"] == ledger["totals"]["net"]
    assert ledger["totals"]["net"] < 0  # two small files are read faster than a schema
    assert 500 < ledger["schema_tokens"] < 2_000


def test_the_table_has_both_ways_of_reading(shop: Path) -> None:
    done = run(shop, "--queries", str(shop / "queries.jsonl"))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split("\n")
    assert lines[0].split()[:3] == ["question", "answer", "opened"]
    assert lines[1].startswith("where is the discount taken off")
    assert "2,000 lines read at a time" in done.stdout
    assert "250 lines read at a time" in done.stdout


def test_sessions_recorded_by_hooks_are_counted(shop: Path) -> None:
    folder = shop / ".codecards" / "sessions" / "mcp"
    log_window_entry(folder, WindowEntry("answer", 90, "where is the discount taken off", ("shop/prices.py",)))
    log_window_entry(folder, WindowEntry("read", 30, paths=("shop/prices.py",)))
    ledger = json.loads(run(shop, "--json").stdout)
    (session,) = ledger["sessions"]
    assert (session["name"], session["answers"], session["reread"]) == ("mcp", 90, 30)
    assert session["net"] == session["baseline"] - session["ours"]
    assert run(shop, "--no-sessions").returncode == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [('{"query": "x", "files": ["gone.py"]}', "has a file of this project"), ("{", "is not a question")],
)
def test_unusable_questions_are_an_error_with_a_message(shop: Path, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text(text)
    done = run(shop, "--queries", str(path))
    assert done.returncode == 2
    assert message in done.stderr
