"""Compacts a text into structured fields: failures first, then entities, conclusions and reasons, with a handle.

Compaction works by rules, without a model. A summariser may word the conclusion; if its text is not usable, the
extractive rules choose the conclusion, and the result says why.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace

from codecards.errors import BudgetTooSmallError
from codecards.router.compress.brace_lists import brace_list, is_plain
from codecards.router.compress.command_output import clean_lines, distinct_failures, line_roles, rules_for
from codecards.router.compress.entities import Entity, entities_by_rarity
from codecards.router.compress.excerpts import handle_of
from codecards.router.compress.summaries import SummariserConfig, summarise
from codecards.router.compress.token_count import TokenCounter, estimate_tokens

MAX_FIELD_ITEMS = 12
MAX_LINE_CHARACTERS = 300
MAX_FAILURE_CHARACTERS = 400
"""A failure line is cut to this, with a mark."""
FAILURES_SHARE = 0.7
"""Of the target, for failures before the entities have had their turn; those that are left over come after them."""
NAME_FIELDS = ("file", "commit", "symbols")
"""Fields that the text shows as brace lists: `src/{a.py,b.py}`."""
_ENTITY_FIELDS = ("file", "error", "commit", "symbols")
_FIELD_OF_KIND = {"path": "file", "error": "error", "commit": "commit", "symbol": "symbols"}

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
Candidate = tuple[str, str | tuple[str, str]]
"""Field and value; a value of `preserved` has its key."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """What a compaction left out."""

    what: str
    tokens: int
    handle: str


@dataclass(frozen=True, slots=True)
class Compaction:
    """The structured result. `file`, `error`, `commit` and `symbols` contain exact strings of the source."""

    failures: tuple[str, ...] = ()
    """Lines of the source that say what failed; of those that differ in numbers alone the first."""
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

    def as_short_json(self) -> dict[str, object]:
        """Return the fields in few tokens: names as brace lists, and no entity that another field quotes."""
        values = {key: value for key, value in self.as_json().items() if value or key == "open_questions"}
        values.pop("notice", None)
        quoted = "\n".join((*self.failures, *self.preserved.values(), self.conclusion, self.previous))
        quoted = "\n".join((quoted, *self.open_questions, *self.change_reason, *self.attempts))
        for name in ("error", "file", "symbols", "commit"):
            items = tuple(item for item in getattr(self, name) if item not in quoted)
            quoted += "\n" + "\n".join(items)
            values.pop(name, None)
            if items and name in NAME_FIELDS:
                plain = brace_list(filter(is_plain, items), is_dotted=name == "symbols")
                values[name] = " ".join([plain, *(item for item in items if not is_plain(item))]).strip()
            elif items:
                values[name] = list(items)
        return values

    def as_text(self) -> str:
        """Return one line of JSON for a model, without empty fields (except `open_questions`) and without the notice."""
        return json.dumps(self.as_short_json(), ensure_ascii=False)


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

    The lines of the caller's keys enter first, then what failed, then entities, then statements; each item enters whole
    or not at all. `dropped` counts what did not fit, and `handle` restores the source.

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
    fill = _Filler(target_tokens, count)
    kept, failures = _preserved(source, tuple(preserve_keys)), _failures(source)
    entities, lines = _entities(source, previous), _lines(source, previous)
    result = fill.with_entities(fill.with_items(base, [*kept, *failures], FAILURES_SHARE), entities)
    result = fill.with_items(result, failures)
    verbatim = [item for item in lines if item[0] in ("previous", "open_questions")]
    notice = ""
    if summariser is not None and source.strip():
        # The summary enters after the items that are kept verbatim, and before the statements that the rules chose.
        exact = fill.with_items(result, verbatim)
        worded = _worded(exact, source, target_tokens, summariser, count)
        notice = worded.notice
        if not notice:
            result, lines = worded, [item for item in lines if item[0] != "conclusion"]
    result = replace(fill.with_items(result, lines), notice=notice)
    n_entities = sum(value not in getattr(result, name) for name, value in entities)
    n_lines = sum(not _holds(result, item) for item in (*kept, *failures, *lines))
    return replace(result, dropped=_dropped({"entities": n_entities, "lines": n_lines}, source, result, count))


@dataclass(frozen=True, slots=True)
class _Filler:
    """Adds items to a result while its text fits."""

    target_tokens: int
    count: TokenCounter

    def with_items(self, result: Compaction, items: Sequence[Candidate], share: float = 1.0) -> Compaction:
        """Return the result with the items that fit into a share of the target; one that is too large is skipped."""
        limit = int(self.target_tokens * share)
        for name, value in dict.fromkeys(items):
            with_item = _with(result, name, value)
            if with_item != result and self.count(with_item.as_text()) <= limit:
                result = with_item
        return result

    def with_entities(self, result: Compaction, entities: Sequence[tuple[str, str]]) -> Compaction:
        """Return the result with as many of the first entities as fit, and then with smaller ones that still do."""

        def first(number: int) -> Compaction:
            found: dict[str, dict[str, None]] = {name: dict.fromkeys(getattr(result, name)) for name in _ENTITY_FIELDS}
            for name, value in entities[:number]:
                found[name][value] = None
            return replace(result, **{name: tuple(values) for name, values in found.items()})  # type: ignore[arg-type]  # fields are chosen at run time

        low, high = 0, len(entities)
        while low < high:
            middle = (low + high + 1) // 2
            if self.count(first(middle).as_text()) <= self.target_tokens:
                low = middle
            else:
                high = middle - 1
        return self.with_items(first(low), entities[low : low + MAX_FIELD_ITEMS])


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


def _preserved(source: str, preserve_keys: tuple[str, ...]) -> list[Candidate]:
    """Return the lines of the caller's keys; the name of a field is no key, since that field is kept anyway."""
    found: list[Candidate] = []
    for key in preserve_keys:
        pattern = re.compile(rf"(?im)^.*(?<!\w){re.escape(key)}(?!\w).*$")
        lines = [line.strip() for line in pattern.findall(source)]
        if lines and key not in Compaction.__dataclass_fields__:
            found.append(("preserved", (key, "\n".join(dict.fromkeys(lines)))))
    return found


def _failures(source: str) -> list[Candidate]:
    """Return the lines that say what failed, without those that another of them quotes."""
    lines = clean_lines(source)
    rules = rules_for("", lines)
    places = distinct_failures(lines, line_roles(lines, rules))
    said = [_cut(" ".join(lines[place].split())) for place in places]
    messages = [re.sub(r"^E +", "", line) for line in said]
    return [
        ("failures", message)
        for number, message in enumerate(messages)
        if message
        and not any(message in other for place, other in enumerate(messages) if place != number and other != message)
    ]


def _cut(line: str) -> str:
    return line if len(line) <= MAX_FAILURE_CHARACTERS else line[: MAX_FAILURE_CHARACTERS - 1] + "…"


def _entities(source: str, previous: Compaction | None) -> list[tuple[str, str]]:
    """Return (field, entity), those of the previous compaction first, then the rarest."""
    carried = _entities_of(previous) if previous else []
    return [(_FIELD_OF_KIND[one.kind], one.text) for one in dict.fromkeys([*carried, *entities_by_rarity(source)])]


def _lines(source: str, previous: Compaction | None) -> list[Candidate]:
    """Return the statements of the source, and what the previous compaction hands on."""
    found: list[Candidate] = []
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


def _holds(result: Compaction, item: Candidate) -> bool:
    return _with(result, *item) == result


def _dropped(left_out: dict[str, int], source: str, result: Compaction, count: TokenCounter) -> tuple[Dropped, ...]:
    what = ", ".join(f"{number} {name}" for name, number in left_out.items() if number)
    if not source.strip():
        return ()
    return (Dropped(what or "wording", max(0, count(source) - count(result.as_text())), result.handle),)
