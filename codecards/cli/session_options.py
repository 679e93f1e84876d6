"""Options of the session commands, and the values that they stand for."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from codecards.cli.summariser import summariser_command
from codecards.errors import ProjectUnreadableError
from codecards.router.compress.summaries import SummariserConfig

SessionName = Annotated[str, typer.Argument(metavar="NAME", help="The session.")]
FilePath = Annotated[str, typer.Argument(metavar="PATH", help="The file, as an agent would write its path.")]
Lines = Annotated[str | None, typer.Option("--lines", metavar="A-B", help="Relevant lines, such as 10-40.")]
Command = Annotated[
    str | None,
    typer.Option(
        "--summariser",
        "--summarizer",
        metavar="COMMAND",
        help="A program that writes the summary: text on stdin, summary on stdout, token limit in"
        " CODECARDS_TARGET_TOKENS.",
    ),
]
Seconds = Annotated[
    float, typer.Option("--summariser-timeout", metavar="SECONDS", min=0.1, help="Time limit of the summariser.")
]


def read_text(value: str) -> str:
    """Return an option's text; "-" stands for the text on stdin."""
    return sys.stdin.buffer.read().decode("utf-8", "replace") if value == "-" else value


def read_file(name: str) -> bytes:
    """Return the bytes of a file.

    Raises:
        ProjectUnreadableError: The file can't be read.
    """
    try:
        return Path(name).read_bytes()
    except (OSError, ValueError) as error:
        raise ProjectUnreadableError(f"{name} can't be read: {getattr(error, 'strerror', None) or error}") from error


def summariser_config(command: str | None, timeout_s: float) -> SummariserConfig | None:
    """Return the summariser of a command line; None without one.

    Raises:
        UsageError: The command line is invalid.
    """
    if command is None:
        return None
    # The program's own limit comes first, so that it is ended and leaves no process behind.
    return SummariserConfig(summariser_command(command, timeout_s), timeout_s + 5)


def parse_lines(written: str | None) -> tuple[int, int] | None:
    """Return (first line, last line) of a range such as "10-40"; None without one.

    Raises:
        BadParameter: The text is not a range of lines.
    """
    if written is None:
        return None
    first, _, last = written.partition("-")
    if not first.isdigit() or not (last or first).isdigit() or not 1 <= int(first) <= int(last or first):
        raise typer.BadParameter(f"{written!r} is not a range of lines, such as 10-40")
    return int(first), int(last or first)
