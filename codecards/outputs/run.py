"""Runs a command and returns its whole output with a short form of it."""

import shlex
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codecards.errors import UsageError
from codecards.outputs.store import OutputStore
from codecards.router.compress.command_output import ShortOutput, shorten_output
from codecards.router.compress.excerpts import handle_of

DEFAULT_BUDGET_TOKENS = 1_000
MAX_OUTPUT_BYTES = 100_000_000
"""Bytes of one output that are kept, half of them from each end."""
NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""Exit codes of a shell for a command that is not there, and for one that may not be run."""


@dataclass(frozen=True, slots=True)
class CommandRun:
    """What a command printed, and how it ended."""

    command: str
    """As a shell would read it."""
    exit_code: int
    """The command's own; 128 + n where signal n ended it."""
    text: str
    """Everything it printed on both streams, in the order in which it came."""
    short: ShortOutput
    handle: str
    """Gives the whole output back; "" where nothing was left out and nothing was kept."""


def run_command(
    arguments: Sequence[str],
    store: OutputStore,
    *,
    budget_tokens: int = DEFAULT_BUDGET_TOKENS,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    on_start: Callable[["subprocess.Popen[bytes]"], None] = lambda _process: None,
) -> CommandRun:
    """Run a command without a shell and return its output within a budget; the whole is kept.

    Args:
        arguments: The program and its arguments.
        store: Keeps the whole output where lines were left out.
        budget_tokens: Most tokens of the short form.
        folder: Where it runs; None for the current folder.
        environment: Its variables; None for those of this process.
        on_start: Called with the process, so that signals can be passed on.

    Raises:
        UsageError: No command was given.
        StateFileError: The whole output can't be kept.
    """
    if not arguments:
        raise UsageError("no command was given; write it after --, as in `codecards run -- pytest -q`")
    command = shlex.join(arguments)
    try:
        process = subprocess.Popen(
            list(arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder, env=environment
        )
    except (FileNotFoundError, NotADirectoryError) as error:
        return _finished(command, NOT_FOUND, f"codecards: {arguments[0]}: {error.strerror}\n", store, budget_tokens)
    except OSError as error:
        text = f"codecards: {arguments[0]}: {error.strerror or error}\n"
        return _finished(command, NOT_EXECUTABLE, text, store, budget_tokens)
    on_start(process)
    with process:
        text = _read(process)
    code = process.returncode
    return _finished(command, 128 - code if code < 0 else code, text, store, budget_tokens)


def _read(process: "subprocess.Popen[bytes]") -> str:
    """Return all that a process prints; of more than `MAX_OUTPUT_BYTES` the beginning and the end."""
    stream = process.stdout
    if stream is None:  # it was opened with a pipe
        return ""
    half = MAX_OUTPUT_BYTES // 2
    head, tail, n_dropped = bytearray(), bytearray(), 0
    while block := stream.read1(1 << 16):  # type: ignore[attr-defined]
        free = half - len(head)
        head += block[:free]
        tail += block[free:] if free < len(block) else b""
        if len(tail) > 2 * half:
            n_dropped += len(tail) - half
            del tail[:-half]
    middle = f"\n[codecards: {n_dropped:,} bytes in the middle were not kept]\n".encode() if n_dropped else b""
    return (bytes(head) + middle + bytes(tail)).decode("utf-8", "replace")


def _finished(command: str, exit_code: int, text: str, store: OutputStore, budget_tokens: int) -> CommandRun:
    handle = handle_of(text)
    short = shorten_output(text, budget_tokens, command=command, handle=f"codecards outputs show {handle}")
    if short.n_left_out:
        store.put(text, command, exit_code)
    return CommandRun(command, exit_code, text, short, handle if short.n_left_out else "")


def forward_signals(process: "subprocess.Popen[bytes]") -> None:
    """Let an interrupt from the keyboard end the command alone: it reaches the command by itself, so we only wait."""
    import signal

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda _number, _frame: process.terminate())
