"""Figures of context policies over sessions, with their uncertainty, and the tables that show them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

N_RESAMPLES = 2_000
UNBOUNDED = "full"
"""The policy that never drops anything."""
FigureCell = tuple[str, int]
"""Policy, budget; 0 for none."""


@dataclass(slots=True)
class SessionFigures:
    """Figures of one policy over one or several sessions."""

    n_accesses: int = 0
    """Tool calls that open or edit an existing file."""
    n_full: int = 0
    n_digest: int = 0
    n_again: int = 0
    """Those that touch a file again in the session: only these files can be in view without prediction."""
    n_again_full: int = 0
    n_again_digest: int = 0
    tokens: list[int] = field(default_factory=list)
    """Tokens of each turn, with the system prompt."""
    n_stale_turns: int = 0
    n_goal_turns: int = 0
    n_refused_turns: int = 0
    """Turns without a context, because the task alone exceeds the budget."""
    n_switches: int = 0
    n_oscillations: int = 0
    n_late_reversals: int = 0
    seconds: float = 0.0
    """CPU time spent on making the contexts."""

    def row(self) -> dict[str, float]:
        """Return the figures as shares and means."""
        turns, wanted, again = len(self.tokens) or 1, self.n_accesses or 1, self.n_again or 1
        return {
            "in view": (self.n_full + self.n_digest) / wanted,
            "full": self.n_full / wanted,
            "again in view": (self.n_again_full + self.n_again_digest) / again,
            "again full": self.n_again_full / again,
            "mean tokens": fmean(self.tokens) if self.tokens else 0.0,
            "peak tokens": float(max(self.tokens, default=0)),
            "stale turns": self.n_stale_turns / turns,
            "goal kept": self.n_goal_turns / turns,
            "refused": self.n_refused_turns / turns,
            "switches/100": 100 * self.n_switches / turns,
            "oscillations": float(self.n_oscillations),
            "later reversals": float(self.n_late_reversals),
            "ms/turn": 1000 * self.seconds / turns,
        }


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of each policy at each budget, session by session."""

    tasks: tuple[str, ...]
    """The task of each session."""
    cells: Mapping[FigureCell, Sequence[SessionFigures]]

    def total(self, cell: FigureCell) -> SessionFigures:
        """Return the figures of a policy over all sessions."""
        return merge_figures(self.cells[cell])

    def rows(self) -> dict[FigureCell, dict[str, float]]:
        """Return the figures of all policies as shares and means."""
        return {cell: self.total(cell).row() for cell in self.cells}

    def named_rows(self) -> dict[str, dict[str, float]]:
        """Return "ours 2000", "full" … → figures, as in a result file."""
        return {f"{name} {budget or ''}".strip(): row for (name, budget), row in self.rows().items()}

    def budgets(self) -> list[int]:
        """Return the budgets, ascending, without 0."""
        return sorted({budget for _, budget in self.cells if budget})

    def only(self, chosen: Sequence[bool]) -> "Measured":
        """Return the figures of the chosen sessions."""
        tasks = tuple(task for task, is_in in zip(self.tasks, chosen, strict=True) if is_in)
        cells = {
            cell: [one for one, is_in in zip(figures, chosen, strict=True) if is_in]
            for cell, figures in self.cells.items()
        }
        return Measured(tasks, cells)


def merge_figures(parts: Iterable[SessionFigures]) -> SessionFigures:
    """Return the sum of some figures."""
    total = SessionFigures()
    for part in parts:
        for name in SessionFigures.__slots__:
            setattr(total, name, getattr(total, name) + getattr(part, name))
    return total


def interval_of_lead(measured: Measured, cell: FigureCell, other: FigureCell | None, rate: str) -> tuple[float, float]:
    """Return the 95 % interval of a rate, "in view" or "full", or of its lead over another policy's rate.

    Whole tasks are resampled (bootstrap), because sessions of one task are alike.
    """
    tasks = sorted(set(measured.tasks))
    place = {task: index for index, task in enumerate(tasks)}

    def sums(chosen: FigureCell) -> tuple[np.ndarray, np.ndarray]:
        hits, wanted = np.zeros(len(tasks)), np.zeros(len(tasks))
        for task, figures in zip(measured.tasks, measured.cells[chosen], strict=True):
            hits[place[task]] += figures.n_full + (figures.n_digest if rate == "in view" else 0)
            wanted[place[task]] += figures.n_accesses
        return hits, wanted

    draws = np.random.default_rng(0).multinomial(len(tasks), np.full(len(tasks), 1 / len(tasks)), size=N_RESAMPLES)

    def rates(chosen: FigureCell) -> np.ndarray:
        hits, wanted = sums(chosen)
        found: np.ndarray = (draws @ hits) / np.maximum(1, draws @ wanted)
        return found

    found = rates(cell) - (rates(other) if other is not None else 0.0)
    low, high = np.quantile(found, (0.025, 0.975))
    return float(low), float(high)


def at_equal_rate(rows: Mapping[FigureCell, Mapping[str, float]], rate: str) -> dict[str, float | None]:
    """Return policy -> mean tokens at which it reaches full injection's rate, as a share of full injection's tokens.

    Interpolates linearly between two budgets; None for a policy that does not reach the rate at any budget.
    """
    full = rows.get((UNBOUNDED, 0))
    if full is None:
        return {}
    shares: dict[str, float | None] = {}
    for name in dict.fromkeys(name for name, _ in rows if name != UNBOUNDED):
        before: Mapping[str, float] | None = None
        shares[name] = None
        for row in (rows[cell] for cell in sorted(cell for cell in rows if cell[0] == name)):
            if row[rate] >= full[rate]:
                tokens = row["mean tokens"]
                if before is not None:
                    part = (full[rate] - before[rate]) / (row[rate] - before[rate])
                    tokens = before["mean tokens"] + part * (tokens - before["mean tokens"])
                shares[name] = tokens / full["mean tokens"]
                break
            before = row
    return shares


@dataclass(frozen=True, slots=True)
class PolicyLead:
    """Lead of our policy over the best other one at one budget, with 95 % intervals."""

    rate: str
    """"in view" or "full"."""
    budget: int
    ours: float
    interval: tuple[float, float]
    best_other: str
    """Name of that policy; "" if no other one ran at the budget."""
    lead: float = 0.0
    lead_interval: tuple[float, float] = (0.0, 0.0)

    def describe(self) -> str:
        """Return the lead as one line of text."""
        low, high = self.interval
        line = f"'{self.rate}' at {self.budget:,}: ours {self.ours:.3f} [{low:.3f}, {high:.3f}]"
        if not self.best_other:
            return line
        low, high = self.lead_interval
        best = f"{self.ours - self.lead:.3f} ({self.best_other})"
        return f"{line}; best other of the budget {best}, lead {self.lead:+.3f} [{low:+.3f}, {high:+.3f}]"


def leads(measured: Measured) -> Iterator[PolicyLead]:
    """Yield our policy's lead over the best other one, for each budget and both rates."""
    rows = measured.rows()
    for budget in measured.budgets():
        ours = ("ours", budget)
        others = [cell for cell in rows if cell[1] == budget and not cell[0].startswith("ours")]
        for rate in ("in view", "full") if ours in rows else ():
            interval = interval_of_lead(measured, ours, None, rate)
            if others:
                best = max(others, key=lambda cell: rows[cell][rate])
                lead = rows[ours][rate] - rows[best][rate]
                lead_interval = interval_of_lead(measured, ours, best, rate)
                yield PolicyLead(rate, budget, rows[ours][rate], interval, best[0], lead, lead_interval)
            else:
                yield PolicyLead(rate, budget, rows[ours][rate], interval, "")


def summary_lines(measured: Measured) -> str:
    """Return the lines below the table: tokens at full injection's rates, and our lead at each budget."""
    lines = []
    for rate in ("in view", "full"):
        shares = [
            f"{name} {'never' if share is None else f'{share:.0%}'}"
            for name, share in at_equal_rate(measured.rows(), rate).items()
        ]
        if not shares:
            continue  # full injection did not run
        lines.append(f"tokens at full injection's rate '{rate}', as a share of its tokens: {', '.join(shares)}")
    return "\n".join([*lines, *(lead.describe() for lead in leads(measured))])


def table(measured: Measured) -> str:
    """Return the figures as a Markdown table."""
    names = list(SessionFigures().row())
    lines = ["| policy | budget | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for (policy, budget), row in measured.rows().items():
        values = [f"{value:,.0f}" if value >= 100 else f"{value:.3f}" for value in row.values()]
        lines.append(f"| {policy} | {budget or 'none'} | " + " | ".join(values) + " |")
    return "\n".join(lines)
