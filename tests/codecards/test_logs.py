"""Logs are JSON lines in a file or on stderr, never on stdout, and only on request."""

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codecards.config import settings_from_environment
from codecards.errors import UsageError
from codecards.logs import start_logging, stop_logging
from tests.support.indexed import write_repository

REPO = "#- a.py\ndef one():\n    return 1\n"


@pytest.fixture(autouse=True)
def _logging_is_stopped() -> Iterator[None]:
    yield
    stop_logging()


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "codecards", "-C", str(root), *arguments], capture_output=True, text=True, check=False
    )


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_record_is_one_line_with_its_details_and_its_error(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    start_logging("info", file)
    logger = logging.getLogger("codecards.somewhere")
    logger.debug("not this")
    logger.info("a\nrun", extra={"path": "目录/\udcff.py", "took_ms": 1.5})
    try:
        raise ValueError("no")
    except ValueError:
        logger.exception("failed")
    first, second = lines(file.read_text(encoding="utf-8"))
    assert (first["level"], first["logger"], first["event"]) == ("info", "codecards.somewhere", "a\nrun")
    assert (first["path"], first["took_ms"]) == ("目录/\udcff.py", 1.5)
    assert str(first["time"]).endswith("+00:00")
    assert "ValueError: no" in str(second["error"])


def test_nothing_is_logged_twice_or_after_logging_stops(tmp_path: Path) -> None:
    for name in ("first", "second"):
        start_logging("debug", tmp_path / name)
    logging.getLogger("codecards").warning("once")
    stop_logging()
    logging.getLogger("codecards").warning("never")
    assert (tmp_path / "first").read_text() == ""
    assert [line["event"] for line in lines((tmp_path / "second").read_text())] == ["once"]


@pytest.mark.parametrize(
    ("level", "file", "says"), [("loud", "log", "no log level 'loud'"), ("info", "missing/log", "can't be opened")]
)
def test_a_wrong_level_or_file_is_an_error(tmp_path: Path, level: str, file: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        start_logging(level, tmp_path / file)


def test_a_command_logs_to_the_file_and_prints_only_its_answer_on_stdout(tmp_path: Path) -> None:
    write_repository(tmp_path, REPO)
    log = tmp_path.parent / f"{tmp_path.name}.jsonl"
    done = run(tmp_path, "--log-file", str(log), "recall", "one", "--json")
    assert json.loads(done.stdout)["verdict"] == "found"
    events = {line["event"]: line for line in lines(log.read_text(encoding="utf-8"))}
    assert events["index run"]["files_seen"] == 1
    assert (events["recall"]["verdict"], events["recall"]["hits"]) == ("found", 1)
    failed = run(tmp_path, "--log-level", "error", "show", "nothing")
    assert failed.stdout == ""
    assert lines(failed.stderr.splitlines()[0])[0]["event"] == "command failed"


def test_the_environment_can_ask_for_a_log_and_a_trace(tmp_path: Path) -> None:
    asked = settings_from_environment(
        {"CODECARDS_LOG_FILE": str(tmp_path / "log"), "CODECARDS_LOG_LEVEL": "debug", "CODECARDS_TRACE": "1"}
    )
    assert (asked.log_file, asked.log_level, asked.traces_turns) == (tmp_path / "log", "debug", True)
    silent = settings_from_environment({})
    assert (silent.log_file, silent.log_level, silent.traces_turns) == (None, "", False)
