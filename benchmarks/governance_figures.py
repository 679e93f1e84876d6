"""Governance figures: what is measured of a policy over sessions, with its uncertainty, as tables and as a plot."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

import numpy as np

N_RESAMPLES = 2_000
UNBOUNDED = "full"
"""The policy that drops nothing, whatever the budget."""
Cell = tuple[str, int]
"""Policy, budget; 0 for none."""


@dataclass(slots=True)
class Figures:
    """What is measured of one policy, over one session or several."""

    n_wanted: int = 0
    """Acts that open or edit a file that was there."""
    n_full: int = 0
    n_digest: int = 0
    n_again: int = 0
    """The same for files that had been touched before in the session: only these can be in view without prediction."""
    n_again_full: int = 0
    n_again_digest: int = 0
    tokens: list[int] = field(default_factory=list)
    """Of each turn, the system prompt included."""
    n_stale_turns: int = 0
    n_goal_turns: int = 0
    n_refused_turns: int = 0
    """Turns for which the policy gave nothing, for the task alone is larger than the budget."""
    n_switches: int = 0
    n_oscillations: int = 0
    n_late_reversals: int = 0
    seconds: float = 0.0

    def row(self) -> dict[str, float]:
        """Return the figures as shares and means."""
        turns, wanted, again = len(self.tokens) or 1, self.n_wanted or 1, self.n_again or 1
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
    """The figures of each policy at each budget, session by session."""

    tasks: tuple[str, ...]
    """Of each session."""
    cells: Mapping[Cell, Sequence[Figures]]

    def total(self, cell: Cell) -> Figures:
        """Return the figures of a policy over all sessions."""
        return joined(self.cells[cell])

    def rows(self) -> dict[Cell, dict[str, float]]:
        """Return the figures of all policies as shares and means."""
        return {cell: self.total(cell).row() for cell in self.cells}

    def budgets(self) -> list[int]:
        """Return the budgets, without the one that is none."""
        return sorted({budget for _, budget in self.cells if budget})

    def names(self) -> list[str]:
        """Return the policies."""
        return list(dict.fromkeys(name for name, _ in self.cells))

    def only(self, chosen: Sequence[bool]) -> "Measured":
        """Return the figures of some of the sessions."""
        tasks = tuple(task for task, is_in in zip(self.tasks, chosen, strict=True) if is_in)
        cells = {
            cell: [one for one, is_in in zip(figures, chosen, strict=True) if is_in]
            for cell, figures in self.cells.items()
        }
        return Measured(tasks, cells)


def joined(parts: Iterable[Figures]) -> Figures:
    """Return the figures of all."""
    total = Figures()
    for part in parts:
        for name in Figures.__slots__:
            setattr(total, name, getattr(total, name) + getattr(part, name))
    return total


def interval_of_lead(measured: Measured, cell: Cell, other: Cell | None, rate: str) -> tuple[float, float]:
    """Return the 95 % interval of a rate, "in view" or "full", or of its lead over another policy's.

    Whole tasks are drawn, for sessions of one task are alike.
    """
    tasks = sorted(set(measured.tasks))
    place = {task: index for index, task in enumerate(tasks)}

    def sums(chosen: Cell) -> tuple[np.ndarray, np.ndarray]:
        hits, wanted = np.zeros(len(tasks)), np.zeros(len(tasks))
        for task, figures in zip(measured.tasks, measured.cells[chosen], strict=True):
            hits[place[task]] += figures.n_full + (figures.n_digest if rate == "in view" else 0)
            wanted[place[task]] += figures.n_wanted
        return hits, wanted

    draws = np.random.default_rng(0).multinomial(len(tasks), np.full(len(tasks), 1 / len(tasks)), size=N_RESAMPLES)

    def rates(chosen: Cell) -> np.ndarray:
        hits, wanted = sums(chosen)
        found: np.ndarray = (draws @ hits) / np.maximum(1, draws @ wanted)
        return found

    found = rates(cell) - (rates(other) if other is not None else 0.0)
    low, high = np.quantile(found, (0.025, 0.975))
    return float(low), float(high)


def at_equal_rate(rows: Mapping[Cell, Mapping[str, float]], rate: str) -> dict[str, float | None]:
    """Return each policy's mean tokens where its rate is that of full injection, as a share of full injection's tokens.

    Between two budgets the way is taken as straight. None for a policy that does not get there at any budget.
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


def marks(measured: Measured) -> str:
    """Return how ours stands to the marks: price at full injection's rates, and lead over the best at each budget."""
    rows, told = measured.rows(), []
    for rate in ("in view", "full"):
        shares = (
            f"{name} {'never' if share is None else f'{share:.0%}'}"
            for name, share in at_equal_rate(rows, rate).items()
        )
        told.append(f"tokens at full injection's rate '{rate}', as a share of its tokens: {', '.join(shares)}")
    for budget in measured.budgets():
        told += [_lead(measured, rows, budget, rate) for rate in ("in view", "full") if ("ours", budget) in rows]
    return "\n".join(told)


def _lead(measured: Measured, rows: Mapping[Cell, Mapping[str, float]], budget: int, rate: str) -> str:
    ours = ("ours", budget)
    others = [cell for cell in rows if cell[1] == budget and not cell[0].startswith("ours")]
    low, high = interval_of_lead(measured, ours, None, rate)
    line = f"'{rate}' at {budget:,}: ours {rows[ours][rate]:.3f} [{low:.3f}, {high:.3f}]"
    if others:
        best = max(others, key=lambda cell: rows[cell][rate])
        low, high = interval_of_lead(measured, ours, best, rate)
        lead = rows[ours][rate] - rows[best][rate]
        line += (
            f"; best other of the budget {rows[best][rate]:.3f} ({best[0]}), lead {lead:+.3f} [{low:+.3f}, {high:+.3f}]"
        )
    return line


def table(measured: Measured) -> str:
    """Return the figures as a Markdown table."""
    names = list(Figures().row())
    lines = ["| policy | budget | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for (policy, budget), row in measured.rows().items():
        values = [f"{value:,.0f}" if value >= 100 else f"{value:.3f}" for value in row.values()]
        lines.append(f"| {policy} | {budget or 'none'} | " + " | ".join(values) + " |")
    return "\n".join(lines)


def plot(measured: Measured, path: Path) -> None:
    """Write in-view rate and rate in full against mean tokens as SVG: a line a policy, a dot a budget."""
    rows = measured.rows()
    widest = max((row["mean tokens"] for row in rows.values()), default=1.0) * 1.15
    parts = [
        panel
        for left, rate in ((60, "in view"), (500, "full"))
        for panel in _panel(measured.names(), rows, left, rate, widest)
    ]
    path.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="440" font-family="sans-serif" font-size="11">'
        f'<text x="300" y="430">mean tokens a turn, from 0 to {widest:,.0f}</text>{"".join(parts)}</svg>\n',
        encoding="utf-8",
    )


COLOURS = ("#222222", "#b2182b", "#2166ac", "#8c6d31", "#1b7837", "#762a83", "#e08214", "#35978f")


def _panel(
    names: Sequence[str], rows: Mapping[Cell, Mapping[str, float]], left: int, rate: str, widest: float
) -> Iterable[str]:
    """Yield one half of the plot: axes, lines and dots."""
    yield f'<path d="M{left} 40V380H{left + 380}" fill="none" stroke="black"/><text x="{left}" y="30">{rate} (top = 1)</text>'
    for name, colour in zip(names, COLOURS * (len(names) // len(COLOURS) + 1), strict=False):
        places = [
            (left + 380 * rows[cell]["mean tokens"] / widest, 380 - 340 * rows[cell][rate], cell[1])
            for cell in sorted(cell for cell in rows if cell[0] == name)
        ]
        line = " ".join(f"{x:.0f},{y:.0f}" for x, y, _ in places)
        yield f'<polyline points="{line}" fill="none" stroke="{colour}"/>'
        for x, y, budget in places:
            yield f'<circle cx="{x:.0f}" cy="{y:.0f}" r="3" fill="{colour}"><title>{name} {budget or ""}</title></circle>'
        x, y, _ = places[-1]
        yield f'<text x="{x + 5:.0f}" y="{y - 4:.0f}" fill="{colour}">{name}</text>'
