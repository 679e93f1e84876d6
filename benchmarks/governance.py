"""Governance: recorded agent sessions, replayed through policies; what was in view, and at what price.

No model is called. At the start of each turn a policy says what it shows; then the acts of the turn are looked up in
it: were the lines that the agent now opens or edits there in full, as a digest, or not at all?
"""

import argparse
import json
import random
import sys
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from benchmarks.plots import governance_chart
from benchmarks.policies import SYSTEM_TOKENS, Event, Policy, View, Workspace, make_policy
from benchmarks.result_files import new_result, write_result
from codecards.router.compaction import compact
from codecards.router.entities import find_entities, survival
from codecards.router.tokens import estimate_tokens

DEFAULT_POLICIES = ("full", "sliding", "summary", "fifo", "ours")
OSCILLATION_TURNS = 6
"""A switch that is reversed within so many turns is an oscillation. The router's own dead time is longer by default, so
that 0 shows only that it works; the reversals within twice as many turns are counted beside."""
SURVIVAL_TARGETS = (250, 500, 1_000)
SUFFIXES = (".py", ".java", ".c", ".h", ".js", ".ts", ".go", ".rs", ".rst", ".md", ".txt", ".toml", ".cfg", ".ini")


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded session."""

    name: str
    task: str
    events: tuple[Event, ...]
    tree: Path


@dataclass(slots=True)
class Figures:
    """What is measured of one policy."""

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
            "switches/100": 100 * self.n_switches / turns,
            "oscillations": float(self.n_oscillations),
            "later reversals": float(self.n_late_reversals),
            "ms/turn": 1000 * self.seconds / turns,
        }


def joined(one: Figures, other: Figures) -> Figures:
    """Return the figures of both."""
    return Figures(**{name: getattr(one, name) + getattr(other, name) for name in Figures.__slots__})


def read_recordings(path: Path, trees: Path) -> Iterator[Recording]:
    """Yield the recorded sessions whose tree is laid out; see the file's own description for its fields."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            tree = trees / row["id"].rpartition("/")[2]
            if tree.is_dir():
                yield Recording(row["id"], row["task"], tuple(_event(event) for event in row["events"]), tree)


def _event(row: dict[str, object]) -> Event:
    def number(key: str) -> int:
        value = row[key]
        return value if isinstance(value, int) else 0

    path = row["path"] if isinstance(row["path"], str) else ""
    return Event(
        number("turn"),
        str(row["kind"]),
        path.removeprefix("./"),
        number("start"),
        number("end"),
        number("in_chars"),
        number("out_chars"),
        bool(row["error"]),
    )


def in_part(recording: Recording, part: str) -> bool:
    """Return whether a session belongs to a part: "all", "tuning" or "held-out", halves by the task's name.

    All sessions of one task are in the same half. Only the tuning half was looked at while the policy was made.
    """
    is_tuning = zlib.crc32(recording.name.rpartition("/")[2].encode()) % 2 == 0
    return part == "all" or is_tuning == (part == "tuning")


def read_texts(recording: Recording) -> dict[str, str]:
    """Return the texts at the base commit of the files that the session touches, or its task names."""
    texts = {}
    named = {entity.text for entity in find_entities(recording.task) if entity.kind == "path"}
    for path in sorted(path for path in {event.path for event in recording.events} | named if path.endswith(SUFFIXES)):
        file = recording.tree / path
        if ".." not in Path(path).parts and file.is_file():
            texts[path] = file.read_text(encoding="utf-8", errors="replace")
    return texts


def replay(recording: Recording, texts: dict[str, str], policy: Policy, figures: Figures) -> None:
    """Run one session through a policy and add to its figures."""
    workspace = Workspace(texts)
    policy.begin(recording.task, workspace)
    touched: set[str] = set()
    last_switch: dict[str, tuple[int, str]] = {}
    for number, turn in enumerate(_turns(recording.events)):
        started = time.perf_counter()
        view = policy.view()
        figures.seconds += time.perf_counter() - started
        figures.tokens.append(view.tokens + SYSTEM_TOKENS)
        figures.n_goal_turns += view.has_goal
        figures.n_stale_turns += any(workspace.is_stale(fragment) for fragment in view.fragments)
        for path, kind in view.switches:
            before = last_switch.get(path)
            if before is not None and before[1] != kind:
                figures.n_oscillations += number - before[0] <= OSCILLATION_TURNS
                figures.n_late_reversals += OSCILLATION_TURNS < number - before[0] <= 2 * OSCILLATION_TURNS
            figures.n_switches += 1
            last_switch[path] = (number, kind)
        for event in turn:
            if event.kind in ("read", "edit") and event.path in workspace.texts:
                _look_up(event, view, workspace, event.path in touched, figures)
            if event.is_write and event.path:
                workspace.write(event)
            policy.take(event)
            touched.add(event.path)


def _turns(events: Iterable[Event]) -> Iterator[list[Event]]:
    turn: list[Event] = []
    for event in events:
        if turn and event.turn != turn[0].turn:
            yield turn
            turn = []
        turn.append(event)
    if turn:
        yield turn


def _look_up(event: Event, view: View, workspace: Workspace, is_again: bool, figures: Figures) -> None:
    """Count one act as in full, in digest or absent; lines that are stale do not count as seen."""
    n_lines = len(workspace.texts[event.path].splitlines())
    runs = [
        (fragment.first_line, fragment.last_line or n_lines)
        for fragment in view.fragments
        if fragment.path == event.path and not workspace.is_stale(fragment)
    ]
    first = event.first_line or 1
    last = min(event.last_line or (first if event.first_line else n_lines), n_lines)
    if event.first_line == 0:
        # The record has no lines: any part of the file's text counts.
        full = bool(runs)
    else:
        seen = set[int]()
        for start, end in runs:
            seen.update(range(max(start, first), min(end, last) + 1))
        full = len(seen) >= max(1, last - first + 1)
    digest = not full and (event.path in view.digests or bool(runs))
    figures.n_wanted += 1
    figures.n_full += full
    figures.n_digest += digest
    if is_again:
        figures.n_again += 1
        figures.n_again_full += full
        figures.n_again_digest += digest


def entity_survival(recordings: Sequence[Recording]) -> dict[int, float]:
    """Return the mean share of entities of the tasks' own texts that survive a compaction to each target.

    A task whose entities alone are larger than the target counts too, so that small targets are below 1.
    """
    texts = [task for task in {recording.task for recording in recordings} if task.strip()]
    return {
        target: fmean(survival(text, _joined(text, target)) for text in texts) if texts else 1.0
        for target in SURVIVAL_TARGETS
    }


def _joined(text: str, target: int) -> str:
    return json.dumps(compact(text, target).as_json(), ensure_ascii=False).replace("\\\\", "\\")


def measure(
    recordings: Sequence[Recording], policies: Sequence[str], budgets: Sequence[int]
) -> dict[tuple[str, int], Figures]:
    """Return the figures of each policy at each budget; policies without a budget are run once, as budget 0."""
    cells = [(name, 0 if name == "full" else budget) for name in policies for budget in budgets]
    found = {cell: Figures() for cell in dict.fromkeys(cells)}
    for number, recording in enumerate(recordings, 1):
        texts = read_texts(recording)
        for (name, budget), figures in found.items():
            replay(recording, texts, make_policy(name, budget), figures)
        print(f"\r{number}/{len(recordings)} sessions", end="", file=sys.stderr)
    print(file=sys.stderr)
    return found


def at_equal_rate(found: Mapping[tuple[str, int], Figures], rate: str) -> dict[str, float | None]:
    """Return each policy's mean tokens where its rate is that of full injection, as a share of full injection's tokens.

    Between two budgets the way is taken as straight. None for a policy that does not get there at any budget.
    """
    full = next((figures.row() for (name, _), figures in found.items() if name == "full"), None)
    if full is None:
        return {}
    shares: dict[str, float | None] = {}
    for name in dict.fromkeys(name for name, _ in found if name != "full"):
        before: dict[str, float] | None = None
        shares[name] = None
        for row in (found[cell].row() for cell in sorted(cell for cell in found if cell[0] == name)):
            if row[rate] >= full[rate]:
                tokens = row["mean tokens"]
                if before is not None:
                    part = (full[rate] - before[rate]) / (row[rate] - before[rate])
                    tokens = before["mean tokens"] + part * (tokens - before["mean tokens"])
                shares[name] = tokens / full["mean tokens"]
                break
            before = row
    return shares


def marks(found: Mapping[tuple[str, int], Figures]) -> str:
    """Return how ours stands to the marks: price at full injection's rates, and lead over the best other policy."""
    rows = []
    for rate in ("in view", "full"):
        told = (
            f"{name} {'never' if share is None else f'{share:.0%}'}"
            for name, share in at_equal_rate(found, rate).items()
        )
        rows.append(f"tokens at full injection's rate '{rate}', as a share of its tokens: {', '.join(told)}")
    for budget in sorted({budget for name, budget in found if name == "ours"}):
        for rate in ("in view", "full"):
            others = {
                name: figures.row()[rate]
                for (name, at), figures in found.items()
                if name != "ours" and at in (0, budget)
            }
            if others:
                best = max(others, key=others.__getitem__)
                ours = found["ours", budget].row()[rate]
                rows.append(f"'{rate}' at {budget:,}: ours {ours:.3f}, best other {others[best]:.3f} ({best})")
    return "\n".join(rows)


def table(found: Mapping[tuple[str, int], Figures]) -> str:
    """Return the figures as a Markdown table."""
    names = list(Figures().row())
    rows = ["| policy | budget | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for (policy, budget), figures in found.items():
        values = [f"{value:,.0f}" if value >= 100 else f"{value:.3f}" for value in figures.row().values()]
        rows.append(f"| {policy} | {budget or 'none'} | " + " | ".join(values) + " |")
    return "\n".join(rows)


def rows_by_name(found: Mapping[tuple[str, int], Figures]) -> dict[str, dict[str, float]]:
    """Return "ours 2000", "full" … → figure → value."""
    return {f"{name} {budget or ''}".strip(): figures.row() for (name, budget), figures in found.items()}


def _save(
    recordings: Sequence[Recording], parts: Mapping[str, Mapping[tuple[str, int], Figures]], survivals: dict[int, float]
) -> None:
    """Write a result file for each part."""
    for part, found in parts.items():
        figures = rows_by_name(found)
        figures["ours: entity survival"] = {str(target): share for target, share in survivals.items()}
        settings = {"part": part, "n_sessions": sum(in_part(one, part) for one in recordings)}
        print(write_result(new_result(f"governance-{part}", settings, figures)))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks governance", description=__doc__)
    parser.add_argument("--sessions", type=Path, required=True, help="recorded sessions, one JSON object a line")
    parser.add_argument("--trees", type=Path, required=True, help="one folder a task, at its base commit")
    names = "full, sliding, summary, fifo, ours, ours:demote=3,promote=1; may be given several times"
    parser.add_argument("--policy", action="append", help=names)
    parser.add_argument("--budget", action="append", type=int, help="tokens a turn; may be given several times")
    parser.add_argument("--limit", type=int, default=0, help="a sample of so many sessions, always the same")
    parser.add_argument("--part", choices=["all", "tuning", "held-out"], default="all", help="which half, by task")
    parser.add_argument("--plot", type=Path, help="write an SVG here")
    parser.add_argument("--save", action="store_true", help="write a result file into benchmarks/results")
    parser.add_argument("--json", type=Path, help="write the figures here")
    given = parser.parse_args(argv)
    recordings = [one for one in read_recordings(given.sessions, given.trees) if in_part(one, given.part)]
    if not recordings:
        print("No recorded session has its tree laid out.", file=sys.stderr)
        return 3
    if given.limit and given.limit < len(recordings):
        recordings = random.Random(0).sample(recordings, given.limit)
    policies, budgets = given.policy or DEFAULT_POLICIES, given.budget or (2_000, 4_000, 8_000, 12_000)
    halves = {
        part: measure([one for one in recordings if in_part(one, part)], policies, budgets)
        for part in ("tuning", "held-out")
    }
    found = {cell: joined(figures, halves["held-out"][cell]) for cell, figures in halves["tuning"].items()}
    print(f"{len(recordings)} sessions, {sum(len(list(_turns(one.events))) for one in recordings)} turns\n")
    print(f"{table(found)}\n\n{marks(found)}")
    if given.part == "all":
        print(f"\nthe held-out half alone\n\n{table(halves['held-out'])}\n\n{marks(halves['held-out'])}")
    survivals = entity_survival(recordings)
    print("\nentity survival: " + ", ".join(f"{share:.3f} at {target}" for target, share in survivals.items()))
    mean = fmean(estimate_tokens(one.task) for one in recordings)
    print(f"(compacted texts have {mean:.0f} tokens in the mean)")
    if given.save:
        _save(recordings, {"all": found, **halves} if given.part == "all" else {given.part: found}, survivals)
    if given.json:
        rows = [{"policy": name, "budget": budget, **figures.row()} for (name, budget), figures in found.items()]
        given.json.write_text(json.dumps({"sessions": len(recordings), "rows": rows}, indent=1), encoding="utf-8")
    if given.plot:
        given.plot.write_text(governance_chart(rows_by_name(found), len(recordings)), encoding="utf-8")
    return 0
