"""Runs the open cases of a case bank against this checkout: `python -m benchmarks cases BANK`.

The bank turns reported faults of other tools into small repositories with the right answer of each. It is not part of this
repository; `.ci/run` uses it if it is beside the clone. A case whose expectation we dispute is listed here with the reason. It must
keep failing in exactly that way, so that the list stays current.
"""

import argparse
import json
import os
import shlex
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Disputed:
    """A case whose expectation we dispute."""

    not_met: tuple[str, ...]
    """All expectations that the runner reports as not met."""
    reason: str


DISPUTED: Mapping[str, Disputed] = {
    "C34": Disputed(
        ("symbols: Notes in 'docs/edge.md': wanted lines 10-14, got ['10-24', '26-28']",),
        "the first `## Notes` holds an HTML comment and a list with a fence (lines 16 to 24) before the next heading in line"
        " 26; the bank's own rule (C33: a section goes up to the line before the next heading of its level or above) gives 10-24",
    ),
}


def main(argv: Sequence[str]) -> int:
    """Run the bank and print its summary; return 1 if an undisputed case fails, or a disputed one fails differently."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks cases", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("bank", type=Path, help="the folder with run_cases.py and open/")
    parser.add_argument("case", nargs="*", help="only these: C01 C04")
    parser.add_argument("--jobs", type=int, default=1, help="cases at a time; more than one stretches the time limits")
    parser.add_argument("--files", type=int, default=30_000, help="number of files in the case of 100,000 files")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="codecards-cases-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # some cases run codecards as another user
        report = folder / "report.json"
        runner = [
            sys.executable,
            str(options.bank / "run_cases.py"),
            str(options.bank / "open"),
            *options.case,
            "--command",
            str(_starter(folder)),
            "--jobs",
            str(options.jobs),
            "--json",
            str(report),
            "--should",
            "--time-factor",
            "1" if options.jobs == 1 else "3",
        ]
        subprocess.run(runner, check=False, env=os.environ | {"QA_FILES": str(options.files)})
        cases: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["cases"]
    complaints = judge(cases, complete=not options.case)
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


def judge(
    cases: Sequence[Mapping[str, Any]], *, complete: bool, disputed: Mapping[str, Disputed] = DISPUTED
) -> list[str]:
    """Return a line for each case that fails unexpectedly, or that no longer fails as the list says.

    Args:
        cases: The runner's report, one row per case.
        complete: Whether all cases ran.
        disputed: Cases that must fail, each in one way.
    """
    complaints = []
    for case in cases:
        name, known = case["id"], disputed.get(case["id"])
        failed = [one for one in case["not_met"] if one["level"] == "must" and one["state"] == "fail"]
        musts = tuple(f"{one['type']}: {one['message']}" for one in failed)
        if known is not None and musts != known.not_met:
            complaints.append(f"{name}: does not fail as DISPUTED in benchmarks/checks/cases.py says: {musts}")
        elif known is None and case["status"] == "fail":
            complaints.append(f"{name}: fails: {'; '.join(musts)}")
    missing = sorted(disputed.keys() - {case["id"] for case in cases}) if complete else []
    return complaints + [f"{name}: is disputed but did not run" for name in missing]


def _starter(folder: Path) -> Path:
    """Return a program that starts this checkout, for other users too if possible."""
    starter = folder / "codecards"
    packages = os.pathsep.join(entry for entry in sys.path if entry.endswith("site-packages"))
    for python in (sys.executable, f"/usr/bin/python{sys.version_info[0]}.{sys.version_info[1]}"):
        path = os.pathsep.join([str(REPOSITORY), packages])
        starter.write_text(
            f'#!/bin/sh\nPYTHONPATH={shlex.quote(path)} exec {shlex.quote(python)} -m codecards "$@"\n',
            encoding="utf-8",
        )
        starter.chmod(starter.stat().st_mode | stat.S_IXUSR | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
        if os.geteuid() != 0 or _starts_as_nobody(starter):
            return starter
    print("another user can't start codecards here: cases that need one are skipped")
    starter.write_text(starter.read_text(encoding="utf-8").replace(python, sys.executable), encoding="utf-8")
    return starter


def _starts_as_nobody(starter: Path) -> bool:
    try:
        return (
            subprocess.run([str(starter), "--version"], user=NOBODY, capture_output=True, check=False).returncode == 0
        )
    except (OSError, KeyError, LookupError):
        return False
