"""Token ledgers: where the tokens of a turn went, and how many of them were useful."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

CATEGORIES = ("system", "tool_schema", "task", "files", "retrieved", "memory", "history", "tool_results", "input")
SHARES = {
    "system and task": ("system", "tool_schema", "task"),
    "tool output and snapshots": ("files", "tool_results"),
    "rolling history": ("history", "input"),
    "recalled": ("retrieved", "memory"),
}
"""Groups for the shares of a session. Source: "Sliding window" (see `codecards.router`); "recalled" is ours."""
ROUND_LINES = {
    "system": ("system", "task"),
    "tools": ("tool_schema",),
    "retrieved": ("retrieved", "memory", "files"),
    "history": ("history", "tool_results", "input"),
}
"""Groups for one round. Source: "Sliding window" (see `codecards.router`), which also counts the reply."""
KINDS_OF_CONTEXT = {
    "user input": ("input",),
    "tool calls and results": ("tool_results", "files", "retrieved"),
    "history": ("history", "memory", "task", "system"),
    "tool definitions": ("tool_schema",),
}
"""Groups by origin. Source: "Separation of duties" (see `codecards.router`)."""
LOW_EFFECTIVE_RATIO = 0.40
HIGH_TOOL_SHARE = 0.70
"""An alarm is raised below the first and above the second. Source: "Sliding window" (see `codecards.router`), §4.3."""


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """The tokens of one block."""

    name: str
    category: str
    tokens: int
    source: str = ""
    position: int = 0
    """0-based position in the context."""


@dataclass(frozen=True, slots=True)
class TokenLedger:
    """The tokens of one turn."""

    turn: int
    budget_tokens: int
    total_tokens: int
    """Tokens of the rendered text. The sum of the lines may differ a little, since tokens can span two blocks."""
    lines: tuple[LedgerLine, ...] = ()
    version: str = ""

    def by_category(self) -> dict[str, int]:
        """Return the tokens of each category, 0 for a category without blocks."""
        sums = dict.fromkeys(CATEGORIES, 0)
        for line in self.lines:
            sums[line.category] += line.tokens
        return sums

    def grouped(self, groups: Mapping[str, Sequence[str]]) -> dict[str, int]:
        """Return the tokens of each group of categories: `SHARES`, `ROUND_LINES`, `KINDS_OF_CONTEXT`."""
        sums = self.by_category()
        return {name: sum(sums[category] for category in members) for name, members in groups.items()}

    def folded(self) -> "TokenLedger":
        """Return the ledger with one line per category; older turns are kept so, to keep state files small."""
        sums = self.by_category()
        return replace(self, lines=tuple(LedgerLine(name, name, tokens) for name, tokens in sums.items() if tokens))

    def alarms(self, effective_ratio: float | None = None) -> tuple[str, ...]:
        """Return a message for each share that is out of proportion."""
        found = []
        total = sum(line.tokens for line in self.lines)
        results = self.by_category()["tool_results"]
        if total and results / total > HIGH_TOOL_SHARE:
            found.append(f"tool output takes {results / total:.0%} of the context: compact it")
        if effective_ratio is not None and effective_ratio < LOW_EFFECTIVE_RATIO:
            found.append(f"only {effective_ratio:.0%} of the context was used: check routing and recall")
        return tuple(found)


@dataclass(frozen=True, slots=True)
class ShownLines:
    """Lines of a file that a context showed."""

    path: str
    first_line: int
    last_line: int
    tokens: int
    turn: int = 0


@dataclass(frozen=True, slots=True)
class LineUse:
    """Lines that were read, opened or edited; (1, 0) means the whole file."""

    path: str
    turn: int
    first_line: int = 1
    last_line: int = 0


def effective_ratio(supplied: Iterable[ShownLines], uses: Iterable[LineUse], *, within_turns: int = 6) -> float | None:
    """Return the share of the supplied tokens whose lines were used within some turns, None if none were supplied.

    A use of a whole file counts for all its supplied lines. The share is a lower bound, since a model may use lines
    without a tool call.

    Args:
        supplied: Lines that contexts showed.
        uses: Uses of the session, in any order.
        within_turns: A use counts up to so many turns after the lines were shown.
    """
    by_path: dict[str, list[LineUse]] = {}
    for use in uses:
        by_path.setdefault(use.path, []).append(use)
    total, effective = 0, 0.0
    for piece in supplied:
        total += piece.tokens
        near = [use for use in by_path.get(piece.path, ()) if 0 <= use.turn - piece.turn <= within_turns]
        n_lines = piece.last_line - piece.first_line + 1
        if any(use.last_line < use.first_line for use in near):
            effective += piece.tokens
        elif near and n_lines > 0:
            used = set[int]()
            for use in near:
                used.update(range(max(use.first_line, piece.first_line), min(use.last_line, piece.last_line) + 1))
            effective += piece.tokens * len(used) / n_lines
    return effective / total if total else None


@dataclass(frozen=True, slots=True)
class LedgerSummary:
    """Statistics of a session's turns."""

    n_turns: int
    mean_tokens: float
    peak_tokens: int
    deviation_tokens: float
    """Standard deviation of the tokens of a turn."""
    shares: Mapping[str, float] = field(default_factory=dict)


def summarise_ledgers(ledgers: Sequence[TokenLedger]) -> LedgerSummary:
    """Return the statistics of a session."""
    totals = [ledger.total_tokens for ledger in ledgers]
    if not totals:
        return LedgerSummary(0, 0.0, 0, 0.0, dict.fromkeys(SHARES, 0.0))
    mean = fmean(totals)
    sums = {name: sum(ledger.grouped(SHARES)[name] for ledger in ledgers) for name in SHARES}
    whole = sum(sums.values()) or 1
    return LedgerSummary(
        len(totals),
        mean,
        max(totals),
        fmean((total - mean) ** 2 for total in totals) ** 0.5,
        {name: value / whole for name, value in sums.items()},
    )
