"""Every command of `python -m benchmarks` starts, and says what it needs."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.nonsense import run as nonsense
from benchmarks.sessions import run as sessions
from benchmarks.sessions.recordings import Recording
from benchmarks.sets.packages import Package
from benchmarks.sets.trees import TreeError

ROOT = Path(__file__).parents[2]
WALK = """
import json
from typer.testing import CliRunner
from benchmarks.commands import app
names = sorted(one.name or one.callback.__name__ for one in app.registered_commands)
shown = {name: CliRunner().invoke(app, [name, "--help"]) for name in names}
print(json.dumps({name: [one.exit_code, one.output] for name, one in shown.items()}))
"""


def run(start: str) -> "subprocess.CompletedProcess[str]":
    """Run a script in a separate process, because importing typer warns and some tests hide modules."""
    return subprocess.run([sys.executable, "-c", start], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def helps() -> dict[str, tuple[int, str]]:
    """Return command -> exit code and output of its --help."""
    return {name: (code, output) for name, (code, output) in json.loads(run(WALK).stdout).items()}


def test_each_command_has_help(helps: dict[str, tuple[int, str]]) -> None:
    assert len(helps) == 17
    for name, (code, output) in helps.items():
        assert (code, "usage:" in output.lower()) == (0, True), f"{name}: {output}"


def test_the_commands_are_those_of_the_readme(helps: dict[str, tuple[int, str]]) -> None:
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"(?m)^\| `([a-z-]+)(?: [^`]*)?` \|", text)) == sorted(helps)


@pytest.mark.parametrize(("module", "package"), [("psutil", "psutil"), ("typer", "codecards")])
def test_a_missing_package_is_named(module: str, package: str) -> None:
    done = run(f"import sys; sys.modules[{module!r}] = None; from benchmarks.__main__ import main; main()")
    assert done.returncode == 3
    assert f"The package {package!r} is not installed" in done.stderr
    assert "make bench-setup" in done.stderr


def test_only_the_chinese_set_needs_polib() -> None:
    start = "import sys; sys.modules['polib'] = None; from benchmarks.__main__ import main; sys.argv[1:] = {}; main()"
    needs_nothing, needs_polib = (
        run(start.format(one)) for one in (["call-graph", "go"], ["quality", "--set", "chinese"])
    )
    assert (needs_nothing.returncode, needs_polib.returncode) == (0, 3)
    assert "'polib'" in needs_polib.stderr


def test_a_rival_that_can_not_be_had_is_left_out_of_speed(tmp_path: Path) -> None:
    done = run(
        "import sys, benchmarks.commands as commands, benchmarks.systems.rivals as rivals\n"
        "def refuse(rival, cache): raise rivals.RivalUnavailableError('there is no network')\n"
        "rivals.Semble.prepare = refuse\n"
        f"commands.app(['speed', '--trees', {str(tmp_path)!r}, '--system', 'semble', '--no-save'])"
    )
    assert done.returncode == 3
    assert "left out: semble: there is no network" in done.stderr


def test_governance_replays_this_checkout_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []

    def mine_nothing(folder: Path, **_: object) -> list[Recording]:
        asked.append(folder)
        return []

    monkeypatch.setattr(sessions, "mine_sessions", mine_nothing)
    assert sessions.main([]) == 3
    assert asked == [ROOT]


def test_nonsense_without_any_tree_says_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(package: Package, _folder: Path) -> Path:
        raise TreeError(f"{package.requirement}: npm is not installed")

    monkeypatch.setattr(nonsense, "fetch", refuse)
    assert nonsense.main(["--cache", str(tmp_path), "--no-save"]) == 3
    errors = capsys.readouterr().err
    assert "left out: rxjs@7.8.2: npm is not installed" in errors
    assert "--trees" in errors
