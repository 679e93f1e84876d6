"""The impact of a change: its symbols, their callers and the tests that reach them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from codecards import Engine, Settings
from codecards.errors import UsageError
from codecards.features.impact import changed_lines
from tests.support.indexed import write_repository
from tests.support.working_trees import commit_all, git

REPO = """\
#- price.py
def rate():
    return 1


def price():
    return rate() * 2
#- tests/test_price.py
from price import price


def test_price():
    assert price() == 2
#- other.py
def other():
    return 3
"""


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_change_reaches_callers_and_tests(tmp_path: Path) -> None:
    root = write_repository(tmp_path, REPO)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *arguments], cwd=root, check=True)
    (root / "price.py").write_text((root / "price.py").read_text().replace("return 1", "return 7"))
    with Engine(root, Settings(n_workers=1)) as engine:
        engine.refresh()
        impact = engine.impact()
        assert [card.qualified_name for card in impact.changed] == ["rate"]
        assert [caller.name for caller in impact.callers] == ["price"]
        assert impact.tests == ("tests/test_price.py",)
        for revision in ("no-such-revision", "--output=stolen"):
            with pytest.raises(UsageError):
                engine.impact(revision)
    assert not (root / "stolen").exists()


def test_a_diff_yields_lines_of_the_new_version() -> None:
    diff = "--- a/x.py\n+++ b/x.py\n@@ -1,0 +2,2 @@\n+a\n+b\n@@ -9 +11,0 @@\n-c\n--- a/y.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-d\n"
    assert changed_lines(diff) == [("x.py", 2), ("x.py", 3), ("x.py", 11)]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.skipif(os.name == "nt", reason="the filter is a shell command")
def test_no_program_named_by_the_repository_is_run(tmp_path: Path) -> None:
    root = write_repository(tmp_path / "project", REPO)
    mark = tmp_path / "was-run"
    commit_all(root)
    for name in (
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "diff.x.textconv",
        "diff.x.command",
        "core.fsmonitor",
    ):
        git(root, "config", name, f"touch {mark}; cat")
    git(root, "config", "filter.x.required", "true")
    (root / ".gitattributes").write_text("*.py filter=x diff=x\n")
    (root / "price.py").write_text((root / "price.py").read_text().replace("return 1", "return 7"))
    with Engine(root, Settings(n_workers=1)) as engine:
        engine.refresh()
        engine.status()
        assert [card.qualified_name for card in engine.impact().changed] == ["rate"]
    assert not mark.exists()
