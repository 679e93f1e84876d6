"""Replays agent sessions, recorded or derived from git histories, through context policies.

It measures what each policy keeps in view, and how many tokens that costs; no model is called. At the start of each turn
a policy shows its context. The tool calls of the turn are then looked up in it: the lines that the agent opens or edits
are shown in full, as a digest, or not at all.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean

from benchmarks.report.charts import governance_chart
from benchmarks.result_files import new_result, write_result
from benchmarks.sessions.figures import FigureCell, Measured, SessionFigures, at_equal_rate, leads, summary_lines, table
from benchmarks.sessions.from_history import mine_sessions, repository_name
from benchmarks.sessions.policies import SYSTEM_TOKENS, Event, Policy, View, Workspace, make_policy
from benchmarks.sessions.recordings import PARTS, Recording, in_part, read_recordings, turns
from codecards.router.compress.compaction import compact
from codecards.router.compress.entities import survival
from codecards.router.compress.token_count import estimate_tokens

CHECKOUT = Path(__file__).parents[2]
DEFAULT_POLICIES = ("full", "sliding", "summary", "fifo", "ours")
DEFAULT_BUDGETS = (500, 1_000, 2_000, 4_000, 8_000, 12_000)
GOAL_CHARACTERS = 800
"""Length of the goal that every policy gets, the start of the task's text: a whole issue exceeds the small budgets."""
OSCILLATION_TURNS = 6
"""A switch that is reversed within this many turns is an oscillation. The router's cooldown is longer by default, so 0 only
shows that the cooldown works; reversals within twice as many turns are counted separately."""
SURVIVAL_TARGETS = (250, 500, 1_000)


def replay(recording: Recording, texts: dict[str, str], policy: Policy, figures: SessionFigures) -> None:
    """Replay one session through a policy, and add to its figures."""
    workspace = Workspace(texts)
    policy.begin(recording.task[:GOAL_CHARACTERS] or "fix the issue", workspace)
    touched: set[str] = set()
    last_switch: dict[str, tuple[int, str]] = {}
    for number, turn in enumerate(turns(recording.events)):
        started = time.process_time()
        view = policy.view()
        figures.seconds += time.process_time() - started
        figures.tokens.append(view.tokens + SYSTEM_TOKENS)
        figures.n_goal_turns += view.has_goal
        figures.n_refused_turns += view.is_refused
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


def _look_up(event: Event, view: View, workspace: Workspace, is_again: bool, figures: SessionFigures) -> None:
    """Count the lines of one tool call as shown in full, by a digest, or not; stale lines are not shown."""
    n_lines = len(workspace.texts[event.path].splitlines())
    runs = [
        (fragment.first_line, fragment.last_line or n_lines)
        for fragment in view.fragments
        if fragment.path == event.path and not workspace.is_stale(fragment)
    ]
    first = event.first_line or 1
    last = min(event.last_line or (first if event.first_line else n_lines), n_lines)
    if event.first_line == 0:
        # The recording has no line numbers: any part of the file's text counts.
        full = bool(runs)
    else:
        seen = set[int]()
        for start, end in runs:
            seen.update(range(max(start, first), min(end, last) + 1))
        full = len(seen) >= max(1, last - first + 1)
    digest = not full and (event.path in view.digests or bool(runs))
    figures.n_accesses += 1
    figures.n_full += full
    figures.n_digest += digest
    if is_again:
        figures.n_again += 1
        figures.n_again_full += full
        figures.n_again_digest += digest


def entity_survival(recordings: Sequence[Recording]) -> dict[int, float]:
    """Return target in tokens -> mean share of the entities in the tasks' texts that survive a compaction to it.

    Tasks whose entities alone exceed the target count too, so small targets are below 1.
    """
    texts = [task for task in {recording.task for recording in recordings} if task.strip()]
    return {
        target: fmean(survival(text, _joined(text, target)) for text in texts) if texts else 1.0
        for target in SURVIVAL_TARGETS
    }


def _joined(text: str, target: int) -> str:
    return json.dumps(compact(text, target).as_json(), ensure_ascii=False).replace("\\\\", "\\")


def measure(recordings: Sequence[Recording], policies: Sequence[str], budgets: Sequence[int]) -> Measured:
    """Return the figures of each policy at each budget; a policy without a budget runs once, as budget 0."""
    cells = [(name, 0 if name == "full" else budget) for name in policies for budget in budgets]
    found: dict[FigureCell, list[SessionFigures]] = {cell: [] for cell in dict.fromkeys(cells)}
    for number, recording in enumerate(recordings, 1):
        texts = recording.texts()
        for (name, budget), figures in found.items():
            figures.append(SessionFigures())
            replay(recording, texts, make_policy(name, budget), figures[-1])
        print(f"\r{number}/{len(recordings)} sessions", end="", file=sys.stderr)
    print(file=sys.stderr)
    return Measured(tuple(one.task_name for one in recordings), found)


def report(what: str, recordings: Sequence[Recording], measured: Measured) -> str:
    """Return the tables of one kind of sessions: all sessions, then the held-out half if both halves are given."""
    n_turns = sum(len(list(turns(one.events))) for one in recordings)
    parts = [f"{what}: {len(recordings)} sessions, {len(set(measured.tasks))} tasks, {n_turns} turns"]
    parts += [table(measured), summary_lines(measured)]
    held_out = [in_part(one, "held-out") for one in recordings]
    if any(held_out) and not all(held_out):
        half = measured.only(held_out)
        parts += [f"the held-out half alone: {sum(held_out)} sessions", table(half), summary_lines(half)]
    return "\n\n".join(parts)


def _save(
    what: str,
    recordings: Sequence[Recording],
    measured: Measured,
    survivals: Mapping[int, float],
    settings: Mapping[str, object],
) -> None:
    """Write a result file for all sessions and one for each half, for `python -m benchmarks plots`."""
    for part in ("all", *PARTS):
        chosen = [in_part(one, part) for one in recordings]
        # If only one half was replayed, there are no figures of "all" or of the other half.
        if not any(chosen) or (part == "all" and any(all(in_part(one, half) for one in recordings) for half in PARTS)):
            continue
        half = measured.only(chosen)
        figures: dict[str, object] = {**half.named_rows()}
        figures["ours: entity survival"] = {str(target): share for target, share in survivals.items()}
        figures["ours: leads"] = {f"{lead.rate} at {lead.budget}": asdict(lead) for lead in leads(half)}
        figures["tokens at full injection's rate"] = {
            rate: at_equal_rate(half.rows(), rate) for rate in ("in view", "full")
        }
        stated = {"part": part, "n_sessions": len(half.tasks), "n_tasks": len(set(half.tasks)), **settings}
        print(write_result(new_result(f"{what}-{part}", stated, figures)))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit status, 3 if there is no session to replay."""
    given = _read_arguments(argv)
    kinds = _sessions(given)
    if not any(kinds.values()):
        print(
            "There is no session to replay: name recorded sessions with --sessions FILE --trees DIR, or a git repository with"
            " enough commits with --history GITDIR.",
            file=sys.stderr,
        )
        return 3
    policies, budgets = given.policy or DEFAULT_POLICIES, given.budget or DEFAULT_BUDGETS
    figures: dict[str, Measured] = {}
    for what, recordings in kinds.items():
        if given.limit and given.limit < len(recordings):
            recordings = random.Random(0).sample(recordings, given.limit)
        figures[what] = measured = measure(recordings, policies, budgets)
        title = "recorded sessions" if what == "governance" else "derived from git histories by rule (synthetic)"
        print(report(title, recordings, measured))
        survivals = entity_survival(recordings)
        print("\nentity survival: " + ", ".join(f"{share:.3f} at {target}" for target, share in survivals.items()))
        mean = fmean(estimate_tokens(one.task) for one in recordings)
        print(f"(the compacted texts have {mean:.0f} tokens on average)\n")
        if given.save:
            settings = (
                {"histories": [repository_name(one) for one in given.history], "tasks": given.tasks}
                if given.history
                else {}
            )
            _save(what, recordings, measured, survivals, settings if what != "governance" else {})
    if given.json:
        _write_json(given.json, figures)
    if given.plot:
        drawn = next(iter(figures.values()))
        given.plot.write_text(governance_chart(drawn.named_rows(), len(drawn.tasks)), encoding="utf-8")
    return 0


def _sessions(given: argparse.Namespace) -> dict[str, list[Recording]]:
    """Return result name -> sessions of the chosen part; those of this checkout's history where none are named."""
    kinds: dict[str, list[Recording]] = {}
    if given.sessions and given.trees:
        kinds["governance"] = list(read_recordings(given.sessions, given.trees))
    if given.history or not kinds:
        kinds["governance-history"] = [
            one
            for folder in given.history or [CHECKOUT]
            for one in mine_sessions(folder, revisions=given.revisions, n_tasks=given.tasks)
        ]
    return {what: [one for one in recordings if in_part(one, given.part)] for what, recordings in kinds.items()}


def _read_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks governance", description=__doc__)
    parser.add_argument("--sessions", type=Path, help="recorded sessions, one JSON object a line; needs --trees")
    parser.add_argument("--trees", type=Path, help="one folder for each task, at its base commit")
    history_help = "a git repository whose commits become sessions; may be given again (default: this checkout)"
    parser.add_argument("--history", type=Path, action="append", default=[], metavar="GITDIR", help=history_help)
    parser.add_argument("--revisions", default="HEAD", help="of the histories: HEAD, v1.0..v2.0")
    parser.add_argument("--tasks", type=int, default=25, help="most sessions of each history")
    names = "full, sliding, summary, fifo, ours, ours:demote=3,promote=1; may be given again"
    parser.add_argument("--policy", action="append", help=names)
    parser.add_argument("--budget", action="append", type=int, help="tokens a turn; may be given again")
    parser.add_argument("--limit", type=int, default=0, help="a sample of this many sessions, always the same")
    parser.add_argument("--part", choices=["all", *PARTS], default="all", help="which half, by task")
    parser.add_argument("--plot", type=Path, help="write an SVG chart here")
    parser.add_argument("--save", action="store_true", help="write result files into benchmarks/results")
    parser.add_argument("--json", type=Path, help="write the figures here")
    return parser.parse_args(argv)


def _write_json(path: Path, figures: Mapping[str, Measured]) -> None:
    rows = [
        {"sessions": what, "policy": name, "budget": budget, **row}
        for what, measured in figures.items()
        for (name, budget), row in measured.rows().items()
    ]
    path.write_text(json.dumps({"rows": rows}, indent=1), encoding="utf-8")
