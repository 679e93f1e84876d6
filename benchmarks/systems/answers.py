"""The answers of a system to the queries of a set, and the run files that store them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.sets.queries import Span


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One system's results for one query."""

    query_id: str
    results: tuple[Span, ...]
    """Best first."""
    tokens: tuple[int, ...] = ()
    """Number of tokens of each result's text; () if unknown."""
    query_ms: float = 0.0
    """Median wall time of the query in a process that has the index open."""
    verdict: str = ""
    """"found", "weak" or "none"; "" for systems without verdicts."""


def answer_of_row(row: dict[str, Any]) -> RecordedAnswer:
    """Return the answer of one row of a run file; a result may be only a path."""
    results = tuple(Span(result) if isinstance(result, str) else Span(*result) for result in row["results"])
    tokens = tuple(row.get("tokens", ()))
    return RecordedAnswer(row["id"], results, tokens, row.get("query_ms", 0.0), row.get("verdict", ""))


def row_of_answer(answer: RecordedAnswer, system: str) -> dict[str, Any]:
    """Return the row of a run file: `id`, `system`, `results` as [path, first line, last line], best first."""
    return {
        "id": answer.query_id,
        "system": system,
        "results": [[span.path, span.first_line, span.last_line] for span in answer.results],
        "tokens": list(answer.tokens),
        "query_ms": round(answer.query_ms, 3),
        "verdict": answer.verdict,
    }


def write_run(path: Path, answers: Iterable[RecordedAnswer], system: str) -> None:
    """Write a run file with one JSON line per answer."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row_of_answer(answer, system), ensure_ascii=False) for answer in answers]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_run(path: Path) -> list[RecordedAnswer]:
    """Return the answers of a run file.

    Raises:
        OSError: The file can't be read.
        ValueError: A line is not a JSON object.
    """
    return [answer_of_row(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
