"""A summariser that is a program: run without a shell, ended in time, told of when it fails."""

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


def test_it_gets_the_text_and_the_target_and_its_output_is_the_summary() -> None:
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
def test_one_that_is_of_no_use_is_told_of(program: str, why: str) -> None:
    assert why in summarise(TEXT, 100, SummariserConfig(running(program))).notice


def test_one_that_hangs_is_ended_with_what_it_started() -> None:
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


def test_a_program_that_is_not_there_is_told_of() -> None:
    with pytest.raises(CodecardsError, match="can't be run"):
        SummariserCommand(("no-such-program-here",), 5)(TEXT, 10)


def test_a_command_is_split_as_written_and_no_shell_reads_it() -> None:
    assert summariser_command("ask --model small 'be short; rm x'", 5).arguments == (
        "ask", "--model", "small", "be short; rm x",
    )  # fmt: skip


@pytest.mark.parametrize("written", ["", "  ", "ask 'open"])
def test_what_is_no_command_is_refused(written: str) -> None:
    with pytest.raises(UsageError):
        summariser_command(written, 5)
