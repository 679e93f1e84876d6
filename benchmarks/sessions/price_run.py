"""The command `python -m benchmarks sessions`: the price of a turn, codecards' gateway beside the simplest baselines.

Each policy takes the best of its settings on the half of the tasks that is for choosing; the other half is reported.
The recordings are not part of the repository. Their files are read from `--trees`, one folder a task, which `--mirrors`
lays out from git repositories (`owner+name/repo`).
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path, PurePosixPath

from benchmarks.result_files import new_result, write_result
from benchmarks.sessions.price import (
    CodecardsGateway,
    DroppedDuplicates,
    FullTranscript,
    MakePolicy,
    MaskedObservations,
    PriceRow,
    RecentFiles,
    SummarisedTranscript,
    TokenWindow,
    price_rows,
    prices_of,
)
from benchmarks.sessions.recordings import Recording, in_part, read_recordings
from codecards.router.policy.epochs import EpochSettings
from codecards.router.transcript.rewrite import RewriteSettings

SETTINGS: Mapping[str, Mapping[str, MakePolicy]] = {
    "full injection": {"full": FullTranscript},
    "sliding window by tokens": {
        f"{budget:,} down to {share:.0%}": lambda budget=budget, share=share: TokenWindow(budget, share)  # type: ignore[misc]
        for budget, share in ((8_000, 0.5), (12_000, 0.3), (20_000, 0.3))
    },
    "duplicates dropped": {"whole results": DroppedDuplicates},
    "old observations masked": {
        f"every {every} turns, {keep} kept": lambda every=every, keep=keep: MaskedObservations(every, keep)  # type: ignore[misc]
        for every, keep in ((10, 5), (20, 10))
    },
    "last used files, refreshed (LRU)": {"4,000 tokens": lambda: RecentFiles(4_000, 400)},
    "layered summary": {
        f"{budget:,} tokens": lambda budget=budget: SummarisedTranscript(budget, 600)  # type: ignore[misc]
        for budget in (8_000, 16_000)
    },
    "codecards gateway": {
        f"margin {margin}, idle {idle}": lambda margin=margin, idle=idle: CodecardsGateway(  # type: ignore[misc]
            RewriteSettings(epochs=EpochSettings(margin=margin, min_idle_turns=idle))
        )
        for margin, idle in ((1.0, 2), (1.0, 5), (1.6, 5))
    },
    "codecards gateway, no epochs": {
        "entry only": lambda: CodecardsGateway(RewriteSettings(epochs=EpochSettings(dead_turns=10**9)))
    },
}
"""Policy → setting → how it is made; the first row is what the others are compared with."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Choose settings on one half, report the other, and keep the result."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks sessions", description=__doc__)
    parser.add_argument("--recordings", type=Path, required=True, help="the recorded sessions, one JSON object a line")
    parser.add_argument("--trees", type=Path, required=True, help="folder with a folder of files for each task")
    parser.add_argument("--mirrors", type=Path, help="git repositories to lay the trees out from")
    parser.add_argument("--limit", type=int, default=0, help="at most so many sessions of each half")
    parser.add_argument("--no-save", action="store_true", help="only print")
    options = parser.parse_args(arguments)
    if options.mirrors is not None:
        lay_out(options.recordings, options.mirrors, options.trees)
    recordings = list(read_recordings(options.recordings, options.trees))
    halves = {part: [one for one in recordings if in_part(one, part)] for part in ("tuning", "held-out")}
    if options.limit:
        halves = {part: some[: options.limit] for part, some in halves.items()}
    if not all(halves.values()):
        sys.stderr.write(f"{options.trees} holds no task of the recordings; --mirrors lays them out\n")
        return 2
    chosen = choose(halves["tuning"])
    rows = measure(halves["held-out"], chosen)
    print_rows(rows, chosen, len(halves["held-out"]))
    if not options.no_save:
        settings = {"sessions": {part: len(some) for part, some in halves.items()}, "chosen": chosen}
        write_result(new_result("sessions-price", settings, {row.policy: asdict(row) for row in rows}))
    return 0


def choose(recordings: Sequence[Recording]) -> dict[str, str]:
    """Return policy → the setting with the lowest price."""
    makers = {f"{policy}\0{name}": make for policy, settings in SETTINGS.items() for name, make in settings.items()}
    found = prices_of(recordings, makers)
    price = {name: sum(one.price for one in sessions) for name, sessions in found.items()}
    return {policy: min(settings, key=lambda name: price[f"{policy}\0{name}"]) for policy, settings in SETTINGS.items()}


def measure(recordings: Sequence[Recording], chosen: Mapping[str, str]) -> list[PriceRow]:
    """Return a row a policy, each at its chosen setting."""
    found = prices_of(recordings, {policy: SETTINGS[policy][name] for policy, name in chosen.items()})
    return price_rows(found, next(iter(SETTINGS)))


def print_rows(rows: Sequence[PriceRow], chosen: Mapping[str, str], n_sessions: int) -> None:
    """Print the rows, the dearest first."""
    print(f"price of a turn, {n_sessions} sessions of the half that was not used for choosing")
    for row in sorted(rows, key=lambda one: -one.ratio):
        interval = f"{row.low:.3f} to {row.high:.3f}"
        name = f"{row.policy} ({chosen[row.policy]})"
        print(f"{name:60} {row.price_per_turn:7,.0f}  {row.ratio:.3f} ({interval})  edits missed {row.missed:.1%}")


def lay_out(recordings: Path, mirrors: Path, trees: Path) -> None:
    """Write the files that the recorded sessions touch, as of the commit where each began, to a folder a task."""
    for line in recordings.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        git_dir = mirrors / str(row["repo"]).replace("/", "+") / "repo"
        target = trees / str(row["id"]).rpartition("/")[2]
        if not git_dir.is_dir() or target.exists() or not row["base_commit"]:
            continue
        git_dir = git_dir / ".git" if (git_dir / ".git").is_dir() else git_dir
        paths = {str(event["path"]).removeprefix("./") for event in row["events"] if event["path"]}
        target.mkdir(parents=True)
        for path in sorted(paths):
            if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
                continue
            shown = subprocess.run(
                ["git", "--git-dir", str(git_dir), "cat-file", "blob", f"{row['base_commit']}:{path}"],
                capture_output=True,
                check=False,
            )
            if shown.returncode == 0:
                file = target / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(shown.stdout)
