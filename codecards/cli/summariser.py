"""Runs a program of the user that writes summaries, such as one that asks a local model.

Only the command line names the program: neither a repository nor a settings file can have it run. The program gets the
text on stdin and the maximum number of tokens in `CODECARDS_TARGET_TOKENS`; its stdout is the summary.
"""

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from codecards.environment import child_environment
from codecards.errors import CodecardsError, UsageError

TARGET_VARIABLE = "CODECARDS_TARGET_TOKENS"


@dataclass(frozen=True, slots=True)
class SummariserCommand:
    """A summariser that runs a program, without a shell."""

    arguments: Sequence[str]
    timeout_s: float
    """Time after which the program is ended, on POSIX with the processes that it started."""

    def __call__(self, text: str, target_tokens: int) -> str:
        """Return the program's output.

        Raises:
            CodecardsError: The program can't be started, is late, prints at least as much as it got, or its exit status
                is not 0.
        """
        data = text.encode("utf-8", "surrogatepass")
        with tempfile.TemporaryFile() as given:
            given.write(data)
            given.seek(0)
            try:
                process = subprocess.Popen(
                    self.arguments,
                    stdin=given,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=child_environment(**{TARGET_VARIABLE: str(target_tokens)}),
                    start_new_session=os.name == "posix",
                )
            except (OSError, ValueError) as error:
                raise CodecardsError(f"{self.arguments[0]} can't be run: {error}") from error
        late = threading.Event()
        timer = threading.Timer(self.timeout_s, _end, (process, late))
        timer.daemon = True
        timer.start()
        with process:
            assert process.stdout is not None
            # Reading one byte more than the input is enough to reject the output, and bounds endless output.
            printed = process.stdout.read(len(data) + 1)
            if len(printed) > len(data):
                _end(process, late)
                timer.cancel()
                raise CodecardsError(f"{self.arguments[0]} printed at least as much as it got")
            status = process.wait()
        timer.cancel()
        if late.is_set():
            raise CodecardsError(f"{self.arguments[0]} was ended after {self.timeout_s:g} s")
        if status != 0:
            raise CodecardsError(f"{self.arguments[0]} exited with status {status}")
        return printed.decode("utf-8", "replace")


def summariser_command(written: str, timeout_s: float) -> SummariserCommand:
    """Return the summariser of a command line, which is split as a shell would split it; no shell runs.

    Raises:
        UsageError: The command line is empty, or a quote is not closed.
    """
    try:
        arguments = shlex.split(written, posix=sys.platform != "win32")
    except ValueError as error:
        raise UsageError(f"the summariser {written!r} is not a command line: {error}") from error
    if not arguments:
        raise UsageError(
            "the summariser is empty; name a program that reads a text from stdin and prints a shorter one"
        )
    return SummariserCommand(tuple(arguments), timeout_s)


def _end(process: "subprocess.Popen[bytes]", late: threading.Event) -> None:
    """End a running program and the processes that it started."""
    if process.poll() is not None:
        return
    late.set()
    if os.name == "posix":
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
    else:
        process.kill()
