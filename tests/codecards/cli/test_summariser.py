"""A program as summariser: it runs without a shell and within its time, and failures are reported."""

import os
import sys
import time

import psutil
import pytest

from codecards.cli.summariser import SummariserCommand, summariser_command
from codecards.errors import CodecardsError, UsageError
from codecards.router.compress.summaries import SummariserConfig, summarise

TEXT = "a long text; $(touch no) && it goes on\n" * 20


def running(program: str, timeout_s: float = 30.0) -> SummariserCommand:
    return SummariserCommand((sys.executable, "-c", program), timeout_s)


def test_the_program_gets_text_and_target_and_prints_the_summary() -> None:
    program = "import os, sys; print(len(sys.stdin.read()), os.environ['CODECARDS_TARGET_TOKENS'])"
    assert running(program)(TEXT, 77) == f"{len(TEXT)} 77{os.linesep}"


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("raise SystemExit(3)", "exited with status 3"),
        ("import sys; print(sys.stdin.read() * 2)", "at least as much as it got"),
        ("while True: print('more')", "at least as much as it got"),
        ("pass", "no text"),
    ],
)
def test_a_useless_output_is_reported(program: str, why: str) -> None:
    assert why in summarise(TEXT, 100, SummariserConfig(running(program))).notice


def test_a_hanging_program_is_ended_with_its_children() -> None:
    program = (
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "time.sleep(60)"
    )
    with pytest.raises(CodecardsError, match=r"ended after 0.5 s"):
        running(program, 0.5)(TEXT, 10)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and _children():
        time.sleep(0.02)
    assert not _children()


def _children() -> list[psutil.Process]:
    return [
        one for one in psutil.process_iter(["cmdline"]) if "import time; time.sleep(60)" in (one.info["cmdline"] or [])
    ]


def test_a_missing_program_is_an_error_with_a_message() -> None:
    with pytest.raises(CodecardsError, match="can't be run"):
        SummariserCommand(("no-such-program-here",), 5)(TEXT, 10)


def test_a_command_line_is_split_without_a_shell() -> None:
    assert summariser_command("ask --model small 'be short; rm x'", 5).arguments == (
        "ask",
        "--model",
        "small",
        "be short; rm x",
    )


@pytest.mark.parametrize("written", ["", "  ", "ask 'open"])
def test_an_invalid_command_line_is_refused(written: str) -> None:
    with pytest.raises(UsageError):
        summariser_command(written, 5)
