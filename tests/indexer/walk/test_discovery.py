"""Discovery lists source files and reports what it leaves out."""

import os
import socket
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codecards.errors import ProjectNotFoundError
from codecards.indexer.problems import Coverage, Problem, Reason
from codecards.indexer.walk.discovery import Discovery, discover
from codecards.indexer.walk.files import DiscoverySettings, SourceFile, read_file
from tests.support.working_trees import commit_all, git, needs_git, write_tree

needs_links = pytest.mark.skipif(os.name == "nt", reason="on Windows only administrators can create links and pipes")
needs_any_bytes = pytest.mark.skipif(sys.platform != "linux", reason="only Linux allows names that are not UTF-8")
needs_a_user = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root can read everything; run the tests as another user"
)


def paths(discovery: Discovery) -> list[str]:
    return [file.path for file in discovery.files]


def reported(discovery: Discovery) -> dict[str, Reason]:
    return {problem.path: problem.reason for problem in discovery.problems}


def listed(root: Path, path: str) -> SourceFile:
    return next(file for file in discover(root).files if file.path == path)


def reason_of(answer: bytes | Problem) -> Reason:
    assert isinstance(answer, Problem)
    assert answer.kept is Coverage.NONE
    return answer.reason


def test_files_are_sorted_by_the_bytes_of_their_path_and_have_a_stamp(tmp_path: Path) -> None:
    write_tree(tmp_path, "#- b.py\nxy\n#- a/z.py\n#- a-b.py\n#- B.py\n")
    discovery = discover(tmp_path)
    assert paths(discovery) == ["B.py", "a-b.py", "a/z.py", "b.py"]
    status = (tmp_path / "b.py").stat()
    assert discovery.files[-1] == SourceFile(
        "b.py", status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns
    )
    assert discovery.problems == ()


@needs_any_bytes
@pytest.mark.parametrize(
    "name",
    [
        b"two  spaces.py",
        b"line\nbreak.py",
        b"-rf.py",
        b"quote'\".py",
        "中文/血条.py".encode(),
        b"caf\xe9.py",
        b"tab\t.py",
        b"end .py ",
    ],
)
@pytest.mark.parametrize("has_git", [pytest.param(True, marks=needs_git), False])
def test_any_name_is_kept_exactly_and_can_be_read(tmp_path: Path, name: bytes, has_git: bool) -> None:
    place = os.path.join(os.fsencode(tmp_path), name)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    Path(os.fsdecode(place)).write_bytes(b"x = 1\n")
    if has_git:
        commit_all(tmp_path)
    (file,) = discover(tmp_path).files
    assert os.fsencode(file.path) == name
    assert read_file(tmp_path, file) == b"x = 1\n"


@needs_links
def test_links_pipes_and_sockets_are_reported_and_not_opened(tmp_path: Path) -> None:
    outside = write_tree(tmp_path / "outside", "#- secret.py\n")
    root = write_tree(tmp_path / "root", "#- a/real.py\n")
    (root / "a/loop").symlink_to("..")
    (root / "self").symlink_to("self")
    (root / "dangling.py").symlink_to("missing.py")
    (root / "folder").symlink_to(outside)
    (root / "file.py").symlink_to(outside / "secret.py")
    os.mkfifo(root / "pipe.py")
    with socket.socket(socket.AF_UNIX) as endpoint:
        here = Path.cwd()
        os.chdir(root)  # the path of a socket is limited to about 100 characters
        endpoint.bind("socket.py")
        os.chdir(here)
    discovery = discover(root)
    assert paths(discovery) == ["a/real.py"]
    links = ("a/loop", "self", "dangling.py", "folder", "file.py")
    specials = ("pipe.py", "socket.py")
    assert reported(discovery) == dict.fromkeys(links, Reason.LINK) | dict.fromkeys(specials, Reason.SPECIAL_FILE)


def test_a_large_file_is_reported_and_one_that_grew_is_not_read(tmp_path: Path) -> None:
    write_tree(tmp_path, "#- big.py\n" + "x = 1\n" * 100 + "#- small.py\n")
    settings = DiscoverySettings(max_file_bytes=50)
    assert reported(discover(tmp_path, settings)) == {"big.py": Reason.TOO_LARGE}
    small = listed(tmp_path, "small.py")
    (tmp_path / "small.py").write_text("y" * 60)
    answer = read_file(tmp_path, small, settings)
    assert reason_of(answer) is Reason.TOO_LARGE
    assert isinstance(answer, Problem)
    assert "50" in answer.detail


@needs_a_user
def test_unreadable_files_and_folders_are_reported(tmp_path: Path) -> None:
    write_tree(tmp_path, "#- locked.py\n#- locked/a.py\n#- open.py\n")
    (tmp_path / "locked.py").chmod(0)
    (tmp_path / "locked").chmod(0)
    try:
        discovery = discover(tmp_path)
        assert reported(discovery) == {"locked": Reason.UNREADABLE}
        assert reason_of(read_file(tmp_path, listed(tmp_path, "locked.py"))) is Reason.UNREADABLE
    finally:
        (tmp_path / "locked").chmod(0o700)


@needs_git
def test_nested_repositories_are_left_out_and_reported(tmp_path: Path) -> None:
    library = write_tree(tmp_path / "library", "#- lib.py\n")
    commit_all(library)
    root = write_tree(tmp_path / "root", "#- main.py\n#- broken/.git/config\n#- broken/own.py\n")
    commit_all(root)
    git(root, "submodule", "add", "-q", str(library), "libs/sub")
    git(root, "worktree", "add", "-q", "trees/feature", "-b", "feature")
    git(root, "clone", "-q", str(library), "clones/other")
    discovery = discover(root)
    assert paths(discovery) == [".gitmodules", "broken/own.py", "main.py"]
    assert reported(discovery) == dict.fromkeys(("libs/sub", "trees/feature", "clones/other"), Reason.NESTED_REPOSITORY)
    assert any("submodule" in problem.detail for problem in discovery.problems if problem.path == "libs/sub")


@needs_git
def test_a_submodule_that_was_not_fetched_is_reported(tmp_path: Path) -> None:
    library = write_tree(tmp_path / "library", "#- lib.py\n")
    commit_all(library)
    commit_all(write_tree(tmp_path / "root", "#- main.py\n"))
    git(tmp_path / "root", "submodule", "add", "-q", str(library), "sub")
    git(tmp_path / "root", "commit", "-q", "-m", "sub")
    git(tmp_path, "clone", "-q", "root", "copy")
    assert reported(discover(tmp_path / "copy")) == {"sub": Reason.NESTED_REPOSITORY}


@needs_git
@needs_links
def test_inside_a_repository_special_files_are_reported_unless_ignored(tmp_path: Path) -> None:
    commit_all(write_tree(tmp_path, "#- .gitignore\n*.sock\n#- a.py\n"))
    for name in ("pipe.py", "pipe.sock"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "link.py").symlink_to("a.py")
    discovery = discover(tmp_path)
    assert paths(discovery) == [".gitignore", "a.py"]
    assert reported(discovery) == {"link.py": Reason.LINK, "pipe.py": Reason.SPECIAL_FILE}


@needs_git
@needs_a_user
def test_inside_a_repository_an_unreadable_folder_is_reported_unless_ignored(tmp_path: Path) -> None:
    commit_all(write_tree(tmp_path, "#- .gitignore\n/data\n#- a.py\n"))
    folders = [tmp_path / name for name in ("locked", "data")]
    for folder in folders:
        folder.mkdir(mode=0)
    try:
        assert reported(discover(tmp_path)) == {"locked": Reason.UNREADABLE}
    finally:
        for folder in folders:
            folder.chmod(0o700)


@needs_git
def test_tracked_files_that_are_not_on_disk_are_not_listed(tmp_path: Path) -> None:
    commit_all(write_tree(tmp_path, "#- kept/a.py\n#- sparse/b.py\n#- gone.py\n#- main.py\n"))
    git(tmp_path, "sparse-checkout", "set", "--cone", "kept")
    (tmp_path / "gone.py").unlink()
    assert discover(tmp_path).problems == ()
    assert paths(discover(tmp_path)) == ["kept/a.py", "main.py"]


@needs_git
def test_a_file_whose_case_changed_is_listed_where_git_ignores_case(tmp_path: Path) -> None:
    commit_all(write_tree(tmp_path, "#- Sub/Main.py\n"))
    (tmp_path / "Sub").rename(tmp_path / "sub")
    git(tmp_path, "config", "core.ignoreCase", "true")
    assert paths(discover(tmp_path)) == ["sub/Main.py"]


@needs_git
@needs_links
def test_rules_apply_without_git_if_git_refuses_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_tree(tmp_path / "root", "#- .gitignore\n*.tmp\n#- a.py\n#- b.tmp\n")
    commit_all(root)
    refusing = tmp_path / "bin/git"
    refusing.parent.mkdir()
    refusing.write_text('#!/bin/sh\necho "fatal: detected dubious ownership in repository" >&2\nexit 128\n')
    refusing.chmod(0o755)
    monkeypatch.setenv("PATH", str(refusing.parent), prepend=os.pathsep)
    discovery = discover(root)
    assert paths(discovery) == [".gitignore", "a.py"]
    assert reported(discovery) == {".git": Reason.UNREADABLE}


@needs_git
@needs_links
def test_an_ignore_file_that_the_repository_configures_is_not_opened(tmp_path: Path) -> None:
    commit_all(write_tree(tmp_path, "#- a.py\n"))
    os.mkfifo(tmp_path / ".git/pipe")
    git(tmp_path, "config", "core.excludesFile", str(tmp_path / ".git/pipe"))
    write_tree(tmp_path, "#- b.py\n")
    assert paths(discover(tmp_path)) == ["a.py", "b.py"]


@needs_git
def test_tracked_files_inside_a_nested_repository_are_listed(tmp_path: Path) -> None:
    commit_all(write_tree(tmp_path, "#- sub/old.py\n#- main.py\n"))
    git(tmp_path / "sub", "init", "-q")
    write_tree(tmp_path, "#- sub/new.py\n")
    assert paths(discover(tmp_path)) == ["main.py", "sub/old.py"]


@needs_git
@pytest.mark.parametrize(
    ("damaged", "content"),
    [("index", b"garbage"), ("HEAD", b"ref: refs/heads/nowhere\n"), ("config", b"[core\n"), ("HEAD", None)],
)
def test_rules_apply_without_git_if_the_repository_is_broken(
    tmp_path: Path, damaged: str, content: bytes | None
) -> None:
    commit_all(write_tree(tmp_path, "#- .gitignore\n*.tmp\n#- a.py\n#- b.tmp\n"))
    if content is None:
        (tmp_path / ".git" / damaged).unlink()
    else:
        (tmp_path / ".git" / damaged).write_bytes(content)
    assert paths(discover(tmp_path)) == [".gitignore", "a.py"]


@needs_git
def test_a_failure_of_git_is_reported(tmp_path: Path) -> None:
    commit_all(write_tree(tmp_path, "#- a.py\n"))
    (tmp_path / ".git/index").write_bytes(b"garbage")
    assert reported(discover(tmp_path)) == {".git": Reason.UNREADABLE}


def test_secret_files_are_reported_and_read_on_request(tmp_path: Path) -> None:
    key_line = "-----BEGIN OPENSSH " + "PRIVATE KEY-----"
    write_tree(tmp_path, f"#- .env\nA=1\n#- .env.example\nA=\n#- app.py\n#- deploy_key\n{key_line}\nAAAA\n")
    assert reported(discover(tmp_path)) == {".env": Reason.SECRET}
    assert paths(discover(tmp_path)) == [".env.example", "app.py", "deploy_key"]
    key = listed(tmp_path, "deploy_key")
    assert reason_of(read_file(tmp_path, key)) is Reason.SECRET
    asked = DiscoverySettings(index_secrets=True)
    assert paths(discover(tmp_path, asked)) == [".env", ".env.example", "app.py", "deploy_key"]
    assert isinstance(read_file(tmp_path, key, asked), bytes)


def test_the_index_and_the_git_folder_are_not_source(tmp_path: Path) -> None:
    write_tree(tmp_path, "#- a.py\n#- .codecards/index/x.py\n#- sub/.codecards/y.py\n#- .git/hooks/z.py\n")
    assert paths(discover(tmp_path)) == ["a.py"]


def test_an_empty_folder_has_no_files(tmp_path: Path) -> None:
    assert discover(tmp_path) == Discovery((), (), 0)


@pytest.mark.parametrize("name", ["missing", "file.py"])
def test_a_root_that_is_not_a_folder_is_an_error_that_names_it(tmp_path: Path, name: str) -> None:
    write_tree(tmp_path, "#- file.py\n")
    with pytest.raises(ProjectNotFoundError, match=name):
        discover(tmp_path / name)


@needs_git
def test_a_bare_repository_is_an_error(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    with pytest.raises(ProjectNotFoundError, match="bare"):
        discover(tmp_path / "bare.git")


NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=20).filter(
    lambda name: name not in (".", "..") and not name.casefold().startswith((".git", ".codecards"))
)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems forbid some names, and ignore case")
@given(names=st.lists(NAMES, min_size=1, max_size=8, unique=True))
@settings(max_examples=60, deadline=None)
def test_files_of_any_name_are_listed_or_reported(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    root = tmp_path_factory.mktemp("names")
    for name in names:
        (root / name).write_bytes(b"x = 1\n")
    found = discover(root)
    assert {file.path for file in found.files} | {one.path for one in found.problems} == set(names)
