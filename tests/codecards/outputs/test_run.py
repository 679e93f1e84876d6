"""`codecards run`: what matters of an output, the exit code as it was, the whole on demand."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from codecards.outputs.run import run_command
from codecards.outputs.store import OutputStore

NOISY = "import sys\nfor n in range(2000): print('step', n, 'of the day')\nprint('ERROR: disk full', file=sys.stderr)\nsys.exit(3)"


def codecards(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "codecards", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "100"})


def test_the_exit_code_and_the_failure_come_through(tmp_path: Path) -> None:
    ran = codecards(tmp_path, "run", "--budget", "120", "--", sys.executable, "-c", NOISY)
    assert ran.returncode == 3
    assert "ERROR: disk full" in ran.stdout
    assert len(ran.stdout.splitlines()) < 60
    handle = ran.stdout.rpartition("codecards outputs show ")[2].split("]")[0]
    shown = codecards(tmp_path, "outputs", "show", handle, "--lines", "2-3")
    assert shown.stdout == "step 1 of the day\nstep 2 of the day\n"
    found = json.loads(codecards(tmp_path, "outputs", "search", "disk", "full", "--json").stdout)
    assert [(line["handle"], line["line"]) for line in found["lines"]] == [(handle, 2001)]


def test_an_output_that_fits_is_printed_as_it_is_and_not_kept(tmp_path: Path) -> None:
    ran = codecards(tmp_path, "run", "--", sys.executable, "-c", "print('hello')")
    assert (ran.returncode, ran.stdout) == (0, "hello\n")
    assert not (tmp_path / ".codecards").exists()


def test_options_of_the_command_belong_to_the_command(tmp_path: Path) -> None:
    ran = codecards(tmp_path, "run", sys.executable, "-c", "import sys; print(sys.argv[1:])", "--json", "--budget", "9")
    assert ran.stdout == "['--json', '--budget', '9']\n"


def test_json_tells_what_was_left_out(tmp_path: Path) -> None:
    ran = codecards(tmp_path, "run", "--json", "--budget", "120", "--", sys.executable, "-c", NOISY)
    value = json.loads(ran.stdout)
    assert (value["exit_code"], ran.returncode) == (3, 3)
    assert value["lines"]["total"] == 2001
    assert value["failures"] == {"total": 1, "kept": 1}


def test_a_command_that_is_not_there_ends_as_in_a_shell(tmp_path: Path) -> None:
    ran = codecards(tmp_path, "run", "--", "no-such-command-here")
    assert ran.returncode == 127
    assert "no-such-command-here" in ran.stdout


def test_no_command_is_wrong_usage(tmp_path: Path) -> None:
    ran = codecards(tmp_path, "run")
    assert ran.returncode == 2
    assert "write it after --" in ran.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_command_that_a_signal_ended_has_the_code_of_a_shell(tmp_path: Path) -> None:
    done = run_command(
        [sys.executable, "-c", "import os; print('half'); os.sys.stdout.flush(); os.kill(os.getpid(), 9)"],
        OutputStore(tmp_path),
    )
    assert (done.exit_code, done.text) == (137, "half\n")


def test_both_streams_come_in_their_order(tmp_path: Path) -> None:
    code = "import sys\nfor n in range(3):\n print('out', n, flush=True)\n print('err', n, file=sys.stderr, flush=True)"
    done = run_command([sys.executable, "-c", code], OutputStore(tmp_path))
    assert done.text.split() == "out 0 err 0 out 1 err 1 out 2 err 2".split()
