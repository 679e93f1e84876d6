"""Output of the command line: answers on stdout, messages on stderr."""

import json
import sys

from codecards.untrusted_text import terminal_safe
from codecards.wire.answers import Json


def print_json(value: Json) -> None:
    """Print one JSON object."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def print_message(message: str) -> None:
    """Print a message to stderr, after the program's name."""
    sys.stderr.write(f"codecards: {terminal_safe(message)}\n")
