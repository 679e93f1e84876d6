"""`codecards note` and `codecards session`: JSON shapes and printed output."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.indexed import write_repository

SHOP = """\
#- shop/rounding.py
def round_half_up(amount):
    return int(amount + 0.5)
#- shop/invoice.py
from shop.rounding import round_half_up


def total(items):
    return round_half_up(sum(items))
"""


def run(root: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "codecards", "-C", str(root), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        input=stdin,
        timeout=120,
        check=False,
    )


def answer(root: Path, *arguments: str, stdin: str = "") -> dict[str, Any]:
    done = run(root, *arguments, "--json", stdin=stdin)
    assert done.returncode == 0, done.stderr
    value: dict[str, Any] = json.loads(done.stdout)
    return value


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_repository(tmp_path_factory.mktemp("shop"), SHOP)
    assert run(root, "index").returncode == 0
    return root


def test_the_life_of_a_note(shop: Path) -> None:
    note = answer(
        shop,
        "note",
        "add",
        "--title",
        "Rounding",
        "--text",
        "Halves go up.",
        "--anchor",
        "round_half_up",
        "--rejected",
        "bankers' rounding: the tax office refuses it",
    )
    assert note["anchors"] == [{"symbol": "round_half_up", "path": "shop/rounding.py", "state": "fresh"}]
    assert {"id", "title", "text", "created", "outcome", "rejected", "archived"} <= note.keys()
    found = answer(shop, "note", "search", "which way do halves go")
    assert [one["id"] for one in found["notes"]] == [note["id"]]
    corrected = answer(shop, "note", "correct", note["id"], "--text", "Halves go up, also below zero.")
    assert corrected["history"][0]["text"] == "Halves go up."
    assert answer(shop, "note", "show", note["id"][:4])["text"] == "Halves go up, also below zero."
    assert answer(shop, "note", "review")["notes"][0]["reason"] == "new"
    answer(shop, "note", "archive", note["id"])
    assert answer(shop, "note", "list")["notes"] == []
    assert len(answer(shop, "note", "list", "--state", "archived")["notes"]) == 1
    answer(shop, "note", "remove", note["id"])
    assert run(shop, "note", "show", note["id"]).returncode == 2


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("note", "add", "--text", " "), 2, "needs a text"),
        (("note", "add", "--text", "x", "--anchor", "round_nowhere"), 2, "round_nowhere"),
        (("note", "list", "--state", "odd"), 2, "is not a state"),
        (("note", "search", ""), 2, "query"),
        (("session", "show", "nobody"), 2, "nobody"),
        (("session", "start", "a/b", "--goal", "x"), 2, "not a valid session name"),
        (("session", "start", "x", "--goal", " "), 2, "goal"),
        (("session", "set", "x"), 2, "nothing to set"),
    ],
)
def test_wrong_usage_exits_with_2_and_a_message(
    shop: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    done = run(shop, *arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_empty_project_name_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "codecards", "-C", "", "note", "add", "--text", "x"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "-C needs a folder" in done.stderr


def test_the_life_of_a_session(shop: Path) -> None:
    started = answer(
        shop, "session", "start", "fix", "--goal", "round halves down", "--constraint", "no new dependency"
    )
    assert started["task"] == {
        "goal": "round halves down",
        "status": "exploring",
        "constraints": ["no new dependency"],
    }
    assert run(shop, "session", "start", "fix", "--goal", "again").returncode == 2
    answer(shop, "session", "open", "fix", "rounding.py", "--purpose", "change the rule")
    preview = answer(shop, "session", "context", "fix")
    assert "return int(amount + 0.5)" in preview["text"]
    turn = answer(shop, "session", "turn", "fix", "--input", "-", stdin="who rounds?")
    assert turn["turn"] == 1
    assert turn["ledger"]["total_tokens"] <= 12_000
    assert turn["messages"][-1] == {"role": "user", "content": "who rounds?"}
    answer(
        shop, "session", "record", "fix", "--kind", "edit", "--path", "shop/rounding.py", "--reason", "halves go down"
    )
    shown = answer(shop, "session", "show", "fix")
    assert shown["changes"][0]["reason"] == "halves go down"
    assert shown["session"]["turns"] == 1
    compacted = answer(shop, "session", "compact", "fix", "--source", "-", stdin="E501 in shop/rounding.py:2\n" * 200)
    assert "shop/rounding.py:2" in compacted["file"] or "shop/rounding.py" in compacted["file"]
    restored = run(shop, "session", "restore", "fix", compacted["handle"])
    assert restored.stdout == "E501 in shop/rounding.py:2\n" * 200
    bundle = run(shop, "session", "export", "fix").stdout
    answer(shop, "session", "start", "other", "--goal", "round halves down")
    assert answer(shop, "session", "import", "other", "-", stdin=bundle)["conflicts"] == []
    closed = answer(shop, "session", "close", "fix", "shop/rounding.py")
    assert closed == {"status": "closed shop/rounding.py"}
    ended = answer(shop, "session", "end", "fix", "--conclusion", "Halves go down now.")
    assert ended["note"]["files"] == ["shop/rounding.py"]
    names = [one["name"] for one in answer(shop, "session", "list")["sessions"]]
    assert names == ["fix", "other"]


def test_a_turn_prints_only_the_context_on_stdout(shop: Path) -> None:
    run(shop, "session", "start", "seen", "--goal", "look")
    turn = run(shop, "session", "turn", "seen")
    assert turn.stdout.rstrip().endswith("</ide>")
    assert "tokens" in turn.stderr
    assert "goal: look" in run(shop, "session", "show", "seen").stdout
    assert "seen" in run(shop, "session", "list").stdout
    run(shop, "note", "add", "--text", "A fact.")
    assert "A fact." in run(shop, "note", "list").stdout


@pytest.mark.seed("S1-18", "S4-27")
def test_the_hidden_aliases_do_the_same(shop: Path) -> None:
    assert answer(shop, "select", "round_half_up")["hits"] == answer(shop, "recall", "round_half_up")["hits"]
    answer(shop, "session", "start", "modes", "--goal", "look at invoices")
    assert answer(shop, "session", "inject", "modes", "invoice.py", "--purpose", "see it")["status"].startswith(
        "opened"
    )
    context = answer(shop, "session", "rebuild", "modes", "--goal", "round halves down", "--constraint", "keep the API")
    assert "goal: round halves down" in context["text"]
    assert "constraint (must hold): keep the API" in context["text"]
    assert "shop/rounding.py" in context["text"]


def test_a_program_writes_a_compaction_and_a_failure_is_reported(shop: Path) -> None:
    run(shop, "session", "start", "worded", "--goal", "round halves")
    log = "tried shop/invoice.py:5 again, it failed: KeyError: 'x'\n" * 40
    compacting = ("session", "compact", "worded", "--source", "-", "--target", "400")
    words = f"{sys.executable} -c \"print('It fails.')\""
    assert answer(shop, *compacting, "--summariser", words, stdin=log)["conclusion"] == "It fails."
    done = run(shop, *compacting, "--summariser", f'{sys.executable} -c "raise SystemExit(4)"', stdin=log)
    assert done.returncode == 0
    assert "exited with status 4); using the extractive summary" in done.stderr
    assert "shop/invoice.py:5" in done.stdout
    assert run(shop, *compacting, "--summariser", "'open", stdin=log).returncode == 2


def test_a_damaged_session_is_repaired_with_a_message(shop: Path) -> None:
    run(shop, "session", "start", "broken", "--goal", "round halves", "--constraint", "keep the signature")
    state = shop / ".codecards" / "sessions" / "broken" / "state.json"
    state.write_text('{"na', encoding="utf-8")
    shown = run(shop, "session", "show", "broken")
    assert "keep the signature" in shown.stdout
    assert "state.damaged-1.json" in shown.stderr
    state.write_text('{"format": 99}', encoding="utf-8")
    listed = run(shop, "session", "list")
    assert listed.returncode == 0
    assert "format 99" in listed.stderr
    state.write_text("", encoding="utf-8")


def test_a_budget_that_is_too_small_can_be_raised(shop: Path) -> None:
    run(shop, "session", "start", "tiny", "--goal", "a goal of many words " * 40, "--budget", "100")
    refused = run(shop, "session", "turn", "tiny")
    assert refused.returncode == 2
    assert "the budget is 100" in refused.stderr
    assert answer(shop, "session", "set", "tiny", "--budget", "2000")["session"]["budget_tokens"] == 2000
    assert run(shop, "session", "turn", "tiny").returncode == 0
    assert run(shop, "session", "set", "tiny", "--budget", "0").returncode == 2


def test_a_pipe_gets_the_exact_context(shop: Path) -> None:
    run(shop, "session", "start", "piped", "--goal", "see \x1b[31mred\x1b[0m")
    shown = run(shop, "session", "context", "piped")
    assert "see \x1b[31mred\x1b[0m" in shown.stdout
