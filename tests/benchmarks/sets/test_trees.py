"""Trees laid out from archives and git mirrors."""

import io
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from benchmarks.sets.queries import LabelledQuery, QuerySource
from benchmarks.sets.trees import MAX_FILE_BYTES, lay_out, unpack_archive


def git(*arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *identity, *arguments], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def mirrors(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with one mirror, and the commit in it."""
    work = tmp_path_factory.mktemp("work")
    files = {
        "lib/load.bash": b"echo\n",
        "src/a.py": b"x = 1\n",
        "src/logo.py": b"\0png",
        "README.md": b"# Hi\n",
        ".gitattributes": b"src export-ignore\n",
    }
    for name, content in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(content)
    git("-C", str(work), "init", "-q")
    git("-C", str(work), "add", ".")
    git("-C", str(work), "commit", "-q", "-m", "all")
    folder = tmp_path_factory.mktemp("mirrors")
    git("clone", "-q", "--bare", str(work), str(folder / "owner+name" / "repo"))
    return folder, git("-C", str(work), "rev-parse", "HEAD")


def laid_out(source: QuerySource, mirrors: Path, trees: Path) -> tuple[set[str], list[str]]:
    query = LabelledQuery("1", "tree", "q", "python", "", (), source=source)
    complaints = lay_out([query], trees, mirrors)
    files = {path.relative_to(trees / "tree").as_posix() for path in trees.rglob("*") if path.is_file()}
    return files, complaints


def test_a_whole_tree_has_all_text_files_even_those_excluded_from_archives(
    mirrors: tuple[Path, str], tmp_path: Path
) -> None:
    files, complaints = laid_out(QuerySource("owner/name", mirrors[1]), mirrors[0], tmp_path)
    assert files == {"lib/load.bash", "src/a.py", "README.md", ".gitattributes"}
    assert complaints == []


def test_a_root_limits_the_tree_and_paths_stay_those_of_the_repository(
    mirrors: tuple[Path, str], tmp_path: Path
) -> None:
    assert laid_out(QuerySource("owner/name", mirrors[1], "src"), mirrors[0], tmp_path)[0] == {"src/a.py"}


def test_code_sets_have_code_files_only(mirrors: tuple[Path, str], tmp_path: Path) -> None:
    assert laid_out(QuerySource("owner/name", mirrors[1], code_only=True), mirrors[0], tmp_path)[0] == {"src/a.py"}


def test_a_missing_mirror_or_commit_is_named(mirrors: tuple[Path, str], tmp_path: Path) -> None:
    assert laid_out(QuerySource("owner/other", "1"), mirrors[0], tmp_path) == (
        set(),
        ["tree: no mirror of owner/other"],
    )
    complaints = laid_out(QuerySource("owner/name", "0" * 40), mirrors[0], tmp_path)[1]
    assert len(complaints) == 1
    assert complaints[0].startswith("tree: git ls-tree")


def test_a_wheel_gives_its_text_without_its_metadata(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "p-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("p/a.py", "x = 1\n")
        wheel.writestr("p/logo.png", b"\0")
        wheel.writestr("p-1.dist-info/METADATA", "Name: p\n")
        wheel.writestr("p/big.py", "#" * (MAX_FILE_BYTES + 1))
    unpack_archive(tmp_path / "p-1-py3-none-any.whl", tmp_path / "tree")
    assert [path.name for path in (tmp_path / "tree").rglob("*.*")] == ["a.py"]


def test_an_archive_writes_nothing_outside_its_tree(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "p-1.tar.gz", "w:gz") as archive:
        for name in ("p-1/../../out.py", "p-1/p/a.py", "p-1//etc/out.py"):
            member = tarfile.TarInfo(name)
            member.size = 6
            archive.addfile(member, io.BytesIO(b"x = 1\n"))
    unpack_archive(tmp_path / "p-1.tar.gz", tmp_path / "tree")
    written = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.py"))
    assert written == ["tree/p/a.py"]
