"""Ledger: where the tokens of a turn went, and how many of them were of use."""

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
"""The article's shares, with what was recalled apart."""
ROUND_LINES = {
    "system": ("system", "task"),
    "tools": ("tool_schema",),
    "retrieved": ("retrieved", "memory", "files"),
    "history": ("history", "tool_results", "input"),
}
"""The article's account of one round; the reply is its fifth line."""
KINDS_OF_CONTEXT = {
    "user input": ("input",),
    "tool calls and results": ("tool_results", "files", "retrieved"),
    "history": ("history", "memory", "task", "system"),
    "tool definitions": ("tool_schema",),
}
LOW_EFFECTIVE_RATIO = 0.40
HIGH_TOOL_SHARE = 0.70
"""Alarms. Source: the sliding-window article, §4.3."""


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """One block's cost."""

    name: str
    category: str
    tokens: int
    source: str = ""
    position: int = 0
    """0 at the top."""


@dataclass(frozen=True, slots=True)
class TokenLedger:
    """The account of one turn."""

    turn: int
    budget_tokens: int
    total_tokens: int
    """Of the rendered text; the lines add up to about the same, for a tokenizer may join their borders."""
    lines: tuple[LedgerLine, ...] = ()
    reply_tokens: int = 0
    version: str = ""

    def by_category(self) -> dict[str, int]:
        """Return the tokens of each category, 0 where there are none."""
        sums = dict.fromkeys(CATEGORIES, 0)
        for line in self.lines:
            sums[line.category] += line.tokens
        return sums

    def grouped(self, groups: Mapping[str, Sequence[str]]) -> dict[str, int]:
        """Return the tokens of each group of categories: `SHARES`, `ROUND_LINES`, `KINDS_OF_CONTEXT`."""
        sums = self.by_category()
        return {name: sum(sums[category] for category in members) for name, members in groups.items()}

    def folded(self) -> "TokenLedger":
        """Return the ledger with one line a category: what is kept of older turns, for state files must stay small."""
        sums = self.by_category()
        return replace(self, lines=tuple(LedgerLine(name, name, tokens) for name, tokens in sums.items() if tokens))

    def alarms(self, effective_ratio: float | None = None) -> tuple[str, ...]:
        """Return what is out of proportion, in words."""
        found = []
        total = sum(line.tokens for line in self.lines)
        results = self.by_category()["tool_results"]
        if total and results / total > HIGH_TOOL_SHARE:
            found.append(f"tool output takes {results / total:.0%} of the context: compact it")
        if effective_ratio is not None and effective_ratio < LOW_EFFECTIVE_RATIO:
            found.append(f"only {effective_ratio:.0%} of the context was used: look at routing and recall")
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
    """Lines that were cited, opened or edited later; (1, 0) stands for the file as a whole."""

    path: str
    turn: int
    first_line: int = 1
    last_line: int = 0


def effective_ratio(supplied: Iterable[ShownLines], uses: Iterable[LineUse], *, within_turns: int = 6) -> float | None:
    """Return the share of the supplied tokens whose lines were used in the same turn or soon after, None without any.

    A use of a whole file makes all its supplied lines effective. It is a lower bound: what was only read is not seen.
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
    """A session's turns in numbers."""

    n_turns: int
    mean_tokens: float
    peak_tokens: int
    deviation_tokens: float
    """Standard deviation of the tokens of a turn: small means predictable."""
    shares: Mapping[str, float] = field(default_factory=dict)


def summarise_ledgers(ledgers: Sequence[TokenLedger]) -> LedgerSummary:
    """Return mean, peak and shares of a session."""
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
