"""Shortens the output of commands to a token budget: failures first, then changes, then the summary.

Each line gets a role from the rules of the tool that printed it (`output_rules.toml`). Lines enter the budget by role
and keep their order; nothing is reworded. Every gap says how many lines are missing, so that kept and left-out lines
add up to the whole.
"""

import importlib.resources
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from codecards.router.compress.token_count import TokenCounter, estimate_tokens

MAX_MATCHED_CHARACTERS = 2_000
"""Rules look at so much of a line."""
MAX_LINE_CHARACTERS = 400
"""A kept line is cut to this, with a mark; a minified bundle on one line must not take the whole budget."""
N_SNIFFED_LINES = 400
"""Lines from each end of the output by which its tool is recognised."""
N_HEAD, N_TAIL = 3, 8
"""Lines at the ends that enter before other lines without a role: the end of an output holds its verdict."""
DETAIL_LINES = 12
"""Details of one failure that enter before those of others have had their turn."""
GAP_TOKENS = 14
"""Estimated tokens of one gap notice."""
_ANSI = re.compile(r"\x1b\[[0-9;:?]*[A-Za-z]|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|\x1b[()][A-Za-z0-9]")
_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?")


class LineRole(IntEnum):
    """What a line is for the reader, the most important first."""

    FAILURE = 0
    SUMMARY = 1
    CHANGE = 2
    DETAIL = 3
    OTHER = 4
    NOISE = 5


@dataclass(frozen=True, slots=True)
class ToolRules:
    """How the output of one tool is read; each pattern is one alternation, None where the tool has no such lines."""

    name: str
    command: re.Pattern[str] | None
    looks: re.Pattern[str] | None
    failure: re.Pattern[str] | None
    detail: re.Pattern[str] | None
    opens: re.Pattern[str] | None
    closes: re.Pattern[str] | None
    header: re.Pattern[str] | None
    change: re.Pattern[str] | None
    summary: re.Pattern[str] | None
    noise: re.Pattern[str] | None


@dataclass(frozen=True, slots=True)
class ShortOutput:
    """An output within its budget."""

    text: str
    tool: str
    """Whose rules were used."""
    n_lines: int
    """Lines of the whole output."""
    kept: tuple[int, ...]
    """Numbers of the lines that are shown, 1-based, ascending."""
    n_failures: int
    """Lines of the whole output that say what failed."""
    n_failures_kept: int

    @property
    def n_left_out(self) -> int:
        """Number of lines that are not shown."""
        return self.n_lines - len(self.kept)


def shorten_output(
    text: str,
    budget_tokens: int,
    *,
    command: str = "",
    handle: str = "",
    count: TokenCounter = estimate_tokens,
) -> ShortOutput:
    """Return an output within a budget.

    An output that fits is returned as it is, escape sequences of terminals aside.

    Args:
        text: What the command printed.
        budget_tokens: Most tokens of the result. A budget smaller than the closing notice gives the notice alone.
        command: The command line, "" where it is unknown.
        handle: Name under which the whole can be asked for; the closing notice tells it.
        count: Counts tokens.
    """
    lines = clean_lines(text)
    rules = rules_for(command, lines)
    roles = line_roles(lines, rules)
    whole = "\n".join(lines) + ("\n" if lines else "")
    n_failures = sum(role is LineRole.FAILURE for role in roles)
    if count(whole) <= budget_tokens:
        return ShortOutput(whole, rules.name, len(lines), tuple(range(1, len(lines) + 1)), n_failures, n_failures)
    costs = [count(_cut(line)) + 1 for line in lines]
    room = budget_tokens - count(_closing(len(lines), len(lines), handle)) - GAP_TOKENS
    kept = _chosen(lines, roles, costs, room)
    shown = _rendered(lines, roles, kept, handle)
    while kept and count(shown) > budget_tokens:
        # The estimate of the gaps was too low: the least important of the latest lines leave.
        kept.remove(max(kept, key=lambda index: (roles[index], index)))
        shown = _rendered(lines, roles, kept, handle)
    n_kept = sum(roles[index] is LineRole.FAILURE for index in kept)
    return ShortOutput(shown, rules.name, len(lines), tuple(index + 1 for index in sorted(kept)), n_failures, n_kept)


def clean_lines(text: str) -> list[str]:
    """Return the lines as a terminal would leave them: without escape sequences, overwritten progress resolved."""
    lines = _ANSI.sub("", text).replace("\r\n", "\n").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.rstrip("\r").rpartition("\r")[2] if "\r" in line else line for line in lines]


def rules_for(command: str, lines: Sequence[str]) -> ToolRules:
    """Return the rules of the tool that a command runs, else of the one that the output looks like."""
    known = all_rules()
    for rules in known:
        if command and rules.command is not None and rules.command.search(command):
            return rules
    sniffed = [*lines[:N_SNIFFED_LINES], *lines[N_SNIFFED_LINES:][-N_SNIFFED_LINES:]]
    for rules in known:
        if rules.looks is not None and any(rules.looks.search(line[:MAX_MATCHED_CHARACTERS]) for line in sniffed):
            return rules
    return known[-1]


@lru_cache(maxsize=1)
def all_rules() -> tuple[ToolRules, ...]:
    """Return the rules of all tools, the general ones for logs last."""
    source = importlib.resources.files("codecards.router.compress").joinpath("output_rules.toml")
    tables = tomllib.loads(source.read_text(encoding="utf-8"))["tool"]
    return tuple(_rules(table) for table in tables)


def line_roles(lines: Sequence[str], rules: ToolRules) -> list[LineRole]:
    """Return what each line is for the reader.

    The general rules for logs say what failed where the tool's own rules are silent; their word on noise does not count
    for a known tool.
    """
    general = all_rules()[-1]
    roles: list[LineRole] = []
    in_block = after_failure = False
    header: int | None = None
    for index, line in enumerate(lines):
        part = line[:MAX_MATCHED_CHARACTERS]
        if in_block and _has(rules.closes, part):
            in_block = False
        role = _own_role(part, rules, general)
        if role is LineRole.FAILURE:
            after_failure = True
            if header is not None:
                roles[header], header = LineRole.FAILURE, None
        elif role in (LineRole.OTHER, LineRole.NOISE) and part.strip() and (in_block or after_failure):
            if in_block or _has(rules.detail, part) or _has(general.detail, part):
                role = LineRole.DETAIL
            else:
                after_failure = False
        elif not part.strip():
            after_failure = after_failure and in_block
        if _has(rules.opens, part):
            in_block = True
            role = min(role, LineRole.DETAIL)
        if _has(rules.header, part):
            header = index
        roles.append(role)
    return roles


def distinct_failures(lines: Sequence[str], roles: Sequence[LineRole]) -> list[int]:
    """Return the places of the failures; of those that differ in numbers alone the first."""
    seen: dict[str, int] = {}
    for index, role in enumerate(roles):
        if role is LineRole.FAILURE:
            seen.setdefault(_shape(lines[index]), index)
    return list(seen.values())


def _own_role(part: str, rules: ToolRules, general: ToolRules) -> LineRole:
    if _has(rules.noise, part) and not _has(rules.failure, part):
        return LineRole.NOISE
    if _has(rules.failure, part):
        return LineRole.FAILURE
    if _has(rules.summary, part):
        return LineRole.SUMMARY
    if _has(rules.change, part):
        return LineRole.CHANGE
    if rules is not general and _has(general.failure, part) and not _has(rules.detail, part):
        return LineRole.FAILURE
    return LineRole.OTHER


def _chosen(lines: Sequence[str], roles: Sequence[LineRole], costs: Sequence[int], room: int) -> set[int]:
    """Return the places of the lines that fit, taken in the order of their worth."""
    kept: set[int] = set()
    for index in dict.fromkeys(_by_worth(lines, roles)):
        cost = costs[index] + (0 if index - 1 in kept or index + 1 in kept else GAP_TOKENS // 2)
        if cost <= room:
            kept.add(index)
            room -= cost
    return kept


def _by_worth(lines: Sequence[str], roles: Sequence[LineRole]) -> Iterator[int]:
    places: dict[LineRole, list[int]] = {role: [] for role in LineRole}
    for index, role in enumerate(roles):
        places[role].append(index)
    first = distinct_failures(lines, roles)
    yield from places[LineRole.SUMMARY][-2:]
    yield from first
    yield from places[LineRole.FAILURE]
    for failure in first:
        yield from _details_of(failure, roles)
    yield from places[LineRole.CHANGE]
    yield from reversed(places[LineRole.SUMMARY])
    yield from places[LineRole.DETAIL]
    others = places[LineRole.OTHER]
    yield from reversed(others[-N_TAIL:])
    yield from others[:N_HEAD]
    yield from _first_of_shape(others, lines)


def _details_of(failure: int, roles: Sequence[LineRole]) -> list[int]:
    """Return the details next to a failure, nearest first, those before it (a traceback) included."""
    found: list[int] = []
    before, after = failure - 1, failure + 1
    while len(found) < DETAIL_LINES:
        has_before = before >= 0 and roles[before] is LineRole.DETAIL
        has_after = after < len(roles) and roles[after] is LineRole.DETAIL
        if not has_before and not has_after:
            break
        if has_before:
            found.append(before)
            before -= 1
        if has_after:
            found.append(after)
            after += 1
    return found


def _first_of_shape(places: Sequence[int], lines: Sequence[str]) -> list[int]:
    """Return, rarest first, one place a shape: a line that occurs once says more than one of a thousand alike."""
    counts = Counter(_shape(lines[index]) for index in places)
    first: dict[str, int] = {}
    for index in places:
        first.setdefault(_shape(lines[index]), index)
    return sorted(first.values(), key=lambda index: (counts[_shape(lines[index])], index))


def _shape(line: str) -> str:
    return _NUMBERS.sub("0", line[:MAX_LINE_CHARACTERS]).strip()


def _rendered(lines: Sequence[str], roles: Sequence[LineRole], kept: set[int], handle: str) -> str:
    shown: list[str] = []
    previous = -1
    for index in sorted(kept):
        if index > previous + 1:
            shown.append(_gap(roles[previous + 1 : index]))
        shown.append(_cut(lines[index]))
        previous = index
    if previous < len(lines) - 1:
        shown.append(_gap(roles[previous + 1 :]))
    shown.append(_closing(len(lines) - len(kept), len(lines), handle))
    return "\n".join(shown) + "\n"


def _gap(roles: Sequence[LineRole]) -> str:
    n_failures = sum(role is LineRole.FAILURE for role in roles)
    said = f", {n_failures} of them failures" if n_failures else ""
    return f"[… {len(roles):,} line{'s' if len(roles) != 1 else ''}{said}]"


def _closing(n_left_out: int, n_lines: int, handle: str) -> str:
    whole = f"; the whole output: {handle}" if handle else ""
    return f"[{n_left_out:,} of {n_lines:,} lines left out{whole}]"


def _cut(line: str) -> str:
    if len(line) <= MAX_LINE_CHARACTERS:
        return line
    return f"{line[:MAX_LINE_CHARACTERS]}… [{len(line) - MAX_LINE_CHARACTERS:,} characters]"


def _has(pattern: re.Pattern[str] | None, line: str) -> bool:
    return pattern is not None and pattern.search(line) is not None


def _rules(table: dict[str, object]) -> ToolRules:
    def pattern(name: str) -> re.Pattern[str] | None:
        value = table.get(name)
        if value is None:
            return None
        alternatives = [value] if isinstance(value, str) else [str(one) for one in value]  # type: ignore[attr-defined]
        return re.compile("|".join(f"(?:{one})" for one in alternatives))

    compiled: Callable[[str], re.Pattern[str] | None] = pattern
    return ToolRules(
        str(table["name"]),
        *(compiled(name) for name in ("command", "looks", "failure", "detail", "opens", "closes", "header")),
        *(compiled(name) for name in ("change", "summary", "noise")),
    )
