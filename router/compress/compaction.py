"""Compacts a text into structured fields: entities first, then conclusions and reasons, with a handle to the original.

Compaction works by rules, without a model. A summariser may word the conclusion; if its text is not usable, the
extractive rules choose the conclusion, and the result says why.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace

from codecards.errors import BudgetTooSmallError
from codecards.router.compress.entities import Entity, find_entities
from codecards.router.compress.excerpts import handle_of
from codecards.router.compress.summaries import SummariserConfig, summarise
from codecards.router.compress.token_count import TokenCounter, estimate_tokens

MAX_FIELD_ITEMS = 12
MAX_LINE_CHARACTERS = 300
_ITEM_TOKENS = 1
"""Estimated tokens of the separator between two items."""
_ENTITY_FIELDS = ("file", "error", "commit", "symbols")
_VERBATIM_FIELDS = (*_ENTITY_FIELDS, "preserved", "previous", "open_questions")

_STATEMENTS = {
    "attempts": r"\b(?:tried|trying|attempt(?:ed|s)?|retr(?:y|ied)|switch(?:ed)? to|revert(?:ed)?)\b"
    r"|尝试|试了|重试|改用",
    "conclusion": r"\b(?:conclu(?:sion|de)\w*|root cause|therefore|turns? out|fixed (?:by|with)|the fix|verified)\b"
    r"|结论|因此|根因|原来是|已验证",
    "open_questions": r"[?\uff1f]\s*$|\b(?:todo|unclear|unknown|open questions?|still need|not yet|to be confirmed)\b"
    r"|待确认|未解决|待办|不清楚",
    "change_reason": r"\b(?:because|instead of|rather than|so that|due to|reason|changed? (?:from|to)|rejected)\b"
    r"|因为|由于|原因|改成|而不是|否决",
}
_statements = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _STATEMENTS.items()}


@dataclass(frozen=True, slots=True)
class Dropped:
    """What a compaction left out."""

    what: str
    tokens: int
    handle: str


@dataclass(frozen=True, slots=True)
class Compaction:
    """The structured result. `file`, `error`, `commit` and `symbols` contain exact strings of the source."""

    file: tuple[str, ...] = ()
    error: tuple[str, ...] = ()
    attempts: tuple[str, ...] = ()
    commit: tuple[str, ...] = ()
    conclusion: str = ""
    open_questions: tuple[str, ...] = ()
    """Always rendered, even if empty: without it an agent asks the same questions again."""
    change_reason: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    preserved: dict[str, str] = field(default_factory=dict)
    """Key of the caller → the lines of the source that contain it."""
    previous: str = ""
    """Conclusion of the previous compaction, so that a chain of compactions loses no decision."""
    dropped: tuple[Dropped, ...] = ()
    handle: str = ""
    """Restores the whole source byte for byte."""
    notice: str = ""
    """Why the summariser's text is not the conclusion; "" if it is, or if no summariser was asked."""

    def as_json(self) -> dict[str, object]:
        """Return the fields as JSON values, in the order of their priority."""
        return asdict(self)

    def as_text(self) -> str:
        """Return one line of JSON for a model, without empty fields (except `open_questions`) and without the notice."""
        values = {key: value for key, value in self.as_json().items() if value or key == "open_questions"}
        values.pop("notice", None)
        return json.dumps(values, ensure_ascii=False)


def compact(
    source: str,
    target_tokens: int,
    preserve_keys: Sequence[str] = (),
    *,
    previous: Compaction | None = None,
    count: TokenCounter = estimate_tokens,
    summariser: SummariserConfig | None = None,
) -> Compaction:
    """Return the source as structured fields whose text takes at most `target_tokens`.

    The lines of the caller's keys enter first, then entities, then statements; each item enters whole or not at all.
    `dropped` counts what did not fit, and `handle` restores the source.

    Args:
        source: The text.
        target_tokens: Most tokens of the result as text.
        preserve_keys: Words whose lines are kept verbatim.
        previous: Compaction of the text before this one; its entities, questions and reasons are carried over.
        count: Counts tokens.
        summariser: Words the conclusion; None for the extractive rules alone.

    Raises:
        BudgetTooSmallError: Not even the empty result with its handle fits.
    """
    handle = handle_of(source)
    base = Compaction(handle=handle)
    if source.strip():
        base = replace(base, dropped=(Dropped("999 entities, 999 lines", count(source), handle),))
    needed = count(base.as_text())
    if needed > target_tokens:
        raise BudgetTooSmallError(
            f"A compaction needs at least {needed} tokens; {target_tokens} were allowed.",
            budget_tokens=target_tokens,
            needed_tokens=needed,
        )
    candidates = _candidates(source, tuple(preserve_keys), previous)
    result, left_out = _filled(base, candidates, target_tokens, count)
    if summariser is not None and source.strip():
        # The summary enters after the items that are kept verbatim, and before the statements that the rules chose.
        exact_candidates = [item for item in candidates if item[0] in _VERBATIM_FIELDS]
        exact, lost = _filled(base, exact_candidates, target_tokens, count)
        worded = _worded(exact, source, target_tokens, summariser, count)
        if worded.notice:
            result = replace(result, notice=worded.notice)
        else:
            lines = [item for item in candidates if item[0] not in (*_VERBATIM_FIELDS, "conclusion")]
            result, left_out = _filled(worded, lines, target_tokens, count)
            left_out = {name: number + lost[name] for name, number in left_out.items()}
    return replace(result, dropped=_dropped(left_out, source, result, count))


def _filled(
    base: Compaction,
    candidates: Sequence[tuple[str, str | tuple[str, str]]],
    target_tokens: int,
    count: TokenCounter,
) -> tuple[Compaction, dict[str, int]]:
    """Return the result with the candidates that fit, and the numbers of entities and lines that do not."""
    chosen, left_out = _choose(candidates, target_tokens - count(base.as_text()), count)
    result = _built(base, chosen)
    while chosen and count(result.as_text()) > target_tokens:
        name, _ = chosen.pop()
        left_out["entities" if name in _ENTITY_FIELDS else "lines"] += 1
        result = _built(base, chosen)
    return result, left_out


def _worded(
    result: Compaction, source: str, target_tokens: int, summariser: SummariserConfig, count: TokenCounter
) -> Compaction:
    """Return the result with the summary as its conclusion, or with a notice that says why not."""
    free_tokens = target_tokens - count(replace(result, conclusion="").as_text())
    summary = summarise(source, free_tokens, summariser, count=count)
    worded = replace(result, conclusion=summary.words)
    if summary.words and count(worded.as_text()) > target_tokens:
        return replace(result, notice=f"the summary did not fit into {target_tokens} tokens")
    return worded if summary.words else replace(result, notice=summary.notice)


def _choose(
    candidates: Sequence[tuple[str, str | tuple[str, str]]], free_tokens: int, count: TokenCounter
) -> tuple[list[tuple[str, str | tuple[str, str]]], dict[str, int]]:
    """Return the candidates that fit by the sum of their tokens, and the numbers of entities and lines that do not."""
    chosen: list[tuple[str, str | tuple[str, str]]] = []
    left_out = {"entities": 0, "lines": 0}
    for name, value in dict.fromkeys(candidates):
        cost = count(json.dumps(value, ensure_ascii=False)) + _ITEM_TOKENS
        if not any(name == field for field, _ in chosen):
            cost += count(f', "{name}": []')
        if cost <= free_tokens:
            free_tokens -= cost
            chosen.append((name, value))
        else:
            left_out["entities" if name in _ENTITY_FIELDS else "lines"] += 1
    return chosen, left_out


def _built(base: Compaction, chosen: Sequence[tuple[str, str | tuple[str, str]]]) -> Compaction:
    result = base
    for name, value in chosen:
        result = _with(result, name, value)
    return result


def _candidates(
    source: str, preserve_keys: tuple[str, ...], previous: Compaction | None
) -> list[tuple[str, str | tuple[str, str]]]:
    """Return (field, value) pairs in the order in which they may enter."""
    found: list[tuple[str, str | tuple[str, str]]] = []
    for key in preserve_keys:
        pattern = re.compile(rf"(?im)^.*\b{re.escape(key)}\b.*$")
        lines = [line.strip() for line in pattern.findall(source)]
        if lines and key not in Compaction.__dataclass_fields__:
            found.append(("preserved", (key, "\n".join(dict.fromkeys(lines)))))
    fields = {"path": "file", "error": "error", "commit": "commit", "symbol": "symbols"}
    entities = [*(_entities_of(previous) if previous else ()), *find_entities(source)]
    for kind, name in fields.items():
        found += [(name, entity.text) for entity in entities if entity.kind == kind]
    if previous is not None:
        found += [("open_questions", question) for question in previous.open_questions]
        found += [("change_reason", reason) for reason in previous.change_reason]
        found += [("previous", previous.conclusion)] if previous.conclusion else []
    lines = [line.strip()[:MAX_LINE_CHARACTERS] for line in source.splitlines() if line.strip()]
    for name in ("conclusion", "open_questions", "change_reason", "attempts"):
        hits = [line for line in lines if _statements[name].search(line)]
        # Only the last conclusion is valid; of the other fields, the latest lines are the most informative.
        found += [(name, line) for line in (hits[-1:] if name == "conclusion" else hits[-MAX_FIELD_ITEMS:])]
    return found


def _entities_of(previous: Compaction) -> list[Entity]:
    groups = (("path", previous.file), ("error", previous.error), ("commit", previous.commit))
    return [Entity(kind, text) for kind, texts in (*groups, ("symbol", previous.symbols)) for text in texts]


def _with(result: Compaction, name: str, value: str | tuple[str, str]) -> Compaction:
    """Return the result with one more value; a duplicate is not added."""
    if isinstance(value, tuple):
        return replace(result, preserved={**result.preserved, value[0]: value[1]})
    if name in ("conclusion", "previous"):
        return replace(result, **{name: value})  # type: ignore[arg-type]  # the field is chosen at run time
    old: tuple[str, ...] = getattr(result, name)
    if value in old:
        return result
    return replace(result, **{name: (*old, value)})  # type: ignore[arg-type]  # the field is chosen at run time


def _dropped(left_out: dict[str, int], source: str, result: Compaction, count: TokenCounter) -> tuple[Dropped, ...]:
    what = ", ".join(f"{number} {name}" for name, number in left_out.items() if number)
    if not source.strip():
        return ()
    return (Dropped(what or "wording", max(0, count(source) - count(result.as_text())), result.handle),)
