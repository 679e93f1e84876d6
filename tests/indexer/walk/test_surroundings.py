"""Stamps of folders, rules and git's files tell whether a tree can list as it did."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from codecards.indexer.walk.discovery import Discovery, discover
from codecards.indexer.walk.files import DiscoverySettings
from codecards.indexer.walk.surroundings import pack_surroundings, unpack_surroundings

OLD_NS = time.time_ns() - 3_600_000_000_000


def git(root: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments], cwd=root, check=True, capture_output=True
    )


def age(root: Path) -> None:
    """Give every file and folder a time at which it surely was not changed."""
    for path in [*root.rglob("*"), root]:
        os.utime(path, ns=(OLD_NS, OLD_NS), follow_symlinks=False)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with rules, a link, an empty folder, a cache that ignores itself, and an ignored folder."""
    root = tmp_path / "tree"
    for folder in ("src/part", "empty/inside", ".cache/deep", "build"):
        (root / folder).mkdir(parents=True)
    (root / "src" / "a.py").write_text("x = 1\n")
    (root / "src" / "part" / "b.py").write_text("y = 1\n")
    (root / ".gitignore").write_text("build/\n*.log\n")
    (root / "src" / "part" / ".gitignore").write_text(".gitignore\n*.tmp\n")
    (root / ".cache" / ".gitignore").write_text("*\n")
    (root / ".cache" / "deep" / "x.py").write_text("")
    (root / "build" / "out.py").write_text("")
    (root / "big.txt").write_text("x" * 3000)
    (root / "link.py").symlink_to("src/a.py")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    age(root)
    return root


def listed(root: Path) -> Discovery:
    return discover(root, DiscoverySettings(max_file_bytes=2000))


def is_current(root: Path, before: Discovery) -> bool:
    stored = unpack_surroundings(pack_surroundings(before.surroundings))
    assert stored is not None
    return stored.is_current(root, DiscoverySettings(max_file_bytes=2000))


def test_an_untouched_tree_is_current(tree: Path) -> None:
    assert is_current(tree, listed(tree))


def test_a_file_whose_content_changes_in_place_leaves_the_listing(tree: Path) -> None:
    before = listed(tree)
    with (tree / "src" / "a.py").open("a") as file:
        file.write("z = 2\n")
    assert is_current(tree, before)


CHANGES: dict[str, Callable[[Path], object]] = {
    "a new file": lambda root: (root / "src" / "c.py").write_text(""),
    "a new file in an empty folder": lambda root: (root / "empty" / "inside" / "c.py").write_text(""),
    "a removed file": lambda root: (root / "src" / "a.py").unlink(),
    "a renamed file": lambda root: (root / "src" / "a.py").rename(root / "src" / "d.py"),
    "a new folder": lambda root: (root / "src" / "more").mkdir(),
    "another rule": lambda root: (root / ".gitignore").write_text("build/\n*.log\nsrc/part\n"),
    "another rule in a file that git ignores": lambda root: (root / "src/part/.gitignore").write_text("b.py\n"),
    "a cache that no longer ignores itself": lambda root: (root / ".cache" / ".gitignore").write_text("deep/y\n"),
    "a rule for this machine": lambda root: (root / ".git" / "info" / "exclude").write_text("b.py\n"),
    "an own rule": lambda root: (root / ".codecardsignore").write_text("part/\n"),
    "a large file that shrinks": lambda root: os.truncate(root / "big.txt", 10),
    "an ignored file that git tracks now": lambda root: git(root, "add", "-f", "build/out.py"),
    "a commit": lambda root: git(root, "commit", "-q", "--allow-empty", "-m", "second"),
    "another branch": lambda root: git(root, "checkout", "-q", "-b", "other"),
    "a link to another file": lambda root: (root / "src" / "part").joinpath("b.py").replace(root / "link.py"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_that_can_alter_the_listing_is_seen(tree: Path, what: str) -> None:
    before = listed(tree)
    CHANGES[what](tree)
    assert not is_current(tree, before)


def test_a_listing_under_other_settings_is_not_current(tree: Path) -> None:
    stored = listed(tree).surroundings
    assert stored is not None
    assert not stored.is_current(tree, DiscoverySettings())


def test_a_folder_that_changed_just_now_proves_nothing(tree: Path) -> None:
    (tree / "src" / "c.py").write_text("")
    assert listed(tree).surroundings is None
