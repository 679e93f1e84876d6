"""Downloads packages with their registries' own clients, pinned by hash, and reads their files."""

import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from benchmarks.sets.trees import PIP_TIMEOUT_S, TreeError


@dataclass(frozen=True, slots=True)
class Package:
    """One pinned package of PyPI or npm."""

    requirement: str
    """"sphinx==9.0.4" on PyPI, "sdist:sphinx==9.0.4" for its source archive, "rxjs@7.8.2" on npm."""
    sha256: str
    language: str
    half: str = ""
    """Of the Chinese set: "dev" if its rows were looked at while the list of terms was made, "held" if not. Of the asked set:
    "choose" or "report". "" elsewhere."""
    kept: str = ""
    """Regular expression of the files that make the tree; "" for all."""

    @property
    def name(self) -> str:
        """Folder name of the tree."""
        return self.requirement.rpartition(":")[2].partition("==")[0].partition("@")[0]


def read_packages(file: Path) -> tuple[Package, ...]:
    """Return the packages of a TOML file with a table `[[package]]` for each."""
    rows = tomllib.loads(file.read_text(encoding="utf-8"))["package"]
    return tuple(Package(**row) for row in rows)


def fetch(package: Package, folder: Path) -> Path:
    """Download one package and return the archive.

    Raises:
        TreeError: The registry's client is missing or fails, or the archive has another hash.
    """
    is_npm = "@" in package.requirement
    if is_npm:
        command = [shutil.which("npm") or "npm", "pack", "--silent", "--ignore-scripts", package.requirement]
    else:
        archive = "--no-binary" if package.requirement.startswith("sdist:") else "--only-binary"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", archive, ":all:"]
        command.append(package.requirement.rpartition(":")[2])
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PIP_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TreeError(f"{package.requirement}: {error}") from error
    archives = [path for path in folder.iterdir() if path.name.endswith((".whl", ".tgz", ".tar.gz"))]
    # pip stores a source archive before it asks its build for metadata, which may fail for want of a compiler.
    if len(archives) != 1:
        raise TreeError(f"{package.requirement} can't be downloaded: {run.stderr.strip()[-300:]}")
    if hashlib.sha256(archives[0].read_bytes()).hexdigest() != package.sha256:
        raise TreeError(f"{package.requirement}: the archive is not the pinned one, its hash differs")
    return archives[0]


def read_tree(tree: Path, kept: str = "") -> dict[str, str]:
    """Return path -> text of the files of a tree whose path matches a regular expression."""
    files: dict[str, str] = {}
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree).as_posix()
        if path.is_file() and re.search(kept, name):
            files[name] = path.read_bytes().decode("utf-8", "replace")
    return files
