"""Describes the machine and the package versions of a measurement."""

import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("codecards", "tree-sitter", "tantivy", "faiss-cpu", "numpy", "onnxruntime")


def describe_machine() -> dict[str, str | int]:
    """Return processor, cores, system and Python version, without names of the machine or its user."""
    return {
        "cpu": _processor(),
        "cores": os.cpu_count() or 0,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def describe_versions() -> dict[str, str]:
    """Return package -> version of the engine and its main dependencies."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def current_commit() -> str:
    """Return the short commit of this checkout, with "+" if it has changes; "unknown" without git."""
    root = Path(__file__).parents[1]
    git = ["git", "-c", "core.fsmonitor=false", "-C", str(root)]
    try:
        commit = subprocess.run([*git, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, check=True)
        names = ["indexer", "retrieval", "router", "codecards"]
        status = [*git, "status", "--porcelain", "--untracked-files=no", "--", *names]
        changes = subprocess.run(status, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return commit.stdout.strip() + ("+" if changes.stdout.strip() else "")


def _processor() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()
