"""Indexes a very large tree, and kills index runs at random moments: `python -m benchmarks stress TREE`.

It works on a copy of the tree. First it measures CPU time and peak memory of a cold index, a run without changes and a question, each
in a separate process. Then it repeatedly changes some files, kills an index run with all its processes (SIGKILL) at a random moment,
and queries and checks the index. Finally an undisturbed run must leave the same index as a new one of the same tree. The moments are
uniform over the time of an undisturbed run.
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
"""Share of the files that get an additional line before each killed run."""
RECALL_TIMEOUT_S = 300
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Kill:
    """One killed run, and the state of the index afterwards."""

    after_s: float
    """Seconds from the start of the run."""
    was_running: bool
    """False if the run had already ended."""
    generation: int
    """Generation of the answer; 0 if there was none."""
    n_hits: int
    faults: tuple[str, ...]
    """Faults reported by `codecards doctor`."""

    @property
    def is_good(self) -> bool:
        """Whether the index answered from an undamaged generation."""
        return self.generation > 0 and self.n_hits > 0 and not self.faults


def main(argv: Sequence[str]) -> int:
    """Print the figures; return 1 if the index gave no answer after a kill, or finally differs from a new one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks stress", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--query", default="where is memory allocated", help="the question after each step")
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
        """Index, index again without changes, and ask a question; print the figures."""
        n_files = sum(1 for path in self.tree.rglob("*") if path.is_file() and not path.is_symlink())
        n_lines = sum(_count_lines(path) for path in self.tree.rglob("*") if path.is_file() and not path.is_symlink())
        print(f"tree: {n_files:,} files, {n_lines:,} lines", flush=True)
        cold = self._measured("cold index", "index", "--json")
        report = json.loads(cold.output or "{}")
        if not report:
            print(cold.errors)
            return False
        skipped = report["files"]["skipped"]
        counts = f"{report['cards']:,} cards, {report['edges']:,} edges, {skipped:,} files skipped"
        print(f"  {counts}, {folder_bytes(self.index) / MIB:,.0f} MiB on disk")
        time.sleep(2.5)  # longer than the margin within which time stamps are not trusted
        self._measured("index, nothing changed", "index", "--json")
        self._measured("index, nothing changed", "index", "--json")
        self._measured("one-shot recall", "recall", self.query, "--no-refresh", "--json")
        return bool(report["complete"])

    def kill_runs(self, n_kills: int, chance: random.Random) -> list[Kill]:
        """Change files and kill the index run, repeatedly; print a line for each run."""
        files = sorted(path for path in self.tree.rglob("*.[chspr]*") if path.is_file() and not path.is_symlink())
        self._change(files, chance)
        whole = self._measured(f"index, {CHANGED_SHARE:.0%} of the files changed", "index", "--json")
        kills = []
        for _ in range(n_kills):
            self._change(files, chance)
            kill = self._killed(chance.random() * whole.wall_s)
            kills.append(kill)
            state = "killed" if kill.was_running else "had ended"
            health = kill.faults or "undamaged"
            answer = f"generation {kill.generation}, {kill.n_hits} hits"
            print(f"  {state} after {kill.after_s:6.1f} s: {answer}, {health}", flush=True)
        return kills

    def ends_like_a_new_index(self) -> bool:
        """Return whether an undisturbed run leaves the same counts as a new index of the same tree."""
        self._measured("index, undisturbed", "index", "--json")
        counts = [self._counts(self.index), {}]
        other = self.index.with_name("new-index")
        measure(self._command("index", "--json", index=other), timeout_s=TIMEOUT_S, watched=False)
        counts[1] = self._counts(other)
        print(f"  after all: {counts[0]}; new: {counts[1]}")
        return bool(counts[0]) and counts[0] == counts[1]

    def _counts(self, index: Path) -> dict[str, int]:
        """Return the counts of `codecards status`."""
        status = json.loads(measure(self._command("status", "--json", index=index), watched=False).output or "{}")
        counts: dict[str, int] = status.get("counts", {})
        return counts

    def _change(self, files: Sequence[Path], chance: random.Random) -> None:
        for path in chance.sample(files, max(1, int(len(files) * CHANGED_SHARE))):
            with path.open("ab") as file:
                file.write(b"\n/* touched %d */\n" % chance.randrange(10**9))

    def _killed(self, after_s: float) -> Kill:
        """Start an index run, kill it with all its processes, and query the index that it leaves."""
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
        failure = f", exit {usage.return_code}: {usage.errors[-300:]}" if usage.return_code else ""
        peak = f"peak {usage.peak_bytes / MIB:,.0f} MiB"
        print(f"{what}: {usage.cpu_s:,.2f} CPU s, {usage.wall_s:,.1f} s, {peak}{failure}", flush=True)
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
