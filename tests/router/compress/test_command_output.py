"""What is kept of a command's output: failures first, then changes, then the summary."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codecards.router.compress.command_output import (
    LineRole,
    all_rules,
    clean_lines,
    line_roles,
    rules_for,
    shorten_output,
)
from codecards.router.compress.token_count import estimate_tokens

PASSES = "".join(f"tests/test_shop.py::test_item_{number} PASSED [ {number // 4}%]\n" for number in range(400))
PYTEST = f"""\
============================= test session starts ==============================
platform linux -- Python 3.11.7
{PASSES}tests/test_shop.py::test_total FAILED [100%]

=================================== FAILURES ===================================
__________________________________ test_total __________________________________

    def test_total():
        total = add(2, 2)
>       assert total == 5
E       AssertionError: assert 4 == 5

tests/test_shop.py:12: AssertionError
=========================== short test summary info ============================
FAILED tests/test_shop.py::test_total - AssertionError: assert 4 == 5
======================== 1 failed, 400 passed in 0.52s =========================
"""
CARGO = (
    "".join(f"   Compiling crate{number} v0.1.{number}\n" for number in range(300))
    + """\
error[E0308]: mismatched types
  --> src/main.rs:4:18
   |
4  |     let x: u32 = "a";
   |            ---   ^^^ expected `u32`, found `&str`
   |
error: could not compile `shop` (bin "shop") due to 1 previous error
"""
)
GO = "=== RUN   TestAdd\n--- PASS: TestAdd (0.00s)\n" * 300 + (
    "=== RUN   TestSum\n    shop_test.go:9: got 4, want 5\n--- FAIL: TestSum (0.00s)\nFAIL\nFAIL\texample.com/shop\t0.1s\n"
)
JEST = "  ✓ adds an item (2 ms)\n" * 400 + (
    "  ● shop › sums up\n\n    expect(received).toBe(expected)\n\n    Expected: 5\n    Received: 4\n\n"
    "      at Object.<anonymous> (shop.test.js:4:17)\n\nTests:       1 failed, 400 passed, 401 total\n"
)
MAVEN = "[INFO] Downloading from central: https://repo/x.pom\n" * 300 + (
    "[ERROR] /shop/Main.java:[4,13] incompatible types: String cannot be converted to int\n[INFO] BUILD FAILURE\n"
)
TSC = "src/shop.ts(4,7): error TS2322: Type 'string' is not assignable to type 'number'.\n" + "ok\n" * 400
ESLINT = (
    "\n/shop/a.js\n"
    + "  1:5  warning  Unexpected console statement  no-console\n" * 300
    + ("  4:7  error  'x' is not defined  no-undef\n\n✖ 301 problems (1 error, 300 warnings)\n")
)
PIP = "Collecting thing\n  Downloading thing-1.0.whl (10 kB)\n" * 200 + (
    "ERROR: No matching distribution found for nosuch\n"
)
LOG = "".join(f"2026-01-01 10:00:{number % 60:02} INFO request {number} served\n" for number in range(500)) + (
    "2026-01-01 10:09:00 ERROR database is gone: connection refused\n"
)


@pytest.mark.parametrize(
    ("tool", "command", "text", "failure"),
    [
        ("pytest", "python -m pytest -q", PYTEST, "E       AssertionError: assert 4 == 5"),
        ("cargo", "cargo build", CARGO, "error[E0308]: mismatched types"),
        ("go", "go test ./...", GO, "shop_test.go:9: got 4, want 5"),
        ("jest", "npx jest", JEST, "● shop › sums up"),
        ("maven", "mvn -B test", MAVEN, "incompatible types"),
        ("tsc", "npx tsc --noEmit", TSC, "error TS2322"),
        ("eslint", "npx eslint .", ESLINT, "4:7  error"),
        ("pip", "pip install nosuch", PIP, "ERROR: No matching distribution"),
        ("log", "./server", LOG, "database is gone"),
    ],
)
@pytest.mark.parametrize("names_command", [True, False])
def test_a_failure_survives_in_300_tokens(
    tool: str, command: str, text: str, failure: str, names_command: bool
) -> None:
    """Mutation: give every line the role OTHER; the failure leaves with the middle."""
    short = shorten_output(text, 300, command=command if names_command else "")
    assert failure in short.text
    assert estimate_tokens(short.text) <= 300
    assert short.n_failures_kept > 0
    if names_command:
        assert short.tool == tool


@pytest.mark.parametrize("text", [PYTEST, CARGO, GO, JEST, MAVEN, ESLINT, PIP, LOG])
def test_kept_and_left_out_lines_add_up(text: str) -> None:
    short = shorten_output(text, 200)
    shown = short.text.splitlines()
    gaps = [match for line in shown if (match := re.match(r"\[… ([\d,]+) line", line))]
    assert sum(int(gap[1].replace(",", "")) for gap in gaps) == short.n_left_out
    assert len(short.kept) + short.n_left_out == short.n_lines == len(clean_lines(text))
    assert len(shown) == len(short.kept) + len(gaps) + 1


@given(st.text(), st.integers(20, 400))
def test_nothing_is_invented_and_the_budget_holds(text: str, budget: int) -> None:
    short = shorten_output(text, budget)
    lines = clean_lines(text)
    assert [number for number in short.kept if not 1 <= number <= len(lines)] == []
    if short.n_left_out:
        assert estimate_tokens(short.text) <= max(budget, 40)
        own = [line for line in short.text.splitlines() if not line.startswith("[")]
        assert all(any(line.partition("… [")[0] in whole for whole in lines) for line in own)
    else:
        assert short.text == "\n".join(lines) + ("\n" if lines else "")


def test_progress_that_a_terminal_overwrites_is_one_line() -> None:
    assert clean_lines("10%\r50%\r100%\ndone\r\n\x1b[31mred\x1b[0m") == ["100%", "done", "red"]


def test_of_failures_that_differ_in_numbers_alone_the_first_comes_before_others() -> None:
    text = "".join(f"ERROR worker {number} timed out after 30 s\n" for number in range(200)) + "ERROR disk full\n"
    assert "disk full" in shorten_output(text, 120).text


def test_a_line_without_end_takes_its_share_only() -> None:
    short = shorten_output("x = 1;" * 50_000 + "\nERROR: broken\n", 300)
    assert "ERROR: broken" in short.text
    assert estimate_tokens(short.text) <= 300


def test_roles_of_a_traceback_are_failure_and_details() -> None:
    lines = 'start\nTraceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nKeyError: 1\nend'.split(
        "\n"
    )
    roles = line_roles(lines, rules_for("", lines))
    assert roles[4] is LineRole.FAILURE
    assert roles[1:4] == [LineRole.FAILURE, LineRole.DETAIL, LineRole.DETAIL]


def test_each_tool_is_found_by_a_command() -> None:
    commands = {
        "pytest": "pytest -x",
        "unittest": "python -m unittest",
        "jest": "vitest run",
        "cargo": "cargo test",
        "go": "go vet ./...",
        "maven": "./gradlew build",
        "tsc": "tsc -p .",
        "eslint": "eslint src",
        "ruff": "ruff check .",
        "mypy": "mypy src",
        "git": "git merge topic",
        "git diff": "git diff HEAD",
        "git log": "git log --stat",
        "npm": "npm install",
        "pip": "pip install x",
        "docker": "docker build .",
        "make": "make -j4",
        "log": "./anything",
    }
    assert {rules.name for rules in all_rules()} == set(commands)
    assert {name: rules_for(command, []).name for name, command in commands.items()} == {
        name: name for name in commands
    }
