"""Writes logs as JSON lines to a file or stderr; never to stdout, which belongs to answers and protocols.

Modules log through `logging.getLogger(__name__)`, with details in `extra`; nothing is written before `start_logging`.
Code and questions are not logged. Paths are, and an error's message can name the requested target.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from pathlib import Path

from codecards.errors import UsageError

LEVELS = ("debug", "info", "warning", "error")
DEFAULT_LEVEL = "info"
_ROOT = "codecards"
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """Formats a record as one line of JSON: time, level, logger, event, details, and the error if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        line |= {key: value for key, value in vars(record).items() if key not in _STANDARD}
        line["pid"] = record.process
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def start_logging(level: str = DEFAULT_LEVEL, file: Path | None = None) -> None:
    """Append records of this level and above to a file, or write them to stderr if there is none.

    Raises:
        UsageError: The level does not exist, or the file can't be opened.
    """
    if level.lower() not in LEVELS:
        raise UsageError(f"there is no log level {level!r}; use one of {', '.join(LEVELS)}")
    stop_logging()
    try:
        handler = (
            logging.StreamHandler(sys.stderr)
            if file is None
            else logging.FileHandler(file, encoding="utf-8", errors="backslashreplace")
        )
    except OSError as error:
        raise UsageError(f"the log file {file} can't be opened: {error.strerror or error}") from error
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger(_ROOT)
    logger.addHandler(handler)
    logger.setLevel(level.upper())


def stop_logging() -> None:
    """Undo `start_logging`: close the file and write no more records."""
    logger = logging.getLogger(_ROOT)
    for handler in logger.handlers[:]:
        if isinstance(handler.formatter, JsonFormatter):
            logger.removeHandler(handler)
            handler.close()
    logger.setLevel(logging.NOTSET)
