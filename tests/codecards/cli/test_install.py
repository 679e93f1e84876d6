"""`install` and `uninstall` show a diff, then ask; without a terminal they write nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.indexed import write_repository


def run(root: Path, *arguments: str, home: Path | None = None) -> subprocess.CompletedProcess[str]:
    places = ("HOME", "USERPROFILE", "XDG_STATE_HOME", "LOCALAPPDATA")
    environment = {**os.environ, **({name: str(home) for name in places} if home else {})}
    return subprocess.run(
        [sys.executable, "-m", "codecards", "-C", str(root), *arguments],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env=environment,
        encoding="utf-8",
    )


def files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def test_the_diff_is_shown_and_nothing_is_written_without_yes(tmp_path: Path) -> None:
    write_repository(tmp_path, "#- CLAUDE.md\nmine\n")
    done = run(tmp_path, "install", "--agent", "claude")
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert "--- a/CLAUDE.md\n+++ b/CLAUDE.md\n" in done.stdout
    assert "--- /dev/null\n+++ b/.mcp.json\n" in done.stdout
    assert '+      "command": "codecards",' in done.stdout
    assert files(tmp_path) == ["CLAUDE.md"]
    dry = run(tmp_path, "install", "--agent", "claude", "--dry-run")
    assert (dry.returncode, dry.stdout) == (0, done.stdout)
    assert files(tmp_path) == ["CLAUDE.md"]


def test_with_yes_install_writes_and_uninstall_reverts(tmp_path: Path) -> None:
    write_repository(tmp_path, "#- CLAUDE.md\nmine\n")
    done = run(tmp_path, "install", "--agent", "claude,cursor", "--yes")
    assert done.returncode == 0, done.stderr
    assert "changed CLAUDE.md" in done.stderr
    again = run(tmp_path, "install", "--agent", "claude", "--agent", "cursor", "--yes")
    assert (again.returncode, again.stdout) == (0, "")
    assert "nothing to change" in again.stderr
    back = run(tmp_path, "uninstall", "--yes", "--json")
    answer = json.loads(back.stdout)
    assert answer["written"] is True
    assert {"path": "CLAUDE.md", "action": "change"} in answer["files"]
    assert files(tmp_path) == ["CLAUDE.md"]
    assert [path.name for path in tmp_path.iterdir()] == ["CLAUDE.md"]


def test_json_without_yes_writes_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, "install", "--agent", "gemini", "--json")
    answer = json.loads(done.stdout)
    assert (answer["written"], answer["agents"]) == (False, ["gemini"])
    assert {"path": "GEMINI.md", "action": "create"} in answer["files"]
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("install", "--agent", "frob"), "'frob' is not a known agent"),
        (("install", "--scope", "world", "--agent", "zed"), "'world' is not a scope"),
        (("install", "--agent", "zed", "--command", ""), "--command is empty"),
        (("install", "--agent", "zed", "--command", 'a "b'), "can't be split into words"),
    ],
)
def test_wrong_usage_is_an_error_of_one_line(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run(tmp_path, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().split("\n")) == 1


def test_a_damaged_file_is_an_error_with_its_position(tmp_path: Path) -> None:
    write_repository(tmp_path, "#- .mcp.json\n{broken\n")
    done = run(tmp_path, "install", "--agent", "claude", "--yes")
    assert done.returncode == 3
    assert done.stderr == (
        "codecards: .mcp.json can't be changed: line 1, column 2: Expecting property name enclosed in double quotes. Nothing was changed.\n"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows names the home folder by other means")
def test_the_user_scope_writes_to_the_home_folder(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    done = run(project, "install", "--agent", "claude", "--scope", "user", "--yes", home=home)
    assert done.returncode == 0, done.stderr
    assert ".claude.json" in files(home)
    assert files(project) == []
    assert run(project, "uninstall", "--scope", "user", "--yes", home=home).returncode == 0
    assert files(home) == []
