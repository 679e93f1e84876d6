"""Summariser command: a program of the user's that words summaries, such as one that asks a local model.

It is named on the command line and nowhere else: neither a repository nor a settings file can have it run. It gets the
text on stdin and the most tokens in `CODECARDS_TARGET_TOKENS`; what it prints on stdout is the summary.
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
    """After so long the program, and on POSIX what it started, is ended."""

    def __call__(self, text: str, target_tokens: int) -> str:
        """Return what the program prints.

        Raises:
            CodecardsError: It can't be started, was late, printed no less than it got, or ended with another status than 0.
        """
        data = text.encode("utf-8", "surrogatepass")
        with tempfile.TemporaryFile() as given:
            given.write(data)
            given.seek(0)
            try:
                process = subprocess.Popen(
                    self.arguments, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                    env=child_environment(**{TARGET_VARIABLE: str(target_tokens)}), start_new_session=os.name == "posix",
                )  # fmt: skip
            except (OSError, ValueError) as error:
                raise CodecardsError(f"{self.arguments[0]} can't be run: {error}") from error
        late = threading.Event()
        timer = threading.Timer(self.timeout_s, _end, (process, late))
        timer.daemon = True
        timer.start()
        with process:
            assert process.stdout is not None
            # One byte more than it got tells that it says no less: a program that never stops printing is not read on.
            printed = process.stdout.read(len(data) + 1)
            if len(printed) > len(data):
                _end(process, late)
                timer.cancel()
                raise CodecardsError(f"{self.arguments[0]} printed no less than it got")
            status = process.wait()
        timer.cancel()
        if late.is_set():
            raise CodecardsError(f"{self.arguments[0]} was ended after {self.timeout_s:g} s")
        if status != 0:
            raise CodecardsError(f"{self.arguments[0]} ended with status {status}")
        return printed.decode("utf-8", "replace")


def summariser_command(written: str, timeout_s: float) -> SummariserCommand:
    """Return the summariser that a command line names, split as a shell would, without one being run.

    Raises:
        UsageError: It names no program, or its quotes are not closed.
    """
    try:
        arguments = shlex.split(written, posix=sys.platform != "win32")
    except ValueError as error:
        raise UsageError(f"the summariser {written!r} is no command: {error}") from error
    if not arguments:
        raise UsageError("the summariser is empty; name a program that reads a text and prints a shorter one")
    return SummariserCommand(tuple(arguments), timeout_s)


def _end(process: "subprocess.Popen[bytes]", late: threading.Event) -> None:
    """End a program, and what it started, if it still runs."""
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
