"""Notes on files and symbols follow a move."""

import subprocess
from pathlib import Path

from codecards.engine import Engine
from codecards.router.notes.note import AnchorState, NoteDraft, with_states
from tests.support.indexed import write_repository

GATE = """\
#- app/gate.py
class Gate:
    def open_wide(self):
        return 1
#- GUIDE.md
# Guide

Open the gate.
#- other.py
def other():
    return 2
"""


def _git(root: Path, *words: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.autocrlf=false")
    subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True)


def test_notes_on_files_follow_a_rename_and_a_branch_switch(tmp_path: Path) -> None:
    root = write_repository(tmp_path / "project", GATE)
    _git(root, "init", "-qb", "main")
    _git(root, "add", "app", "GUIDE.md", "other.py")
    _git(root, "commit", "-qm", "start")
    with Engine.open(root) as engine:
        engine.refresh()
        targets = ("app/gate.py", "GUIDE.md", "Gate.open_wide")
        anchors = tuple(engine.anchors.resolve(target) for target in targets)
        note = engine.archive.add(NoteDraft("t", "text", anchors))
        _git(root, "checkout", "-qb", "moved")
        _git(root, "mv", "app/gate.py", "app/door.py")
        _git(root, "mv", "GUIDE.md", "HOWTO.md")
        _git(root, "commit", "-qm", "move")
        engine.refresh()
        found = with_states(note, engine.anchors).anchors
        assert [one.path for one in found] == ["app/door.py", "HOWTO.md", "app/door.py"]
        assert {one.state for one in found} == {AnchorState.FRESH}
        assert [one.moved_from for one in found][:2] == ["app/gate.py", "GUIDE.md"]
        _git(root, "checkout", "-q", "main")
        engine.refresh()
        back = with_states(note, engine.anchors).anchors
        assert [(one.path, one.state) for one in back][:2] == [(one, AnchorState.FRESH) for one in targets[:2]]


def test_a_file_that_is_deleted_is_gone(tmp_path: Path) -> None:
    root = write_repository(tmp_path / "project", GATE)
    with Engine.open(root) as engine:
        engine.refresh()
        anchors = (engine.anchors.resolve("app/gate.py"),)
        note = engine.archive.add(NoteDraft("t", "text", anchors))
        (root / "app" / "gate.py").unlink()
        engine.refresh()
        assert with_states(note, engine.anchors).anchors[0].state is AnchorState.GONE
