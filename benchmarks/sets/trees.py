"""Lays out source trees, from git mirrors at exact commits or from packages on PyPI.

The trees keep their projects' licences, so none of them may be committed to this repository.
"""

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from benchmarks.sets.queries import LabelledQuery, QuerySource

MAX_FILE_BYTES = 1 << 20
CODE_SUFFIXES = frozenset(
    (".py", ".pyx", ".pxd", ".pyi", ".php", ".c", ".h", ".cc", ".cpp", ".hpp", ".java", ".rs", ".go", ".js", ".ts")
)
"""Suffixes of the files that sets with one tree per instance keep."""
PIP_TIMEOUT_S = 600
N_PROBED_BYTES = 8192


class TreeError(Exception):
    """A tree can't be laid out; the message names it and the reason."""


def lay_out(queries: Iterable[LabelledQuery], trees: Path, mirrors: Path | None = None) -> list[str]:
    """Lay out the missing trees of some queries; return one line for each tree that can't be laid out.

    Args:
        queries: Queries with the sources of their trees.
        trees: Folder for the trees.
        mirrors: Folder with a bare git directory `owner+name/repo` for each repository; None if there is none.
    """
    complaints = []
    for tree, source in sorted({query.tree: query.source for query in queries}.items()):
        target = trees / tree
        if target.exists():
            continue
        try:
            if source.requirement:
                unpack_package(source.requirement, target)
            elif mirrors is not None:
                check_out(mirrors / source.repository.replace("/", "+") / "repo", source, target)
            else:
                complaints.append(f"{tree}: no mirror of {source.repository}")
        except TreeError as error:
            complaints.append(f"{tree}: {error}")
    return complaints


def check_out(git_directory: Path, source: QuerySource, target: Path) -> None:
    """Write the text files of one commit below `target`.

    Reads the blobs one by one and not as an archive: a mirror may lack large files, and `.gitattributes` may exclude files from
    an archive.

    Raises:
        TreeError: The mirror or the commit is missing.
    """
    if not git_directory.is_dir():
        raise TreeError(f"no mirror of {source.repository}")
    listing = ["ls-tree", "-r", "-z", source.commit, *([source.root] if source.root else [])]
    entries = _git(git_directory, listing).decode("utf-8", "surrogateescape").split("\0")
    blobs: dict[str, str] = {}
    for entry in filter(None, entries):
        meta, _, name = entry.partition("\t")
        mode, kind, sha = meta.split()
        # 120000 is a symbolic link.
        if (
            kind == "blob"
            and mode != "120000"
            and (not source.code_only or PurePosixPath(name).suffix in CODE_SUFFIXES)
        ):
            blobs[name] = sha
    for name, content in zip(blobs, _read_blobs(git_directory, blobs.values()), strict=True):
        if content is not None:
            _write(target, name, content)


def unpack_package(requirement: str, target: Path) -> None:
    """Download a package and write its text files below `target`, without the archive's top folder.

    Downloads a wheel by default, because that runs no code of the package; for a source archive pip runs the metadata step of
    the build.

    Args:
        requirement: "flask==3.1.2", or "sdist:flask==3.1.2" for the source archive.
        target: Folder of the tree, which is created.

    Raises:
        TreeError: pip can't download the package.
    """
    name = requirement.removeprefix("sdist:")
    wanted = ["--no-binary", ":all:"] if requirement.startswith("sdist:") else ["--only-binary", ":all:"]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *wanted, "--dest", folder, name]
        run = subprocess.run(command, capture_output=True, text=True, timeout=PIP_TIMEOUT_S, check=False)
        archives = sorted(Path(folder).iterdir())
        if run.returncode or not archives:
            raise TreeError(f"pip can't download {name}: {run.stderr.strip()[-300:]}")
        unpack_archive(archives[0], target)


def unpack_archive(archive: Path, target: Path) -> None:
    """Write the text files of a wheel, zip or tar file below `target`, without the top folder of a tar file."""
    if archive.suffix in {".whl", ".zip"}:
        with zipfile.ZipFile(archive) as opened:
            for entry in opened.infolist():
                if not entry.is_dir() and entry.file_size <= MAX_FILE_BYTES and ".dist-info/" not in entry.filename:
                    _write(target, entry.filename, opened.read(entry))
        return
    with tarfile.open(archive) as opened_tar:
        for member in opened_tar:
            content = opened_tar.extractfile(member) if member.isfile() and member.size <= MAX_FILE_BYTES else None
            if content is not None:
                _write(target, member.name.partition("/")[2], content.read())


def _write(target: Path, name: str, content: bytes) -> None:
    """Write a file if it is text and its path stays below `target`."""
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or PurePosixPath(name).is_absolute():
        return
    if len(content) <= MAX_FILE_BYTES and b"\0" not in content[:N_PROBED_BYTES]:
        path = target.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _git(git_directory: Path, arguments: list[str]) -> bytes:
    command = ["git", "--git-dir", str(git_directory), *arguments]
    run = subprocess.run(command, capture_output=True, check=False)
    if run.returncode:
        raise TreeError(f"git {arguments[0]}: {run.stderr.decode(errors='replace').strip()[:200]}")
    return run.stdout


def _read_blobs(git_directory: Path, shas: Iterable[str]) -> Iterator[bytes | None]:
    """Yield the content of each blob, None if the mirror lacks it."""
    command = ["git", "--git-dir", str(git_directory), "cat-file", "--batch"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        for sha in shas:
            process.stdin.write(sha.encode() + b"\n")
            process.stdin.flush()
            head = process.stdout.readline().split()
            if head[-1:] == [b"missing"]:
                yield None
                continue
            content = process.stdout.read(int(head[2]))
            process.stdout.read(1)
            yield content
        process.stdin.close()
