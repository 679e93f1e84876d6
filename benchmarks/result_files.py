"""Reads and writes result files: one JSON file for each measurement and commit, with settings, machine and versions."""

import json
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.machine import current_commit, describe_machine, describe_versions

RESULTS = Path(__file__).parent / "results"
DEFAULT_CACHE = Path(tempfile.gettempdir()) / "codecards-benchmarks"
"""Environments, trees and indexes that are kept between runs."""
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Result:
    """One measurement."""

    what: str
    """Name of the measurement, and of the file with the commit: "quality-semble_dev", "speed"."""
    commit: str
    measured: str
    """Time in UTC, ISO 8601."""
    settings: dict[str, Any]
    """Options of the measurement: name of the query file, number of rows, repetitions, depth."""
    figures: dict[str, Any]
    machine: dict[str, Any]
    versions: dict[str, str]


def new_result(what: str, settings: dict[str, Any], figures: dict[str, Any]) -> Result:
    """Return a result with the current time, machine and commit."""
    measured = datetime.now(UTC).isoformat(timespec="seconds")
    return Result(what, current_commit(), measured, settings, figures, describe_machine(), describe_versions())


def write_result(result: Result, folder: Path = RESULTS) -> Path:
    """Write a result to `<what>-<commit>.json` and return its path.

    Replaces an older result of the same commit; if its settings are the same, its figures of other systems are kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{result.what}-{result.commit}.json"
    earlier = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    kept = earlier["figures"] if earlier.get("settings") == result.settings else {}
    shape = {
        "format": FORMAT,
        "what": result.what,
        "commit": result.commit,
        "measured": result.measured,
        "machine": result.machine,
        "versions": result.versions,
        "settings": result.settings,
        "figures": _rounded(kept | result.figures),
    }
    path.write_text(json.dumps(shape, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def read_results(folder: Path = RESULTS) -> list[Result]:
    """Return all results of a folder, the oldest first.

    Raises:
        ValueError: A file is damaged or has another format.
    """
    results = []
    for path in sorted(folder.glob("*.json")):
        shape = json.loads(path.read_text(encoding="utf-8"))
        if shape.get("format") != FORMAT:
            raise ValueError(f"{path.name} has format {shape.get('format')}, this version reads {FORMAT}")
        fields = ("what", "commit", "measured", "settings", "figures", "machine", "versions")
        results.append(Result(**{name: shape[name] for name in fields}))
    return sorted(results, key=lambda result: result.measured)


def newest(results: list[Result]) -> dict[str, Result]:
    """Return name of a measurement -> its newest result."""
    return {result.what: result for result in results}


def _rounded(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_rounded(inner) for inner in value]
    return value
