"""Logs: what codecards did, as JSON lines in a file or on stderr; never on stdout, which belongs to answers and protocols.

Modules log through `logging.getLogger(__name__)` with their facts in `extra`; nothing is written until `start_logging`.
Code and questions are not logged; paths are, and an error's message can name what was asked for.
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
    """Writes a record as one line of JSON: time, level, logger, event, the facts, and the error if there is one."""

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
    """Write records of this level and above, from now on, to the end of a file, or to stderr without one.

    Raises:
        UsageError: There is no such level, or the file can't be opened.
    """
    if level.lower() not in LEVELS:
        raise UsageError(f"there is no log level {level!r}; take one of {', '.join(LEVELS)}")
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
    """Close what `start_logging` opened."""
    logger = logging.getLogger(_ROOT)
    for handler in logger.handlers[:]:
        if isinstance(handler.formatter, JsonFormatter):
            logger.removeHandler(handler)
            handler.close()
    logger.setLevel(logging.NOTSET)
