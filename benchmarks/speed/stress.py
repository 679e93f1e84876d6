"""Stress: `python -m benchmarks stress TREE` indexes a very large tree, and kills index runs at random moments.

It works on a copy of the tree. First come a cold index, a run without a change and a question, each a process of its own
with its CPU time and peak memory. Then some files are changed, an index run is killed (SIGKILL, with all its processes)
at a random moment, the index is asked and checked, and so on; at last an undisturbed run must leave what a new index of
the same tree holds. Source of the moments: uniform over the time of an undisturbed run of that kind.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.processes import Usage, folder_bytes, measure

TIMEOUT_S = 4 * 3600
CHANGED_SHARE = 0.02
"""Files that get a line more before each run that is killed."""
RECALL_TIMEOUT_S = 300
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Kill:
    """One run that was killed, and what the index said afterwards."""

    after_s: float
    """Seconds from the start of the run."""
    was_running: bool
    """False where the run had ended before."""
    generation: int
    """What the index answered from; 0 where it gave no answer."""
    n_hits: int
    faults: tuple[str, ...]
    """What `doctor` found."""

    @property
    def is_good(self) -> bool:
        """Whether the index answered from a whole generation."""
        return self.generation > 0 and self.n_hits > 0 and not self.faults


def main(argv: Sequence[str]) -> int:
    """Print the figures; 1 if the index did not answer after a kill, or differs from a new one at the end."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks stress", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--query", default="where is memory allocated", help="what is asked after each step")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="codecards-stress-") as name:
        place = Stressed(Path(name) / "tree", Path(name) / "index", options.query)
        shutil.copytree(options.tree, place.tree, symlinks=True, ignore=shutil.ignore_patterns(".git", ".codecards"))
        first = place.cold_index()
        kills = place.kill_runs(options.kills, random.Random(options.seed))
        is_equal = place.ends_like_a_new_index()
    n_good = sum(kill.is_good for kill in kills)
    print(f"kills: {len(kills)}, while running {sum(kill.was_running for kill in kills)}, answered after {n_good}")
    print(f"at the end the index equals a new one: {'yes' if is_equal else 'NO'}")
    return 0 if first and n_good == len(kills) and is_equal else 1


@dataclass(frozen=True, slots=True)
class Stressed:
    """A copy of a tree, and its index beside it."""

    tree: Path
    index: Path
    query: str

    def cold_index(self) -> bool:
        """Index for the first time, again without a change, and ask; print the figures."""
        n_files = sum(1 for path in self.tree.rglob("*") if path.is_file() and not path.is_symlink())
        n_lines = sum(_count_lines(path) for path in self.tree.rglob("*") if path.is_file() and not path.is_symlink())
        print(f"tree: {n_files:,} files, {n_lines:,} lines", flush=True)
        cold = self._measured("cold index", "index", "--json")
        report = json.loads(cold.output or "{}")
        if not report:
            print(cold.errors)
            return False
        skipped = report["files"]["skipped"]
        print(f"  {report['cards']:,} cards, {report['edges']:,} edges, {skipped:,} files left out with their reasons,"
              f" {folder_bytes(self.index) / MIB:,.0f} MiB on disk")  # fmt: skip
        time.sleep(2.5)  # so that no file is racily clean
        self._measured("index, nothing changed", "index", "--json")
        self._measured("index, nothing changed", "index", "--json")
        self._measured("one-shot recall", "recall", self.query, "--no-refresh", "--json")
        return bool(report["complete"])

    def kill_runs(self, n_kills: int, chance: random.Random) -> list[Kill]:
        """Change files and kill the run that takes them in, again and again; print a line for each."""
        files = sorted(path for path in self.tree.rglob("*.[chspr]*") if path.is_file() and not path.is_symlink())
        self._change(files, chance)
        whole = self._measured(f"index, {CHANGED_SHARE:.0%} of the files changed", "index", "--json")
        kills = []
        for _ in range(n_kills):
            self._change(files, chance)
            kill = self._killed(chance.random() * whole.wall_s)
            kills.append(kill)
            state = "killed" if kill.was_running else "had ended"
            print(f"  {state} after {kill.after_s:6.1f} s: generation {kill.generation}, {kill.n_hits} hits,"
                  f" {'whole' if not kill.faults else kill.faults}", flush=True)  # fmt: skip
        return kills

    def ends_like_a_new_index(self) -> bool:
        """Return whether an undisturbed run leaves what a new index of the same tree holds."""
        self._measured("index, undisturbed", "index", "--json")
        counts = [self._counts(self.index), {}]
        other = self.index.with_name("new-index")
        measure(self._command("index", "--json", index=other), timeout_s=TIMEOUT_S, watched=False)
        counts[1] = self._counts(other)
        print(f"  after all: {counts[0]}; new: {counts[1]}")
        return bool(counts[0]) and counts[0] == counts[1]

    def _counts(self, index: Path) -> dict[str, int]:
        """Return what `status` counts."""
        status = json.loads(measure(self._command("status", "--json", index=index), watched=False).output or "{}")
        counts: dict[str, int] = status.get("counts", {})
        return counts

    def _change(self, files: Sequence[Path], chance: random.Random) -> None:
        for path in chance.sample(files, max(1, int(len(files) * CHANGED_SHARE))):
            with path.open("ab") as file:
                file.write(b"\n/* touched %d */\n" % chance.randrange(10**9))

    def _killed(self, after_s: float) -> Kill:
        """Start an index run, kill it with all its processes, and ask the index that it leaves."""
        process = subprocess.Popen(
            self._command("index", "--json"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(after_s)
        was_running = process.poll() is None
        if was_running:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        asked = measure(
            self._command("recall", self.query, "--no-refresh", "--json"), timeout_s=RECALL_TIMEOUT_S, watched=False
        )
        answer: dict[str, Any] = json.loads(asked.output) if asked.return_code == 0 else {"generation": 0, "hits": []}
        checked = measure(self._command("doctor", "--json"), timeout_s=TIMEOUT_S, watched=False)
        faults = json.loads(checked.output)["faults"] if checked.output else [checked.errors]
        return Kill(after_s, was_running, answer["generation"], len(answer["hits"]), tuple(faults))

    def _measured(self, what: str, *arguments: str) -> Usage:
        usage = measure(self._command(*arguments), timeout_s=TIMEOUT_S)
        print(f"{what}: {usage.cpu_s:,.2f} CPU s, {usage.wall_s:,.1f} s, peak {usage.peak_bytes / MIB:,.0f} MiB"
              f"{'' if usage.return_code == 0 else f', exit {usage.return_code}: {usage.errors[-300:]}'}", flush=True)  # fmt: skip
        return usage

    def _command(self, *arguments: str, index: Path | None = None) -> list[str]:
        return [
            sys.executable,
            "-m",
            "codecards",
            "-C",
            str(self.tree),
            "--index",
            str(index or self.index),
            *arguments,
        ]


def _count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(MIB), b""))
