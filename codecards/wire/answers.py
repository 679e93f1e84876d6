"""Wire: the JSON shapes of answers, for the command line and MCP; the contract is in README.md.

Paths are text where they are UTF-8, else `path_hex`: the bytes of the name in hexadecimal.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from codecards.answers import (
    Caller,
    Calls,
    FileSummary,
    FoundCard,
    Impact,
    Recall,
    RetrieverStatus,
    ShownTarget,
    Status,
    WhyNot,
)
from codecards.indexer.build.refresh import IndexReport
from codecards.indexer.cards.card import Card
from codecards.indexer.problems import Problem

if TYPE_CHECKING:
    from codecards.tuning.fit import TuneReport

Json = dict[str, object]
CHARACTERS_A_TOKEN = 3.5
"""Of code, about; used where a budget limits an answer."""
MAX_SUMMARY = 200
_of_a_part = re.compile(
    r"\s*(?::(?:r?type|param|raises|var|ivar)\b|[@\\](?:param|type|throws|see|since|author|template)\b)"
)
"""How a line of documentation begins that speaks of a parameter or a type: Sphinx, Javadoc, JSDoc, Doxygen."""


def printable(text: str) -> str:
    """Return text that is valid UTF-8 whatever a file's name was made of."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def visible(text: str, *, keeps_lines: bool = False) -> str:
    """Return text that does nothing to a terminal and hides nothing on it: names and code may be hostile.

    Args:
        text: A name, a message; code with `keeps_lines`.
        keeps_lines: Whether line ends and tabs stay; else they are written as escapes too.
    """
    return printable(text).translate(_visible_code if keeps_lines else _visible_name)


_hidden = [
    *range(0x20),
    *range(0x7F, 0xA0),
    0x200E,
    0x200F,
    0x2028,
    0x2029,
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
]
"""Control characters, and those that turn the direction of what is read."""
_visible_name = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _hidden} | {
    9: "\\t", 10: "\\n", 13: "\\r",
}  # fmt: skip
_visible_code = {code: shown for code, shown in _visible_name.items() if code not in (9, 10)}


def path_json(path: str) -> Json:
    """Return {"path": …}, or {"path_hex": …} for a name that is not UTF-8."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return {"path_hex": os.fsencode(path).hex()}
    return {"path": path}


def symbol_json(card: Card) -> Json:
    """Return a card as `symbols` lists it."""
    return {
        "id": printable(card.symbol_id),
        "name": card.qualified_name,
        "kind": card.kind,
        **path_json(card.path),
        "start_line": card.first_line,
        "end_line": card.last_line,
        "language": card.language,
        "signature": card.signature,
    }


def card_json(card: Card) -> Json:
    """Return a card whole."""
    return symbol_json(card) | {
        "doc": card.doc,
        "parent": card.parent,
        "module": printable(card.module),
        "lead_line": card.lead_line,
        "bases": list(card.bases),
        "content_hash": card.content_hash.hex(),
        # To be copied as it is: every command takes it, and nobody has to put a path together.
        "place": printable(f"{card.path}:{card.first_line}"),
    }


def hit_json(hit: FoundCard, *, expand: bool = False, explain: bool = False) -> Json:
    """Return a hit; its text with `expand`, the parts of its score with `explain`."""
    # A hit starts with the comment above it: that is where a question in words often matches.
    value = {"rank": hit.rank} | symbol_json(hit.card) | {"start_line": hit.card.lead_line}
    value |= {"summary": summary(hit.card), "score": round(hit.score, 4), "fresh": hit.fresh}
    if expand:
        value["text"] = printable(hit.text)
    if explain:
        value["terms"] = [{"name": one.name, "value": round(one.value, 6), "detail": one.detail} for one in hit.terms]
    return value


def summary(card: Card) -> str:
    """Return one line that says what a card is: of its documentation the first that speaks of the whole, else its head."""
    lines = (line for line in card.doc.split("\n") if line.strip() and not _of_a_part.match(line))
    said = next(lines, "") or card.signature or f"{card.kind} {card.label}".strip()
    return printable(said if len(said) <= MAX_SUMMARY else said[: MAX_SUMMARY - 1].rstrip() + "…")


def recall_json(
    recall: Recall, *, expand: bool = False, explain: bool = False, budget_tokens: int | None = None
) -> Json:
    """Return the answer to a question; a budget drops the last hits, never a part of one."""
    hits = [hit_json(hit, expand=expand, explain=explain) for hit in recall.hits]
    if budget_tokens is not None:
        spent, kept = 0.0, list[Json]()
        for hit in hits:
            spent += len(str(hit)) / CHARACTERS_A_TOKEN
            if spent > budget_tokens and kept:
                break
            kept.append(hit)
        hits = kept
    return {
        "query": printable(recall.query),
        "kind": recall.kind,
        "verdict": recall.verdict,
        "generation": recall.generation,
        "hits": hits,
        "searched": {"files": recall.n_files, "cards": recall.n_cards, "left_out": recall.left_out},
        "suggestions": list(recall.suggestions),
        "notices": [printable(notice) for notice in recall.notices],
        "retrievers": [retriever_json(lane) for lane in recall.retrievers],
        "took_ms": round(recall.took_ms, 3),
    }


def retriever_json(lane: RetrieverStatus) -> Json:
    """Return one way of finding, and whether it takes part."""
    return {"name": lane.name, "ready": lane.ready, "reason": printable(lane.reason)}


def problem_json(problem: Problem) -> Json:
    """Return one file that is not indexed as one would expect."""
    return {
        **path_json(problem.path),
        "reason": problem.reason.value,
        "detail": printable(problem.detail),
        "kept": problem.kept.value,
    }


def report_json(report: IndexReport, peak_rss_mb: float) -> Json:
    """Return what an index run did."""
    return {
        "root": printable(str(report.root)),
        "generation": report.generation,
        "complete": report.complete,
        "took_ms": round(report.took_ms, 1),
        "peak_rss_mb": round(peak_rss_mb, 1),
        "files": {
            "seen": report.n_seen,
            "read": report.n_read,
            "unchanged": report.n_unchanged,
            "removed": report.n_removed,
            "skipped": report.n_skipped,
        },
        "cards": report.n_cards,
        "edges": report.n_edges,
        "problems": [problem_json(problem) for problem in report.problems],
        "messages": [printable(message) for message in report.messages],
    }


def files_json(files: Iterable[FileSummary]) -> Json:
    """Return the indexed files."""
    return {
        "files": [
            {
                **path_json(one.path),
                "language": one.language,
                "role": one.role,
                "encoding": one.encoding,
                "cards": one.n_cards,
            }
            for one in files
        ]
    }


def caller_json(caller: Caller) -> Json:
    """Return one use of a symbol."""
    place = path_json(caller.path)
    return {
        "name": printable(caller.name),
        "path": str(place.get("path", printable(caller.path))),
        "line": caller.line,
        "confidence": caller.confidence,
        "rule": caller.rule,
        "kind": caller.kind,
    }


def calls_json(calls: Calls, key: str) -> Json:
    """Return callers or callees, under that key."""
    return {
        "target": symbol_json(calls.target) if calls.target is not None else None,
        "candidates": [symbol_json(card) for card in calls.candidates],
        key: [caller_json(one) for one in calls.calls],
        "total": calls.total,
        "truncated": calls.truncated,
        "suggestions": list(calls.suggestions),
    }


def outline_json(cards: Sequence[Card], *, limit: int, offset: int, digest: str | None) -> Json:
    """Return a page of a file's or symbol's outline; with the file's `digest` the first line of each documentation too."""
    page = cards[offset : offset + limit]
    has_digest = digest is not None
    rows = [symbol_json(card) | ({"doc": card.doc.partition("\n")[0][:200]} if has_digest else {}) for card in page]
    text: Json = {"digest": printable(digest)} if digest is not None else {}
    return {"outline": rows, "total": len(cards), "truncated": len(page) < len(cards)} | text


def shown_json(shown: ShownTarget) -> Json:
    """Return a symbol, file or line with its text."""
    return {
        "card": card_json(shown.card) | _links_json(shown) if shown.card is not None else None,
        **path_json(shown.path),
        "start_line": shown.first_line,
        "end_line": shown.last_line,
        "text": printable(shown.text),
        "stale": shown.stale,
    }


def _links_json(shown: ShownTarget) -> Json:
    """Return what a shown card brings in and calls."""
    return {
        "imports": [
            {"module": printable(one.module), "name": one.name, "alias": one.alias, "line": one.line}
            for one in shown.imports
        ],
        "calls": [caller_json(one) for one in shown.calls],
    }


def status_json(status: Status) -> Json:
    """Return the state of an index."""
    return {
        "generation": status.generation,
        "format": status.format,
        "commit": status.commit,
        "dirty": status.dirty,
        "complete": status.complete,
        "files": status.n_files,
        "cards": status.n_cards,
        "edges": status.n_edges,
        "counts": {"files": status.n_files, "cards": status.n_cards, "edges": status.n_edges},
        "changed_since": status.n_changed,
        "embedder": {
            "name": status.embedder_name,
            "dimensions": status.embedder_dimensions,
            "identity": status.embedder_identity,
        },
        "retrievers": [retriever_json(lane) for lane in status.retrievers],
        "problems": [problem_json(problem) for problem in status.problems],
        "weights": {
            "tuned": asdict(status.tuned) if status.tuned is not None else None,
            "problem": printable(status.tuned_problem),
        },
    }


def why_not_json(answer: WhyNot) -> Json:
    """Return why a file is not among the hits."""
    return {"reason": answer.reason, "detail": printable(answer.detail)}


def impact_json(impact: Impact) -> Json:
    """Return what a change touches."""
    return {
        "changed": [symbol_json(card) for card in impact.changed],
        "callers": [caller_json(one) for one in impact.callers],
        "tests": [printable(path) for path in impact.tests],
    }


def tuning_json(report: "TuneReport") -> Json:
    """Return the figures of a project's own history."""
    value: Json = asdict(report)
    return value


def hit_metadata(hit: FoundCard, recall: Recall) -> Json:
    """Return where a hit is and how good it is, in the names of `recall --json`.

    The text itself is the document's. It comes from the repository: data, never instructions.
    """
    return hit_json(hit) | {"verdict": recall.verdict, "generation": recall.generation}
